#include "identity/proof/signing_key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "identity/proof/service_key.h"
#include "identity/proof/signed_token.h"

namespace sonde {
namespace {

using Json = nlohmann::json;

const NewServiceKey& IssuedKey() {
  static const NewServiceKey key = *MakeServiceKey("ingest@sonde.local", "p");
  return key;
}

TEST(SigningKey, SignsWhatTheIssuedPublicKeyVerifies) {
  const auto key = SigningKey::FromKeyFile(IssuedKey().file);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ((*key)->email(), "ingest@sonde.local");
  EXPECT_EQ((*key)->id(), IssuedKey().id);
  const auto text = (*key)->SignToken("https://bigtable.googleapis.com/", absl::FromUnixSeconds(1'000));
  ASSERT_TRUE(text.ok()) << text.status();
  const auto token = ParseSignedToken(*text);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_TRUE(IssuedKey().public_key->Verifies(token->signed_text, token->signature));
  EXPECT_EQ(token->algorithm, "RS256");
  EXPECT_EQ(token->key_id, IssuedKey().id);
  EXPECT_EQ(token->issuer, "ingest@sonde.local");
  EXPECT_EQ(token->subject, "ingest@sonde.local");
  EXPECT_EQ(token->audiences, std::vector<std::string>{"https://bigtable.googleapis.com/"});
  EXPECT_EQ(token->issued_seconds, 1'000);
  EXPECT_EQ(token->expires_seconds, 4'600);
}

TEST(SigningKey, SaysWhichMemberOfAFileIsWrong) {
  const auto without = [](const char* member) {
    Json file = Json::parse(IssuedKey().file);
    file.erase(member);
    return SigningKey::FromKeyFile(file.dump()).status();
  };
  for (const char* member : {"type", "client_email", "private_key_id", "private_key"}) {
    EXPECT_EQ(without(member),
              absl::InvalidArgumentError("the key file has no text '" + std::string(member) + "'"));
  }
  for (const char* text : {"", "[]", "{\"type\":", "null"}) {
    EXPECT_EQ(SigningKey::FromKeyFile(text).status(),
              absl::InvalidArgumentError("the key file is no JSON object"));
  }
}

TEST(SigningKey, RefusesFilesOfOtherTypes) {
  EXPECT_EQ(SigningKey::FromKeyFile(R"({"type": "authorized_user", "refresh_token": "r"})").status(),
            absl::UnimplementedError("the key file is of the type 'authorized_user'; supported is "
                                     "'service_account', whose key signs tokens by itself"));
}

TEST(SigningKey, RefusesKeysThatAreNoRsaKeysAndSaysNothingOfThem) {
  Json file = Json::parse(IssuedKey().file);
  const absl::Status wrong = absl::InvalidArgumentError(
      "'private_key' of the key file must be an RSA key of 2048 to 8192 bits in PEM, without a pass phrase");
  const std::string pem = file["private_key"];
  const char kEllipticKey[] =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
      "-----END PRIVATE KEY-----\n";
  for (const std::string& text :
       {std::string("secret"), pem.substr(0, pem.size() / 2), std::string(kEllipticKey)}) {
    file["private_key"] = text;
    EXPECT_EQ(SigningKey::FromKeyFile(file.dump()).status(), wrong);
  }
}

}  // namespace
}  // namespace sonde
