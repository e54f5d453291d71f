#include "identity/config/auth_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "identity/proof/service_key.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const PublicKey> SomeKey() { return MakeServiceKey("a@sonde.local", "p")->public_key; }

AuthConfig SomeConfig() {
  static const std::shared_ptr<const PublicKey>* const key = new std::shared_ptr<const PublicKey>(SomeKey());
  AuthConfig config;
  config.accounts = {{.email = "a@sonde.local", .keys = {{.id = "k1", .public_key = *key}}}};
  config.tokens = {{.id = "t1", .sha256 = Sha256("secret"), .member = "user:a@b"}};
  config.groups = {{.name = "g", .members = {"user:a@b"}}};
  config.roles = {{.name = "projects/p/roles/r", .permissions = {"bigtable.tables.readRows"}}};
  config.bindings = {{.role = "roles/bigtable.reader", .members = {"group:g"}, .project = std::nullopt}};
  config.certificates = {{CertificateNameKind::kEmail, "a@b", "user:a@b"}};
  config.limits = {{.members = {}, .reads_per_second = 1}};
  return config;
}

std::vector<AuthChange> After(const std::function<void(AuthConfig*)>& change) {
  AuthConfig now = SomeConfig();
  change(&now);
  return ChangesBetween(SomeConfig(), now);
}

TEST(AuthChanges, EqualFilesHaveNone) {
  EXPECT_THAT(After([](AuthConfig*) {}), ElementsAre());
  EXPECT_THAT(ChangesBetween({}, {}), ElementsAre());
}

TEST(AuthChanges, NamesEachPartThatCameWentOrChanged) {
  const std::string account = "serviceAccount:a@sonde.local";
  EXPECT_THAT(
      After([](AuthConfig* c) { c->accounts[0].keys.push_back({.id = "k2", .public_key = SomeKey()}); }),
      ElementsAre(AuthChange{"key k2 of " + account, "added"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->accounts[0].keys[0].public_key = SomeKey(); }),
              ElementsAre(AuthChange{"key k1 of " + account, "changed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->accounts.clear(); }),
              ElementsAre(AuthChange{"account " + account, "removed"},
                          AuthChange{"key k1 of " + account, "removed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->tokens.clear(); }),
              ElementsAre(AuthChange{"token t1 of user:a@b", "removed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->tokens[0].sha256 = Sha256("another"); }),
              ElementsAre(AuthChange{"token t1 of user:a@b", "changed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->groups[0].members.emplace_back("user:c@d"); }),
              ElementsAre(AuthChange{"user:c@d in group:g", "added"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->roles[0].permissions.emplace_back("bigtable.tables.get"); }),
              ElementsAre(AuthChange{"role projects/p/roles/r", "changed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->bindings[0].project = "p"; }),
              ElementsAre(AuthChange{"roles/bigtable.reader of group:g on projects/p", "added"},
                          AuthChange{"roles/bigtable.reader of group:g on the server", "removed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->certificates[0].member = "user:c@d"; }),
              ElementsAre(AuthChange{"certificate a@b", "changed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->limits[0].reads_per_second = 2; }),
              ElementsAre(AuthChange{"the limits of callers", "changed"}));
  EXPECT_THAT(After([](AuthConfig* c) { c->accept_google_accounts = true; }),
              ElementsAre(AuthChange{"tokens of Google's accounts", "added"}));
}

}  // namespace
}  // namespace sonde
