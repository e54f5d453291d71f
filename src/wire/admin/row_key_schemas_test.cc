#include "wire/admin/row_key_schemas.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"

namespace sonde {
namespace {

using Struct = google::bigtable::admin::v2::Type::Struct;

Struct FromText(const std::string& text) {
  Struct type;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &type)) << text;
  return type;
}

std::string Refused(const std::string& text) {
  const absl::StatusOr<RowKeySchema> schema = ParseRowKeySchema(FromText(text));
  return schema.ok() ? "OK" : schema.status().ToString();
}

const std::string kText = "type { string_type { encoding { utf8_bytes {} } } }";
const std::string kOrdered = " encoding { ordered_code_bytes {} }";

TEST(RowKeySchemas, ComeBackAsTheyWere) {
  const std::vector<std::string> texts = {
      "fields { field_name: 'a' " + kText + " } encoding { singleton {} }",
      "fields { field_name: 'a' type { int64_type { encoding { big_endian_bytes {} } } } }"
      "fields { field_name: 'b' type { bytes_type { encoding { raw {} } } } }"
      "encoding { delimited_bytes { delimiter: '##' } }",
      "fields { field_name: 'a' type { timestamp_type { encoding { unix_micros_int64 { ordered_code_bytes {} "
      "} } } } }"
      "fields { field_name: 'b' type { timestamp_type { encoding { unix_micros_int64 { big_endian_bytes {} } "
      "} } } }" +
          kOrdered,
      "encoding { delimited_bytes { delimiter: '#' } }",
  };
  for (const std::string& text : texts) {
    const Struct type = FromText(text);
    const absl::StatusOr<RowKeySchema> schema = ParseRowKeySchema(type);
    ASSERT_TRUE(schema.ok()) << text << ": " << schema.status();
    Struct back;
    ToProto(*schema, &back);
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(type, back)) << back.DebugString();
  }
}

TEST(RowKeySchemas, KeepTheEscapesThatTheMessagesOfTheAdministrationLack) {
  // Type.String.Encoding.Utf8Bytes.null_escape_char is field 1.
  Struct type = FromText("fields { field_name: 'a' " + kText + " } encoding { singleton {} }");
  auto* const utf8 =
      type.mutable_fields(0)->mutable_type()->mutable_string_type()->mutable_encoding()->mutable_utf8_bytes();
  utf8->GetReflection()->MutableUnknownFields(utf8)->AddLengthDelimited(1, "!");
  const absl::StatusOr<RowKeySchema> schema = ParseRowKeySchema(type);
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->fields[0].null_escape, "!");
  Struct back;
  ToProto(*schema, &back);
  EXPECT_EQ(back.SerializeAsString(), type.SerializeAsString());

  utf8->GetReflection()->MutableUnknownFields(utf8)->AddLengthDelimited(1, "ab");
  EXPECT_EQ(ParseRowKeySchema(type).status().ToString(),
            "INVALID_ARGUMENT: Error in field 'row_key_schema.fields' : field 'a' has a null_escape_char "
            "that is not "
            "one character: 'ab'");
}

TEST(RowKeySchemas, DeprecatedTextsAreOfTheOneEncoding) {
  const absl::StatusOr<RowKeySchema> schema =
      ParseRowKeySchema(FromText("fields { field_name: 'a' type { string_type { encoding { utf8_raw {} } } } "
                                 "} encoding { singleton {} }"));
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->fields[0].kind, RowKeyField::Kind::kString);
}

TEST(RowKeySchemas, BreakNoRule) {
  const std::string a = "fields { field_name: 'a' " + kText + " }";
  const std::string error = "INVALID_ARGUMENT: Error in field 'row_key_schema.";
  EXPECT_EQ(Refused(a), error + "encoding' : singleton, delimited_bytes or ordered_code_bytes is required");
  EXPECT_EQ(Refused("encoding { singleton {} }"),
            error + "encoding' : singleton takes exactly one field, but there are 0");
  EXPECT_EQ(Refused(a + "fields { field_name: 'b' " + kText + " } encoding { singleton {} }"),
            error + "encoding' : singleton takes exactly one field, but there are 2");
  EXPECT_EQ(Refused(a + "encoding { delimited_bytes {} }"),
            error + "encoding.delimited_bytes.delimiter' : must have from 1 to 50 bytes, but has 0");
  EXPECT_EQ(Refused(a + "encoding { delimited_bytes { delimiter: '" + std::string(51, '#') + "' } }"),
            error + "encoding.delimited_bytes.delimiter' : must have from 1 to 50 bytes, but has 51");
  EXPECT_EQ(Refused("fields { " + kText + " }" + kOrdered), error + "fields' : each field must have a name");
  EXPECT_EQ(Refused(a + a + kOrdered), error + "fields' : field 'a' is named twice");
  for (const std::string name : {"_key", "_timestamp"}) {
    EXPECT_EQ(Refused("fields { field_name: '" + name + "' " + kText + " }" + kOrdered),
              error + "fields' : field '" + name + "' has a reserved name");
  }
  EXPECT_EQ(Refused("fields { field_name: '" + std::string(301, 'x') + "' " + kText + " }" + kOrdered),
            error + "fields' : the name of a field has 301 bytes; limit 300");
  const auto typed = [&](const std::string& type) {
    return Refused("fields { field_name: 'a' " + type + " }" + kOrdered);
  };
  EXPECT_EQ(typed(""), error + "fields' : field 'a' has no type");
  EXPECT_EQ(typed("type { string_type {} }"),
            error + "fields' : field 'a' has no encoding: utf8_bytes is required");
  EXPECT_EQ(typed("type { bytes_type { encoding {} } }"),
            error + "fields' : field 'a' has no encoding: raw is required");
  EXPECT_EQ(
      typed("type { int64_type {} }"),
      error + "fields' : field 'a' has no encoding: big_endian_bytes or ordered_code_bytes is required");
  EXPECT_EQ(typed("type { timestamp_type { encoding {} } }"),
            error + "fields' : field 'a' has no encoding: unix_micros_int64 is required");
  for (const std::string type : {"bool_type", "float64_type", "date_type", "array_type", "map_type",
                                 "struct_type", "aggregate_type"}) {
    EXPECT_EQ(
        typed("type { " + type + " {} }"),
        error +
            "fields' : field 'a' has a type that row keys cannot have: bytes_type, string_type, int64_type "
            "and timestamp_type can be");
  }
  std::string many;
  for (int i = 0; i < 101; ++i) many += "fields { field_name: 'f" + std::to_string(i) + "' " + kText + " }";
  EXPECT_EQ(Refused(many + kOrdered), error + "fields' : there are 101; limit 100");
}

}  // namespace
}  // namespace sonde
