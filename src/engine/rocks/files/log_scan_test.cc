#include "engine/rocks/files/log_scan.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

// A real log of RocksDB, with records of one byte to several blocks.
class LogScanTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/sonde_log_scan_" + std::to_string(getpid());
    fs::remove_all(directory_);
    rocksdb::Options options;
    options.create_if_missing = true;
    std::unique_ptr<rocksdb::DB> db;
    ASSERT_TRUE(rocksdb::DB::Open(options, directory_, &db).ok());
    for (const size_t bytes : {1, 100, 5000, 32'700, 40'000, 100'000, 3, 200}) {
      ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key", std::string(bytes, 'v')).ok());
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
      if (entry.path().extension() == ".log" && entry.file_size() > 0) Load(entry.path());
    }
    ASSERT_FALSE(log_.empty());
    // RocksDB may set bytes aside behind the end of a log that is open.
    visited_.clear();
    ASSERT_TRUE(Scan(log_)->IsSound());
    offsets_ = visited_;
    ASSERT_EQ(offsets_.size(), 8u);
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Load(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    log_ = text.str();
  }

  absl::StatusOr<LogScan> Scan(const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(memory_.get(), bytes, "/scanned", false).ok());
    visited_.clear();
    return ScanLog(
        memory_.get(), "/scanned",
        [&](std::string_view start, uint64_t offset) {
          EXPECT_EQ(start.size(), kLogRecordStartBytes);
          visited_.push_back(offset);
        },
        nullptr);
  }

  const std::unique_ptr<rocksdb::Env> memory_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::string directory_, log_;
  std::vector<uint64_t> visited_, offsets_;
};

TEST_F(LogScanTest, ACutIsATornTailFromTheLastWholeRecordOn) {
  for (size_t cut = 0; cut < log_.size(); cut += 1 + cut % 97) {
    const auto scan = Scan(log_.substr(0, cut));
    ASSERT_TRUE(scan.ok());
    EXPECT_FALSE(scan->record_behind) << cut;
    EXPECT_LE(scan->sound_bytes, cut);
    const bool at_border = std::find(offsets_.begin(), offsets_.end(), cut) != offsets_.end();
    EXPECT_TRUE(scan->IsSound() || !at_border) << cut;
    // All records that end before the cut are in the sound part.
    for (size_t i = 0; i + 1 < offsets_.size(); ++i) {
      EXPECT_TRUE(scan->records_count > i || offsets_[i + 1] > cut) << cut;
    }
  }
}

TEST_F(LogScanTest, EveryFlipBeforeTheLastRecordIsDamage) {
  for (size_t at = 0; at < offsets_.back(); at += 1 + at % 61) {
    std::string bytes = log_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    const auto scan = Scan(bytes);
    ASSERT_TRUE(scan.ok());
    EXPECT_TRUE(scan->record_behind) << at;
    EXPECT_LE(scan->sound_bytes, at);
  }
}

TEST_F(LogScanTest, AFlippedLengthInTheLastBlockIsDamage) {
  // RocksDB takes it for a record that goes on behind the end of the file.
  std::string bytes = log_;
  bytes[offsets_[6] + 5] = '\x7F';
  EXPECT_TRUE(Scan(bytes)->record_behind);
}

TEST_F(LogScanTest, ZerosInTheMiddleAreDamageAndAtTheEndATornTail) {
  std::string bytes = log_;
  std::fill_n(bytes.begin() + 4096, 4096, '\0');
  EXPECT_TRUE(Scan(bytes)->record_behind);
  const auto scan = Scan(log_ + std::string(10'000, '\0'));
  EXPECT_FALSE(scan->record_behind);
  EXPECT_EQ(scan->sound_bytes, log_.size());
  EXPECT_EQ(scan->records_count, 8u);
}

TEST_F(LogScanTest, WhatIsNotPlausibleBehindABadPlaceIsNoRecord) {
  std::string bytes = log_;
  bytes[offsets_[3] + 20] ^= 1;
  ASSERT_TRUE(rocksdb::WriteStringToFile(memory_.get(), bytes, "/scanned", false).ok());
  const auto scan = ScanLog(memory_.get(), "/scanned", nullptr, [](std::string_view) { return false; });
  ASSERT_TRUE(scan.ok());
  EXPECT_FALSE(scan->record_behind);
  EXPECT_EQ(scan->sound_bytes, offsets_[3]);
}

TEST_F(LogScanTest, ALogSaysWithWhichWriteItBegins) {
  const auto first = [&](const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(memory_.get(), bytes, "/scanned", false).ok());
    return FirstSequenceOfLog(memory_.get(), "/scanned").value();
  };
  EXPECT_EQ(first(log_), 1u);
  EXPECT_EQ(first(log_.substr(offsets_[0], offsets_[1])), 1u);
  EXPECT_EQ(first(log_.substr(0, offsets_[1] - 1)), std::nullopt) << "still under way";
  EXPECT_EQ(first(""), std::nullopt);
  EXPECT_EQ(first(std::string(40'000, '\0')), 0u) << "damaged";
  EXPECT_EQ(FirstSequenceOfLog(rocksdb::Env::Default(), directory_ + "/none").value(), std::nullopt);
}

}  // namespace
}  // namespace sonde
