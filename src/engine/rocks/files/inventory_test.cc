#include "engine/rocks/files/inventory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/crc32c.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

Inventory Example() {
  Inventory inventory{.synced = false};
  inventory.databases["cells"] = {.manifest_number = 5,
                                  .manifest_bytes = 777,
                                  .sequence = 12345678901234,
                                  .tables = {{7, {.bytes = 100, .crc32c = 0xDEADBEEF}}, {9, {.bytes = 1}}},
                                  .logs = {{8, 4096}}};
  inventory.databases["records"] = {};
  return inventory;
}

class InventoryTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/sonde_inventory_" + std::to_string(getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  absl::StatusOr<std::optional<Inventory>> Read() {
    note_.clear();
    return ReadInventory(rocksdb::Env::Default(), directory_, &note_);
  }
  void Write(const Inventory& inventory) {
    ASSERT_TRUE(WriteInventory(rocksdb::Env::Default(), directory_, inventory).ok());
  }
  void Damage(const std::string& file) { std::ofstream(directory_ + "/" + file, std::ios::app) << "x"; }

  std::string directory_, note_;
};

TEST_F(InventoryTest, ComesBackAsItWas) {
  const std::string text = EncodeInventory(Example());
  const auto decoded = DecodeInventory(text);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, Example());
}

TEST_F(InventoryTest, EveryFlipAndEveryCutIsNoticed) {
  const std::string text = EncodeInventory(Example());
  for (size_t at = 0; at < text.size(); ++at) {
    EXPECT_EQ(DecodeInventory(text.substr(0, at)).status().code(), absl::StatusCode::kDataLoss) << at;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto decoded = DecodeInventory(flipped);
      // Hexadecimal digits have two cases: the same checksum, written otherwise.
      EXPECT_TRUE(!decoded.ok() || *decoded == Example()) << at << " " << bit;
    }
  }
}

TEST_F(InventoryTest, ANewerVersionIsRefused) {
  const std::string text = "sonde inventory 2\n";
  const absl::Status status = DecodeInventory(text + fmt::format("crc32c {:08x}\n", Crc32c(text))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("newer Sonde"));
}

TEST_F(InventoryTest, TheOneBeforeServesWhenTheNewestIsDamagedOrMissing) {
  ASSERT_TRUE(Read().ok());
  EXPECT_FALSE(Read()->has_value());
  Write({});
  Write(Example());
  EXPECT_EQ(**Read(), Example());
  Damage(kInventoryFile);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(**Read(), Inventory());
  EXPECT_THAT(note_, testing::HasSubstr("INVENTORY: damaged"));
  std::filesystem::remove(directory_ + "/" + kInventoryFile);
  EXPECT_EQ(**Read(), Inventory());
  EXPECT_EQ(note_, "");
  Damage(kInventoryBeforeFile);
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sonde
