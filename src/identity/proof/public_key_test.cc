#include "identity/proof/public_key.h"

#include <gtest/gtest.h>

#include "identity/proof/base64_text.h"

namespace sonde {
namespace {

// RFC 8037, appendix A: the key and the signed text of its example.
constexpr char kEd25519Pem[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";
constexpr char kEd25519Text[] = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
constexpr char kEd25519Signature[] =
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

// RFC 7515, appendix A.3, whose key is here in PEM form.
constexpr char kP256Pem[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
    "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
    "-----END PUBLIC KEY-----\n";
constexpr char kP256Text[] =
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
constexpr char kP256Signature[] =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

std::string BytesOf(std::string_view text) { return BytesOfBase64Url(text).value(); }

TEST(PublicKey, VerifiesTheExampleOfEd25519) {
  const auto key = PublicKey::FromPem(KeyAlgorithm::kEdDsa, kEd25519Pem);
  ASSERT_TRUE(key.ok()) << key.status();
  std::string signature = BytesOf(kEd25519Signature);
  EXPECT_TRUE((*key)->Verifies(kEd25519Text, signature));
  EXPECT_FALSE((*key)->Verifies("another text", signature));
  signature[5] ^= 1;
  EXPECT_FALSE((*key)->Verifies(kEd25519Text, signature));
  EXPECT_FALSE((*key)->Verifies(kEd25519Text, ""));
}

TEST(PublicKey, VerifiesTheExampleOfP256) {
  const auto key = PublicKey::FromPem(KeyAlgorithm::kEs256, kP256Pem);
  ASSERT_TRUE(key.ok()) << key.status();
  const std::string signature = BytesOf(kP256Signature);
  EXPECT_TRUE((*key)->Verifies(kP256Text, signature));
  EXPECT_FALSE((*key)->Verifies(kP256Text, signature + "x"));
  EXPECT_FALSE((*key)->Verifies(kP256Text, std::string(64, '\0')));
  EXPECT_FALSE((*key)->Verifies(kP256Text, std::string(64, '\xFF')));
  EXPECT_FALSE((*key)->Verifies(kP256Text, ""));
}

TEST(PublicKey, FitsItsAlgorithm) {
  EXPECT_FALSE(PublicKey::FromPem(KeyAlgorithm::kRs256, kP256Pem).ok());
  EXPECT_FALSE(PublicKey::FromPem(KeyAlgorithm::kEs256, kEd25519Pem).ok());
  EXPECT_FALSE(PublicKey::FromPem(KeyAlgorithm::kEdDsa, kP256Pem).ok());
  EXPECT_FALSE(PublicKey::FromPem(KeyAlgorithm::kEdDsa, "").ok());
  EXPECT_EQ(PublicKey::FromPem(KeyAlgorithm::kEdDsa, std::string(9000, 'a')).status(),
            absl::InvalidArgumentError("the key has 9000 bytes; allowed are 8192"));
  EXPECT_EQ(AlgorithmOfName("HS256"), std::nullopt);
  EXPECT_EQ(AlgorithmOfName("EdDSA"), KeyAlgorithm::kEdDsa);
}

TEST(PublicKey, HasOneSpelling) {
  const auto key =
      PublicKey::FromPem(KeyAlgorithm::kEdDsa, "a comment\n" + std::string(kEd25519Pem) + "\n\n");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ((*key)->pem(), kEd25519Pem);
}

}  // namespace
}  // namespace sonde
