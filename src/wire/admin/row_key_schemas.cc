#include "wire/admin/row_key_schemas.h"

#include <fmt/format.h>
#include <google/bigtable/v2/types.pb.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "model/limits.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;
using IntEncoding = pb::Type::Int64::Encoding;
using Struct = pb::Type::Struct;

absl::Status SchemaError(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(
      fmt::format("Error in field 'row_key_schema{}{}' : {}", field.empty() ? "" : ".", field, what));
}

absl::Status FieldError(const RowKeyField& field, std::string_view what) {
  return SchemaError("fields", fmt::format("field '{}' {}", field.name, what));
}

absl::Status ParseNumberEncoding(const IntEncoding& encoding, RowKeyField* field) {
  switch (encoding.encoding_case()) {
    case IntEncoding::kBigEndianBytes:
      field->number_encoding = RowKeyField::NumberEncoding::kBigEndian;
      return absl::OkStatus();
    case IntEncoding::kOrderedCodeBytes:
      field->number_encoding = RowKeyField::NumberEncoding::kOrderedCode;
      return absl::OkStatus();
    case IntEncoding::ENCODING_NOT_SET:
      break;
  }
  return FieldError(*field, "has no encoding: big_endian_bytes or ordered_code_bytes is required");
}

// Whether a text, which is UTF-8, has just one character.
bool IsOneCharacter(std::string_view text) {
  return 1 == std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; });
}

absl::Status ParseString(const pb::Type::String::Encoding& encoding, RowKeyField* field) {
  using Encoding = pb::Type::String::Encoding;
  field->kind = RowKeyField::Kind::kString;
  if (encoding.encoding_case() == Encoding::ENCODING_NOT_SET) {
    return FieldError(*field, "has no encoding: utf8_bytes is required");
  }
  field->null_escape = encoding.utf8_bytes().null_escape_char();
  if (!field->null_escape.empty() && !IsOneCharacter(field->null_escape)) {
    return FieldError(*field, fmt::format("has a null_escape_char that is not one character: '{}'",
                                          Printable(field->null_escape)));
  }
  return absl::OkStatus();
}

absl::Status ParseType(const pb::Type& type, RowKeyField* field) {
  switch (type.kind_case()) {
    case pb::Type::kBytesType:
      field->kind = RowKeyField::Kind::kBytes;
      if (!type.bytes_type().encoding().has_raw()) {
        return FieldError(*field, "has no encoding: raw is required");
      }
      if (type.bytes_type().encoding().raw().escape_nulls()) field->null_escape = std::string(1, '\0');
      return absl::OkStatus();
    case pb::Type::kStringType:
      return ParseString(type.string_type().encoding(), field);
    case pb::Type::kInt64Type:
      field->kind = RowKeyField::Kind::kInt64;
      return ParseNumberEncoding(type.int64_type().encoding(), field);
    case pb::Type::kTimestampType:
      field->kind = RowKeyField::Kind::kTimestamp;
      if (!type.timestamp_type().encoding().has_unix_micros_int64()) {
        return FieldError(*field, "has no encoding: unix_micros_int64 is required");
      }
      return ParseNumberEncoding(type.timestamp_type().encoding().unix_micros_int64(), field);
    case pb::Type::KIND_NOT_SET:
      return FieldError(*field, "has no type");
    default:
      return FieldError(*field,
                        "has a type that row keys cannot have: bytes_type, string_type, int64_type and "
                        "timestamp_type can be");
  }
}

absl::Status CheckName(const RowKeyField& field, const RowKeySchema& before) {
  if (field.name.empty()) return SchemaError("fields", "each field must have a name");
  if (field.name.size() > kRowKeyFieldNameBytesMax) {
    return SchemaError("fields", fmt::format("the name of a field has {} bytes; limit {}", field.name.size(),
                                             kRowKeyFieldNameBytesMax));
  }
  if (field.name == "_key" || field.name == "_timestamp") return FieldError(field, "has a reserved name");
  for (const RowKeyField& other : before.fields) {
    if (other.name == field.name) return FieldError(field, "is named twice");
  }
  return absl::OkStatus();
}

absl::Status ParseEncoding(const Struct& type, RowKeySchema* schema) {
  const Struct::Encoding& encoding = type.encoding();
  switch (encoding.encoding_case()) {
    case Struct::Encoding::kSingleton:
      schema->encoding = RowKeySchema::Encoding::kSingleton;
      if (type.fields_size() == 1) return absl::OkStatus();
      return SchemaError(
          "encoding", fmt::format("singleton takes exactly one field, but there are {}", type.fields_size()));
    case Struct::Encoding::kDelimitedBytes:
      schema->encoding = RowKeySchema::Encoding::kDelimited;
      schema->delimiter = encoding.delimited_bytes().delimiter();
      if (!schema->delimiter.empty() && schema->delimiter.size() <= kRowKeyDelimiterBytesMax) {
        return absl::OkStatus();
      }
      return SchemaError("encoding.delimited_bytes.delimiter",
                         fmt::format("must have from 1 to {} bytes, but has {}", kRowKeyDelimiterBytesMax,
                                     schema->delimiter.size()));
    case Struct::Encoding::kOrderedCodeBytes:
      schema->encoding = RowKeySchema::Encoding::kOrderedCode;
      return absl::OkStatus();
    case Struct::Encoding::ENCODING_NOT_SET:
      break;
  }
  return SchemaError("encoding", "singleton, delimited_bytes or ordered_code_bytes is required");
}

void ToProto(RowKeyField::NumberEncoding encoding, IntEncoding* out) {
  if (encoding == RowKeyField::NumberEncoding::kBigEndian) {
    out->mutable_big_endian_bytes();
  } else {
    out->mutable_ordered_code_bytes();
  }
}

void ToProto(const RowKeyField& field, pb::Type* out) {
  switch (field.kind) {
    case RowKeyField::Kind::kBytes: {
      auto* const raw = out->mutable_bytes_type()->mutable_encoding()->mutable_raw();
      if (!field.null_escape.empty()) raw->set_escape_nulls(true);
      return;
    }
    case RowKeyField::Kind::kString: {
      auto* const utf8 = out->mutable_string_type()->mutable_encoding()->mutable_utf8_bytes();
      if (!field.null_escape.empty()) utf8->set_null_escape_char(field.null_escape);
      return;
    }
    case RowKeyField::Kind::kInt64:
      return ToProto(field.number_encoding, out->mutable_int64_type()->mutable_encoding());
    case RowKeyField::Kind::kTimestamp:
      return ToProto(field.number_encoding,
                     out->mutable_timestamp_type()->mutable_encoding()->mutable_unix_micros_int64());
  }
}

}  // namespace

absl::StatusOr<RowKeySchema> ParseRowKeySchema(const google::bigtable::admin::v2::Type::Struct& type) {
  Struct parsed;
  if (!parsed.ParseFromString(type.SerializeAsString())) return SchemaError("", "it cannot be read");
  RowKeySchema schema;
  if (absl::Status status = ParseEncoding(parsed, &schema); !status.ok()) return status;
  if (parsed.fields_size() > static_cast<int>(kRowKeyFieldsMax)) {
    return SchemaError("fields",
                       fmt::format("there are {}; limit {}", parsed.fields_size(), kRowKeyFieldsMax));
  }
  for (const Struct::Field& from : parsed.fields()) {
    RowKeyField field;
    field.name = from.field_name();
    if (absl::Status status = CheckName(field, schema); !status.ok()) return status;
    if (absl::Status status = ParseType(from.type(), &field); !status.ok()) return status;
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

void ToProto(const RowKeySchema& schema, google::bigtable::admin::v2::Type::Struct* out) {
  Struct made;
  for (const RowKeyField& field : schema.fields) {
    Struct::Field* const to = made.add_fields();
    to->set_field_name(field.name);
    ToProto(field, to->mutable_type());
  }
  switch (schema.encoding) {
    case RowKeySchema::Encoding::kSingleton:
      made.mutable_encoding()->mutable_singleton();
      break;
    case RowKeySchema::Encoding::kDelimited:
      made.mutable_encoding()->mutable_delimited_bytes()->set_delimiter(schema.delimiter);
      break;
    case RowKeySchema::Encoding::kOrderedCode:
      made.mutable_encoding()->mutable_ordered_code_bytes();
      break;
  }
  // The numbers of the fields are the same.
  (void)out->ParseFromString(made.SerializeAsString());
}

}  // namespace sonde
