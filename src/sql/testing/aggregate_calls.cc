#include "sql/testing/aggregate_calls.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "base/check.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/library/library.h"

namespace sonde::sql {
namespace {

template <typename T, typename F>
TestColumn ColumnOf(Type type, const std::vector<std::optional<T>>& values, F&& make) {
  TestColumn column{type, {}, false};
  for (const std::optional<T>& value : values) {
    column.values.push_back(value.has_value() ? make(*value) : Value::Null(type));
  }
  return column;
}

std::string TextOfStatus(const absl::Status& status) {
  return std::string(absl::StatusCodeToString(status.code())) + ": " + std::string(status.message());
}

ColumnView ViewOfValues(const Type& type, const std::vector<Value>& values, size_t first, size_t count,
                        Arena* arena, bool with_nulls) {
  const auto get = [&](auto&& of) {
    return [&values, first, of](size_t i) {
      const Datum& datum = values[first + i].datum();
      return datum.is_there ? std::optional(of(datum)) : std::nullopt;
    };
  };
  ColumnView view;
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble:
      view = ColumnOfResults<double>(count, arena, get([](const Datum& datum) { return datum.number; }));
      break;
    case ColumnType::kBytes:
      view = ColumnOfResults<std::string_view>(count, arena,
                                               get([](const Datum& datum) { return datum.bytes(); }));
      break;
    case ColumnType::kList:
      view = ColumnOfResults<Datum>(count, arena, get([](const Datum& datum) { return datum; }));
      break;
    default:
      view = ColumnOfResults<int64_t>(count, arena, get([](const Datum& datum) { return datum.integer; }));
  }
  if (with_nulls || std::find(view.there(), view.there() + count, uint8_t{0}) != view.there() + count)
    return view;
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble:
      return ColumnView::OfDoubles({view.doubles(), count});
    case ColumnType::kBytes:
      return ColumnView::OfBytes({view.bytes(), count});
    case ColumnType::kList:
      return ColumnView::OfLists({view.lists(), count});
    default:
      return ColumnView::OfInts({view.ints(), count});
  }
}

}  // namespace

TestColumn Ints(const std::vector<std::optional<int64_t>>& values) {
  return ColumnOf(TypeKind::kInt64, values, Value::Int);
}
TestColumn Bools(const std::vector<std::optional<bool>>& values) {
  return ColumnOf(TypeKind::kBool, values, Value::Bool);
}
TestColumn Doubles(const std::vector<std::optional<double>>& values) {
  return ColumnOf(TypeKind::kFloat64, values, Value::Double);
}
TestColumn Strings(const std::vector<std::optional<std::string>>& values) {
  return ColumnOf(TypeKind::kString, values, [](const std::string& text) { return Value::String(text); });
}
TestColumn Seconds(const std::vector<std::optional<int64_t>>& seconds) {
  return ColumnOf(TypeKind::kTimestamp, seconds,
                  [](int64_t second) { return Value::Timestamp(second * 1'000'000); });
}
TestColumn Always(const Value& value) { return {value.type(), {value}, true}; }

TestAggregate::TestAggregate(std::string_view name, const std::vector<TestColumn>& columns)
    : columns_(columns) {
  const Function* const function = FindFunction(name);
  CHECK(function != nullptr);
  std::vector<ArgumentFacts> arguments;
  for (const TestColumn& column : columns) {
    ArgumentFacts& argument = arguments.emplace_back();
    argument.type = column.type;
    if (!column.is_constant) rows_ = column.values.size();
  }
  const std::optional<ChosenOverload> chosen = ChooseOverload(*function, arguments);
  CHECK(chosen.has_value() && chosen->overload->aggregator != nullptr);
  site_ = {chosen->match.argument_types, chosen->match.result, &facts_};
  factory_ = chosen->overload->aggregator;
  for (size_t i = 0; i < columns_.size(); ++i) {
    // Of what functions take otherwise, integers are taken for doubles.
    if (columns_[i].type == site_.argument_types[i] || !site_.argument_types[i].Is(TypeKind::kFloat64))
      continue;
    columns_[i].type = TypeKind::kFloat64;
    for (Value& value : columns_[i].values) {
      value = value.is_null() ? Value::Null(TypeKind::kFloat64)
                              : Value::Double(static_cast<double>(value.datum().integer));
    }
  }
}

std::unique_ptr<Aggregator> TestAggregate::Make(size_t groups) const {
  std::unique_ptr<Aggregator> aggregator = factory_(site_);
  aggregator->Resize(groups);
  return aggregator;
}

std::vector<ColumnView> TestAggregate::View(size_t first, size_t count, Arena* arena, bool with_nulls) const {
  std::vector<ColumnView> views;
  for (const TestColumn& column : columns_) {
    views.push_back(column.is_constant
                        ? column.values[0].AsColumn(count)
                        : ViewOfValues(column.type, column.values, first, count, arena, with_nulls));
  }
  return views;
}

absl::Status TestAggregate::AddRows(size_t first, size_t count, uint32_t group,
                                    Aggregator* aggregator) const {
  Arena arena;
  return aggregator->AddRun(View(first, count, &arena, false), count, group);
}

std::string TestAggregate::Result(uint32_t group, Aggregator* aggregator) const {
  Arena arena;
  const absl::StatusOr<ColumnView> column = aggregator->Results(group, 1, &arena);
  if (!column.ok()) return TextOfStatus(column.status());
  return result_type().ToString() + ": " + Value(result_type(), DatumAt(*column, 0)).ToSql();
}

namespace {

// The rows from `first` on, in parts by `random` that are merged in an order by it, partly through saved states.
absl::Status AddInParts(const TestAggregate& aggregate, size_t first, size_t count, uint32_t group,
                        Aggregator* aggregator, std::mt19937_64* random) {
  if (count <= 1 || (*random)() % 4 == 0) return aggregate.AddRows(first, count, group, aggregator);
  const size_t left = (*random)() % (count + 1);
  if (absl::Status s = AddInParts(aggregate, first, left, group, aggregator, random); !s.ok()) return s;
  const std::unique_ptr<Aggregator> right = aggregate.Make(2);
  if (absl::Status s = AddInParts(aggregate, first + left, count - left, 1, right.get(), random); !s.ok())
    return s;
  if ((*random)() % 2 == 0) return aggregator->Merge(group, *right, 1);
  std::string bytes;
  right->Save(1, &bytes);
  return aggregator->Load(group, bytes);
}

}  // namespace

std::string Aggregated(std::string_view name, const std::vector<TestColumn>& columns) {
  const TestAggregate aggregate(name, columns);
  const std::unique_ptr<Aggregator> as_run = aggregate.Make(3);
  const absl::Status status = aggregate.AddRows(0, aggregate.rows(), 1, as_run.get());
  const std::string result = status.ok() ? aggregate.Result(1, as_run.get()) : TextOfStatus(status);
  const std::string empty = aggregate.Result(0, as_run.get());
  EXPECT_EQ(aggregate.Result(2, as_run.get()), empty);

  // One by one among other groups, with NULL possible in each row.
  const std::unique_ptr<Aggregator> one_by_one = aggregate.Make(3);
  Arena arena;
  std::vector<uint32_t> groups;
  for (size_t row = 0; row < aggregate.rows(); ++row) groups.push_back(static_cast<uint32_t>(row % 2));
  const auto all = aggregate.View(0, aggregate.rows(), &arena, true);
  const absl::Status other_status = one_by_one->Add(all, groups);
  if (other_status.ok()) {
    one_by_one->Clear(2);
    const std::vector<uint32_t> twos(aggregate.rows(), 2);
    const absl::Status added = one_by_one->Add(all, twos);
    EXPECT_EQ(added.ok() ? aggregate.Result(2, one_by_one.get()) : TextOfStatus(added), result);
    one_by_one->Clear(2);
    EXPECT_EQ(aggregate.Result(2, one_by_one.get()), empty);
  } else {
    EXPECT_EQ(TextOfStatus(other_status), result);
  }

  for (uint64_t seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 random(seed);
    const std::unique_ptr<Aggregator> in_parts = aggregate.Make(1);
    const absl::Status parts = AddInParts(aggregate, 0, aggregate.rows(), 0, in_parts.get(), &random);
    EXPECT_EQ(parts.ok() ? aggregate.Result(0, in_parts.get()) : TextOfStatus(parts), result)
        << "seed " << seed;
    EXPECT_GT(in_parts->MemoryBytes(), 0);
    in_parts->Clear(0);
    EXPECT_EQ(aggregate.Result(0, in_parts.get()), empty);
  }
  return result;
}

}  // namespace sonde::sql
