#include "identity/proof/signing_key.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <climits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "base/bytes.h"
#include "identity/proof/base64_text.h"
#include "identity/proof/digest.h"
#include "identity/proof/public_key.h"
#include "identity/proof/signed_token.h"

namespace sonde {
namespace {

constexpr char kServiceAccountType[] = "service_account";

struct ReadBioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct SigningContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// A key file has no pass phrase; without this OpenSSL would ask the terminal for one.
int RefusePassPhrase(char* /*buffer*/, int /*size*/, int /*rwflag*/, void* /*user*/) { return -1; }

absl::StatusOr<std::string> TextMember(const nlohmann::json& file, const char* name) {
  const auto found = file.find(name);
  if (found == file.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) {
    return absl::InvalidArgumentError(fmt::format("the key file has no text '{}'", name));
  }
  return found->get<std::string>();
}

}  // namespace

void SigningKey::Deleter::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

absl::StatusOr<std::shared_ptr<const SigningKey>> SigningKey::FromKeyFile(std::string_view text) {
  nlohmann::json file = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file.is_object()) return absl::InvalidArgumentError("the key file is no JSON object");
  const absl::StatusOr<std::string> type = TextMember(file, "type");
  if (!type.ok()) return type.status();
  if (*type != kServiceAccountType) {
    return absl::UnimplementedError(
        fmt::format("the key file is of the type '{}'; supported is '{}', whose key signs tokens by itself",
                    Printable(*type), kServiceAccountType));
  }
  // Whatever becomes of the file, its secret does not stay in memory.
  const absl::Cleanup wipe = [&file] {
    if (const auto secret = file.find("private_key"); secret != file.end() && secret->is_string())
      Wipe(secret->get_ptr<std::string*>());
  };
  absl::StatusOr<std::string> email = TextMember(file, "client_email");
  if (!email.ok()) return email.status();
  absl::StatusOr<std::string> id = TextMember(file, "private_key_id");
  if (!id.ok()) return id.status();
  absl::StatusOr<std::string> pem = TextMember(file, "private_key");
  if (!pem.ok()) return pem.status();
  const bool fits = pem->size() <= INT_MAX;
  const std::unique_ptr<BIO, ReadBioDeleter> bio(
      fits ? BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size())) : nullptr);
  Handle key(bio == nullptr ? nullptr
                            : PEM_read_bio_PrivateKey(bio.get(), nullptr, RefusePassPhrase, nullptr));
  Wipe(&*pem);
  const bool is_right = key != nullptr && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA &&
                        EVP_PKEY_get_bits(key.get()) >= kRsaBitsMin &&
                        EVP_PKEY_get_bits(key.get()) <= kRsaBitsMax;
  if (!is_right) {
    return absl::InvalidArgumentError(fmt::format(
        "'private_key' of the key file must be an RSA key of {} to {} bits in PEM, without a pass "
        "phrase",
        kRsaBitsMin, kRsaBitsMax));
  }
  return std::shared_ptr<const SigningKey>(new SigningKey(*std::move(email), *std::move(id), std::move(key)));
}

absl::StatusOr<std::string> SigningKey::SignToken(std::string_view audience, absl::Time now) const {
  const int64_t issued = absl::ToUnixSeconds(now);
  const nlohmann::json header = {
      {"alg", NameOfAlgorithm(KeyAlgorithm::kRs256)}, {"kid", id_}, {"typ", "JWT"}};
  const nlohmann::json claims = {{"iss", email_},
                                 {"sub", email_},
                                 {"aud", audience},
                                 {"iat", issued},
                                 {"exp", issued + absl::ToInt64Seconds(kTokenLifetimeMax)}};
  const auto text_of = [](const nlohmann::json& json) {
    return Base64UrlOf(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  std::string token = text_of(header) + "." + text_of(claims);
  const std::unique_ptr<EVP_MD_CTX, SigningContextDeleter> context(EVP_MD_CTX_new());
  size_t size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(token.data());
  const bool can_sign = context != nullptr &&
                        EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
                        EVP_DigestSign(context.get(), nullptr, &size, bytes, token.size()) == 1;
  std::string signature(size, '\0');
  if (!can_sign || EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                  bytes, token.size()) != 1) {
    return absl::InternalError(fmt::format("OpenSSL cannot sign with the key {}", Printable(id_)));
  }
  signature.resize(size);
  return token + "." + Base64UrlOf(signature);
}

}  // namespace sonde
