// Which row keys can hold the points that somebody asks for.
//
// The parts of the key are followed as long as the selection fixes them: constants, tags with given values,
// fields, then one time part, whose range ends the walk (or, when the parts behind it are fixed too and few
// buckets are asked for, is written out bucket by bucket, unless that makes more than kScanRangesMax).  A
// salt of tags with given values is computed; other salts are all of them, each a walk of its own.  Whatever
// lies in the ranges without being asked for is left to Matches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/row_range.h"
#include "series/key/key_codec.h"

namespace sonde::series {

constexpr size_t kScanRangesMax = 10'000;
constexpr size_t kEntityRangesMax = 100'000;
constexpr size_t kBucketsWrittenOutMax = 366;

// Any value when both are empty.
struct TagFilter {
  std::vector<std::string> values;    // one of these
  std::optional<std::string> prefix;  // begins with this; for strings only

  bool IsAny() const { return values.empty() && !prefix; }
};

struct Selection {
  std::vector<TagFilter> tags;             // one for each of SeriesSchema::tags; those beyond the end are any
  int64_t from_micros = kTimeBeginMicros;  // times in [from, to)
  int64_t to_micros = kTimeEndMicros;
  std::vector<size_t> fields;  // indexes; empty: all.  Narrows keys that have a field part
  // The values of all tags of the series that may be asked for, which take the place of `tags` in PlanScan; Matches does not look at them.
  std::optional<std::vector<std::vector<std::string>>> entities = {};
  size_t ranges_max = kScanRangesMax;
};

struct ScanPlan {
  std::vector<RowRange> ranges;  // normal form
  bool is_full_scan = false;     // nothing that was asked for narrows the keys
  // The same rows, one entry for each salt that has some, each in normal form; together they are `ranges`.
  // Rows of several merge by KeyCodec::MergeKey, and come then as if keys had no salt.  One entry where the
  // key has no salt, or has it behind what the selection leaves open.
  std::vector<std::vector<RowRange>> streams;
  // The latter: rows of several salts are in one stream, and come in turns, salt by salt.
  bool has_salts_in_turns = false;
};

// INVALID_ARGUMENT: a value that no key can hold; a prefix of an int; more than selection.ranges_max ranges; with entities, a time in
// front of tags of which more pieces are asked for than are written out.
absl::StatusOr<ScanPlan> PlanScan(const KeyCodec& codec, const Selection& selection);

// Whether points of this row may be asked for, by the conditions that PlanScan could not say with ranges.
// `selection` must have passed PlanScan.  The time of a row without a time in its key is not looked at.
bool Matches(const KeyCodec& codec, const Selection& selection, const DecodedKey& key);

}  // namespace sonde::series
