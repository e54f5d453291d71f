// Declarations: any text is read or refused by name and line, and what is read can be checked, explained, and
// written with: its keys come back as they were.
#include <iterator>
#include <string>
#include <vector>

#include "series/key/key_codec.h"
#include "series/schema/check.h"
#include "series/schema/schema_parser.h"
#include "series/write/explain.h"
#include "target.h"

namespace sonde::series {
namespace {

constexpr size_t kDeclarationBytes = 1 << 16;
// 2021-03-05T12:04:33.001Z, and the ends of what a time may be.
constexpr int64_t kTimes[] = {1'614'945'873'001'000, kTimeBeginMicros, -1, kTimeEndMicros - 1};

void CheckKeys(const SeriesSchema& schema) {
  const KeyCodec codec(schema);
  std::vector<std::string_view> tags;
  for (const Tag& tag : schema.tags) tags.push_back(tag.type == TagType::kInt ? "7" : "z");
  for (size_t i = 0; i < schema.fields.size() * std::size(kTimes); ++i) {
    const size_t field = i / std::size(kTimes);
    const int64_t time_micros = kTimes[i % std::size(kTimes)];
    std::string key;
    if (!codec.Encode(tags, time_micros, field, &key).ok()) continue;
    DecodedKey decoded;
    Require(codec.Decode(key, &decoded).ok(), "a key that is written decodes");
    for (size_t tag = 0; tag < tags.size(); ++tag) Require(decoded.tags[tag] == tags[tag], "to its tags");
    if (decoded.field) Require(*decoded.field == field, "and its field");
    if (decoded.time_micros) Require(*decoded.time_micros <= time_micros, "and its time, rounded down");
  }
}

void CheckOne(std::string_view text) {
  const absl::StatusOr<SeriesSchema> schema = ParseSchema(text, "x");
  if (!schema.ok()) {
    Require(schema.status().code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
    Require(schema.status().message().substr(0, 2) == "x:", "a refusal names the file");
    return;
  }
  (void)CheckSchema(*schema);
  (void)ExplainSchema(*schema);
  for (const VersionSpan& span : schema->VersionsIn(kTimeBeginMicros, kTimeEndMicros))
    CheckKeys(*span.schema);
  for (const OrderTable& order : schema->orders) CheckKeys(MakeOrderSchema(*schema, order));
  for (const RollupTable& rollup : schema->rollups) CheckKeys(MakeRollupSchema(*schema, rollup));
  for (const LatestTable& latest : schema->latest) CheckKeys(MakeLatestSchema(*schema, latest));
}

}  // namespace
}  // namespace sonde::series

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::series::kDeclarationBytes) return 0;
  sonde::series::CheckOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
