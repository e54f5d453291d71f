#include "sql/value/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sonde::sql {
namespace {

TEST(Type, IsNamedAsGoogleSqlNamesIt) {
  const Type pair = Type::Struct({{"timestamp", TypeKind::kTimestamp}, {"", TypeKind::kBytes}});
  EXPECT_EQ(pair.ToString(), "STRUCT<timestamp TIMESTAMP, BYTES>");
  EXPECT_EQ(Type::Map(TypeKind::kBytes, Type::Array(pair)).ToString(),
            "MAP<BYTES, ARRAY<STRUCT<timestamp TIMESTAMP, BYTES>>>");
  EXPECT_EQ(Type::Proto("bundle", "pkg.Message").ToString(), "PROTO<pkg.Message>");
}

TEST(Type, IsEqualIfAllInsideIs) {
  EXPECT_EQ(Type::Array(TypeKind::kInt64), Type::Array(TypeKind::kInt64));
  EXPECT_NE(Type::Array(TypeKind::kInt64), Type::Array(TypeKind::kString));
  EXPECT_NE(Type::Struct({{"a", TypeKind::kInt64}}), Type::Struct({{"b", TypeKind::kInt64}}));
  EXPECT_NE(Type(TypeKind::kInt64), Type(TypeKind::kBool));
}

TEST(Value, OwnsWhatItHolds) {
  Value value;
  {
    std::string text = "a longer text than fits into a string without memory of its own";
    value = Value::Array(TypeKind::kString, {Value::String(text), Value::Null(TypeKind::kString)});
    text.assign(text.size(), 'x');
  }
  EXPECT_EQ(value.ToSql(), R"(["a longer text than fits into a string without memory of its own", NULL])");
}

TEST(Value, IsAColumn) {
  const ColumnView column = Value::String("abc").AsColumn(3);
  ASSERT_EQ(column.size(), 3u);
  EXPECT_EQ(DatumAt(column, 2).bytes(), "abc");
  EXPECT_FALSE(Value::Null(TypeKind::kFloat64).AsColumn(2).IsThere(1));
}

TEST(Value, IsWrittenAsGoogleSqlWritesIt) {
  EXPECT_EQ(Value::Double(1e15).ToSql(), "1e+15");
  EXPECT_EQ(Value::Double(0.1 + 0.2).ToSql(), "0.30000000000000004");
  EXPECT_EQ(Value::Double(-0.0).ToSql(), "0");
  EXPECT_EQ(Value::Double(std::nan("")).ToSql(), "nan");
  EXPECT_EQ(Value::Bytes("a\xff\n").ToSql(), R"(b"a\xff\n")");
  EXPECT_EQ(Value::Date(-1).ToSql(), R"(DATE "1969-12-31")");
  EXPECT_EQ(Value::Timestamp(-1'000).ToSql(), R"(TIMESTAMP "1969-12-31 23:59:59.999+00")");
}

TEST(Value, IsOrderedWithNullAndNanFirst) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<Datum> ascending = {Datum::Missing(), Datum::Double(nan), Datum::Double(-infinity),
                                        Datum::Double(0), Datum::Double(infinity)};
  for (size_t a = 0; a < ascending.size(); ++a) {
    for (size_t b = 0; b < ascending.size(); ++b) {
      EXPECT_EQ(Compare(ascending[a], ascending[b]) < 0, a < b) << a << " " << b;
      EXPECT_EQ(Compare(ascending[a], ascending[b]) == 0, a == b) << a << " " << b;
    }
  }
  EXPECT_EQ(Compare(Datum::Double(0.0), Datum::Double(-0.0)), 0);
  EXPECT_EQ(HashOf(Datum::Double(0.0)), HashOf(Datum::Double(-0.0)));
  EXPECT_EQ(HashOf(Datum::Double(nan)), HashOf(Datum::Double(-nan)));
}

}  // namespace
}  // namespace sonde::sql
