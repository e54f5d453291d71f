// Row keys of a declared series: tags and a time to bytes, and back.
//
// A key is the parts of SeriesSchema::key in order, with the delimiter between them.  A part is
//   tag, string       its bytes; with a width, filled from the right with the pad
//   tag, int          decimal; with a width, filled from the left with zeros
//   const             its bytes
//   time, bucket      the time, or the start of its bucket, in a TimeFormat (schema/time_format.h); numbers
//                     count from the declared origin (schema/time_range.h), and a bucket that began before it
//                     is written as if it began there
//   field             the qualifier of a field
//   salt              decimal, as many digits as the largest has: a hash (SaltHash) of the parts of its tags,
//                     as they stand in the key with a 0x00 behind each; or of the start of the row's piece of
//                     time (the finest time part's, or the bucket's), epoch microseconds (before 1970 with a
//                     minus) as decimal text; the
//                     remainder of its division by the number of salts
// Every key that is written decodes to the same tags and time: a value that would break that is refused.
// Parts with a width, and times, sort as their values do (reversed times the other way round); a tag without
// a width groups its rows, but sorts as bytes with the delimiter behind them.
//
// Thread-safe: nothing changes after the constructor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "series/schema/schema.h"

namespace sonde::series {

struct DecodedKey {
  std::vector<std::string> tags;       // in the order of SeriesSchema::tags; ints in their shortest form
  std::optional<int64_t> time_micros;  // of the finest time part, rounded down to what that can say
  std::optional<int64_t> bucket_start_micros;  // of the bucket part
  std::optional<size_t> field;                 // index, of the field part
};

// FNV-1a of 64 bits, its halves xored: what spreads salts.  Other programs may compute it.
uint32_t SaltHash(std::string_view bytes);

class KeyCodec {
 public:
  explicit KeyCodec(SeriesSchema schema);

  // Replaces *key.  `tags`: one text for each of SeriesSchema::tags.
  // INVALID_ARGUMENT: a tag that is empty, holds the delimiter, is wider than its width, ends with its pad,
  // holds a byte below its pad, or is no int; a time that a part can't say (RefuseTime); a key of more than
  // kRowKeyBytesMax.  The message names the tag, the value and the limit. `field`: index; looked at where the
  // key has a field part.
  absl::Status Encode(absl::Span<const std::string_view> tags, int64_t time_micros, std::string* key) const {
    return Encode(tags, time_micros, 0, key);
  }
  absl::Status Encode(absl::Span<const std::string_view> tags, int64_t time_micros, size_t field,
                      std::string* key) const;

  // DATA_LOSS: Encode never writes this key.
  absl::Status Decode(std::string_view key, DecodedKey* decoded) const;

  // The parts of Encode, for those that build ranges of keys; *key is appended to.
  absl::Status AppendTag(size_t tag, std::string_view value, std::string* key) const;
  absl::Status AppendTime(const KeyPart& part, int64_t time_micros, std::string* key) const;
  void AppendSalt(const KeyPart& part, int salt, std::string* key) const;
  // Returns what Encode would write for a salt part.  Errors as AppendTag, for its tags.
  absl::StatusOr<int> SaltOf(const KeyPart& part, absl::Span<const std::string_view> tags,
                             int64_t time_micros) const;

  // The key without its salt.  Rows of one salt lie in its order, so that rows of several salts merge by it.
  // `key` must be one that Decode takes.
  std::string MergeKey(std::string_view key) const;

  // The pieces of time that values of a time part stand for.
  BucketWidth UnitOf(const KeyPart& part) const;
  const SeriesSchema& schema() const { return schema_; }

 private:
  absl::Status CheckText(const Tag& tag, std::string_view value) const;
  absl::Status AppendInt(const Tag& tag, std::string_view value, std::string* key) const;
  absl::Status DecodePart(const KeyPart& part, std::string_view text, DecodedKey* decoded) const;
  absl::Status DecodeField(std::string_view text, size_t* field) const;
  // The part at `index`, which starts at `at`; nothing when the key ends before it does.
  std::optional<std::string_view> TextOfPart(std::string_view key, size_t index, size_t at) const;
  absl::Status DecodeTag(const Tag& tag, std::string_view text, std::string* value) const;
  absl::Status DecodeTime(const KeyPart& part, std::string_view text, int64_t* time_micros) const;
  // Bytes of the part, where that is known.
  std::optional<size_t> WidthOf(const KeyPart& part) const;

  SeriesSchema schema_;
  std::optional<size_t> finest_time_;  // index into key
  bool is_checked_whole_ = false;      // parts say the same twice, which Decode compares
};

}  // namespace sonde::series
