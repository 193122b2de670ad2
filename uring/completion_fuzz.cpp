// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Feeds the in-flight table arbitrary claims and completions and compares it with a plain map: no
// completion may be accepted that was not claimed, none twice, none with an impossible result.
#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include <promtact/base/assert.hpp>
#include <promtact/uring/completion.hpp>

namespace promtact::uring {
namespace {

class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    template <class T>
    T next() {
        T value{};
        const std::size_t size = std::min(sizeof value, bytes_.size());
        std::memcpy(&value, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
        return value;
    }

  private:
    std::span<const std::uint8_t> bytes_;
};

void claim(Reader& input, InFlight& table, std::map<std::uint64_t, Expectation>& model) {
    if (table.size() == table.capacity()) return;
    const auto kind = static_cast<OpKind>(input.next<std::uint8_t>() % 7);
    const std::uint32_t length = is_transfer(kind) ? input.next<std::uint16_t>() : 0;
    const auto tag = input.next<std::uint8_t>();
    const std::uint64_t id = table.claim(kind, length, tag);
    const bool fresh =
        model.insert({id, {.user_data = id, .kind = kind, .length = length, .tag = tag}}).second;
    PROMTACT_ASSERT(fresh);
}

void settle(Reader& input, InFlight& table, std::map<std::uint64_t, Expectation>& model) {
    Completion completion;
    const auto choice = input.next<std::uint8_t>();
    if (choice % 4 != 0 && !model.empty()) {
        completion.user_data =
            std::next(model.begin(), choice % static_cast<int>(model.size()))->first;
    } else {
        completion.user_data = input.next<std::uint64_t>();
    }
    completion.result = input.next<std::int32_t>();
    completion.flags = input.next<std::uint8_t>() % 8;
    const auto owner = model.find(completion.user_data);
    const auto settled = table.settle(completion);
    if (!settled) {
        const bool possible =
            owner != model.end() && judge(owner->second, completion) != Outcome::impossible;
        PROMTACT_ASSERT(!possible);
        return;
    }
    PROMTACT_ASSERT(owner != model.end());
    PROMTACT_ASSERT(settled->tag == owner->second.tag);
    const auto checked = check(*settled, completion);
    const bool full =
        completion.result >= 0 && static_cast<std::uint32_t>(completion.result) == settled->length;
    PROMTACT_ASSERT(checked.has_value() == full);
    model.erase(owner);
}

void run(const std::uint8_t* data, std::size_t size) {
    Reader input({data, size});
    InFlight table(input.empty() ? 1U : 1U + input.next<std::uint8_t>() % 32U);
    std::map<std::uint64_t, Expectation> model;
    while (!input.empty()) {
        const auto action = input.next<std::uint8_t>();
        if (action % 5 < 2) {
            claim(input, table, model);
        } else if (action % 5 < 4) {
            settle(input, table, model);
        } else if (!model.empty()) {
            table.withdraw(model.begin()->first);
            model.erase(model.begin());
        }
        PROMTACT_ASSERT(table.size() == model.size());
    }
}

} // namespace
} // namespace promtact::uring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::uring::run(data, size);
    return 0;
}
