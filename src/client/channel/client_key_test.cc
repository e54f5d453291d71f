#include "client/channel/client_key.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "identity/proof/service_key.h"

namespace sonde {
namespace {

class ClientKeyTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/client_key_" + std::to_string(getpid()) + "_" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string WriteKey(const std::string& email) { return Write(email, MakeServiceKey(email, "p")->file); }
  // The account's email, "none", or the error.
  static std::string Find(const KeySources& sources, const std::string& endpoint) {
    const auto key = FindClientKey(sources, *ParseEndpoint(endpoint, false));
    if (!key.ok()) return std::string(key.status().message());
    return *key == nullptr ? "none" : (*key)->email();
  }

  const std::string a_ = WriteKey("a@sonde.local"), b_ = WriteKey("b@sonde.local"),
                    google_ = WriteKey("c@p.iam.gserviceaccount.com"),
                    user_ = Write("user", R"({"type": "authorized_user"})");
};

TEST_F(ClientKeyTest, GoesFromTheNamedFileToTheDefaultOne) {
  EXPECT_EQ(Find({a_, b_, b_}, "https://127.0.0.1:1"), "a@sonde.local");
  EXPECT_EQ(Find({"", a_, b_}, "https://127.0.0.1:1"), "a@sonde.local");
  EXPECT_EQ(Find({"", std::nullopt, a_}, "db:1"), "a@sonde.local");
  EXPECT_EQ(Find({"", std::nullopt, ""}, "db:1"), "none");
}

TEST_F(ClientKeyTest, TakesWithoutTlsOnlyTheNamedFileAndOnlyOnLoopback) {
  EXPECT_EQ(Find({"", a_, b_}, "127.0.0.1:1"), "none");
  EXPECT_EQ(Find({a_, std::nullopt, ""}, "127.0.0.1:1"), "a@sonde.local");
  EXPECT_EQ(Find({a_, std::nullopt, ""}, "http://10.0.0.7:1"),
            "the key " + a_ + " is not shown to 10.0.0.7:1 without TLS");
}

TEST_F(ClientKeyTest, ShowsKeysOfGoogleToGoogleAlone) {
  const std::string refused =
      google_ +
      " is a key of Google's, of the account c@p.iam.gserviceaccount.com: it is not shown to "
      "db:1, which could use its tokens at Google; give --key-file with a key that `sonde auth "
      "create-key` made";
  EXPECT_EQ(Find({google_, std::nullopt, ""}, "db:1"), refused);
  EXPECT_EQ(Find({"", google_, ""}, "db:1"), refused);
  EXPECT_EQ(Find({"", std::nullopt, google_}, "db:1"), "none");
  EXPECT_EQ(Find({"", google_, ""}, "bigtable.googleapis.com:443"), "c@p.iam.gserviceaccount.com");
}

TEST_F(ClientKeyTest, SaysWhichNamedFileCannotBeUsed) {
  EXPECT_EQ(
      Find({"", user_, ""}, "db:1"),
      user_ +
          ": the key file is of the type 'authorized_user'; supported is 'service_account', whose key signs "
          "tokens by itself");
  EXPECT_EQ(Find({"", std::nullopt, user_}, "db:1"), "none");
  EXPECT_EQ(Find({"/nowhere", std::nullopt, ""}, "db:1"), "cannot read /nowhere: No such file or directory");
  EXPECT_EQ(Find({::testing::TempDir(), std::nullopt, ""}, "db:1"),
            "cannot read " + ::testing::TempDir() + ": Is a directory");
  const std::string large = Write("large", std::string(kKeyFileBytesMax + 1, ' '));
  EXPECT_EQ(Find({large, std::nullopt, ""}, "db:1"), large + " has more than 65536 bytes");
}

}  // namespace
}  // namespace sonde
