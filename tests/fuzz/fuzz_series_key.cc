// Row keys of series: any bytes decode to parts that make just these bytes again, or do not; any parts are
// refused or come back, and those of two points make one key only where they are the same.
//   which declaration 1 byte, two times 8 each, length of each first tag 1, then the tags.
#include <string>
#include <vector>

#include "series/key/key_codec.h"
#include "series/schema/schema_parser.h"
#include "target.h"

namespace sonde::series {
namespace {

constexpr std::string_view kDeclarations[] = {
    "tags: { a: string, b: string }\nlayout: row\nkey: [a, b, time]\n",
    "tags: { a: string, b: { type: int } }\nlayout: row\nkey: [b, a, { time: yyyymmddhhmmssmmm }]\n",
    "tags: { a: { width: 5 }, b: { type: int, width: 4 } }\nlayout: row\ndelimiter: ''\nkey: [a, b, time]\n",
    "tags: { a: { width: 5, pad: '_' }, b: string }\nbucket: week\nkey: [b, a, bucket]\n",
    "tags: { a: string, b: string }\nlayout: row\nkey: [{ const: X }, a, { time: epoch_us, reverse: true }, "
    "b]\n",
    "tags: { a: string, b: string }\nlayout: row\nkey: [{ salt: 16, of: [a, b] }, a, b, time]\n",
    "tags: { a: string, b: string }\nbucket: 15m\nkey: [{ salt: 3, of: time }, bucket, a, b]\n",
    "tags: { a: string, b: { type: int } }\nlayout: columns\nbucket: month\nkey: [a, field, b, bucket]\n",
    "tags: { a: string, b: string }\nbucket: day\nlayout: row\nkey: [a, bucket, b, time]\n",
    "tags: { a: string, b: string }\nlayout: row\ntime: { origin: 1850-01-01 }\nkey: [a, time, b]\n",
    "tags: { a: string, b: string }\nlayout: row\ntime: { origin: 0001-01-01 }\nkey: [{ salt: 3, of: time }, "
    "a, "
    "{ time: epoch_us, reverse: true }, b]\n",
};

std::vector<KeyCodec> MakeCodecs() {
  std::vector<KeyCodec> codecs;
  for (const std::string_view text : kDeclarations) {
    absl::StatusOr<SeriesSchema> schema =
        ParseSchema("series: s\nfields: { x: double, y: { type: int, as: yy } }\n" + std::string(text), "x");
    Require(schema.ok(), "the declaration is good");
    codecs.emplace_back(*std::move(schema));
  }
  return codecs;
}

int64_t TimeOf(const DecodedKey& key) {
  return key.time_micros.value_or(key.bucket_start_micros.value_or(0));
}

void CheckAny(const KeyCodec& codec, std::string_view bytes) {
  DecodedKey decoded;
  const absl::Status status = codec.Decode(bytes, &decoded);
  if (!status.ok()) return Require(absl::IsDataLoss(status), "the code of a refusal");
  const std::vector<std::string_view> tags(decoded.tags.begin(), decoded.tags.end());
  std::string key;
  Require(codec.Encode(tags, TimeOf(decoded), decoded.field.value_or(0), &key).ok(), "what decodes encodes");
  Require(key == bytes, "to the same bytes");
  (void)codec.MergeKey(bytes);
}

struct Parts {
  std::vector<std::string_view> tags;
  int64_t time_micros = 0;
};

// Empty: refused.
std::string CheckParts(const KeyCodec& codec, const Parts& parts, DecodedKey* decoded) {
  std::string key;
  const absl::Status status = codec.Encode(parts.tags, parts.time_micros, &key);
  if (!status.ok()) {
    Require(absl::IsInvalidArgument(status), "the code of a refusal");
    return "";
  }
  Require(codec.Decode(key, decoded).ok(), "a key that is written decodes");
  for (size_t i = 0; i < parts.tags.size(); ++i) {
    if (codec.schema().tags[i].type == TagType::kString)
      Require(decoded->tags[i] == parts.tags[i], "to its tags");
  }
  Require(TimeOf(*decoded) <= parts.time_micros, "and its time, rounded down");
  CheckAny(codec, key);
  return key;
}

}  // namespace
}  // namespace sonde::series

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;          // NOLINT: a main of sorts
  using namespace sonde::series;  // NOLINT
  static const std::vector<KeyCodec> codecs = MakeCodecs();
  InputReader input(data, size);
  const KeyCodec& codec = codecs[input.Byte() % codecs.size()];
  CheckAny(codec, {reinterpret_cast<const char*>(data), size});
  if (size > 0) CheckAny(codec, {reinterpret_cast<const char*>(data) + 1, size - 1});
  Parts parts[2];
  for (Parts& one : parts) {
    const uint64_t high = input.Number();
    one.time_micros = static_cast<int64_t>(high << 32 | input.Number()) % (2 * kTimeEndMicros);
  }
  for (Parts& one : parts) {
    const size_t bytes = input.Byte();
    one.tags.push_back(input.Bytes(bytes));
    one.tags.push_back(input.Bytes(input.Byte()));
  }
  DecodedKey decoded[2];
  const std::string a = CheckParts(codec, parts[0], &decoded[0]);
  const std::string b = CheckParts(codec, parts[1], &decoded[1]);
  if (a.empty() || b.empty()) return 0;
  const bool is_same = decoded[0].tags == decoded[1].tags && TimeOf(decoded[0]) == TimeOf(decoded[1]);
  Require((a == b) == is_same, "keys of different points differ");
  return 0;
}
