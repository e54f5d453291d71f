#include "series/query/merged_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

namespace sonde::series {
namespace {

// Rows "S#NNNN" of salt S, one for each N that it has; the start of a read's range says which salt.
class SaltedRows final : public TableAccess, private NumberAccess {
 public:
  absl::Status EnsureTable(const std::string&, const std::vector<FamilyRequest>&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string&) override {
    return std::vector<FamilyRequest>();
  }
  absl::Status UpdateFamilies(const std::string&, const std::vector<FamilyRequest>&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override { return std::vector<std::string>(); }
  absl::Status DropTable(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string&,
                                                       const std::vector<RowWrite>&) override {
    return std::vector<absl::Status>();
  }
  absl::Status ReadRows(const std::string&, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override {
    const std::string salt = read.ranges[0].start;
    for (int i = 0; i < kRows; ++i) {
      const int number = read.reversed ? kRows - 1 - i : i;
      if (number % kSalts != std::stoi(salt)) continue;
      if (salt == bad_salt && i > kRows / 2) return absl::UnavailableError("the salt is away");
      ++given;
      std::string digits = std::to_string(number);
      digits.insert(0, 4 - digits.size(), '0');
      if (!row({salt + "#" + digits, {}})) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  NumberAccess* numbers() override { return this; }

  static constexpr int kRows = 5'000;
  static constexpr int kSalts = 7;
  std::string bad_salt;
  std::atomic<int> given = 0;

 private:
  absl::StatusOr<DividedRanges> Divide(const std::string&, const std::string&,
                                       const std::vector<RowRange>& ranges) override {
    return DividedRanges{.parts = {ranges}, .rest = {}};
  }
  void NoteFullScan(const std::string&, int64_t) override {}
  absl::Status Read(const std::string& table, const NumberRead& read,
                    const std::function<bool(const NumberRow&)>& row) override {
    return ReadRows(table, {.ranges = read.ranges}, [&](ReadRow&& found) {
      const int64_t number = std::stoi(found.row_key.substr(2));
      const double value = 0.5 * static_cast<double>(number);
      const std::string_view text = found.row_key;
      NumberRow::Part parts[] = {{3, {&number, 1}, ColumnView::OfDoubles({&value, 1})},
                                 {1, {&number, 1}, ColumnView::OfInts({&number, 1})}};
      if (number % 2 != 0) parts[1].values = ColumnView::OfBytes({&text, 1});
      return row({found.row_key, parts});
    });
  }
};

std::vector<RowRead> Reads(bool is_reversed) {
  std::vector<RowRead> reads;
  for (int salt = 0; salt < SaltedRows::kSalts; ++salt) {
    RowRead& read = reads.emplace_back();
    read.ranges = {{std::to_string(salt), ""}};
    read.reversed = is_reversed;
  }
  return reads;
}

std::string WithoutSalt(std::string_view key) { return std::string(key.substr(2)); }

TEST(MergedRows, ComeInOrder) {
  for (const bool is_reversed : {false, true}) {
    SaltedRows tables;
    std::vector<std::string> keys;
    ASSERT_TRUE(ReadMergedRows(&tables, "t", Reads(is_reversed), WithoutSalt, [&](ReadRow&& row) {
                  keys.push_back(WithoutSalt(row.row_key));
                  return true;
                }).ok());
    ASSERT_EQ(keys.size(), SaltedRows::kRows);
    EXPECT_TRUE(is_reversed ? std::is_sorted(keys.rbegin(), keys.rend())
                            : std::is_sorted(keys.begin(), keys.end()));
  }
}

TEST(MergedRows, NumbersComeInOrder) {
  SaltedRows tables;
  std::vector<NumberRead> reads;
  for (const RowRead& read : Reads(false)) reads.push_back({.ranges = read.ranges});
  int64_t next = 0;
  ASSERT_TRUE(ReadMergedNumbers(tables.numbers(), "t", reads, WithoutSalt, [&](const NumberRow& row) {
                EXPECT_EQ(row.parts.size(), 2u);
                const NumberRow::Part &first = row.parts[0], &second = row.parts[1];
                EXPECT_EQ(first.column, 3u);
                EXPECT_EQ(second.column, 1u);
                EXPECT_EQ(first.timestamps_micros[0], next);
                EXPECT_EQ(second.timestamps_micros.data(), first.timestamps_micros.data());
                EXPECT_EQ(first.values.doubles()[0], 0.5 * static_cast<double>(next));
                if (next % 2 == 0) {
                  EXPECT_EQ(second.values.ints()[0], next);
                } else {
                  EXPECT_EQ(second.values.bytes()[0], row.row_key);
                }
                ++next;
                return true;
              }).ok());
  EXPECT_EQ(next, SaltedRows::kRows);
}

TEST(MergedRows, EndEarly) {
  SaltedRows tables;
  int rows = 0;
  ASSERT_TRUE(
      ReadMergedRows(&tables, "t", Reads(false), WithoutSalt, [&](ReadRow&&) { return ++rows < 10; }).ok());
  EXPECT_EQ(rows, 10);
  // No scan is further ahead than it may be.
  EXPECT_LE(tables.given, 10 + SaltedRows::kSalts * (static_cast<int>(kRowsAheadMax) + 2));
}

TEST(MergedRows, TellTheErrorOfAScan) {
  SaltedRows tables;
  tables.bad_salt = "3";
  const absl::Status status =
      ReadMergedRows(&tables, "t", Reads(false), WithoutSalt, [&](ReadRow&&) { return true; });
  EXPECT_EQ(status.message(), "the salt is away");
}

}  // namespace
}  // namespace sonde::series
