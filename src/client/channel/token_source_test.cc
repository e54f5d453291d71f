#include "client/channel/token_source.h"

#include <gtest/gtest.h>

#include "identity/check/file_authenticator.h"
#include "identity/proof/service_key.h"
#include "identity/proof/signed_token.h"

namespace sonde {
namespace {

constexpr char kData[] = "https://127.0.0.1:8086/google.bigtable.v2.Bigtable";
constexpr char kAdmin[] = "https://127.0.0.1:8086/google.bigtable.admin.v2.BigtableTableAdmin";

class TokenSourceTest : public ::testing::Test {
 protected:
  std::string AudienceOf(const std::string& token) { return ParseSignedToken(token)->audiences->front(); }

  const NewServiceKey issued_ = *MakeServiceKey("ingest@sonde.local", "p");
  ManualClock clock_{1'795'593'600'000'000};
  TokenSource tokens_{*SigningKey::FromKeyFile(issued_.file), &clock_};
};

TEST_F(TokenSourceTest, ProvesTheAccountToSonde) {
  AuthConfig config;
  config.accounts.push_back(
      {.email = "ingest@sonde.local",
       .keys = {{.id = issued_.id, .created = absl::UnixEpoch(), .public_key = issued_.public_key}}});
  const auto authenticator = FileAuthenticator::Create(config);
  for (const char* service : {kData, kAdmin}) {
    const std::string authorization = "Bearer " + *tokens_.TokenFor(service);
    const auto principal = authenticator->Authenticate({.authorization = authorization},
                                                       absl::FromUnixMicros(clock_.NowMicros()), nullptr);
    ASSERT_TRUE(principal.ok()) << principal.status();
    EXPECT_EQ((*principal)->member, "serviceAccount:ingest@sonde.local");
  }
}

TEST_F(TokenSourceTest, NamesTheAudienceOfTheService) {
  EXPECT_EQ(AudienceOf(*tokens_.TokenFor(kData)), "https://bigtable.googleapis.com/");
  EXPECT_EQ(AudienceOf(*tokens_.TokenFor(kAdmin)), "https://bigtableadmin.googleapis.com/");
}

TEST_F(TokenSourceTest, HoldsATokenUntilShortlyBeforeItsEnd) {
  const std::string first = *tokens_.TokenFor(kData);
  clock_.Advance(absl::ToInt64Microseconds(absl::Minutes(55)) - 1);
  EXPECT_EQ(*tokens_.TokenFor(kData), first);
  clock_.Advance(1);
  const std::string second = *tokens_.TokenFor(kData);
  EXPECT_NE(second, first);
  EXPECT_EQ(ParseSignedToken(second)->issued_seconds, clock_.NowMicros() / 1'000'000);
}

TEST_F(TokenSourceTest, SignsAnewWhenTheClockWasSetBack) {
  const std::string first = *tokens_.TokenFor(kData);
  clock_.Advance(-1'000'000);
  EXPECT_NE(*tokens_.TokenFor(kData), first);
}

}  // namespace
}  // namespace sonde
