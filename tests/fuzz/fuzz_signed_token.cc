// Tokens that clients signed: any bytes are read or refused with a cause, alone and as a header and claims behind which a good
// signature stands; nothing proves a member but the token that was signed.
#include <openssl/evp.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "identity/check/file_authenticator.h"
#include "identity/proof/base64_text.h"
#include "identity/proof/signed_token.h"
#include "target.h"

namespace sonde {
namespace {

constexpr char kPublicPem[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";
// The private key of RFC 8037's example, which everybody has.
constexpr char kPrivateKey[] = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
constexpr int64_t kNowSeconds = 1'795'593'600;

std::string Sign(std::string_view text) {
  const std::string key = BytesOfBase64Url(kPrivateKey).value();
  EVP_PKEY* const private_key = EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  unsigned char signature[64];
  size_t size = sizeof(signature);
  Require(EVP_DigestSignInit(context, nullptr, nullptr, nullptr, private_key) == 1, "OpenSSL signs");
  Require(EVP_DigestSign(context, signature, &size, reinterpret_cast<const unsigned char*>(text.data()),
                         text.size()) == 1,
          "OpenSSL signs");
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(private_key);
  return std::string(text) + "." + Base64UrlOf({reinterpret_cast<const char*>(signature), size});
}

FileAuthenticator& TheAuthenticator() {
  static FileAuthenticator* const authenticator = [] {
    AuthConfig config;
    auto key = PublicKey::FromPem(KeyAlgorithm::kEdDsa, kPublicPem);
    Require(key.ok(), "the key is one");
    config.accounts.push_back(
        {.email = "a@sonde.local",
         .keys = {{.id = "k", .created = absl::UnixEpoch(), .public_key = *std::move(key)}}});
    return FileAuthenticator::Create(std::move(config)).release();
  }();
  return *authenticator;
}

bool IsProven(std::string_view header) {
  std::string cause;
  const auto principal =
      TheAuthenticator().Authenticate({.authorization = header}, absl::FromUnixSeconds(kNowSeconds), &cause);
  if (principal.ok()) {
    Require((*principal)->member == "serviceAccount:a@sonde.local", "the member is the key's");
    return true;
  }
  Require(principal.status().code() == absl::StatusCode::kUnauthenticated, "the code of a refusal");
  Require(!cause.empty(), "a refusal has a cause");
  return false;
}

// Whoever has the key may prove himself, by claims that say what they must.
void CheckSigned(std::string_view header, std::string_view claims) {
  const std::string token = Sign(Base64UrlOf(header) + "." + Base64UrlOf(claims));
  if (!IsProven("Bearer " + token)) return;
  const auto parsed = ParseSignedToken(token);
  Require(parsed.ok() && parsed->algorithm == "EdDSA" && parsed->key_id == "k", "the header says which key");
  Require(parsed->issuer == "a@sonde.local" && parsed->subject == parsed->issuer, "the claims say who");
  Require(parsed->expires_seconds.value() - parsed->issued_seconds.value() <= 3600, "for an hour at most");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sonde::Require(!sonde::IsProven("Bearer " + std::string(text)), "nobody signed this");
  (void)sonde::IsProven(text);
  (void)sonde::ParseSignedToken(text);
  const size_t end = text.find('\n');
  const std::string_view header = text.substr(0, end);
  sonde::CheckSigned(header, end == std::string_view::npos ? "" : text.substr(end + 1));
  return 0;
}
