#include "identity/proof/service_key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sonde {
namespace {

TEST(MakeServiceKey, WritesWhatAllClientsRead) {
  const auto key = MakeServiceKey("ingest@sonde.local", "p");
  ASSERT_TRUE(key.ok());
  const nlohmann::json file = nlohmann::json::parse(key->file);
  EXPECT_EQ(file["type"], "service_account");
  EXPECT_EQ(file["client_email"], "ingest@sonde.local");
  EXPECT_EQ(file["project_id"], "p");
  EXPECT_EQ(file["private_key_id"], key->id);
  EXPECT_EQ(key->id.size(), 40);
  EXPECT_EQ(file["client_id"].get<std::string>().size(), 21);
  EXPECT_EQ(file["private_key"].get<std::string>().substr(0, 28), "-----BEGIN PRIVATE KEY-----\n");
  EXPECT_EQ(file["token_uri"], "https://sonde.invalid/token");
  EXPECT_EQ(key->public_key->algorithm(), KeyAlgorithm::kRs256);
}

TEST(MakeServiceKey, MakesAnotherKeyEachTime) {
  const auto a = MakeServiceKey("a@sonde.local", "p"), b = MakeServiceKey("a@sonde.local", "p");
  EXPECT_NE(a->id, b->id);
  EXPECT_NE(a->public_key->pem(), b->public_key->pem());
}

}  // namespace
}  // namespace sonde
