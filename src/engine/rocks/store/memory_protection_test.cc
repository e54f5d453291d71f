// Bits that flip in memory, behind RocksDB's back: are they noticed, with the settings of cells?
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/rocks/store/key.h"
#include "engine/rocks/store/rocks_settings.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

class MemoryProtectionTest : public testing::Test {
 protected:
  void Open(bool protected_memory) {
    rocksdb::Options cells =
        CellsSettings(env_.get(), 64 << 20, nullptr, [](TableId, FamilyId) { return false; });
    if (!protected_memory) cells.memtable_protection_bytes_per_key = cells.block_protection_bytes_per_key = 0;
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {{rocksdb::kDefaultColumnFamilyName, cells},
                                                                   {"head", HeadSettings(cells)}};
    rocksdb::DBOptions options(cells);
    options.create_missing_column_families = true;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    ASSERT_TRUE(rocksdb::DB::Open(options, "/db", families, &handles, &db_).ok());
    for (rocksdb::ColumnFamilyHandle* const handle : handles) handles_.emplace_back(handle);
    AppendCellsKey(1, "host_1#2026", 7, &key_);
    ASSERT_TRUE(db_->Put(SyncedWrite(), head(), key_, kValue).ok());
  }
  void TearDown() override {
    handles_.clear();
    db_.reset();
  }

  rocksdb::ColumnFamilyHandle* head() const { return handles_[1].get(); }

  // Where the value lies: in the write buffer, or in a cached block.
  void FlipABit() {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), head()));
    it->Seek(key_);
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(it->value(), rocksdb::Slice(kValue));
    const_cast<char*>(it->value().data())[kValue.size() / 2] ^= 1;
  }

  rocksdb::Status Get() {
    std::string value;
    rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), head(), key_, &value);
    EXPECT_TRUE(!status.ok() || value != kValue);
    return status;
  }
  rocksdb::Status Scan() {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), head()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    return it->status();
  }

  const std::string kValue = std::string(200, 'v');
  const std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<std::unique_ptr<rocksdb::ColumnFamilyHandle>> handles_;
  std::string key_;
};

TEST_F(MemoryProtectionTest, AWriteBuffersBitIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(Open(true));
  ASSERT_NO_FATAL_FAILURE(FlipABit());
  EXPECT_TRUE(Get().IsCorruption());
  EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions(), head()).ok());
}

TEST_F(MemoryProtectionTest, ACachedBlocksBitIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(Open(true));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), head()).ok());
  ASSERT_NO_FATAL_FAILURE(FlipABit());
  EXPECT_TRUE(Get().IsCorruption());
  EXPECT_TRUE(Scan().IsCorruption());
}

// The control.
TEST_F(MemoryProtectionTest, WithoutItTheyAreServed) {
  ASSERT_NO_FATAL_FAILURE(Open(false));
  ASSERT_NO_FATAL_FAILURE(FlipABit());
  EXPECT_TRUE(Get().ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), head()).ok());
  EXPECT_TRUE(Scan().ok());
}

}  // namespace
}  // namespace sonde
