// Row key schemas: any bytes are fields that make just these bytes again, or are refused; any fields are refused or come back;
// and ranges of a field hold a key if, and only if, they hold the field.
//   encoding 1 byte, fields 1, each field's kind 1; then a key, or values: of numbers 8 bytes, of texts their length 1 and bytes.
#include <algorithm>
#include <string>
#include <vector>

#include "sql/key/field_ranges.h"
#include "sql/key/key_field.h"
#include "sql/key/row_key_codec.h"
#include "target.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kDelimiters[] = {"#", "##", std::string_view("\0", 1), "ab"};

RowKeySchema SchemaOf(InputReader* input) {
  RowKeySchema schema;
  const uint8_t how = input->Byte();
  schema.encoding = static_cast<RowKeySchema::Encoding>(how % 3);
  if (schema.encoding == RowKeySchema::Encoding::kDelimited) schema.delimiter = kDelimiters[how / 3 % 4];
  size_t fields = input->Byte() % 4;
  if (schema.encoding == RowKeySchema::Encoding::kSingleton) fields = 1;
  for (size_t i = 0; i < fields; ++i) {
    const uint8_t kind = input->Byte();
    RowKeyField field{.name = "f" + std::to_string(i), .kind = static_cast<RowKeyField::Kind>(kind % 4)};
    field.number_encoding = static_cast<RowKeyField::NumberEncoding>(kind / 4 % 2);
    if (!field.IsNumber() && (kind & 64) != 0) field.null_escape = std::string(1, '\0');
    if (field.kind == RowKeyField::Kind::kString && (kind & 128) != 0) field.null_escape = "\xc3\xa4";
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

bool AreSame(const Datum& a, const Datum& b) {
  if (a.is_there != b.is_there || a.kind != b.kind) return !a.is_there && !b.is_there;
  return a.kind == Datum::Kind::kInt ? a.integer == b.integer : a.bytes() == b.bytes();
}

void CheckKey(const RowKeySchema& schema, std::string_view key) {
  Arena arena;
  std::vector<Datum> fields(schema.fields.size());
  const absl::Status status = ReadRowKey(schema, key, &arena, absl::MakeSpan(fields));
  if (!status.ok()) return Require(absl::IsInvalidArgument(status), "the code of a refusal");
  std::string again;
  Require(AppendRowKey(schema, fields, &again).ok(), "what is read can be written");
  Require(again == key, "as the same bytes");
}

// Whether the fields that bound, from the left, hold those of the key.
void CheckRanges(const RowKeySchema& schema, const std::vector<Datum>& fields, std::string_view key,
                 InputReader* input) {
  std::vector<std::vector<RowRange>> ranges;
  bool is_in = true;
  bool bounds = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    std::string bytes;
    Require(AppendField(schema.fields[i], fields[i], &bytes).ok(), "a field of a key that was written");
    std::string edge = bytes;
    // A bound of a number is a number, or the first bytes behind one.
    if (!schema.fields[i].IsNumber()) edge = std::string(input->Bytes(input->Byte() % 8));
    const uint8_t shape = input->Byte();
    RowRange range = shape % 3 == 0 ? RowRange{edge, ""} : RowRange{"", edge + std::string(shape % 2, '\0')};
    if (shape % 5 == 0) range = RowRange::Single(edge);
    ranges.push_back(NormalizeRanges({range}));
    if (bounds) is_in = is_in && !ranges.back().empty() && range.Contains(bytes);
    bounds = bounds && range.IsSingleRow();
    if (ranges.back().empty()) is_in = false;
  }
  const std::vector<RowRange> keys = KeysWithFields(schema, ranges, 1'000);
  Require(AreNormal(keys), "ranges of keys are in the normal form");
  const bool holds = std::ranges::any_of(keys, [&](const RowRange& range) { return range.Contains(key); });
  Require(holds == is_in, "the ranges hold just the keys of their fields");
}

void CheckFields(const RowKeySchema& schema, InputReader* input) {
  std::vector<Datum> fields;
  for (const RowKeyField& field : schema.fields) {
    if (field.IsNumber()) {
      const uint64_t high = input->Number();
      fields.push_back(Datum::Int(static_cast<int64_t>(high << 32 | input->Number())));
    } else {
      fields.push_back(Datum::Bytes(input->Bytes(input->Byte() % 16)));
    }
  }
  std::string key;
  const absl::Status status = AppendRowKey(schema, fields, &key);
  if (!status.ok()) return Require(absl::IsInvalidArgument(status), "the code of a refusal");
  Arena arena;
  std::vector<Datum> again(fields.size());
  Require(ReadRowKey(schema, key, &arena, absl::MakeSpan(again)).ok(), "what is written can be read");
  for (size_t i = 0; i < fields.size(); ++i) Require(AreSame(fields[i], again[i]), "as the same fields");
  if (!fields.empty()) CheckRanges(schema, fields, key, input);
}

}  // namespace
}  // namespace sonde::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;       // NOLINT: a main of sorts
  using namespace sonde::sql;  // NOLINT
  InputReader input(data, size);
  const RowKeySchema schema = SchemaOf(&input);
  InputReader fields = input;
  CheckKey(schema, input.Rest());
  CheckFields(schema, &fields);
  return 0;
}
