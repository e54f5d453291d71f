#include "wire/sql/query_tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/check.h"
#include "base/varint.h"

namespace sonde {
namespace {

// The first byte: what the token is, and which version of its format.
constexpr char kPrepared = 'P';
constexpr char kResume = 'R';

constexpr size_t kCodeBytes = 16;

// Where the rows behind a resume token are.
enum class Rest : uint8_t { kPlace = 0, kNone = 1, kSpooled = 2 };

}  // namespace

std::string QueryTokens::CodeOf(std::string_view bytes) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned int size = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
           reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), code.data(), &size);
  CHECK(made != nullptr && size >= kCodeBytes);
  return {reinterpret_cast<const char*>(code.data()), kCodeBytes};
}

bool QueryTokens::Check(std::string_view* bytes) const {
  if (bytes->size() < kCodeBytes) return false;
  const std::string_view code = bytes->substr(bytes->size() - kCodeBytes);
  bytes->remove_suffix(kCodeBytes);
  return CRYPTO_memcmp(CodeOf(*bytes).data(), code.data(), kCodeBytes) == 0;
}

std::string QueryTokens::Write(const PreparedQueryToken& token) const {
  std::string bytes(1, kPrepared);
  PutBytes(&bytes, token.instance);
  PutBytes(&bytes, token.query);
  PutVarint(&bytes, token.parameters.size());
  for (const auto& [name, type] : token.parameters) {
    PutBytes(&bytes, name);
    PutBytes(&bytes, type);
  }
  PutFixed64(&bytes, token.fingerprint);
  PutVarint(&bytes, static_cast<uint64_t>(token.issued_micros));
  return bytes + CodeOf(bytes);
}

absl::StatusOr<PreparedQueryToken> QueryTokens::ReadPrepared(std::string_view bytes) const {
  const absl::Status bad = absl::InvalidArgumentError(
      "Error in field 'prepared_query' : The bytes are no prepared query of this server; prepare the query "
      "again");
  if (!bytes.starts_with(kPrepared) || !Check(&bytes)) return bad;
  bytes.remove_prefix(1);
  std::string_view instance, query;
  uint64_t count = 0;
  if (!GetBytes(&bytes, &instance) || !GetBytes(&bytes, &query) || !GetVarint(&bytes, &count)) return bad;
  PreparedQueryToken token{.instance = std::string(instance), .query = std::string(query)};
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view name, type;
    if (!GetBytes(&bytes, &name) || !GetBytes(&bytes, &type)) return bad;
    token.parameters.emplace_back(name, type);
  }
  uint64_t issued = 0;
  if (!GetFixed64(&bytes, &token.fingerprint) || !GetVarint(&bytes, &issued) || !bytes.empty()) return bad;
  token.issued_micros = static_cast<int64_t>(issued);
  return token;
}

std::string QueryTokens::Write(const ResumeToken& token) const {
  std::string bytes(1, kResume);
  PutFixed64(&bytes, token.request_hash);
  PutVarint(&bytes, static_cast<uint64_t>(token.now_micros));
  const Rest rest = token.is_end ? Rest::kNone : !token.spooled.empty() ? Rest::kSpooled : Rest::kPlace;
  bytes.push_back(static_cast<char>(rest));
  PutBytes(&bytes, rest == Rest::kSpooled ? token.spooled : token.place);
  if (rest == Rest::kSpooled) PutVarint(&bytes, static_cast<uint64_t>(token.spooled_place));
  return bytes + CodeOf(bytes);
}

absl::StatusOr<ResumeToken> QueryTokens::ReadResume(std::string_view bytes) const {
  const absl::Status bad = absl::InvalidArgumentError(
      "Error in field 'resume_token' : The bytes are no resume token of this server");
  if (!bytes.starts_with(kResume) || !Check(&bytes)) return bad;
  bytes.remove_prefix(1);
  ResumeToken token;
  uint64_t now = 0;
  std::string_view place;
  if (!GetFixed64(&bytes, &token.request_hash) || !GetVarint(&bytes, &now) || bytes.empty()) return bad;
  token.now_micros = static_cast<int64_t>(now);
  const auto rest = static_cast<Rest>(bytes.front());
  if (rest > Rest::kSpooled) return bad;
  token.is_end = rest == Rest::kNone;
  bytes.remove_prefix(1);
  if (!GetBytes(&bytes, &place) || (rest == Rest::kSpooled && place.empty())) return bad;
  (rest == Rest::kSpooled ? token.spooled : token.place) = place;
  uint64_t spooled_place = 0;
  if (rest == Rest::kSpooled && !GetVarint(&bytes, &spooled_place)) return bad;
  token.spooled_place = static_cast<int64_t>(spooled_place);
  if (!bytes.empty()) return bad;
  return token;
}

}  // namespace sonde
