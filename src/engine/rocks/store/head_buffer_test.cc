#include "engine/rocks/store/head_buffer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/rocks/store/key.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

// Bytewise; counts.
class CountingComparator final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "counting"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    ++count;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  mutable int count = 0;
};

// A database in memory whose write buffer has few slots, so that series drive each other out of them.
class HeadBufferTest : public testing::Test {
 protected:
  void SetUp() override { Open(/*slots=*/4); }
  void Open(size_t slots) {
    db_.reset();
    model_.clear();
    rocksdb::Options options;
    options.create_if_missing = true;
    options.env = env_.get();
    options.memtable_factory = MakeHeadBufferFactory(slots);
    options.memtable_protection_bytes_per_key = 8;
    options.comparator = &comparator_;
    ASSERT_TRUE(rocksdb::DB::Open(options, fmt::format("/{}", slots), &db_).ok());
  }

  void Put(const std::string& key) {
    const std::string value = std::to_string(++values_);
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), key, value).ok());
    model_[key] = value;
  }

  // Everything is there, in its order, from either side, and alone.
  void Check() {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    it->SeekToFirst();
    for (const auto& [key, value] : model_) {
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), rocksdb::Slice(key));
      EXPECT_EQ(it->value(), rocksdb::Slice(value));
      std::string found;
      EXPECT_TRUE(db_->Get(rocksdb::ReadOptions(), key, &found).ok());
      EXPECT_EQ(found, value);
      it->Next();
    }
    EXPECT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto entry = model_.rbegin(); entry != model_.rend(); ++entry, it->Prev()) {
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), rocksdb::Slice(entry->first));
    }
    EXPECT_TRUE(it->status().ok());
  }

  static std::string Key(int series, int64_t time) {
    std::string key;
    AppendCellsKey(1, fmt::format("host_{}#{:013}", series, time), 7, &key);
    return key;
  }

  CountingComparator comparator_;
  const std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, std::string> model_;
  int values_ = 0;
};

TEST_F(HeadBufferTest, SeriesThatGrowAtEitherEnd) {
  for (int64_t step = 0; step < 300; ++step) {
    for (int series = 0; series < 10; ++series) Put(Key(series, 50'000 + (series % 2 == 0 ? step : -step)));
  }
  Check();
}

TEST_F(HeadBufferTest, TheNextOfASeriesIsFoundWithFewComparisons) {
  constexpr int kSeries = 30, kSteps = 500;
  const auto comparisons = [&](size_t slots) {
    Open(slots);
    comparator_.count = 0;
    for (int64_t step = 0; step < kSteps; ++step) {
      for (int series = 0; series < kSeries; ++series) Put(Key(series, step));
    }
    return static_cast<double>(comparator_.count) / (kSeries * kSteps);
  };
  EXPECT_LT(comparisons(1'000), 8);
  EXPECT_GT(comparisons(1), 16) << "nobody owns the slot: as without";
}

TEST_F(HeadBufferTest, OneSeriesAfterTheOther) {
  for (int series = 9; series >= 0; --series) {
    for (int64_t step = 0; step < 300; ++step) Put(Key(series, step));
  }
  Check();
}

TEST_F(HeadBufferTest, TheSameKeyAgainAndAgain) {
  for (int i = 0; i < 500; ++i) Put(Key(i % 3, 0));
  Check();
}

TEST_F(HeadBufferTest, AnyOrderAndAnyKey) {
  SeededRandom random(20261122);
  const std::function<std::string()> kinds[] = {
      [&] { return Key(static_cast<int>(random.Uniform(20)), static_cast<int64_t>(random.Uniform(100))); },
      // As long as what is cut off, longer, shorter and empty.
      [&] { return std::string(random.Uniform(16), static_cast<char>('a' + random.Uniform(3))); },
      [&] {
        std::string key;
        for (uint64_t i = random.Uniform(24); i > 0; --i) key.push_back(static_cast<char>(random.Uniform(4)));
        return key;
      }};
  for (int i = 0; i < 6'000; ++i) Put(kinds[random.Uniform(3)]());
  Check();
}

}  // namespace
}  // namespace sonde
