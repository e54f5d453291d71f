#include "access/sessions/web_sessions.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace sonde {
namespace {

class WebSessionsTest : public ::testing::Test {
 protected:
  std::string Begin(const std::string& token_id) { return sessions_.Begin(token_id, Sha256(token_id), now_); }

  WebSessions sessions_;
  absl::Time now_ = absl::FromUnixSeconds(1'795'593'600);
};

TEST_F(WebSessionsTest, AreKnownByTheirSecretUntilTheyEnd) {
  const std::string secret = Begin("t");
  EXPECT_EQ(secret.size(), WebSessions::kSecretBytes);
  const auto found = sessions_.Find(secret, now_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token_id, "t");
  EXPECT_EQ(found->token_sha256, Sha256("t"));
  EXPECT_EQ(found->until, now_ + absl::Hours(12));
  EXPECT_TRUE(sessions_.Find(secret, now_ + absl::Hours(12) - absl::Nanoseconds(1)).has_value());
  EXPECT_FALSE(sessions_.Find(secret, now_ + absl::Hours(12)).has_value());
  sessions_.End(secret);
  EXPECT_FALSE(sessions_.Find(secret, now_).has_value());
  sessions_.End(secret);
}

TEST_F(WebSessionsTest, AreKnownByNothingElse) {
  std::string secret = Begin("t");
  EXPECT_FALSE(sessions_.Find("", now_).has_value());
  EXPECT_FALSE(sessions_.Find(secret + "A", now_).has_value());
  EXPECT_FALSE(sessions_.Find(secret.substr(1), now_).has_value());
  secret[20] = secret[20] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(sessions_.Find(secret, now_).has_value());
}

TEST_F(WebSessionsTest, HaveSecretsThatDiffer) {
  std::set<std::string> secrets;
  for (int i = 0; i < 100; ++i) secrets.insert(Begin("t" + std::to_string(i)));
  EXPECT_EQ(secrets.size(), 100U);
}

TEST_F(WebSessionsTest, OfOneTokenMakeRoomForEachOtherAlone) {
  const std::string other = Begin("other");
  std::vector<std::string> secrets;
  for (size_t i = 0; i < WebSessions::kSessionsOfATokenMax + 2; ++i) secrets.push_back(Begin("t"));
  EXPECT_EQ(sessions_.size(), WebSessions::kSessionsOfATokenMax + 1);
  EXPECT_FALSE(sessions_.Find(secrets[0], now_).has_value());
  EXPECT_FALSE(sessions_.Find(secrets[1], now_).has_value());
  EXPECT_TRUE(sessions_.Find(secrets[2], now_).has_value());
  EXPECT_TRUE(sessions_.Find(other, now_).has_value());
}

TEST_F(WebSessionsTest, AreBoundedAndForgottenOnceTheyHaveEnded) {
  const std::string first = Begin("first");
  for (size_t i = 1; i < WebSessions::kSessionsMax; ++i) Begin(std::to_string(i / 10));
  EXPECT_EQ(sessions_.size(), WebSessions::kSessionsMax);
  EXPECT_TRUE(sessions_.Find(first, now_).has_value());
  Begin("last");
  EXPECT_EQ(sessions_.size(), WebSessions::kSessionsMax);
  EXPECT_FALSE(sessions_.Find(first, now_).has_value());
  now_ += WebSessions::kLife;
  Begin("new");
  EXPECT_EQ(sessions_.size(), 1U);
}

}  // namespace
}  // namespace sonde
