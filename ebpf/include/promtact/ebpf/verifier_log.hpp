// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What libbpf and the kernel's verifier say, kept for the error or the record instead of being
// printed.
#pragma once

#include <string>

namespace promtact::ebpf {

/// Captures libbpf's messages of this thread for as long as it lives; captures nest. The last
/// 64 KiB are kept, since the reason of a refusal stands at the end.
class VerifierLog {
  public:
    VerifierLog();
    ~VerifierLog();
    VerifierLog(const VerifierLog&) = delete;
    VerifierLog& operator=(const VerifierLog&) = delete;

    const std::string& text() const noexcept { return text_; }
    /// The line that says why the verifier refused: the last one before its statistics; empty when
    /// there is none.
    std::string refusal() const;

    void append(const char* message, std::size_t size);

  private:
    VerifierLog* outer_;
    std::string text_;
};

} // namespace promtact::ebpf
