#include "sql/message/query_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sql/message/proto_rows.h"

namespace sonde::sql {
namespace {

namespace pb = google::bigtable::v2;

std::string TextOf(const Type& type) {
  pb::Type message;
  ToProto(type, &message);
  return message.ShortDebugString();
}

TEST(QueryTypes, AreWrittenAsTheApiHasThem) {
  EXPECT_EQ(TextOf(Type::Map(TypeKind::kBytes, Type::Array(Type::Struct({{"timestamp", TypeKind::kTimestamp},
                                                                         {"value", TypeKind::kInt64}})))),
            "map_type { key_type { bytes_type { } } value_type { array_type { element_type { struct_type { "
            "fields { field_name: \"timestamp\" type { timestamp_type { } } } "
            "fields { field_name: \"value\" type { int64_type { } } } } } } } }");
  EXPECT_EQ(TextOf(Type::Proto("b", "pkg.M")),
            "proto_type { schema_bundle_id: \"b\" message_name: \"pkg.M\" }");
}

TEST(QueryTypes, AreReadBack) {
  const Type types[] = {
      TypeKind::kBool,
      TypeKind::kFloat32,
      TypeKind::kDate,
      Type::Array(TypeKind::kString),
      Type::Map(TypeKind::kBytes, Type::Struct({{"a", TypeKind::kTimestamp}, {"", TypeKind::kInt64}})),
      Type::Proto("b", "pkg.M"),
      Type::Enum("b", "pkg.E")};
  for (const Type& type : types) {
    pb::Type message;
    ToProto(type, &message);
    const absl::StatusOr<Type> read = FromProto(message);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, type);
  }
  EXPECT_FALSE(FromProto(pb::Type()).ok());
}

TEST(QueryRows, AreReadBack) {
  const Type pair = Type::Struct({{"timestamp", TypeKind::kTimestamp}, {"value", TypeKind::kBytes}});
  const Datum items[] = {
      Datum::Bytes("q"),
      Value::Array(TypeKind::kInt64, {Value::Int(1), Value::Null(TypeKind::kInt64)}).datum()};
  const std::vector<Value> row = {
      Value::Bool(true),
      Value::Int(-7),
      Value::Double(1.5),
      Value::String("text"),
      Value::Bytes("\xff"),
      Value::Date(-1),
      Value::Timestamp(-1),
      Value::Null(TypeKind::kString),
      Value::Struct(pair, {Value::Timestamp(5), Value::Null(TypeKind::kBytes)}),
      Value(Type::Map(TypeKind::kBytes, Type::Array(TypeKind::kInt64)), Datum::List(items))};
  std::vector<Type> types;
  std::vector<ColumnType> columns;
  rows::Batch batch{.rows = 2, .columns = {}};
  for (const Value& value : row) {
    types.push_back(value.type());
    columns.push_back(ColumnTypeOf(value.type()));
    batch.columns.push_back(value.AsColumn(2));
  }
  ProtoRowsWriter writer(types);
  writer.Append(batch, 0);
  writer.Append(batch, 1);
  pb::ProtoRows message;
  ASSERT_TRUE(message.ParseFromString(writer.Take()));
  rows::HeldBatch read(columns);
  ASSERT_TRUE(AppendRows(types, message, &read).ok());
  ASSERT_EQ(read.rows(), 2u);
  for (size_t i = 0; i < row.size(); ++i) {
    EXPECT_EQ(Compare(DatumAt(read.columns[i].View(), 1), row[i].datum()), 0) << row[i].ToSql();
  }
  message.mutable_values()->RemoveLast();
  EXPECT_EQ(AppendRows(types, message, &read).message(), "The server sent a part of a row");
  EXPECT_EQ(AppendRows({TypeKind::kString}, message, &read).message(),
            "The server sent a value that is no STRING");
}

TEST(QueryRows, TimesAndDatesBeyondTheirRangeAreRefused) {
  const auto read = [](const Type& type, const pb::Value& value) {
    pb::ProtoRows message;
    *message.add_values() = value;
    rows::HeldBatch held({ColumnTypeOf(type)});
    const absl::Status status = AppendRows({type}, message, &held);
    return status.ok() ? std::string("read") : std::string(status.message());
  };
  const auto time = [&](int64_t seconds, int32_t nanos) {
    pb::Value value;
    value.mutable_timestamp_value()->set_seconds(seconds);
    value.mutable_timestamp_value()->set_nanos(nanos);
    return read(TypeKind::kTimestamp, value);
  };
  const std::string no_time = "The server sent a value that is no TIMESTAMP";
  EXPECT_EQ(time(-62'135'596'800, 0), "read");
  EXPECT_EQ(time(253'402'300'799, 999'999'999), "read");
  EXPECT_EQ(time(-62'135'596'801, 0), no_time);
  EXPECT_EQ(time(253'402'300'800, 0), no_time);
  EXPECT_EQ(time(std::numeric_limits<int64_t>::min(), 0), no_time);
  EXPECT_EQ(time(0, -1), no_time);
  EXPECT_EQ(time(0, 1'000'000'000), no_time);
  const auto date = [&](int year, int month, int day) {
    pb::Value value;
    value.mutable_date_value()->set_year(year);
    value.mutable_date_value()->set_month(month);
    value.mutable_date_value()->set_day(day);
    return read(TypeKind::kDate, value);
  };
  const std::string no_date = "The server sent a value that is no DATE";
  EXPECT_EQ(date(9999, 12, 31), "read");
  EXPECT_EQ(date(2023, 2, 29), no_date);
  EXPECT_EQ(date(0, 1, 1), no_date);
  EXPECT_EQ(date(10'000, 1, 1), no_date);
  EXPECT_EQ(date(std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 1), no_date);
}

}  // namespace
}  // namespace sonde::sql
