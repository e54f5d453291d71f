#include "identity/config/auth_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "identity/proof/service_key.h"

namespace sonde {
namespace {

const NewServiceKey& TheServiceKey() {
  static const NewServiceKey* const key = new NewServiceKey(*MakeServiceKey("a@sonde.local", "p"));
  return *key;
}

std::string ErrorOf(std::string_view text) {
  const auto config = ParseAuthText(text, "auth.yaml");
  if (config.ok()) return "";
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

AuthConfig FullConfig() {
  const absl::Time created = absl::FromUnixSeconds(1'795'593'600);
  AuthConfig config;
  config.accept_google_accounts = true;
  config.audiences = {"https://sonde.example.com/", "yes"};
  config.accounts = {{.email = "no@sonde.local",
                      .keys = {{.id = "k1", .created = created, .public_key = TheServiceKey().public_key}}},
                     {.email = "x@p.iam.gserviceaccount.com", .keys = {}}};
  config.tokens = {{.id = "0123", .sha256 = Sha256("t"), .member = "user:a@example.com", .created = created},
                   {.id = "4567",
                    .sha256 = Sha256("u"),
                    .member = "principal:spiffe://e/\"quoted\" \\ and: more #",
                    .created = created,
                    .expires = created + absl::Hours(1)}};
  config.groups = {{.name = "writers", .members = {"user:a@example.com"}}, {.name = "null", .members = {}}};
  config.roles = {
      {.name = "projects/p/roles/r", .title = "Reads", .permissions = {"bigtable.tables.readRows"}}};
  config.bindings = {
      {.role = "projects/p/roles/r", .members = {"group:writers"}, .project = "p"},
      {.role = "roles/bigtable.admin", .members = {"user:a@example.com"}, .project = std::nullopt}};
  config.certificates = {{CertificateNameKind::kUri, "spiffe://e/i", "user:a@example.com"},
                         {CertificateNameKind::kEmail, "a@example.com", "user:a@example.com"},
                         {CertificateNameKind::kSubject, "CN=a, O=\u00C4", "user:a@example.com"}};
  config.limits = {
      {.members = {"group:writers", "user:a@example.com"}, .reads_per_second = 1, .running_calls = 4},
      {.members = {}, .writes_per_second = 2, .bytes_per_second = kAuthLimitMax}};
  return config;
}

TEST(AuthText, IsReadAsItWasWritten) {
  const auto read = ParseAuthText(WriteAuthText(FullConfig()), "x");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, FullConfig());
  EXPECT_EQ(WriteAuthText(*read), WriteAuthText(FullConfig()));
}

TEST(AuthText, SaysWhichLimitIsNone) {
  EXPECT_EQ(
      ErrorOf("limits:\n  - {reads_per_second: 0}\n"),
      "auth.yaml:2: 'reads_per_second' of a limit is '0'; allowed: a whole number from 1 to 1000000000000");
  EXPECT_EQ(ErrorOf("limits:\n  - {members: [], running_calls: 1}\n"),
            "auth.yaml:2: 'members' of a limit is empty: leave it out, which means everybody else");
  EXPECT_EQ(ErrorOf("limits:\n  - {members: [\"group:none\"], running_calls: 1}\n"),
            "auth.yaml:2: 'group:none' is no group of this file");
}

TEST(AuthText, MayBeEmpty) {
  EXPECT_EQ(*ParseAuthText("", "x"), AuthConfig{});
  EXPECT_EQ(*ParseAuthText("# nobody yet\n", "x"), AuthConfig{});
  EXPECT_EQ(*ParseAuthText(WriteAuthText({}), "x"), AuthConfig{});
}

TEST(AuthText, RefusesUnknownKeysByTheirLine) {
  EXPECT_EQ(ErrorOf("tokens: []\nwhat: 1\n"),
            "auth.yaml:2: unknown key 'what' in the authentication file; allowed: accept_google_accounts, "
            "audiences, "
            "accounts, tokens, groups, roles, bindings, certificates, limits");
  EXPECT_EQ(ErrorOf("groups:\n  - name: a\n    members: []\n    color: red\n"),
            "auth.yaml:4: unknown key 'color' in a group; allowed: name, members");
}

TEST(AuthText, TellsAllProblemsByTheirLines) {
  EXPECT_EQ(
      ErrorOf("accept_google_accounts: perhaps\n"
              "groups:\n"
              "  - {name: A, members: [allUsers, 'group:b']}\n"
              "bindings:\n"
              "  - {role: admin, members: ['group:c']}\n"),
      "auth.yaml:1: 'accept_google_accounts' of the authentication file is 'perhaps'; allowed: true, false\n"
      "auth.yaml:3: group 'A' must be 1 to 64 of a-z, 0-9 and - . _, the first and the last a letter or "
      "digit\n"
      "auth.yaml:3: member 'allUsers' is everybody, to whom nothing is granted\n"
      "auth.yaml:3: member 'group:b' must be serviceAccount:EMAIL, user:EMAIL, principal:TEXT or "
      "principalSet:TEXT, of up to 512 bytes\n"
      "auth.yaml:3: 'group:b' is no group of this file\n"
      "auth.yaml:5: role 'admin' must be roles/NAME or projects/PROJECT/roles/NAME\n"
      "auth.yaml:5: 'group:c' is no group of this file");
}

TEST(AuthText, RefusesWhatIsMissing) {
  EXPECT_EQ(ErrorOf("tokens:\n  - id: abc\n"),
            "auth.yaml:2: a token has no 'member'\n"
            "auth.yaml:2: a token has no 'sha256'\n"
            "auth.yaml:2: a token has no 'created'");
  EXPECT_EQ(ErrorOf("certificates:\n  - {member: 'user:a@b'}\n"),
            "auth.yaml:2: a certificate has one of 'uri', 'email', 'subject'; this has 0");
}

TEST(AuthText, RefusesKeysThatDoNotFitTheirAlgorithm) {
  const auto with = [](std::string_view algorithm, std::string_view pem) {
    std::string indented(pem);
    for (size_t at = 0; (at = indented.find('\n', at)) != std::string::npos; at += 10)
      indented.insert(at + 1, 9, ' ');
    return fmt::format(
        "accounts:\n  - email: a@sonde.local\n    keys:\n      - id: k\n        algorithm: {}\n"
        "        created: 2026-11-25T08:00:00Z\n        public_key: |\n         {}\n",
        algorithm, indented);
  };
  const std::string& pem = TheServiceKey().public_key->pem();
  EXPECT_EQ(ErrorOf(with("RS256", pem)), "");
  EXPECT_EQ(ErrorOf(with("ES256", pem)),
            "auth.yaml:7: ES256 takes a key of the curve P-256, which this is not");
  EXPECT_EQ(ErrorOf(with("EdDSA", pem)), "auth.yaml:7: EdDSA takes an Ed25519 key, which this is not");
  EXPECT_EQ(ErrorOf(with("HS256", pem)),
            "auth.yaml:5: the algorithm is 'HS256'; known are RS256, ES256, EdDSA");
  EXPECT_EQ(ErrorOf(with("none", pem)),
            "auth.yaml:5: the algorithm is 'none'; known are RS256, ES256, EdDSA");
  EXPECT_EQ(ErrorOf(with("RS256", "-----BEGIN PRIVATE KEY-----")),
            "auth.yaml:7: the text is no public key in PEM form (-----BEGIN PUBLIC KEY-----)");
}

TEST(AuthText, RefusesNamesThatComeTwice) {
  const std::string token = fmt::format(
      "{{id: abc, sha256: {}, member: 'user:a@b', created: '2026-11-25T08:00:00Z'}}", std::string(64, '0'));
  EXPECT_EQ(ErrorOf(fmt::format("tokens:\n  - {}\n  - {}\n", token, token)),
            "auth.yaml:3: the id 'abc' comes twice");
  EXPECT_EQ(ErrorOf("accounts:\n  - email: a@b\n  - email: a@b\n"), "auth.yaml:3: account 'a@b' comes twice");
  EXPECT_EQ(ErrorOf("certificates:\n  - {uri: 'spiffe://a', member: 'user:a@b'}\n"
                    "  - {uri: 'spiffe://a', member: 'user:c@d'}\n"),
            "auth.yaml:3: certificate 'uri:spiffe://a' comes twice");
}

TEST(AuthText, RefusesAccountsOfGoogleUnlessTheyAreAsked) {
  const std::string account = "accounts:\n  - email: x@p.iam.gserviceaccount.com\n";
  EXPECT_NE(ErrorOf(account).find("auth.yaml:2: account 'x@p.iam.gserviceaccount.com' is one of Google's"),
            std::string::npos);
  EXPECT_EQ(ErrorOf("accept_google_accounts: true\n" + account), "");
}

TEST(AuthText, RefusesWhatIsNoYaml) {
  EXPECT_EQ(ErrorOf("a: [").substr(0, 10), "auth.yaml:");
  EXPECT_EQ(ErrorOf("- a").substr(0, 12), "auth.yaml:1:");
  EXPECT_EQ(ErrorOf(std::string(kAuthFileBytesMax + 1, ' ')),
            "auth.yaml has 16777217 bytes; allowed are 16777216");
}

// yaml-cpp writes another character in their place: the file would not say what it said.
TEST(AuthText, RefusesTextsThatAreNotUtf8) {
  EXPECT_EQ(ErrorOf("audiences: ['https://\xE9/']"),
            "auth.yaml:1: an audience must be a printable text of up to 512 bytes");
  EXPECT_EQ(ErrorOf("certificates: [{subject: 'CN=\xE9', member: 'user:a@b'}]"),
            "auth.yaml:1: the name of a certificate must be printable, of up to 512 bytes");
}

TEST(AuthText, RefusesMoreThanItsBounds) {
  std::string text = "audiences:\n";
  for (size_t i = 0; i <= kAuthAudiencesMax; ++i) text += "  - a\n";
  EXPECT_EQ(ErrorOf(text), "auth.yaml:2: 'audiences' has 101 entries; allowed are 100");
}

}  // namespace
}  // namespace sonde
