// All fields of an event in one value: JSON, or a protocol buffer.
//
// JSON is one object, {"QUALIFIER":value,...} in the order of the fields, numbers as they were given where
// that is a JSON number.  A protocol buffer has the field's place in the declaration, from 1, as its number:
// int64, double and string (ProtoText shows the message).  A field that the event does not have is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "series/schema/schema.h"

namespace sonde::series {

// `values`: one for each field, as EncodeValue made it (in a blob, all fields are FieldEncoding::kText); null
// data: the event has none. INVALID_ARGUMENT: a text that is not UTF-8; the message names the field.
absl::Status EncodeBlob(const SeriesSchema& schema, absl::Span<const std::string_view> values,
                        std::string* blob);

// The texts of the fields (of their numbers, as short as is exact); `has` says which there are.
// Fields that the declaration does not have are passed over.  DATA_LOSS: the bytes are no such blob.
absl::Status DecodeBlob(const SeriesSchema& schema, std::string_view blob, std::vector<std::string>* values,
                        std::vector<bool>* has);

// The message as a .proto file.
std::string ProtoText(const SeriesSchema& schema);

}  // namespace sonde::series
