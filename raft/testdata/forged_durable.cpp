// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Must not compile: a proof of durability that no store has made.
#include <promtact/raft/core.hpp>

namespace promtact::raft {
#if defined(REDEFINE)
class Store { // befriended by name
  public:
    static Durable forge() { return Durable(BatchId{1, 99}); }
};
#endif
} // namespace promtact::raft

using promtact::raft::BatchId;
using promtact::raft::Core;
using promtact::raft::Durable;

#if defined(HONEST)
struct Mine : promtact::raft::Store {
    promtact::Result<void> begin(const promtact::raft::Output& output) override {
        batch = output.id;
        return {};
    }
    promtact::Result<std::optional<Durable>> next() override { return {proof(batch)}; }
    BatchId batch{};
};
#endif

void run(Core& core) {
#if defined(CONSTRUCT)
    core.persisted(Durable(BatchId{1, 99}));
#elif defined(BRACES)
    core.persisted({BatchId{1, 99}});
#elif defined(NOTHING)
    core.persisted(Durable());
#elif defined(OUTSIDE)
    core.persisted(promtact::raft::Store::proof(BatchId{1, 99}));
#else
    static_cast<void>(core);
#endif
}
