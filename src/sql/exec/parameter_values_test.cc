#include "sql/exec/parameter_values.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/exec/query_name.h"

namespace sonde::sql {
namespace {

std::string Shown(const absl::StatusOr<Value>& value) {
  return value.ok() ? value->type().ToString() + " " + value->ToSql() : value.status().ToString();
}

TEST(ParameterValues, ALookSaysAType) {
  EXPECT_EQ(Shown(ValueByLook("5")), "INT64 5");
  EXPECT_EQ(Shown(ValueByLook("5.5")), "FLOAT64 5.5");
  EXPECT_EQ(Shown(ValueByLook("TRUE")), "BOOL true");
  EXPECT_EQ(Shown(ValueByLook("9223372036854775808")), "FLOAT64 9.2233720368547758e+18");
  EXPECT_EQ(Shown(ValueByLook("5 ")), "STRING \"5 \"");
}

TEST(ParameterValues, CastsToATypeByItsName) {
  EXPECT_EQ(Shown(CastToNamed(Value::String("5"), "INT64")), "INT64 5");
  EXPECT_EQ(Shown(CastToNamed(Value::String("a"), "bytes")), "BYTES b\"a\"");
  EXPECT_EQ(Shown(CastToNamed(Value::Null(TypeKind::kString), "DATE")), "DATE NULL");
  EXPECT_EQ(Shown(CastToNamed(Value::String("2020-01-31T12:00:00Z"), "TIMESTAMP")),
            "TIMESTAMP TIMESTAMP \"2020-01-31 12:00:00+00\"");
  const Value texts = Value::Array(TypeKind::kString,
                                   {Value::String("2"), Value::Null(TypeKind::kString), Value::String("1")});
  EXPECT_EQ(Shown(CastToNamed(texts, " Array < INT64 > ")), "ARRAY<INT64> [2, NULL, 1]");
  EXPECT_EQ(Shown(CastToNamed(Value::Null(Type::Array(TypeKind::kString)), "ARRAY<INT64>")),
            "ARRAY<INT64> NULL");
  EXPECT_EQ(Shown(CastExpressionToNamed("[1, 2]", "ARRAY<FLOAT64>")), "ARRAY<FLOAT64> [1, 2]");
}

TEST(ParameterValues, ErrorsAreThoseOfCastWithoutAPlace) {
  EXPECT_EQ(Shown(CastToNamed(Value::String("x"), "INT64")), "INVALID_ARGUMENT: Bad int64 value: x");
  EXPECT_EQ(Shown(CastToNamed(Value::String("x"), "NUMBER")), "INVALID_ARGUMENT: Type not found: NUMBER");
  EXPECT_EQ(Shown(CastToNamed(Value::String("x"), "INT64) FROM (SELECT 1")),
            "INVALID_ARGUMENT: 'INT64) FROM (SELECT 1' is no name of a type, such as BYTES or ARRAY<INT64>");
  EXPECT_EQ(Shown(CastExpressionToNamed("ARRAY(SELECT _key FROM t)", "ARRAY<BYTES>")),
            "INVALID_ARGUMENT: The value of a parameter must not read a table: 't'");
}

TEST(NameOfQuery, IsOneLineOfBoundedLength) {
  EXPECT_EQ(NameOfQuery("  SELECT\n\t_key,  'ö'\nFROM t;\n"), "SELECT _key, 'ö' FROM t;");
  EXPECT_EQ(NameOfQuery(""), "");
  EXPECT_EQ(NameOfQuery("SELECT " + std::string(1'000, 'x')), "SELECT " + std::string(193, 'x') + "...");
  EXPECT_EQ(NameOfQuery(std::string(199, 'x') + "öx"), std::string(199, 'x') + "ö...");
  EXPECT_EQ(NameOfQuery(std::string(1'000, '\x80')).size(), 204u);
}

}  // namespace
}  // namespace sonde::sql
