#include "sql/message/proto_rows.h"

#include <google/bigtable/v2/data.pb.h>
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "base/random.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

namespace pb = google::bigtable::v2;

// What a client reads of these values, one row of them.
std::string Written(const std::vector<Value>& values) {
  std::vector<Type> types;
  rows::Batch batch{.rows = 1, .columns = {}};
  for (const Value& value : values) {
    types.push_back(value.type());
    batch.columns.push_back(value.AsColumn(1));
  }
  ProtoRowsWriter writer(types);
  writer.Append(batch, 0);
  pb::ProtoRows rows;
  EXPECT_TRUE(rows.ParseFromString(writer.Take()));
  return rows.ShortDebugString();
}

TEST(ProtoRows, HaveEachKindOfValue) {
  EXPECT_EQ(Written({Value::Null(TypeKind::kString)}), "values { }");
  EXPECT_EQ(Written({Value::Bytes("a\xff"), Value::String("b")}),
            R"(values { bytes_value: "a\377" } values { string_value: "b" })");
  EXPECT_EQ(Written({Value::Int(-1), Value::Int(0), Value::Bool(false), Value::Bool(true)}),
            "values { int_value: -1 } values { int_value: 0 } values { bool_value: false } values { "
            "bool_value: true }");
  EXPECT_EQ(Written({Value::Double(-0.0), Value::Double(std::numeric_limits<double>::infinity())}),
            "values { float_value: -0 } values { float_value: inf }");
  EXPECT_EQ(Written({Value::Timestamp(-1)}), "values { timestamp_value { seconds: -1 nanos: 999999000 } }");
  EXPECT_EQ(Written({Value::Timestamp(0)}), "values { timestamp_value { } }");
  EXPECT_EQ(Written({Value::Date(19'782)}), "values { date_value { year: 2024 month: 2 day: 29 } }");
  EXPECT_EQ(Written({Value::Array(TypeKind::kInt64, {})}), "values { array_value { } }");
  EXPECT_EQ(Written({Value::Array(TypeKind::kInt64, {Value::Int(300), Value::Null(TypeKind::kInt64)})}),
            "values { array_value { values { int_value: 300 } values { } } }");
}

TEST(ProtoRows, HaveMapsAsPairsAndStructsAsFields) {
  const Type pair = Type::Struct({{"timestamp", TypeKind::kTimestamp}, {"value", TypeKind::kBytes}});
  const Value history =
      Value::Array(pair, {Value::Struct(pair, {Value::Timestamp(1'000'000), Value::Bytes("v")})});
  const Datum qualifier = Datum::Bytes("q");
  const Datum items[] = {qualifier, history.datum()};
  const Value map(Type::Map(TypeKind::kBytes, history.type()), Datum::List(items));
  EXPECT_EQ(
      Written({map}),
      R"(values { array_value { values { array_value { values { bytes_value: "q" } values { array_value { )"
      R"(values { array_value { values { timestamp_value { seconds: 1 } } values { bytes_value: "v" } } } } } } } } })");
}

Value RandomValue(const Type& type, RandomSource* random) {
  if (random->Uniform(5) == 0) return Value::Null(type);
  switch (type.kind()) {
    case TypeKind::kInt64:
      return Value::Int(static_cast<int64_t>(random->Next() >> random->Uniform(64)));
    case TypeKind::kFloat64:
      return Value::Double(random->UniformReal());
    case TypeKind::kBytes:
      return Value::Bytes(std::string(random->Uniform(300), 'x'));
    case TypeKind::kTimestamp:
      return Value::Timestamp(static_cast<int64_t>(random->Next()) >> (13 + random->Uniform(50)));
    case TypeKind::kDate:
      return Value::Date(static_cast<int64_t>(random->Uniform(3'000'000)) - 700'000);
    case TypeKind::kStruct: {
      std::vector<Value> fields;
      for (const Type::Field& field : type.fields()) fields.push_back(RandomValue(field.type, random));
      return Value::Struct(type, fields);
    }
    default: {
      std::vector<Value> elements;
      for (uint64_t i = random->Uniform(50); i > 0; --i)
        elements.push_back(RandomValue(type.element(), random));
      return Value::Array(type.element(), elements);
    }
  }
}

void Fill(const Value& value, pb::Value* out) {
  if (value.is_null()) return;
  switch (value.type().kind()) {
    case TypeKind::kInt64:
      return out->set_int_value(value.datum().integer);
    case TypeKind::kFloat64:
      return out->set_float_value(value.datum().number);
    case TypeKind::kBytes:
      return out->set_bytes_value(std::string(value.datum().bytes()));
    case TypeKind::kTimestamp: {
      constexpr int64_t kMicros = 1'000'000;
      const int64_t micros = (value.datum().integer % kMicros + kMicros) % kMicros;
      out->mutable_timestamp_value()->set_seconds((value.datum().integer - micros) / kMicros);
      out->mutable_timestamp_value()->set_nanos(static_cast<int32_t>(micros * 1'000));
      return;
    }
    case TypeKind::kDate: {
      const absl::CivilDay day = absl::CivilDay(1970, 1, 1) + value.datum().integer;
      out->mutable_date_value()->set_year(static_cast<int32_t>(day.year()));
      out->mutable_date_value()->set_month(day.month());
      out->mutable_date_value()->set_day(day.day());
      return;
    }
    case TypeKind::kStruct:
      out->mutable_array_value();
      for (size_t i = 0; i < value.type().fields().size(); ++i) {
        Fill(Value(value.type().fields()[i].type, value.datum().items[i]),
             out->mutable_array_value()->add_values());
      }
      return;
    default:
      out->mutable_array_value();
      for (const Datum& element : value.datum().list()) {
        Fill(Value(value.type().element(), element), out->mutable_array_value()->add_values());
      }
  }
}

TEST(ProtoRows, AreTheBytesThatMessagesWouldBe) {
  SeededRandom random(1);
  const Type pair = Type::Struct({{"timestamp", TypeKind::kTimestamp}, {"value", TypeKind::kBytes}});
  const Type kinds[] = {TypeKind::kInt64,
                        TypeKind::kFloat64,
                        TypeKind::kBytes,
                        TypeKind::kTimestamp,
                        TypeKind::kDate,
                        Type::Array(TypeKind::kInt64),
                        Type::Array(TypeKind::kBytes),
                        Type::Array(pair),
                        Type::Array(Type::Struct({{"", TypeKind::kDate}, {"", Type::Array(pair)}}))};
  for (int round = 0; round < 200; ++round) {
    pb::ProtoRows expected;
    std::vector<Value> values;
    for (uint64_t i = random.Uniform(8); i > 0; --i)
      values.push_back(RandomValue(kinds[random.Uniform(std::size(kinds))], &random));
    rows::Batch batch{.rows = 1, .columns = {}};
    std::vector<Type> types;
    for (const Value& value : values) {
      Fill(value, expected.add_values());
      types.push_back(value.type());
      batch.columns.push_back(value.AsColumn(1));
    }
    // A writer that is used again writes the same, whatever room it had.
    ProtoRowsWriter writer(types);
    writer.Append(batch, 0);
    writer.Append(batch, 0);
    const std::string bytes = expected.SerializeAsString();
    EXPECT_EQ(writer.Take(), bytes + bytes);
  }
}

TEST(ProtoRows, HaveOtherBytesWithALongerLength) {
  for (const size_t text_bytes : {size_t{0}, size_t{3}, size_t{120}, size_t{200}, size_t{20'000}}) {
    ProtoRowsWriter writer({TypeKind::kString, TypeKind::kInt64});
    const std::string text(text_bytes, 'x');
    const std::vector<std::string_view> texts = {text, "b"};
    const std::vector<int64_t> ints = {1, 300};
    const rows::Batch batch{.rows = 2, .columns = {ColumnView::OfBytes(texts), ColumnView::OfInts(ints)}};
    writer.Append(batch, 0);
    writer.Append(batch, 1);
    const std::string whole = writer.Take();
    pb::ProtoRows expected;
    ASSERT_TRUE(expected.ParseFromString(whole));
    std::string longer = whole;
    size_t times = 0;
    while (LengthenFirstLength(&longer)) {
      EXPECT_EQ(longer.size(), whole.size() + ++times);
      pb::ProtoRows rows;
      ASSERT_TRUE(rows.ParseFromString(longer));
      EXPECT_EQ(rows.SerializeAsString(), expected.SerializeAsString());
    }
    EXPECT_GE(times, 2u);
    EXPECT_EQ(longer.size(), whole.size() + times) << "a refusal changes nothing";
  }
}

}  // namespace
}  // namespace sonde::sql
