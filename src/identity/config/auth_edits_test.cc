#include "identity/config/auth_edits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "identity/proof/digest.h"

namespace sonde {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'795'593'600) + absl::Milliseconds(250);

TEST(AuthEdits, AddKeysToAccountsUpToTheBound) {
  AuthConfig config;
  const auto key = AddServiceKey(&config, "ingest", "p", kNow);
  ASSERT_TRUE(key.ok());
  ASSERT_EQ(config.accounts.size(), 1);
  EXPECT_EQ(config.accounts[0].email, "ingest@sonde.local");
  EXPECT_EQ(config.accounts[0].keys[0].id, key->id);
  EXPECT_EQ(config.accounts[0].keys[0].created, absl::FromUnixSeconds(1'795'593'600));
  while (config.accounts[0].keys.size() < kAuthKeysPerAccountMax) {
    config.accounts[0].keys.push_back(config.accounts[0].keys[0]);
  }
  EXPECT_EQ(
      AddServiceKey(&config, "ingest", "p", kNow).status(),
      absl::ResourceExhaustedError("account ingest@sonde.local has 10 already, as many as are allowed"));
  EXPECT_EQ(AddServiceKey(&config, "In", "p", kNow).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AddServiceKey(&config, "in", "p/q", kNow).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(config.accounts.size(), 1);
}

TEST(AuthEdits, KeepTheDigestOfATokenOnly) {
  AuthConfig config;
  const auto token = AddStaticToken(&config, "user:a@b", kNow + absl::Hours(1), kNow);
  ASSERT_TRUE(token.ok());
  ASSERT_EQ(config.tokens.size(), 1);
  EXPECT_EQ(token->text.substr(0, 19), fmt::format("sonde_{}_", token->id));
  EXPECT_EQ(token->text.size(), 62);
  EXPECT_EQ(config.tokens[0].sha256, Sha256(token->text));
  EXPECT_EQ(config.tokens[0].expires, absl::FromUnixSeconds(1'795'597'200));
  EXPECT_NE(AddStaticToken(&config, "user:a@b", std::nullopt, kNow)->text, token->text);
  EXPECT_FALSE(AddStaticToken(&config, "user:a@b", kNow, kNow).ok());
  EXPECT_FALSE(AddStaticToken(&config, "group:a", std::nullopt, kNow).ok());
}

TEST(AuthEdits, RevokeKeysAndTokensByTheirIds) {
  AuthConfig config;
  const auto key = AddServiceKey(&config, "ingest", "p", kNow);
  const auto token = AddStaticToken(&config, "user:a@b", std::nullopt, kNow);
  ASSERT_TRUE(key.ok() && token.ok());
  EXPECT_EQ(*RevokeProof(&config, key->id), "serviceAccount:ingest@sonde.local");
  EXPECT_EQ(*RevokeProof(&config, token->id), "user:a@b");
  EXPECT_TRUE(config.accounts[0].keys.empty());
  EXPECT_TRUE(config.tokens.empty());
  EXPECT_EQ(RevokeProof(&config, key->id).status(),
            absl::NotFoundError(fmt::format("no key and no token has the id '{}'", key->id)));
}

TEST(AuthEdits, GrantAndTakeAwayRoles) {
  AuthConfig config;
  EXPECT_TRUE(AddBinding(&config, "user:a@b", "roles/bigtable.reader", std::nullopt).ok());
  EXPECT_TRUE(AddBinding(&config, "user:c@d", "roles/bigtable.reader", std::nullopt).ok());
  EXPECT_TRUE(AddBinding(&config, "user:a@b", "roles/bigtable.reader", "p").ok());
  ASSERT_EQ(config.bindings.size(), 2);
  EXPECT_EQ(config.bindings[0].members, (std::vector<std::string>{"user:a@b", "user:c@d"}));
  EXPECT_EQ(config.bindings[1].project, "p");
  EXPECT_EQ(AddBinding(&config, "user:a@b", "roles/bigtable.reader", "p"),
            absl::AlreadyExistsError("user:a@b has roles/bigtable.reader on project p already"));
  EXPECT_TRUE(RemoveBinding(&config, "user:a@b", "roles/bigtable.reader", "p").ok());
  EXPECT_EQ(config.bindings.size(), 1);
  EXPECT_EQ(RemoveBinding(&config, "user:a@b", "roles/bigtable.reader", "p"),
            absl::NotFoundError("user:a@b has no roles/bigtable.reader on project p"));
}

TEST(AuthEdits, GrantNothingThatIsNotThere) {
  AuthConfig config;
  EXPECT_EQ(AddBinding(&config, "group:g", "roles/bigtable.reader", std::nullopt),
            absl::NotFoundError("'group:g' is no group of the authentication file"));
  EXPECT_EQ(AddBinding(&config, "user:a@b", "projects/p/roles/r", std::nullopt),
            absl::NotFoundError("'projects/p/roles/r' is no role of the authentication file"));
  EXPECT_EQ(AddBinding(&config, "user:a@b", "reader", std::nullopt).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AddBinding(&config, "allUsers", "roles/bigtable.reader", std::nullopt).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(config.bindings.empty());
}

}  // namespace
}  // namespace sonde
