// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <fstream>
#include <memory>
#include <sstream>

#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include "choice_check.skel.h"
#include "programs/choice_check.h"
#include "test_paths.hpp"

namespace promtact::ebpf {
namespace {

struct Deleter {
    void operator()(::choice_check* skeleton) const noexcept { ::choice_check::destroy(skeleton); }
};

TEST(EbpfChoice, KernelGivesTheFrozenVectors) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_BPF, CAP_NET_ADMIN)";
    const std::unique_ptr<::choice_check, Deleter> program{::choice_check::open_and_load()};
    ASSERT_NE(program, nullptr);
    std::ifstream file{promtact::test_source_path("base/testdata/choice_vectors.txt")};
    ASSERT_TRUE(file);
    int checked = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        choice_question question{};
        choice_question wanted{};
        std::string arrow;
        std::istringstream fields{line};
        fields >> std::hex >> question.seed >> std::dec >> question.purpose >> std::hex >>
            question.link >> question.position >> arrow >> wanted.chosen >> wanted.mixed >>
            std::dec >> wanted.bounded;
        ASSERT_TRUE(fields) << line;
        choice_question answer{};
        bpf_test_run_opts options{};
        options.sz = sizeof options;
        options.data_in = &question;
        options.data_size_in = sizeof question;
        options.data_out = &answer;
        options.data_size_out = sizeof answer;
        ASSERT_EQ(
            bpf_prog_test_run_opts(bpf_program__fd(program->progs.promtact_choose_check), &options),
            0)
            << line;
        EXPECT_EQ(answer.chosen, wanted.chosen) << line;
        EXPECT_EQ(answer.mixed, wanted.mixed) << line;
        EXPECT_EQ(answer.bounded, wanted.bounded) << line;
        ++checked;
    }
    EXPECT_GE(checked, 64);
}

} // namespace
} // namespace promtact::ebpf
