// Row keys by the schema of their table: fields to a key, and back.
//
//   std::vector<Datum> fields(schema.fields.size());
//   absl::Status status = ReadRowKey(schema, key, &arena, fields);
//
// Shape: a value a field, in the order of the schema (key_field.h).
// Format, by the encoding of the struct:
//   singleton     the bytes of the field
//   delimited     the bytes of the fields with the delimiter between them; without fields the delimiter.  A field is read
//                 from the left: a number has the bytes that it says, a text ends before the next delimiter, and the last
//                 text takes the rest, which has no delimiter
//   ordered code  as AppendOrderedCode says; fields that are empty at the end are left out
// A key that can be read is the one that its fields make.  Keys are not checked when they are written, so any may be there.
// Errors: INVALID_ARGUMENT, which names the key and the field.
// Threads: all functions may be called at once.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/datum.h"
#include "model/row_key_schema.h"

namespace sonde::sql {

// Appends the bytes of a field as an ordered code has them: 0x00 as 00 FF, nothing as 00 00.
void AppendOrderedCode(std::string_view field, std::string* out);
// What is between the fields of an ordered code.
constexpr std::string_view kOrderedCodeSeparator("\0\1", 2);

// `fields` has a value a field.  The values view `key` and the arena.
absl::Status ReadRowKey(const RowKeySchema& schema, std::string_view key, Arena* arena,
                        absl::Span<Datum> fields);
absl::Status AppendRowKey(const RowKeySchema& schema, absl::Span<const Datum> fields, std::string* out);

}  // namespace sonde::sql
