// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Replays a fuzz target without libFuzzer: every file of the corpus folder, then seeded random
// inputs and mutations of the corpus, so that the entry point runs in every build and under every
// compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <promtact/base/choice.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::uint32_t mutations_per_input = 200;
constexpr std::uint32_t random_inputs = 2000;
constexpr std::uint64_t seed = 0x4A2C;

std::vector<std::uint8_t> read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void mutate_and_run(std::vector<std::uint8_t> input, std::uint64_t link) {
    for (std::uint32_t i = 0; i < mutations_per_input && !input.empty(); ++i) {
        const std::uint64_t bits = promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, link, i);
        const std::uint32_t at = promtact_bounded(bits, static_cast<std::uint32_t>(input.size()));
        input[at] = static_cast<std::uint8_t>(input[at] ^ (1U << (bits & 7U)));
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
}

} // namespace

int main(int argc, char** argv) {
    std::uint64_t inputs = 0;
    LLVMFuzzerTestOneInput(nullptr, 0);
    if (argc > 1 && std::filesystem::is_directory(argv[1])) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
            if (!entry.is_regular_file()) continue;
            const std::vector<std::uint8_t> input = read(entry.path());
            LLVMFuzzerTestOneInput(input.data(), input.size());
            mutate_and_run(input, ++inputs);
        }
    }
    for (std::uint32_t i = 0; i < random_inputs; ++i) {
        std::vector<std::uint8_t> input(
            promtact_bounded(promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, 0, i), 512));
        for (std::size_t at = 0; at < input.size(); ++at) {
            input[at] =
                static_cast<std::uint8_t>(promtact_choose(seed, PROMTACT_PURPOSE_CORRUPT, i, at));
        }
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf(
        "replayed %llu corpus files and %u random inputs, seed 0x4A2C\n",
        static_cast<unsigned long long>(inputs), random_inputs);
    return 0;
}
