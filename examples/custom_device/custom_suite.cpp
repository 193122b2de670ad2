// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The conformance suite on a device of our own: custom_suite <empty directory>. Each property gets
// a file of its own in it.
#include <cstdio>
#include <string>

#include <promtact/wal/testing/device_suite.hpp>

#include "append_file.hpp"

namespace {

namespace suite = promtact::wal_testing;

class FilePlace final : public suite::DevicePlace {
  public:
    FilePlace(std::string directory, int number)
        : directory_(std::move(directory)), name_("device-" + std::to_string(number)) {}
    ~FilePlace() override { static_cast<void>(::unlink((directory_ + "/" + name_).c_str()) == 0); }
    promtact::Result<std::unique_ptr<promtact::wal::Device>> open() override {
        return AppendFile::open(directory_, name_);
    }
    void end(std::unique_ptr<promtact::wal::Device> device, suite::End how) override {
        // open() makes no other.
        if (how == suite::End::crashed) static_cast<AppendFile&>(*device).crash();
        device.reset();
    }
    [[nodiscard]] bool models_crashes() const override { return true; }
    [[nodiscard]] bool outlives_processes() const override { return true; }

  private:
    std::string directory_;
    std::string name_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: custom_suite <empty directory>\n", stderr);
        return 2;
    }
    int places = 0;
    const suite::DevicePlaceFactory factory = [&]() -> std::unique_ptr<suite::DevicePlace> {
        return std::make_unique<FilePlace>(argv[1], ++places);
    };
    int failed = 0;
    int passed = 0;
    for (const suite::Property& property : suite::device_suite(factory)) {
        const suite::Finding finding = property.run();
        using Outcome = suite::Finding::Outcome;
        passed += finding.outcome == Outcome::passed ? 1 : 0;
        failed += finding.outcome == Outcome::failed ? 1 : 0;
        if (finding.outcome == Outcome::passed) continue;
        std::printf(
            "%s %.*s: %s\n", finding.outcome == Outcome::failed ? "FAILED" : "not applicable",
            static_cast<int>(property.name.size()), property.name.data(), finding.words.c_str());
    }
    std::printf("%d properties hold, %d do not\n", passed, failed);
    return failed == 0 && passed > 30 ? 0 : 1;
}
