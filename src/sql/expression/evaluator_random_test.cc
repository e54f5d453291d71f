// Random expressions over random batches, evaluated batch by batch and, naively, row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sql/expression/evaluator.h"
#include "sql/expression/expression_test_support.h"

namespace sonde::sql {
namespace {

using Kind = Expression::Kind;

constexpr size_t kColumns = 4;  // the last one is an array

const Type& ArrayOfInts() {
  static const Type* const kType = new Type(Type::Array(TypeKind::kInt64));
  return *kType;
}

// What a row has in its columns, and what lambdas add; the naive evaluator knows no batches.
class NaiveEvaluator {
 public:
  explicit NaiveEvaluator(std::vector<Value> columns) : columns_(std::move(columns)) {}

  absl::StatusOr<Value> Evaluate(const Expression& e) {
    switch (e.kind) {
      case Kind::kLiteral:
        return e.value;
      case Kind::kColumn:
        return columns_[e.index];
      case Kind::kCall:
        return EvaluateCall(e);
      case Kind::kAnd:
      case Kind::kOr:
        return EvaluateAndOr(e);
      case Kind::kIf:
      case Kind::kCase:
        return EvaluateCase(e);
      case Kind::kCoalesce:
        for (const ExpressionPtr& argument : e.arguments) {
          absl::StatusOr<Value> value = Evaluate(*argument);
          if (!value.ok() || !value->is_null()) return value;
        }
        return Value::Null(e.type);
      case Kind::kNullIf:
        return EvaluateNullIf(e);
      case Kind::kIfError: {
        absl::StatusOr<Value> value = Evaluate(*e.arguments[0]);
        return value.ok() ? value : Evaluate(*e.arguments[1]);
      }
      case Kind::kIsError:
        return Value::Bool(!Evaluate(*e.arguments[0]).ok());
      case Kind::kNullIfError: {
        absl::StatusOr<Value> value = Evaluate(*e.arguments[0]);
        return value.ok() ? *value : Value::Null(e.type);
      }
      case Kind::kArray:
      case Kind::kStruct:
        return EvaluateList(e);
      case Kind::kField: {
        absl::StatusOr<Value> value = Evaluate(*e.arguments[0]);
        if (!value.ok()) return value;
        return value->is_null() ? Value::Null(e.type) : Value(e.type, value->datum().list()[e.index]);
      }
      default:
        ADD_FAILURE();
        return Value();
    }
  }

 private:
  absl::StatusOr<Value> EvaluateCall(const Expression& e) {
    if (e.function == &Functions().sum) return EvaluateSum(e);
    absl::StatusOr<Value> a = Evaluate(*e.arguments[0]);
    if (!a.ok()) return a;
    absl::StatusOr<Value> b = Evaluate(*e.arguments[1]);
    if (!b.ok()) return b;
    if (a->is_null() || b->is_null()) return Value::Null(e.type);
    if (e.function == &Functions().join) {
      return Value::String(std::string(a->datum().bytes()) + std::string(b->datum().bytes()));
    }
    const int64_t x = a->datum().integer;
    const int64_t y = b->datum().integer;
    if (e.function == &Functions().less) return Value::Bool(x < y);
    if (e.function == &Functions().equal) return Value::Bool(x == y);
    if (x != 13 && y != 13) return Value::Int(x + y);
    return e.is_safe ? absl::StatusOr<Value>(Value::Null(e.type)) : absl::OutOfRangeError("unlucky: 13");
  }

  absl::StatusOr<Value> EvaluateSum(const Expression& e) {
    const absl::StatusOr<Value> array = Evaluate(*e.arguments[0]);
    if (!array.ok()) return array;
    if (array->is_null()) return Value::Int(0);
    const Expression& lambda = *e.arguments[1];
    int64_t sum = 0;
    for (const Datum& item : array->datum().list()) {
      const std::vector<Value> before = columns_;
      columns_.resize(lambda.index);
      columns_.emplace_back(TypeKind::kInt64, item);
      const absl::StatusOr<Value> value = Evaluate(*lambda.arguments[0]);
      columns_ = before;
      if (!value.ok()) return value;
      if (!value->is_null()) sum += value->datum().integer;
    }
    return Value::Int(sum);
  }

  absl::StatusOr<Value> EvaluateAndOr(const Expression& e) {
    const bool decisive = e.kind == Kind::kOr;
    bool has_null = false;
    for (const ExpressionPtr& argument : e.arguments) {
      absl::StatusOr<Value> value = Evaluate(*argument);
      if (!value.ok()) return value;
      if (!value->is_null() && (value->datum().integer != 0) == decisive) return Value::Bool(decisive);
      has_null |= value->is_null();
    }
    return has_null ? Value::Null(TypeKind::kBool) : Value::Bool(!decisive);
  }

  absl::StatusOr<Value> EvaluateCase(const Expression& e) {
    for (size_t i = 0; i + 1 < e.arguments.size(); i += 2) {
      absl::StatusOr<Value> condition = Evaluate(*e.arguments[i]);
      if (!condition.ok()) return condition;
      if (!condition->is_null() && condition->datum().integer != 0) return Evaluate(*e.arguments[i + 1]);
    }
    return e.arguments.size() % 2 == 1 ? Evaluate(*e.arguments.back())
                                       : absl::StatusOr<Value>(Value::Null(e.type));
  }

  absl::StatusOr<Value> EvaluateNullIf(const Expression& e) {
    absl::StatusOr<Value> a = Evaluate(*e.arguments[0]);
    if (!a.ok()) return a;
    absl::StatusOr<Value> b = Evaluate(*e.arguments[1]);
    if (!b.ok()) return b;
    const bool same = !a->is_null() && !b->is_null() && Compare(a->datum(), b->datum()) == 0;
    return same ? Value::Null(e.type) : *a;
  }

  absl::StatusOr<Value> EvaluateList(const Expression& e) {
    std::vector<Datum> items;
    std::vector<Value> values;
    for (const ExpressionPtr& argument : e.arguments) {
      const absl::StatusOr<Value> value = Evaluate(*argument);
      if (!value.ok()) return value;
      values.push_back(*value);
      items.push_back(value->datum());
    }
    return Value(e.type, Datum::List(items));
  }

  std::vector<Value> columns_;
};

class RandomExpressions {
 public:
  explicit RandomExpressions(uint64_t seed) : random_(seed) {}

  size_t Below(size_t end) { return random_() % end; }

  // Of INT64.  `columns`: how many columns there are, and parameters of lambdas behind them.
  ExpressionPtr MakeInt(int depth, size_t columns) {
    if (depth == 0) return MakeIntLeaf(columns);
    const auto number = [&] { return MakeInt(depth - 1, columns); };
    switch (Below(12)) {
      case 0:
        return Make(Kind::kIf, TypeKind::kInt64, List(MakeBool(depth - 1, columns), number(), number()));
      case 1: {
        std::vector<ExpressionPtr> parts;
        for (size_t i = Below(3) + 1; i > 0; --i) {
          parts.push_back(MakeBool(depth - 1, columns));
          parts.push_back(number());
        }
        if (Below(2) == 0) parts.push_back(number());
        return Make(Kind::kCase, TypeKind::kInt64, std::move(parts));
      }
      case 2:
        return Make(Kind::kCoalesce, TypeKind::kInt64, List(number(), number(), number()));
      case 3: {
        ExpressionPtr null_if = Make(Kind::kNullIf, TypeKind::kInt64, List(number(), number()));
        null_if->equal = Functions().equal.overloads[0].kernel;
        return null_if;
      }
      case 4:
        return Make(Kind::kIfError, TypeKind::kInt64, List(number(), number()));
      case 5:
        return Make(Kind::kNullIfError, TypeKind::kInt64, List(number()));
      case 6: {
        const Type pair = Type::Struct({{"a", TypeKind::kInt64}, {"b", TypeKind::kInt64}});
        ExpressionPtr field =
            Make(Kind::kField, TypeKind::kInt64, List(Make(Kind::kStruct, pair, List(number(), number()))));
        field->index = Below(2);
        return field;
      }
      case 7: {
        ExpressionPtr array = Below(2) == 0 ? MakeColumn(kColumns - 1, ArrayOfInts())
                                            : Make(Kind::kArray, ArrayOfInts(), List(number(), number()));
        return MakeCall(Functions().sum, TypeKind::kInt64,
                        List(std::move(array), MakeLambda(columns, 1, MakeInt(depth - 1, columns + 1))));
      }
      default: {
        ExpressionPtr add = Add(number(), number());
        add->is_safe = Below(4) == 0;
        return add;
      }
    }
  }

  ExpressionPtr MakeBool(int depth, size_t columns) {
    if (depth == 0) {
      return Below(4) == 0 ? MakeLiteral(Value::Null(TypeKind::kBool)) : Bool(Below(2) == 0);
    }
    const auto truth = [&] { return MakeBool(depth - 1, columns); };
    switch (Below(6)) {
      case 0:
        return Make(Kind::kAnd, TypeKind::kBool, List(truth(), truth(), truth()));
      case 1:
        return Make(Kind::kOr, TypeKind::kBool, List(truth(), truth()));
      case 2:
        return Make(Kind::kIsError, TypeKind::kBool, List(MakeInt(depth - 1, columns)));
      case 3:
        return IsEqual(MakeInt(depth - 1, columns), MakeInt(depth - 1, columns));
      default:
        return IsLess(MakeInt(depth - 1, columns), MakeInt(depth - 1, columns));
    }
  }

  ExpressionPtr MakeString(int depth, size_t columns) {
    if (depth == 0) {
      return Below(4) == 0 ? MakeLiteral(Value::Null(TypeKind::kString))
                           : MakeLiteral(Value::String(std::string(Below(3), 'x')));
    }
    const auto text = [&] { return MakeString(depth - 1, columns); };
    switch (Below(4)) {
      case 0:
        return Make(Kind::kIf, TypeKind::kString, List(MakeBool(depth - 1, columns), text(), text()));
      case 1:
        return Make(Kind::kCoalesce, TypeKind::kString, List(text(), text()));
      default:
        return MakeCall(Functions().join, TypeKind::kString, List(text(), text()));
    }
  }

  // Values of a column: small ones, with 13 and NULL among them.
  std::vector<std::vector<Value>> MakeColumns(size_t rows) {
    std::vector<std::vector<Value>> columns(kColumns);
    for (size_t c = 0; c < kColumns; ++c) {
      const bool has_null = Below(2) == 0;
      const bool is_constant = Below(4) == 0;
      const bool has_unlucky = Below(2) == 0;
      for (size_t row = 0; row < rows; ++row) {
        if (is_constant && row > 0) {
          columns[c].push_back(columns[c][0]);
        } else if (c + 1 < kColumns) {
          columns[c].push_back(MakeNumber(has_null, has_unlucky));
        } else {
          std::vector<Value> items;
          for (size_t i = Below(4); i > 0; --i) items.push_back(MakeNumber(has_null, has_unlucky));
          columns[c].push_back(has_null && Below(5) == 0 ? Value::Null(ArrayOfInts())
                                                         : Value::Array(TypeKind::kInt64, items));
        }
      }
    }
    return columns;
  }

 private:
  Value MakeNumber(bool has_null, bool has_unlucky) {
    if (has_null && Below(5) == 0) return Value::Null(TypeKind::kInt64);
    return Value::Int(has_unlucky ? static_cast<int64_t>(Below(16)) : static_cast<int64_t>(Below(8)) - 20);
  }

  ExpressionPtr MakeIntLeaf(size_t columns) {
    switch (Below(6)) {
      case 0:
        return Int(static_cast<int64_t>(Below(15)));
      case 1:
        return NullInt();
      default: {
        // All but the array.
        const size_t column = Below(columns - 1);
        return Column(column < kColumns - 1 ? column : column + 1);
      }
    }
  }

  std::mt19937_64 random_;
};

// One expression for some batches, by one evaluator.
void CheckOne(uint64_t seed) {
  RandomExpressions random(seed);
  const size_t kind = random.Below(3);
  const int depth = static_cast<int>(random.Below(5)) + 1;
  const ExpressionPtr expression = kind == 0   ? random.MakeBool(depth, kColumns)
                                   : kind == 1 ? random.MakeString(depth, kColumns)
                                               : random.MakeInt(depth, kColumns);
  SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << ToString(*expression));
  const ExpressionPtr clone = Clone(*expression);
  ASSERT_TRUE(IsSame(*expression, *clone));
  const EvaluationContext context;
  Evaluator evaluator(*clone, &context);
  for (int round = 0; round < 3; ++round) {
    const size_t rows = random.Below(20);
    const std::vector<std::vector<Value>> columns = random.MakeColumns(rows);
    TestBatch batch(rows);
    for (size_t c = 0; c < kColumns; ++c) {
      std::vector<Datum> data;
      for (const Value& value : columns[c]) data.push_back(value.datum());
      const bool is_constant = rows > 0 && std::all_of(data.begin(), data.end(), [&](const Datum& datum) {
                                 return Compare(datum, data[0]) == 0;
                               });
      if (is_constant && random.Below(4) > 0) {
        batch.Constant(columns[c][0]);
      } else {
        batch.Add(c + 1 < kColumns ? ColumnType::kInt64 : ColumnType::kList, data);
      }
    }
    Arena arena;
    const absl::StatusOr<ColumnView> column = evaluator.Evaluate(batch.batch(), &arena);
    std::string expected;
    bool fails = false;
    for (size_t row = 0; row < rows; ++row) {
      std::vector<Value> values;
      for (const std::vector<Value>& of_column : columns) values.push_back(of_column[row]);
      const absl::StatusOr<Value> value = NaiveEvaluator(values).Evaluate(*expression);
      fails |= !value.ok();
      if (!fails) expected += (row > 0 ? " " : "") + value->ToSql();
    }
    if (fails) {
      ASSERT_EQ(column.status(), absl::OutOfRangeError("unlucky: 13"));
    } else {
      ASSERT_TRUE(column.ok()) << column.status();
      ASSERT_EQ(TextOf(expression->type, *column), expected);
    }
  }
}

TEST(EvaluatorRandomTest, GivesWhatANaiveEvaluatorGives) {
  for (uint64_t seed = 1; seed <= 20'000 && !testing::Test::HasFailure(); ++seed) CheckOne(seed);
}

}  // namespace
}  // namespace sonde::sql
