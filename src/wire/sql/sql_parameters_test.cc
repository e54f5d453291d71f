#include "wire/sql/sql_parameters.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;
using sql::Type;
using sql::TypeKind;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// The parameter as SQL, or the error.
std::string Parameter(const std::string& type, const std::string& value) {
  const absl::StatusOr<Type> parsed = ParseParameterType("p", Parse<pb::Type>(type));
  if (!parsed.ok()) return std::string(parsed.status().message());
  const absl::StatusOr<sql::Value> result = ParseParameter("p", *parsed, Parse<pb::Value>(value));
  return result.ok() ? result->ToSql() : std::string(result.status().message());
}

TEST(SqlParameters, AreOfScalarTypesAndArraysOfThem) {
  EXPECT_EQ(Parameter("bytes_type {}", R"(bytes_value: "a\377")"), R"(b"a\xff")");
  EXPECT_EQ(Parameter("string_type {}", R"(string_value: "a")"), R"("a")");
  EXPECT_EQ(Parameter("int64_type {}", "int_value: -5"), "-5");
  EXPECT_EQ(Parameter("bool_type {}", "bool_value: false"), "false");
  EXPECT_EQ(Parameter("float64_type {}", "float_value: 1.5"), "1.5");
  EXPECT_EQ(Parameter("float32_type {}", "float_value: 0.1"), "0.1");
  EXPECT_EQ(Parameter("timestamp_type {}", "timestamp_value { seconds: -1 nanos: 999000000 }"),
            R"(TIMESTAMP "1969-12-31 23:59:59.999+00")");
  EXPECT_EQ(Parameter("date_type {}", "date_value { year: 2024 month: 2 day: 29 }"), R"(DATE "2024-02-29")");
  EXPECT_EQ(Parameter("array_type { element_type { int64_type {} } }",
                      "array_value { values { int_value: 1 } values {} }"),
            "[1, NULL]");
  EXPECT_EQ(Parameter("int64_type {}", ""), "NULL");
  EXPECT_EQ(Parameter("int64_type {}", "type { int64_type {} }"), "NULL");
}

TEST(SqlParameters, OfOtherTypesAreRefused) {
  const std::string cannot_have =
      "Error in field 'param_types' : Parameter 'p' has a type that parameters cannot have";
  EXPECT_EQ(Parameter("", ""), cannot_have);
  EXPECT_EQ(Parameter("struct_type {}", ""), cannot_have);
  EXPECT_EQ(Parameter("map_type { key_type { bytes_type {} } value_type { bytes_type {} } }", ""),
            cannot_have);
  EXPECT_EQ(Parameter("array_type { element_type { array_type { element_type { int64_type {} } } } }", ""),
            cannot_have);
}

TEST(SqlParameters, WithValuesOfAnotherTypeAreRefused) {
  const std::string none =
      "Error in field 'params' : Parameter 'p' is declared as INT64, and its value is none";
  EXPECT_EQ(Parameter("int64_type {}", R"(string_value: "1")"), none);
  EXPECT_EQ(Parameter("int64_type {}", R"(raw_value: "1")"), none);
  EXPECT_EQ(Parameter("int64_type {}", "type { string_type {} } int_value: 1"),
            "Error in field 'params' : Parameter 'p' is declared as INT64, and its value has another type");
  EXPECT_EQ(Parameter("float64_type {}", "float_value: nan"),
            "Error in field 'params' : Parameter 'p' is NaN or infinite, which cannot be sent");
  EXPECT_EQ(Parameter("date_type {}", "date_value { year: 2023 month: 2 day: 29 }"),
            "Error in field 'params' : Parameter 'p' is no date: 2023-2-29");
  EXPECT_EQ(Parameter("date_type {}", "date_value { year: 2023 }"),
            "Error in field 'params' : Parameter 'p' is no date: 2023-0-0");
  EXPECT_EQ(Parameter("timestamp_type {}", "timestamp_value { seconds: 253402300800 }"),
            "Error in field 'params' : Parameter 'p' is no TIMESTAMP: 253402300800 s and 0 ns");
}

// The view parameters of a request, or the error.
std::string ViewParameters(const std::string& request) {
  const absl::StatusOr<sql::ViewParameters> parsed =
      ParseViewParameters(Parse<pb::ExecuteQueryRequest>(request));
  if (!parsed.ok()) return std::string(parsed.status().message());
  std::string text;
  for (const auto& [name, value] : *parsed) text += name + "=" + value + " ";
  return text;
}

TEST(ViewParameters, AreTexts) {
  EXPECT_EQ(ViewParameters(R"(view_parameters { key: "b" value { string_value: "x" } }
                              view_parameters { key: "a" value { type { string_type {} } string_value: "" } })"),
            "a= b=x ");
  EXPECT_EQ(ViewParameters(R"(view_parameters { key: "a" value {} }
                              view_parameters { key: "b" value { type { string_type {} } } })"),
            "");
  const std::string none = "Error in field 'view_parameters' : View parameter 'a' is no STRING";
  EXPECT_EQ(ViewParameters(R"(view_parameters { key: "a" value { int_value: 1 } })"), none);
  EXPECT_EQ(ViewParameters(R"(view_parameters { key: "a" value { bytes_value: "x" } })"), none);
  EXPECT_EQ(ViewParameters(R"(view_parameters { key: "a" value { type { bytes_type {} } } })"), none);
}

TEST(ViewParameters, AreBounded) {
  EXPECT_EQ(ViewParameters(R"(view_parameters { key: "" value {} })"),
            "Error in field 'view_parameters' : A name has 0 bytes; 1 to 1024 are allowed");
  EXPECT_EQ(ViewParameters("view_parameters { key: '" + std::string(1'025, 'n') + "' value {} }"),
            "Error in field 'view_parameters' : A name has 1025 bytes; 1 to 1024 are allowed");
  pb::ExecuteQueryRequest many;
  for (int i = 0; i <= 10'000; ++i) (*many.mutable_view_parameters())[std::to_string(i)];
  EXPECT_EQ(ParseViewParameters(many).status().message(),
            "Error in field 'view_parameters' : 10001 view parameters; 10000 are allowed");
}

}  // namespace
}  // namespace sonde
