// In which order the points of series come when rows are read in the order of their keys.
//
// Keys are read from left to right: what stands in front of a part decides before it does.  A salt of time
// stands for all rows of one salt, whatever their time; so behind it, times begin anew with each salt.
//
// Threads: const functions may be called by several at once.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "series/key/key_codec.h"

namespace sonde::series {

class RowOrder {
 public:
  enum class Times : uint8_t {
    kAscending,
    kDescending,  // each row's time is not later than that of the row before; within a row, times ascend
    kMixed,       // neither: whoever wants them by time sorts them
  };

  // `codec` must outlive this.  `without_salt`: rows come as if the keys had no salt: there is one salt only,
  // or rows of all salts are merged by KeyCodec::MergeKey.
  RowOrder(const KeyCodec& codec, bool without_salt);

  // The order of the rows that have one field of one series.
  Times times_of_field() const { return times_of_field_; }
  // The order of all rows of one series.  It is kMixed if a key has the field, as a point is in several rows
  // then.
  Times times_of_series() const { return has_field_ ? Times::kMixed : times_of_field_; }

  // Whether rows that agree in all of `tags` (indexes, each once) come one behind the other.
  bool LieTogether(absl::Span<const size_t> tags) const;
  // Whether those of each series do.
  bool SeriesLieTogether() const;
  // The tags that rows are ordered by before anything else: rows that agree in them lie together.
  const std::vector<size_t>& tags_in_front() const { return tags_in_front_; }

 private:
  const SeriesSchema* schema_;
  bool without_salt_;
  Times times_of_field_ = Times::kAscending;
  bool has_field_ = false;
  std::vector<size_t> tags_in_front_;
};

}  // namespace sonde::series
