#include "sql/output/answer_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// Two rows: these values, and NULLs.
std::string Written(AnswerFormat format, const std::vector<std::pair<std::string, Value>>& row) {
  std::ostringstream out;
  const std::unique_ptr<AnswerWriter> writer = MakeAnswerWriter(format, &out);
  std::vector<AnswerColumn> columns;
  rows::Batch batch{.rows = 1, .columns = {}};
  rows::Batch nulls = batch;
  for (const auto& [name, value] : row) {
    columns.push_back({name, value.type()});
    batch.columns.push_back(value.AsColumn(1));
    nulls.columns.push_back(ColumnView::Missing(ColumnTypeOf(value.type()), 1));
  }
  EXPECT_TRUE(writer->TakeColumns(columns).ok());
  EXPECT_TRUE(writer->TakeRows(batch).ok());
  EXPECT_TRUE(writer->TakeRows(nulls).ok());
  writer->End();
  return out.str();
}

Value MapOf(std::string_view key, const Value& value) {
  const Datum items[] = {Datum::Bytes(key), value.datum()};
  return {Type::Map(TypeKind::kBytes, value.type()), Datum::List(items)};
}

const std::vector<std::pair<std::string, Value>> kScalars = {
    {"_key", Value::Bytes("a,\xff")},   {"n", Value::Int(1'000'000'000'000)},
    {"x", Value::Double(1.5)},          {"nan", Value::Double(std::nan(""))},
    {"t", Value::Timestamp(1'500'000)}, {"d", Value::Date(0)},
    {"b", Value::Bool(true)},           {"n", Value::String("\"ö\"")},
    {"empty", Value::String("")},
};
const std::vector<std::pair<std::string, Value>> kLists = {
    {"m", MapOf("q", Value::Array(TypeKind::kInt64, {Value::Int(1), Value::Null(TypeKind::kInt64)}))},
    {"s", Value::Struct(Type::Struct({{"a", TypeKind::kInt64}, {"", TypeKind::kString}}),
                        {Value::Int(1), Value::String("x")})},
    {"none", Value::Array(TypeKind::kInt64, {})},
};

TEST(AnswerWriter, WritesTables) {
  EXPECT_EQ(Written(AnswerFormat::kTable, kScalars),
            "_key                n     x   nan  t                        d           b     n     empty\n"
            "──────  ─────────────  ────  ────  ───────────────────────  ──────────  ────  ────  ─────\n"
            "a,\\xff  1000000000000   1.5   nan  1970-01-01 00:00:01.500  1970-01-01  true  \"ö\"\n"
            "NULL             NULL  NULL  NULL  NULL                     NULL        NULL  NULL  NULL\n");
  EXPECT_EQ(Written(AnswerFormat::kTable, kLists),
            "m               s       none\n"
            "──────────────  ──────  ────\n"
            "{q: [1, NULL]}  (1, x)  []\n"
            "NULL            NULL    NULL\n");
}

TEST(AnswerWriter, WritesCsv) {
  EXPECT_EQ(
      Written(AnswerFormat::kCsv, kScalars),
      "_key,n,x,nan,t,d,b,n,empty\r\n"
      "\"a,\\xff\",1000000000000,1.5,nan,1970-01-01T00:00:01.500Z,1970-01-01,true,\"\"\"ö\"\"\",\"\"\r\n"
      ",,,,,,,,\r\n");
  EXPECT_EQ(Written(AnswerFormat::kCsv, kLists),
            "m,s,none\r\n"
            "\"{\"\"q\"\":[1,null]}\",\"{\"\"a\"\":1,\"\"_2\"\":\"\"x\"\"}\",[]\r\n"
            ",,\r\n");
}

TEST(AnswerWriter, WritesJson) {
  EXPECT_EQ(Written(AnswerFormat::kJson, kScalars),
            "{\"_key\":\"a,\\\\xff\",\"n\":1000000000000,\"x\":1.5,\"nan\":\"NaN\",\"t\":\"1970-01-01T00:00:"
            "01.500Z\","
            "\"d\":\"1970-01-01\",\"b\":true,\"n_1\":\"\\\"ö\\\"\",\"empty\":\"\"}\n"
            "{\"_key\":null,\"n\":null,\"x\":null,\"nan\":null,\"t\":null,\"d\":null,\"b\":null,\"n_1\":null,"
            "\"empty\":null}\n");
  EXPECT_EQ(Written(AnswerFormat::kJson, kLists),
            "{\"m\":{\"q\":[1,null]},\"s\":{\"a\":1,\"_2\":\"x\"},\"none\":[]}\n"
            "{\"m\":null,\"s\":null,\"none\":null}\n");
}

TEST(AnswerWriter, WritesJsonArraysBehindTheColumns) {
  EXPECT_EQ(Written(AnswerFormat::kJsonArrays, {{"n", Value::Int(1)}, {"n", Value::String("\"")}}),
            "{\"columns\":[{\"name\":\"n\",\"type\":\"INT64\"},{\"name\":\"n\",\"type\":\"STRING\"}]}\n"
            "[1,\"\\\"\"]\n"
            "[null,null]\n");
  std::ostringstream out;
  const std::unique_ptr<AnswerWriter> writer = MakeAnswerWriter(AnswerFormat::kJsonArrays, &out);
  ASSERT_TRUE(writer->TakeColumns({{"used", TypeKind::kInt64, "bytes"}, {"n", TypeKind::kInt64}}).ok());
  EXPECT_EQ(out.str(),
            "{\"columns\":[{\"name\":\"used\",\"type\":\"INT64\",\"unit\":\"bytes\"},"
            "{\"name\":\"n\",\"type\":\"INT64\"}]}\n");
}

}  // namespace
}  // namespace sonde::sql
