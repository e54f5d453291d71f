// Scans of numbers give what scans of cells give, whether the engine gives numbers, texts, or both.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <deque>
#include <random>

#include "engine/forwarding_engine.h"
#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

std::string BigEndian(uint64_t bits) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 0xff);
  return bytes;
}

// The number that a value is, as a store of numbers would keep it.
bool ReadNumber(std::string_view value, NumberBytes written, bool* is_int, int64_t* integer, double* number) {
  if (written == NumberBytes::kDecimalText) {
    const std::string text(value);
    char* end = nullptr;
    *integer = std::strtoll(text.c_str(), &end, 10);
    *is_int = !text.empty() && *end == '\0' && std::to_string(*integer) == text;
    *number = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && text.find('e') == std::string::npos;
  }
  if (value.size() != 8) return false;
  uint64_t bits = 0;
  for (const char byte : value) bits = bits << 8 | static_cast<uint8_t>(byte);
  *is_int = written == NumberBytes::kBigEndianInteger;
  *integer = static_cast<int64_t>(bits);
  *number = std::bit_cast<double>(bits);
  return true;
}

// Gives columns as numbers where all of their values in a piece are numbers.
class NumberGivingEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override {
    const ReadHints hints = options.hints;
    absl::StatusOr<std::unique_ptr<RowStream>> stream =
        ForwardingEngine::Scan(table, std::move(ranges), std::move(options));
    if (!stream.ok() || hints.numbers.empty()) return stream;
    return std::make_unique<Stream>(*std::move(stream), hints);
  }

  static int given() { return given_; }

 private:
  class Stream final : public RowStream {
   public:
    Stream(std::unique_ptr<RowStream> stream, ReadHints hints)
        : stream_(std::move(stream)), hints_(std::move(hints)) {}

    absl::StatusOr<bool> Next(RowPiece* piece) override {
      absl::StatusOr<bool> more = stream_->Next(&held_);
      if (!more.ok() || !*more) return more;
      piece->row_key = held_.row_key;
      piece->family = held_.family;
      piece->last_of_row = held_.last_of_row;
      piece->cells.clear();
      piece->numbers.clear();
      times_.clear();
      ints_.clear();
      doubles_.clear();
      for (size_t first = 0; first < held_.cells.size();) {
        size_t end = first;
        while (end < held_.cells.size() && held_.cells[end].qualifier == held_.cells[first].qualifier) ++end;
        Take(absl::MakeConstSpan(held_.cells).subspan(first, end - first), piece);
        first = end;
      }
      return true;
    }

   private:
    void Take(absl::Span<const CellView> cells, RowPiece* piece) {
      size_t range = 0;
      while (range < hints_.columns->size() && (*hints_.columns)[range].start != cells[0].qualifier) ++range;
      std::vector<int64_t>& times = times_.emplace_back();
      std::vector<int64_t>& ints = ints_.emplace_back();
      std::vector<double>& doubles = doubles_.emplace_back();
      bool are_ints = true;
      bool are_numbers = range < hints_.columns->size();
      for (const CellView& cell : cells) {
        bool is_int = false;
        int64_t integer = 0;
        double number = 0;
        are_numbers =
            are_numbers && ReadNumber(cell.value, hints_.numbers[range], &is_int, &integer, &number);
        are_ints &= is_int;
        times.push_back(cell.timestamp_micros);
        ints.push_back(integer);
        doubles.push_back(number);
      }
      if (!are_numbers) {
        piece->cells.insert(piece->cells.end(), cells.begin(), cells.end());
        return;
      }
      ++given_;
      piece->numbers.push_back(
          {.qualifier = cells[0].qualifier,
           .range = range,
           .timestamps_micros = times,
           .numbers = are_ints ? ColumnView::OfInts(ints) : ColumnView::OfDoubles(doubles)});
    }

    const std::unique_ptr<RowStream> stream_;
    const ReadHints hints_;
    RowPiece held_;
    std::deque<std::vector<int64_t>> times_;
    std::deque<std::vector<int64_t>> ints_;
    std::deque<std::vector<double>> doubles_;
  };

  static inline int given_ = 0;
};

class NumberTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    for (int row = 0; row < 70; ++row) {
      const std::string key = "r" + std::to_string(100 + row);
      std::vector<Mutation> cells;
      const int count = row % 7 == 0 ? 300 : 1 + static_cast<int>(random_() % 20);
      for (int i = 0; i < count; ++i) {
        const int64_t time = (1 + static_cast<int64_t>(random_() % 1000)) * kSecond;
        const auto number = static_cast<int64_t>(random_() % 1000) - 500;
        values_.push_back(std::to_string(number));
        cells.push_back(SetCell{"a", "int", time, values_.back()});
        values_.push_back(std::to_string(number) + (random_() % 2 == 0 ? ".5" : ""));
        if (random_() % 4 != 0) cells.push_back(SetCell{"a", "double", time, values_.back()});
        values_.push_back(BigEndian(static_cast<uint64_t>(number)));
        cells.push_back(SetCell{"a", "int8", time, values_.back()});
        values_.push_back(BigEndian(std::bit_cast<uint64_t>(static_cast<double>(number) / 8)));
        if (random_() % 3 == 0) cells.push_back(SetCell{"a", "double8", time, values_.back()});
        values_.push_back(random_() % 30 == 0 ? "x" : " " + std::to_string(number));
        cells.push_back(SetCell{"a", "odd", time, values_.back()});
      }
      Put(key, std::move(cells));
      Put("s" + std::to_string(row), "z", "y", 1, "no number");
    }
  }

  std::string Ask(std::string_view sql, bool reads_numbers, Tables* tables) {
    reads_numbers_ = reads_numbers;
    ExecutionEnvironment environment = Environment();
    environment.tables = tables;
    return Query(sql, environment);
  }

  std::deque<std::string> values_;
  std::mt19937_64 random_{5};
  NumberGivingEngine numbers_{engine_.get()};
  Tables of_numbers_{&numbers_, catalog_.get(), &clock_, /*seed=*/1};
};

constexpr std::string_view kUnpacked =
    "(SELECT _key, TO_INT64(i8) i8, TO_FLOAT64(d8) d8, CAST(CAST(i AS STRING) AS FLOAT64) i, CAST(CAST(d AS "
    "STRING) AS "
    "FLOAT64) d, SAFE_CAST(SAFE_CAST(odd AS STRING) AS FLOAT64) odd, _timestamp FROM UNPACK((SELECT _key, "
    "a['int8'] i8, "
    "a['double8'] d8, a['int'] i, a['double'] d, a['odd'] odd FROM t(with_history => TRUE, after_or_equal => "
    "TIMESTAMP_SECONDS(100), before => TIMESTAMP_SECONDS(900)))))";

// What is compared: queries over numbers, of which each value that is looked at is one.
constexpr std::string_view kRight[] = {
    "SELECT * FROM $",
    "SELECT _key, COUNT(*), SUM(i8), AVG(d), MAX(i), MIN(d8) FROM $ GROUP BY 1",
    "SELECT TIMESTAMP_TRUNC(_timestamp, MINUTE) m, SUM(i8), COUNT(odd), COUNT(d8) FROM $ GROUP BY 1",
    "SELECT * FROM $ WHERE i8 > 300 AND d8 < 50",
    "SELECT _key, i8 FROM $ ORDER BY _key DESC",
    "SELECT IF(i8 > 0, d, d8), COALESCE(d8, d, 0) FROM $",
    "SELECT x.i8, y.d FROM $ x JOIN $ y ON x._key = y._key AND x._timestamp = y._timestamp WHERE x._key < "
    "b'r120'",
    "SELECT COUNT(*) FROM UNPACK((SELECT a['int8'] x, a['odd'] y FROM t(with_history => TRUE)))",
    "SELECT _key, _timestamp FROM UNPACK((SELECT _key, a['double8'] x FROM t(with_history => TRUE) WHERE "
    "_key >= 'r12' AND "
    "ENDS_WITH(_key, '5')))",
    "SELECT TO_INT64(x), y FROM UNPACK((SELECT a['int8'] x, a['odd'] y FROM t(with_history => TRUE)))",
    "SELECT TO_INT64(x), x FROM UNPACK((SELECT a['int8'] x FROM t(with_history => TRUE, latest_n => 3)))",
    "SELECT TO_INT64(a['int8']), TO_FLOAT64(a['double8']) FROM t WHERE TO_INT64(a['int8']) <> 7",
    "SELECT CAST(CAST(a['double'] AS STRING) AS FLOAT64) + TO_INT64(a['int8']) FROM t",
    "SELECT _key FROM t WHERE CAST(CAST(a['int'] AS STRING) AS FLOAT64) BETWEEN -100 AND 100 ORDER BY _key "
    "DESC",
    "SELECT COUNT(a['odd']), MAX(a['int8']), COUNTIF(a['double'] > b'5') FROM t",
    "SELECT _key, a['odd'], a['int8'], TO_FLOAT64(a['double8']) FROM t WHERE a['odd'] <> b'x' OR a['int8'] "
    "IS NOT NULL",
    "SELECT a['int'], a['double8'] FROM t WHERE LENGTH(a['int']) > 2 ORDER BY _key DESC",
    // A value that is none fails only where it is looked at.
    "SELECT IF(a['odd'] = 'x', -1, CAST(CAST(a['odd'] AS STRING) AS FLOAT64)) FROM t WHERE a['odd'] IS NOT "
    "NULL",
    "SELECT IFERROR(CAST(CAST(y AS STRING) AS FLOAT64), -5) FROM UNPACK((SELECT a['odd'] y FROM "
    "t(with_history => TRUE)))",
    "SELECT SAFE.TO_INT64(y) FROM UNPACK((SELECT a['double'] y FROM t(with_history => TRUE)))",
    "SELECT COUNT(SAFE_CAST(CAST(y AS STRING) AS FLOAT64)), COUNT(*) FROM UNPACK((SELECT a['odd'] y FROM "
    "t(with_history => TRUE)))",
};

std::string WithTable(std::string_view sql) {
  std::string text(sql);
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + kUnpacked.size())) {
    text.replace(at, 1, kUnpacked);
  }
  return text;
}

TEST_F(NumberTest, AreWhatCellsAre) {
  for (const std::string_view sql : kRight) {
    const std::string text = WithTable(sql);
    const std::string expected = Ask(text, false, &tables_);
    EXPECT_GT(expected.size(), 3) << text;
    EXPECT_EQ(expected.find("OUT_OF_RANGE"), std::string::npos) << text;
    EXPECT_EQ(expected.find("INVALID"), std::string::npos) << expected;
    EXPECT_TRUE(Ask(text, true, &tables_) == expected) << text;
    EXPECT_TRUE(Ask(text, true, &of_numbers_) == expected) << text;
  }
}

TEST_F(NumberTest, ComeFromTheEngine) {
  for (const std::string_view sql : {kRight[0], kRight[2], kRight[3], kRight[7], kRight[8], kRight[11]}) {
    const int given = NumberGivingEngine::given();
    Ask(WithTable(sql), true, &of_numbers_);
    EXPECT_GT(NumberGivingEngine::given(), given) << sql;
  }
}

TEST_F(NumberTest, ErrAsCellsDo) {
  for (const std::string_view sql :
       {"SELECT SUM(CAST(CAST(y AS STRING) AS FLOAT64)) FROM UNPACK((SELECT a['odd'] y FROM t(with_history "
        "=> TRUE)))",
        "SELECT MAX(TO_INT64(y)) FROM UNPACK((SELECT a['double'] y FROM t(with_history => TRUE)))",
        "SELECT MAX(TO_INT64(a['odd'])) FROM t WHERE TO_INT64(a['odd']) > 0"}) {
    const std::string expected = Ask(sql, false, &tables_);
    EXPECT_NE(expected.find("OUT_OF_RANGE"), std::string::npos) << expected;
    EXPECT_EQ(Ask(sql, true, &tables_), expected);
    EXPECT_EQ(Ask(sql, true, &of_numbers_), expected);
  }
}

TEST_F(NumberTest, GoOnWhereTheyWere) {
  reads_numbers_ = true;
  const absl::StatusOr<BoundQuery> query = BindText(kUnpacked);
  ASSERT_TRUE(query.ok()) << query.status();
  const std::vector<Type> types = TypesOf(*query);
  ExecutionEnvironment environment = Environment();
  environment.tables = &of_numbers_;
  std::unique_ptr<Execution> execution = *Execute(*query, {}, environment);
  const std::string all = Rest(Execute(*query, {}, environment)->get(), types);
  std::string before;
  rows::Batch batch;
  size_t batches = 0;
  while (*execution->Next(&batch)) {
    ++batches;
    AppendRows(types, batch, &before);
    ExecutionEnvironment from_here = environment;
    from_here.resume_after = *execution->ResumePoint();
    EXPECT_TRUE(before + Rest(Execute(*query, {}, from_here)->get(), types) == all) << batches;
  }
  EXPECT_GT(batches, 5);
}

}  // namespace
}  // namespace sonde::sql
