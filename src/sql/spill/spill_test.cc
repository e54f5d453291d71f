// Rows on disk come back as they were, and damage is found.
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rows/column.h"
#include "sql/spill/row_bytes.h"
#include "sql/spill/spill_file.h"
#include "sql/spill/spill_rows.h"
#include "sql/spill/spill_space.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

const std::vector<ColumnType> kTypes = {ColumnType::kInt64, ColumnType::kDouble, ColumnType::kBytes,
                                        ColumnType::kList};

// Random rows with all types and NULL.
rows::HeldBatch RandomRows(size_t rows, std::mt19937_64* random) {
  rows::HeldBatch batch(kTypes);
  const auto is_null = [&] { return (*random)() % 4 == 0; };
  for (size_t row = 0; row < rows; ++row) {
    const int64_t number = static_cast<int64_t>((*random)() % 7);
    const std::string text((*random)() % 50, 'x');
    const Datum items[] = {Datum::Int(number), Datum::Missing(), Datum::Double(std::nan("")),
                           Datum::Bytes(text)};
    const Datum nested[] = {Datum::List(items), Datum::List({}), Datum::Missing()};
    is_null() ? batch.columns[0].AppendMissing() : batch.columns[0].AppendInt(number);
    is_null() ? batch.columns[1].AppendMissing()
              : batch.columns[1].AppendDouble(number == 0   ? std::nan("")
                                              : number == 1 ? -0.0
                                                            : 0.5);
    is_null() ? batch.columns[2].AppendMissing() : batch.columns[2].AppendBytes(text);
    is_null() ? batch.columns[3].AppendMissing() : batch.columns[3].AppendList(Datum::List(nested));
  }
  return batch;
}

std::string RowText(const std::vector<ColumnView>& columns, size_t row) {
  std::string text;
  for (const ColumnView& column : columns) {
    std::string bytes;
    PutRows({ColumnView(column.Part(row, 1))}, 1, &bytes);
    // Whether other rows of the column are NULL does not count.
    constexpr size_t kHead = 4;
    text += column.IsThere(row) ? 'v' : 'n';
    text += bytes.substr(kHead + (column.there() != nullptr ? 1 : 0));
  }
  return text;
}

class SpillTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "spill-test-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  void TearDown() override {
    EXPECT_EQ(NamesInDirectory(), 0);
    ::rmdir((directory_ + "/spill").c_str());
    ::rmdir(directory_.c_str());
  }
  int NamesInDirectory() const {
    int names = 0;
    DIR* const directory = ::opendir((directory_ + "/spill").c_str());
    if (directory == nullptr) return 0;
    while (const dirent* const entry = ::readdir(directory)) names += entry->d_name[0] == '.' ? 0 : 1;
    ::closedir(directory);
    return names;
  }
  std::string directory_;
};

TEST_F(SpillTest, GivesRowsBackAsTheyWere) {
  SpillSpace space(directory_ + "/spill", {.free_percent_min = 0});
  QuerySpill spill(&space);
  std::mt19937_64 random(1);
  SpilledRows rows(kTypes, *SpillFile::Create(&spill, "Sort"));
  EXPECT_EQ(NamesInDirectory(), 0);
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    const rows::HeldBatch held = RandomRows(1 + random() % 1'024, &random);
    rows::Batch batch;
    held.View(&batch);
    ASSERT_TRUE(rows.Append(batch.columns, batch.rows).ok());
    for (size_t row = 0; row < batch.rows; ++row) expected.push_back(RowText(batch.columns, row));
  }
  ASSERT_TRUE(rows.Finish().ok());
  EXPECT_EQ(spill.bytes(), rows.bytes());
  for (int turn = 0; turn < 2; ++turn) {
    rows.Rewind();
    rows::Batch batch;
    std::vector<std::string> read;
    while (*rows.Next(&batch)) {
      for (size_t row = 0; row < batch.rows; ++row) read.push_back(RowText(batch.columns, row));
    }
    EXPECT_TRUE(read == expected);
  }
}

TEST_F(SpillTest, EqualKeysGoToOnePartition) {
  SpillSpace space(directory_ + "/spill", {.free_percent_min = 0});
  QuerySpill spill(&space);
  std::mt19937_64 random(2);
  for (uint32_t level = 0; level < 3; ++level) {
    Partitions partitions(&spill, "GroupBy", kTypes, level);
    size_t rows_in = 0;
    for (int i = 0; i < 5; ++i) {
      const rows::HeldBatch held = RandomRows(500, &random);
      rows::Batch batch;
      held.View(&batch);
      rows_in += batch.rows;
      const std::vector<ColumnView> keys = {batch.columns[0], batch.columns[1]};
      ASSERT_TRUE(partitions.Append(keys, batch.columns, batch.rows).ok());
    }
    ASSERT_TRUE(partitions.Finish().ok());
    std::vector<std::pair<Datum, size_t>> where;  // of the first key
    size_t rows_out = 0;
    int used = 0;
    std::vector<std::vector<std::string>> keys_of(Partitions::kCount);
    for (size_t i = 0; i < Partitions::kCount; ++i) {
      const std::unique_ptr<SpilledRows> rows = partitions.Take(i);
      if (rows == nullptr) continue;
      ++used;
      rows::Batch batch;
      while (*rows->Next(&batch)) {
        rows_out += batch.rows;
        for (size_t row = 0; row < batch.rows; ++row) {
          std::string key;
          const Datum number = DatumAt(batch.columns[1], row);
          AppendSql(TypeKind::kInt64, DatumAt(batch.columns[0], row), &key);
          // -0.0 is 0.0, and all NaN are one.
          AppendSql(TypeKind::kFloat64, number.is_there && number.number == 0 ? Datum::Double(0) : number,
                    &key);
          keys_of[i].push_back(key);
        }
      }
      std::sort(keys_of[i].begin(), keys_of[i].end());
      keys_of[i].erase(std::unique(keys_of[i].begin(), keys_of[i].end()), keys_of[i].end());
    }
    EXPECT_EQ(rows_out, rows_in);
    EXPECT_GT(used, 4);
    std::vector<std::string> all;
    for (const auto& keys : keys_of) all.insert(all.end(), keys.begin(), keys.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  }
}

// Each changed byte, and each cut, is found.
TEST_F(SpillTest, FindsDamage) {
  SpillSpace space(directory_ + "/spill", {.free_percent_min = 0});
  QuerySpill spill(&space);
  ASSERT_TRUE(SpillFile::Create(&spill, "Sort").ok());  // makes the directory
  std::string name = directory_ + "/XXXXXX";
  const int descriptor = ::mkstemp(name.data());
  ::unlink(name.c_str());
  SpillFile file(&spill, ::dup(descriptor), "Sort");
  ASSERT_TRUE(file.Append("some rows").ok());
  ASSERT_TRUE(file.Append("other row").ok());
  const auto read = [&file] {
    file.Rewind();
    std::string block;
    std::string all;
    while (true) {
      const absl::StatusOr<bool> more = file.Read(&block);
      if (!more.ok()) return more.status().ToString();
      if (!*more) return all;
      all += block;
    }
  };
  EXPECT_EQ(read(), "some rowsother row");
  for (int64_t place = 0; place < file.bytes(); ++place) {
    char byte = 0;
    ASSERT_EQ(::pread(descriptor, &byte, 1, place), 1);
    for (const int bit : {1, 128}) {
      const char changed = static_cast<char>(byte ^ bit);
      ASSERT_EQ(::pwrite(descriptor, &changed, 1, place), 1);
      EXPECT_EQ(read(), "DATA_LOSS: Sort finds rows damaged that it put on disk") << place;
    }
    ASSERT_EQ(::pwrite(descriptor, &byte, 1, place), 1);
  }
  // A block in the place of another one.
  std::string block(17, ' ');
  ASSERT_EQ(::pread(descriptor, block.data(), 17, 17), 17);
  ASSERT_EQ(::pwrite(descriptor, block.data(), 17, 0), 17);
  EXPECT_EQ(read(), "DATA_LOSS: Sort finds rows damaged that it put on disk");
  ASSERT_EQ(::ftruncate(descriptor, 20), 0);
  file.Rewind();
  EXPECT_EQ(read().substr(0, 9), "DATA_LOSS");
  ::close(descriptor);
}

TEST_F(SpillTest, BoundsAQueryAndAllQueries) {
  SpillSpace space(directory_ + "/spill",
                   {.query_bytes_max = 20'000, .bytes_max = 30'000, .free_percent_min = 0});
  const std::string block(9'992, 'x');
  QuerySpill first(&space);
  QuerySpill second(&space);
  std::unique_ptr<SpillFile> file = *SpillFile::Create(&first, "Sort");
  ASSERT_TRUE(file->Append(block).ok());
  ASSERT_TRUE(file->Append(block).ok());
  EXPECT_EQ(file->Append(block).ToString(),
            "RESOURCE_EXHAUSTED: Sort needs 10000 more bytes on disk: the query has 20000; 20000 is the "
            "limit of a query");
  std::unique_ptr<SpillFile> other = *SpillFile::Create(&second, "Join");
  EXPECT_EQ(other->Append(block).ToString(),
            "RESOURCE_EXHAUSTED: Join needs 20000 more bytes on disk: all queries have 20000; 30000 is the "
            "limit of all "
            "queries");
  file.reset();
  EXPECT_EQ(first.bytes(), 0);
}

TEST_F(SpillTest, LeavesRoomOnTheDisk) {
  SpillSpace space(directory_ + "/spill",
                   {.free_percent_min = 100, .free_bytes_max = std::numeric_limits<int64_t>::max()});
  QuerySpill spill(&space);
  std::unique_ptr<SpillFile> file = *SpillFile::Create(&spill, "GroupBy");
  const absl::Status status = file->Append("rows");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("GroupBy needs 16777216 more bytes on disk: "), std::string::npos)
      << status;
}

TEST_F(SpillTest, TellsOfADirectoryThatCannotBeWritten) {
  SpillSpace space("/proc/nothing/spill", {});
  QuerySpill spill(&space);
  EXPECT_EQ(SpillFile::Create(&spill, "Sort").status().code(), absl::StatusCode::kUnavailable);
}

TEST(RowBytesTest, RefusesBytesThatAreNone) {
  std::mt19937_64 random(3);
  const rows::HeldBatch held = RandomRows(20, &random);
  rows::Batch batch;
  held.View(&batch);
  std::string bytes;
  PutRows(batch.columns, batch.rows, &bytes);
  std::vector<ColumnView> columns;
  size_t rows = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    Arena arena;
    EXPECT_FALSE(GetRows(std::string_view(bytes).substr(0, size), &arena, &columns, &rows)) << size;
  }
  for (int i = 0; i < 10'000; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] = static_cast<char>(random());
    Arena arena;
    if (GetRows(changed, &arena, &columns, &rows)) {
      EXPECT_EQ(columns.size(), 4);
    }
  }
}

}  // namespace
}  // namespace sonde::sql
