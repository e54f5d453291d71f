#include "identity/proof/service_key.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "identity/proof/digest.h"

namespace sonde {
namespace {

constexpr size_t kKeyIdBytes = 20;
constexpr int kClientIdDigits = 21;
constexpr char kTokenUri[] = "https://sonde.invalid/token";

struct PrivateKeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct WipedBioDeleter {
  void operator()(BIO* bio) const {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);  // NOLINT(google-runtime-int): OpenSSL's
    if (size > 0) OPENSSL_cleanse(bytes, static_cast<size_t>(size));
    BIO_free(bio);
  }
};
using WipedBio = std::unique_ptr<BIO, WipedBioDeleter>;

template <typename WriteKey>
std::string PemFrom(const WriteKey& write) {
  const WipedBio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return "";
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);  // NOLINT(google-runtime-int): OpenSSL's
  return {bytes, static_cast<size_t>(size)};
}

// Java's client asks that there is one; nobody looks at it.
std::string MakeClientId() {
  std::string digits = RandomBytes(kClientIdDigits);
  for (char& digit : digits) digit = static_cast<char>('0' + static_cast<uint8_t>(digit) % 10);
  return digits;
}

}  // namespace

absl::StatusOr<NewServiceKey> MakeServiceKey(std::string_view email, std::string_view project) {
  const std::unique_ptr<EVP_PKEY, PrivateKeyDeleter> key(EVP_RSA_gen(kRsaBitsMin));
  if (key == nullptr) return absl::InternalError("OpenSSL cannot make an RSA key");
  std::string private_pem = PemFrom([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  const std::string public_pem = PemFrom([&](BIO* bio) { return PEM_write_bio_PUBKEY(bio, key.get()); });
  if (private_pem.empty()) return absl::InternalError("OpenSSL cannot write the key");
  auto public_key = PublicKey::FromPem(KeyAlgorithm::kRs256, public_pem);
  if (!public_key.ok()) return absl::InternalError(std::string(public_key.status().message()));
  NewServiceKey result{
      .id = HexOf(RandomBytes(kKeyIdBytes)), .public_key = *std::move(public_key), .file = {}};
  nlohmann::ordered_json file = {{"type", "service_account"},   {"project_id", project},
                                 {"private_key_id", result.id}, {"private_key", private_pem},
                                 {"client_email", email},       {"client_id", MakeClientId()},
                                 {"token_uri", kTokenUri}};
  result.file = file.dump(2) + "\n";
  Wipe(&private_pem);
  Wipe(file["private_key"].get_ptr<std::string*>());
  return result;
}

}  // namespace sonde
