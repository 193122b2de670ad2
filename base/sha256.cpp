// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>

#include <openssl/evp.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/sha256.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {
namespace {

struct ContextFree {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

} // namespace

struct Sha256::State {
    std::unique_ptr<EVP_MD_CTX, ContextFree> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    // OpenSSL can only fail here for want of memory or of its built-in digest: not the world's no.
    PROMTACT_ASSERT(state_->context != nullptr);
    PROMTACT_ASSERT(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}

Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) noexcept {
    PROMTACT_ASSERT(state_ != nullptr);
    PROMTACT_ASSERT(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

Sha256Digest Sha256::finish() noexcept {
    PROMTACT_ASSERT(state_ != nullptr);
    std::array<unsigned char, 32> raw{};
    unsigned size = 0;
    PROMTACT_ASSERT(EVP_DigestFinal_ex(state_->context.get(), raw.data(), &size) == 1);
    PROMTACT_ASSERT(size == raw.size());
    state_.reset();
    Sha256Digest digest{};
    std::transform(raw.begin(), raw.end(), digest.begin(), [](unsigned char c) {
        return static_cast<std::byte>(c);
    });
    return digest;
}

Sha256Digest sha256(std::span<const std::byte> bytes) noexcept {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

Sha256Digest sha256(std::string_view text) noexcept {
    return sha256(bytes_of(text));
}

Result<Sha256Digest> sha256_file(const std::filesystem::path& path) {
    const UniqueFd file(sys().open(path.c_str(), O_RDONLY | O_CLOEXEC, 0));
    if (!file) return Error::from_errno(errno, "open " + path.string());
    std::vector<std::byte> buffer(std::size_t{1} << 16);
    Sha256 hash;
    for (;;) {
        const ssize_t got = sys().read(file.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error::from_errno(errno, "read " + path.string());
        if (got == 0) return hash.finish();
        hash.update(std::span(buffer).first(static_cast<std::size_t>(got)));
    }
}

std::string to_hex(const Sha256Digest& digest) {
    std::string text;
    for (const std::byte byte : digest) {
        const auto value = std::to_integer<unsigned>(byte);
        text += "0123456789abcdef"[value >> 4];
        text += "0123456789abcdef"[value & 0xfU];
    }
    return text;
}

Result<Sha256Digest> parse_sha256(std::string_view text) {
    Sha256Digest digest{};
    bool good = text.size() == 2 * digest.size();
    for (std::size_t i = 0; good && i < digest.size(); ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        if (good) digest[i] = static_cast<std::byte>(high * 16 + low);
    }
    if (!good) {
        return Error{
            Errc::invalid_argument, 0,
            "\"" + std::string(text.substr(0, 70)) + "\" is not 64 hexadecimal digits"};
    }
    return digest;
}

} // namespace promtact
