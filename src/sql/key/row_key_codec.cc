#include "sql/key/row_key_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bytes.h"
#include "base/check.h"
#include "sql/key/key_field.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kEmptyField("\0\0", 2);
constexpr std::string_view kEscapedNull("\0\xff", 2);

absl::Status BadKey(std::string_view key, std::string_view what) {
  return absl::InvalidArgumentError(
      fmt::format("Row key '{}' does not fit the row key schema: {}", Printable(key), what));
}

absl::Status BadField(std::string_view key, const RowKeyField& field, std::string_view what) {
  return BadKey(key, fmt::format("field '{}': {}", field.name, what));
}

absl::Status ReadInto(const RowKeyField& field, std::string_view key, std::string_view bytes, Datum* value) {
  const absl::Status status = ReadField(field, bytes, value);
  return status.ok() ? status : BadField(key, field, std::string(status.message()));
}

// --- Delimited.

// The bytes of the field with which `rest` begins.
absl::StatusOr<size_t> DelimitedFieldBytes(const RowKeySchema& schema, const RowKeyField& field, bool is_last,
                                           std::string_view key, std::string_view rest) {
  if (field.IsNumber()) {
    const std::optional<size_t> bytes = NumberFieldBytes(field, rest);
    if (bytes.has_value()) return *bytes;
    return BadField(key, field, fmt::format("{} bytes do not begin with an integer", rest.size()));
  }
  const size_t end = rest.find(schema.delimiter);
  const bool is_there = end != std::string_view::npos;
  if (is_last == !is_there) return is_last ? rest.size() : end;
  return BadField(key, field, is_last ? "it has the delimiter in it" : "the key ends before its delimiter");
}

absl::Status ReadDelimited(const RowKeySchema& schema, std::string_view key, absl::Span<Datum> fields) {
  std::string_view rest = key;
  if (fields.empty()) {
    return key == schema.delimiter ? absl::OkStatus() : BadKey(key, "it is not the delimiter");
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    const RowKeyField& field = schema.fields[i];
    const bool is_last = i + 1 == fields.size();
    const absl::StatusOr<size_t> bytes = DelimitedFieldBytes(schema, field, is_last, key, rest);
    if (!bytes.ok()) return bytes.status();
    if (absl::Status status = ReadInto(field, key, rest.substr(0, *bytes), &fields[i]); !status.ok()) {
      return status;
    }
    rest.remove_prefix(*bytes);
    if (is_last) break;
    if (!rest.starts_with(schema.delimiter)) return BadField(key, field, "no delimiter is behind it");
    rest.remove_prefix(schema.delimiter.size());
  }
  if (rest.empty()) return absl::OkStatus();
  return BadField(key, schema.fields.back(), fmt::format("{} bytes are behind it", rest.size()));
}

absl::Status AppendDelimited(const RowKeySchema& schema, absl::Span<const Datum> fields, std::string* out) {
  if (fields.empty()) out->append(schema.delimiter);
  for (size_t i = 0; i < fields.size(); ++i) {
    const RowKeyField& field = schema.fields[i];
    const size_t start = out->size();
    if (absl::Status status = AppendField(field, fields[i], out); !status.ok()) return status;
    const bool is_last = i + 1 == fields.size();
    const size_t bytes = out->size() - start;
    if (!is_last) out->append(schema.delimiter);
    if (field.IsNumber()) continue;
    const size_t found = out->find(schema.delimiter, start);
    if (found == (is_last ? std::string::npos : start + bytes)) continue;
    return absl::InvalidArgumentError(fmt::format("Field '{}' of a row key has the delimiter in it: '{}'",
                                                  field.name,
                                                  Printable(std::string_view(*out).substr(start, bytes))));
  }
  return absl::OkStatus();
}

// --- Ordered code.

// A field's bytes without 00 FF for 0x00.  They are views of `bytes` where there is none.
std::string_view Unescaped(std::string_view bytes, Arena* arena) {
  if (bytes.find('\0') == std::string_view::npos) return bytes;
  char* const copy = arena->New<char>(bytes.size());
  size_t size = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    copy[size++] = bytes[i];
    if (bytes[i] == '\0') ++i;
  }
  return {copy, size};
}

// The end of the field that begins at `at`: at 00 01, or at the end of the key.  Nothing: a 0x00 is followed by nothing that
// may follow it.
std::optional<size_t> EndOfOrderedField(std::string_view key, size_t at) {
  while (true) {
    at = std::min(key.find('\0', at), key.size());
    if (at == key.size()) return at;
    const std::string_view pair = key.substr(at, 2);
    if (pair == kOrderedCodeSeparator) return at;
    if (pair != kEscapedNull) return std::nullopt;
    at += 2;
  }
}

// The bytes of each field.
absl::Status SplitOrderedCode(const RowKeySchema& schema, std::string_view key, Arena* arena,
                              std::vector<std::string_view>* fields) {
  fields->assign(schema.fields.size(), "");
  if (key == kEmptyField) return absl::OkStatus();
  size_t at = 0;
  for (size_t i = 0; i < fields->size(); ++i) {
    const RowKeyField& field = schema.fields[i];
    if (key.substr(at, 2) == kEmptyField) {
      at += 2;
      if (at == key.size()) return BadField(key, field, "it is empty and last, so it must not be there");
    } else {
      const std::optional<size_t> end = EndOfOrderedField(key, at);
      if (!end.has_value()) return BadField(key, field, "a byte 0x00 in it is not escaped");
      if (*end == at) return BadField(key, field, "it is empty, but not written as 00 00");
      (*fields)[i] = Unescaped(key.substr(at, *end - at), arena);
      at = *end;
      if (at == key.size()) return absl::OkStatus();
    }
    if (key.substr(at, 2) != kOrderedCodeSeparator) return BadField(key, field, "no 00 01 is behind it");
    at += 2;
  }
  return BadKey(key, fmt::format("it has more than {} fields", fields->size()));
}

absl::Status AppendOrderedFields(const RowKeySchema& schema, absl::Span<const Datum> fields,
                                 std::string* out) {
  size_t end = out->size();
  for (size_t i = 0; i < fields.size(); ++i) {
    std::string bytes;
    if (absl::Status status = AppendField(schema.fields[i], fields[i], &bytes); !status.ok()) return status;
    if (i > 0) out->append(kOrderedCodeSeparator);
    AppendOrderedCode(bytes, out);
    if (!bytes.empty()) end = out->size();
  }
  out->resize(end);
  return absl::OkStatus();
}

}  // namespace

void AppendOrderedCode(std::string_view field, std::string* out) {
  if (field.empty()) out->append(kEmptyField);
  for (const char byte : field) {
    out->push_back(byte);
    if (byte == '\0') out->push_back('\xff');
  }
}

absl::Status ReadRowKey(const RowKeySchema& schema, std::string_view key, Arena* arena,
                        absl::Span<Datum> fields) {
  DCHECK(fields.size() == schema.fields.size());
  switch (schema.encoding) {
    case RowKeySchema::Encoding::kSingleton:
      return ReadInto(schema.fields[0], key, key, &fields[0]);
    case RowKeySchema::Encoding::kDelimited:
      return ReadDelimited(schema, key, fields);
    case RowKeySchema::Encoding::kOrderedCode:
      break;
  }
  std::vector<std::string_view> bytes;
  if (absl::Status status = SplitOrderedCode(schema, key, arena, &bytes); !status.ok()) return status;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (absl::Status status = ReadInto(schema.fields[i], key, bytes[i], &fields[i]); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status AppendRowKey(const RowKeySchema& schema, absl::Span<const Datum> fields, std::string* out) {
  DCHECK(fields.size() == schema.fields.size());
  switch (schema.encoding) {
    case RowKeySchema::Encoding::kSingleton:
      return AppendField(schema.fields[0], fields[0], out);
    case RowKeySchema::Encoding::kDelimited:
      return AppendDelimited(schema, fields, out);
    case RowKeySchema::Encoding::kOrderedCode:
      break;
  }
  const size_t start = out->size();
  if (absl::Status status = AppendOrderedFields(schema, fields, out); !status.ok()) return status;
  if (out->size() == start) out->append(kEmptyField);
  return absl::OkStatus();
}

}  // namespace sonde::sql
