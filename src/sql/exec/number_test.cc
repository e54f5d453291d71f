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

  static ScanColumn Number(std::string qualifier, NumberBytes written, Type type, bool is_safe,
                           bool history) {
    ScanColumn column = OfCell("a", std::move(qualifier), history ? HistoryOf(type) : type);
    column.kind = ScanColumn::Kind::kNumber;
    column.written = written;
    column.is_safe = is_safe;
    return column;
  }

  std::vector<ScanColumn> Columns(bool history, bool reads_odd) {
    using Bytes = NumberBytes;
    std::vector<ScanColumn> columns = {
        KeyColumn(),
        Number("int", Bytes::kDecimalText, TypeKind::kInt64, false, history),
        Number("int", Bytes::kDecimalText, TypeKind::kFloat64, false, history),
        Number("double", Bytes::kDecimalText, TypeKind::kFloat64, false, history),
        Number("int8", Bytes::kBigEndianInteger, TypeKind::kInt64, false, history),
        Number("double8", Bytes::kBigEndianDouble, TypeKind::kFloat64, false, history)};
    if (reads_odd) columns.push_back(Number("odd", Bytes::kDecimalText, TypeKind::kInt64, true, history));
    return columns;
  }

  // By numbers, or (as all rows count) by cells of the rows that have one of the columns.
  PlanPtr Scan(std::vector<ScanColumn> columns, bool history) {
    PlanPtr plan = ScanPlan(table_, std::move(columns));
    plan->scan->temporal.with_history = history;
    plan->scan->needs_all_rows = false;
    return plan;
  }
  PlanPtr Unpack(PlanPtr scan) {
    std::vector<Type> types;
    std::vector<Plan::History> history;
    for (size_t i = 0; i < scan->types.size(); ++i) {
      const bool is_history = scan->types[i].Is(TypeKind::kArray);
      types.push_back(is_history ? scan->types[i].element().fields()[1].type : scan->types[i]);
      if (is_history) history.push_back({i, false});
    }
    types.emplace_back(TypeKind::kTimestamp);
    PlanPtr plan = NewPlan(Plan::Kind::kUnpack, std::move(types), std::move(scan));
    plan->history = std::move(history);
    return plan;
  }
  // The same rows, but by cells: a column more makes the scan one that no numbers fit.
  PlanPtr ByCells(PlanPtr plan) {
    Plan* scan = plan.get();
    while (!scan->inputs.empty()) scan = scan->inputs[0].get();
    ScanColumn other = OfTime("a", "int");
    scan->types.push_back(other.type);
    scan->scan->columns.push_back(other);
    if (plan->kind == Plan::Kind::kUnpack) plan->types.insert(plan->types.end() - 1, other.type);
    std::vector<ExpressionPtr> columns;
    std::vector<Type> types;
    const size_t other_place = plan->types.size() - (plan->kind == Plan::Kind::kUnpack ? 2 : 1);
    for (size_t i = 0; i < plan->types.size(); ++i) {
      if (i == other_place) continue;
      columns.push_back(MakeColumn(i, plan->types[i]));
      types.push_back(plan->types[i]);
    }
    PlanPtr project = NewPlan(Plan::Kind::kProject, std::move(types), std::move(plan));
    project->expressions = std::move(columns);
    return project;
  }

  std::deque<std::string> values_;
  std::mt19937_64 random_{5};
  NumberGivingEngine numbers_{engine_.get()};
  Tables of_numbers_{&numbers_, catalog_.get(), &clock_, /*seed=*/1};
};

TEST_F(NumberTest, AreWhatCellsAre) {
  for (const bool reads_odd : {false, true}) {
    for (const bool history : {false, true}) {
      for (const bool reversed : {false, true}) {
        const auto make = [&] {
          PlanPtr plan = Scan(Columns(history, reads_odd), history);
          plan->scan->reversed = reversed;
          plan->scan->temporal.after_or_equal = MakeLiteral(Value::Timestamp(100 * kSecond));
          plan->scan->temporal.before = MakeLiteral(Value::Timestamp(900 * kSecond));
          return history ? Unpack(std::move(plan)) : std::move(plan);
        };
        const std::string expected = Rows(ByCells(make()));
        EXPECT_GT(expected.size(), 1000);
        EXPECT_EQ(Rows(make()), expected);
        ExecutionEnvironment environment = Environment();
        environment.tables = &of_numbers_;
        const int given = NumberGivingEngine::given();
        EXPECT_EQ(Rows(make(), environment), expected);
        EXPECT_GT(NumberGivingEngine::given(), given);
      }
    }
  }
}

TEST_F(NumberTest, ErrAsCellsDo) {
  const auto make = [&](std::string qualifier, NumberBytes written) {
    return Scan({Number(std::move(qualifier), written, TypeKind::kInt64, false, false)}, false);
  };
  ExecutionEnvironment environment = Environment();
  environment.tables = &of_numbers_;
  const std::string expected = Rows(ByCells(make("odd", NumberBytes::kDecimalText)));
  EXPECT_TRUE(expected.ends_with("OUT_OF_RANGE: Bad int64 value: x")) << expected;
  const std::string error = Rows(make("odd", NumberBytes::kDecimalText), environment);
  EXPECT_TRUE(error.ends_with("OUT_OF_RANGE: Bad int64 value: x")) << error;
}

TEST_F(NumberTest, GoOnWhereTheyWere) {
  BoundQuery query;
  query.plan = Unpack(Scan(Columns(true, true), true));
  ExecutionEnvironment environment = Environment();
  environment.tables = &of_numbers_;
  std::unique_ptr<Execution> execution = *Execute(query, {}, environment);
  const std::string all = Rest(Execute(query, {}, environment)->get(), query.plan->types);
  std::string before;
  rows::Batch batch;
  size_t batches = 0;
  while (*execution->Next(&batch)) {
    ++batches;
    AppendRows(query.plan->types, batch, &before);
    ExecutionEnvironment from_here = environment;
    from_here.resume_after = *execution->ResumePoint();
    EXPECT_TRUE(before + Rest(Execute(query, {}, from_here)->get(), query.plan->types) == all) << batches;
  }
  EXPECT_GT(batches, 5);
}

}  // namespace
}  // namespace sonde::sql
