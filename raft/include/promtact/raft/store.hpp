// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Where batches become durable, and the proof that they are. Only a Store can make the proof, and
// only for what it begun: Core::persisted() takes nothing else, so a message that promises
// something cannot leave without one.
#pragma once

#include <optional>

#include <promtact/base/result.hpp>
#include <promtact/raft/output.hpp>

namespace promtact::raft {

/// Proof that the batch and all before it are durable. Made by stores alone; Store is a complete
/// class, so that nobody else can define one and befriend himself.
class Durable {
  public:
    [[nodiscard]] BatchId through() const noexcept { return through_; }

  private:
    friend class Store;
    explicit Durable(BatchId through) noexcept : through_(through) {}
    BatchId through_;
};

/// Base class of every store: the write-ahead log, memory, a simulated disk.
class Store {
  public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    /// Starts to write the batch of the output (there is one: must_persist()).
    /// Errors: any; the owner then calls Core::storage_failed() and stops.
    virtual Result<void> begin(const Output& output) = 0;
    /// Proof of batches that have become durable since the last call, when there are any.
    /// Errors: as begin()
    virtual Result<std::optional<Durable>> next() = 0;

  protected:
    /// Requires: the batch and all before it are durable
    static Durable proof(BatchId through) noexcept { return Durable(through); }
};

} // namespace promtact::raft
