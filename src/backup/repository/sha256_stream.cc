#include "backup/repository/sha256_stream.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace sonde {

namespace {
constexpr size_t kSha256Bytes = 32;
}  // namespace

struct Sha256Stream::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  CHECK(state_->context != nullptr);
  CHECK(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256Stream::Finish() {
  std::array<unsigned char, kSha256Bytes> digest{};
  CHECK(EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256Stream stream;
  stream.Add(bytes);
  return stream.Finish();
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 2 * kSha256Bytes &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace sonde
