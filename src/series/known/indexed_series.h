// Declared series that are indexed (`index: yes`): how their index knows them, and whether it has all of a series.
//
// An entity is one set of values of all tags.  Its text is that of an open series with these labels (known_series.h), in the order of the
// tags' names: the order in which they are declared may change.  The day of a point is that of the time with which queries find it.
//
// The index says itself that it has all of a series (column kWholeColumn).  Of a declared series, that is written
//   when the series is declared for the first time, and has no points: nobody can know it by another declaration;
//   by `sonde series rebuild stored:SERIES@index`.
// It is taken away before a declaration is stored that is not indexed, or is the first one that is, or has other tags: whoever wrote by
// the declaration before has not told the index of all entities.  Until the index is whole, the keys alone say which rows are read.
//
// Threads: the functions may be called at once.  Errors: those of the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/known/known_series.h"
#include "series/schema/check.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr char kIndexTable[] = "sonde_index";
// Of parts and blocks: newest cell only.
constexpr char kIndexFamily[] = "i";
// Of sets: all cells count.
constexpr char kIndexSetsFamily[] = "a";
constexpr char kWholeColumn[] = "whole";
constexpr char kGivenUpColumn[] = "given_up";

absl::Status EnsureIndexTable(TableAccess* tables);
// The row of what the index has of a series.
std::string DirectoryKey(std::string_view series);

// The series with its tags as labels, without fields: of these, the index of a declared series has no sets.
KnownSeries IndexedView(const SeriesSchema& schema);

// Texts of entities.  Threads: nothing changes after the constructor.
class EntityTexts {
 public:
  explicit EntityTexts(const SeriesSchema& schema);

  // Appends the text.  `tags`: one for each of SeriesSchema::tags, as KeyCodec::Encode takes them.
  void Append(absl::Span<const std::string_view> tags, std::string* text) const;
  // The values of the tags in the order of SeriesSchema::tags.  False: it is no text of these tags.
  [[nodiscard]] bool Parse(std::string_view text, std::vector<std::string>* tags) const;

 private:
  std::vector<std::pair<std::string, size_t>>
      names_;                   // escaped, with = behind it; and the place of the tag.  By name
  std::vector<bool> are_ints_;  // by place
};

// Days since 1970 of a time with which a point is found; days before are 0, as EntityIndex has it.
int32_t EntityDay(int64_t time_micros);
// The time with which queries find a point of `time_micros` that is written with this codec.
int64_t TimeAsFound(const KeyCodec& codec, int64_t time_micros);

// Before the declaration is stored.  True: none was stored before.
absl::StatusOr<bool> DropIndexMark(const SeriesSchema& schema, TableAccess* tables);
// After it is stored, and before anything is written by it.  `is_new`: what DropIndexMark said.
absl::Status KeepIndexMark(const SeriesSchema& schema, bool is_new, TableAccess* tables, const Clock& clock);
// A warning, where the series is indexed and its index does not have all of it, and the command that completes it.
absl::StatusOr<std::optional<Finding>> FindIndexGap(const SeriesSchema& schema, TableAccess* tables);

}  // namespace sonde::series
