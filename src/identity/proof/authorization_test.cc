#include "identity/proof/authorization.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

// "SCHEME token", or the error.
std::string Parsed(std::string_view header) {
  Authorization authorization;
  const absl::Status status = ParseAuthorization(header, &authorization);
  if (!status.ok()) return std::string(status.message());
  const char* const names[] = {"bearer", "token", "basic"};
  return std::string(names[static_cast<int>(authorization.scheme)]) + " " + std::string(authorization.token);
}

TEST(ParseAuthorization, KnowsThreeSchemes) {
  EXPECT_EQ(Parsed("Bearer abc"), "bearer abc");
  EXPECT_EQ(Parsed("BEARER abc"), "bearer abc");
  EXPECT_EQ(Parsed("Token abc"), "token abc");
  EXPECT_EQ(Parsed("Basic dXNlcjpwYXNz"), "basic pass");
  EXPECT_EQ(Parsed("Basic OmE6Yg=="), "basic a:b");
}

TEST(ParseAuthorization, RefusesOthersWithoutSayingThem) {
  EXPECT_EQ(Parsed("Digest secret"), "'authorization' is none of Bearer, Token, Basic");
  EXPECT_EQ(Parsed("secret"), "'authorization' is none of Bearer, Token, Basic");
  EXPECT_EQ(Parsed("Bearer"), "'authorization' has no token");
  EXPECT_EQ(Parsed("Basic dXNlcg=="), "'authorization: Basic' is not base64 of user:password");
  EXPECT_EQ(Parsed("Basic dXNlcjpwYXNz="), "'authorization: Basic' is not base64 of user:password");
  EXPECT_EQ(Parsed("Bearer " + std::string(9000, 'a')), "'authorization' has 9007 bytes; allowed are 8192");
}

}  // namespace
}  // namespace sonde
