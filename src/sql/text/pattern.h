// Regular expressions of RE2, as calls of functions use them: each compiled once, over STRING (UTF-8) or BYTES (Latin-1).
//
// Threads: of one thread at a time, as the call that has them.
// Errors: OUT_OF_RANGE: no regular expression, in GoogleSQL's words; RESOURCE_EXHAUSTED: expression and text together are too large.
// Cost: RE2's, linear in the text; bounded by kWorkMax, as RE2 cannot be interrupted.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"

namespace sonde::sql {

enum class PatternOver : uint8_t { kString, kBytes };

class Pattern {
 public:
  // Bytes of text times instructions of the program.
  static constexpr uint64_t kWorkMax = uint64_t{1} << 32;

  static absl::StatusOr<std::unique_ptr<Pattern>> Compile(std::string_view pattern, PatternOver over);

  PatternOver over() const { return over_; }
  bool is_empty() const { return re2_.pattern().empty(); }
  // How many groups capture.
  int groups() const { return groups_; }
  const RE2& re2() const { return re2_; }

  // Whether the pattern and a text of so many bytes are not too large together.
  absl::Status CheckWork(size_t text_bytes) const;
  // Finds the first match at or behind `place`.  groups[0] is the match, groups[i] what group i captured; a view
  // without data: nothing.  No more groups are asked for than are there.
  bool Find(std::string_view text, size_t place, absl::Span<std::string_view> groups) const;
  // The bytes of the character at `place` of a text, which is not its end.
  size_t StepAt(std::string_view text, size_t place) const;

 private:
  Pattern(std::string_view pattern, PatternOver over);

  RE2 re2_;
  PatternOver over_;
  int groups_ = 0;
};

// The patterns of a call: the last ones are kept.
class PatternCache : public CallState {
 public:
  // The pattern, which holds until the next call of Get.  CANCELLED and the like: the statement was interrupted.
  absl::StatusOr<const Pattern*> Get(const Call& call, std::string_view pattern, PatternOver over);
  WorkMeter& meter() { return meter_; }

 private:
  static constexpr size_t kKeptMax = 4;

  std::vector<std::pair<std::string, std::unique_ptr<Pattern>>> kept_;  // the last used first
  WorkMeter meter_;
};

}  // namespace sonde::sql
