#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8.h"
#include "sql/text/functions.h"
#include "sql/text/pattern.h"

namespace sonde::sql {
namespace {

constexpr PatternOver kOverString = PatternOver::kString;
constexpr PatternOver kOverBytes = PatternOver::kBytes;

// The pattern, ready for a text.  Counts the work of one match over the whole text.
absl::StatusOr<const Pattern*> PatternFor(Call& call, std::string_view text, std::string_view written,
                                          PatternOver over) {
  auto& cache = call.state<PatternCache>();
  absl::StatusOr<const Pattern*> pattern = cache.Get(call, written, over);
  if (!pattern.ok()) return pattern;
  if (absl::Status status = (*pattern)->CheckWork(text.size()); !status.ok()) return status;
  if (absl::Status status = cache.meter().Add(call, text.size()); !status.ok()) return status;
  return pattern;
}

// RE2 tells a group that captured nothing by a view without data.
std::string_view WithData(std::string_view text) {
  return text.data() == nullptr ? std::string_view("") : text;
}

// Matches of a pattern from the left, none within another; each gives what its only group captured, or itself where the pattern
// has no group.
class Extraction {
 public:
  // `text` has data.
  Extraction(const Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  // False: there are no more.
  absl::StatusOr<bool> Next(Call& call) {
    if (pattern_.groups() > 1) {
      return absl::OutOfRangeError(
          "Regular expressions passed into extraction functions must not have more than 1 capturing group");
    }
    std::string_view groups[2];
    if (is_done_ || !pattern_.Find(text_, place_, absl::MakeSpan(groups, 1 + pattern_.groups())))
      return false;
    found_ = groups[pattern_.groups()];
    // RE2 may have read all of the rest.
    if (absl::Status status = call.state<PatternCache>().meter().Add(call, text_.size() - place_);
        !status.ok())
      return status;
    place_ = PlaceBehind(groups[0]);
    if (groups[0].empty() && place_ < text_.size()) place_ += pattern_.StepAt(text_, place_);
    is_done_ = place_ >= text_.size();
    return true;
  }

  // What the last match gave; without data: its group captured nothing.
  std::string_view found() const { return found_; }
  // Where what was found ends.  Of an empty match of a pattern without a group, GoogleSQL takes the next search's beginning.
  size_t EndOfFound() const { return pattern_.groups() == 0 ? place_ : PlaceBehind(found_); }

 private:
  size_t PlaceBehind(std::string_view part) const {
    return static_cast<size_t>(part.data() + part.size() - text_.data());
  }

  const Pattern& pattern_;
  const std::string_view text_;
  size_t place_ = 0;
  bool is_done_ = false;
  std::string_view found_;
};

template <PatternOver kOver>
absl::StatusOr<bool> RegexpContains(Call& call, std::string_view text, std::string_view written) {
  const auto pattern = PatternFor(call, text, written, kOver);
  if (!pattern.ok()) return pattern.status();
  return (*pattern)->Find(text, 0, {});
}

absl::Status CheckPosition(int64_t position, int64_t occurrence) {
  if (position <= 0) return absl::OutOfRangeError("Position must be positive");
  if (occurrence <= 0) return absl::OutOfRangeError("Occurrence must be positive");
  return absl::OkStatus();
}

// The text from a position on: matches take that for the beginning of the text.
template <PatternOver kOver>
std::string_view TextFrom(std::string_view text, int64_t position) {
  const auto skipped = static_cast<size_t>(position - 1);
  return WithData(
      text.substr(kOver == kOverString ? BytesOfFirst(text, skipped) : std::min(text.size(), skipped)));
}

using Extracted = absl::StatusOr<std::optional<std::string_view>>;

template <PatternOver kOver>
Extracted RegexpExtractNth(Call& call, std::string_view text, std::string_view written, int64_t position,
                           int64_t occurrence) {
  const auto pattern = PatternFor(call, text, written, kOver);
  if (!pattern.ok()) return pattern.status();
  if (absl::Status status = CheckPosition(position, occurrence); !status.ok()) return status;
  // In bytes, as GoogleSQL has it.
  if (static_cast<uint64_t>(position) > std::max<size_t>(text.size(), 1)) return std::nullopt;
  Extraction extraction(**pattern, TextFrom<kOver>(text, position));
  for (int64_t i = 0; i < occurrence; ++i) {
    const absl::StatusOr<bool> is_found = extraction.Next(call);
    if (!is_found.ok()) return is_found.status();
    if (!*is_found) return std::nullopt;
  }
  if (extraction.found().data() == nullptr) return std::nullopt;
  return extraction.found();
}

template <PatternOver kOver>
Extracted RegexpExtractFrom(Call& call, std::string_view text, std::string_view written, int64_t position) {
  return RegexpExtractNth<kOver>(call, text, written, position, 1);
}
template <PatternOver kOver>
Extracted RegexpExtract(Call& call, std::string_view text, std::string_view written) {
  return RegexpExtractNth<kOver>(call, text, written, 1, 1);
}

template <PatternOver kOver>
absl::StatusOr<absl::Span<const Datum>> RegexpExtractAll(Call& call, std::string_view text,
                                                         std::string_view written) {
  const auto pattern = PatternFor(call, text, written, kOver);
  if (!pattern.ok()) return pattern.status();
  Extraction extraction(**pattern, WithData(text));
  std::vector<Datum> all;
  while (true) {
    const absl::StatusOr<bool> is_found = extraction.Next(call);
    if (!is_found.ok()) return is_found.status();
    if (!*is_found) break;
    all.push_back(Datum::Bytes(WithData(extraction.found())));
    const bool is_power_of_two = (all.size() & (all.size() - 1)) == 0;
    if (!is_power_of_two) continue;
    if (absl::Status status = AskForRoom(call, 2 * all.size() * sizeof(Datum)); !status.ok()) return status;
  }
  Datum* const kept = call.arena()->New<Datum>(all.size());
  std::copy(all.begin(), all.end(), kept);
  return absl::MakeConstSpan(kept, all.size());
}

// `after`: 1: the position behind the match is meant.
template <PatternOver kOver>
absl::StatusOr<int64_t> RegexpInstrAfter(Call& call, std::string_view text, std::string_view written,
                                         int64_t position, int64_t occurrence, int64_t after) {
  const auto pattern = PatternFor(call, text, written, kOver);
  if (!pattern.ok()) return pattern.status();
  if (after != 0 && after != 1) return absl::OutOfRangeError("Invalid return_position_after_match.");
  if (absl::Status status = CheckPosition(position, occurrence); !status.ok()) return status;
  if (static_cast<uint64_t>(position) > text.size() || (*pattern)->is_empty()) return 0;
  const std::string_view rest = TextFrom<kOver>(text, position);
  Extraction extraction(**pattern, rest);
  for (int64_t i = 0; i < occurrence; ++i) {
    const absl::StatusOr<bool> is_found = extraction.Next(call);
    if (!is_found.ok()) return is_found.status();
    if (!*is_found) return 0;
  }
  if (extraction.found().data() == nullptr) return 0;
  size_t place = extraction.EndOfFound();
  if (after == 0) place -= extraction.found().size();
  const size_t passed = kOver == kOverString ? CountCharacters(rest.substr(0, place)) : place;
  return static_cast<int64_t>(passed) + position;
}

template <PatternOver kOver>
absl::StatusOr<int64_t> RegexpInstr(Call& call, std::string_view text, std::string_view written) {
  return RegexpInstrAfter<kOver>(call, text, written, 1, 1, 0);
}
template <PatternOver kOver>
absl::StatusOr<int64_t> RegexpInstrFrom(Call& call, std::string_view text, std::string_view written,
                                        int64_t position) {
  return RegexpInstrAfter<kOver>(call, text, written, position, 1, 0);
}
template <PatternOver kOver>
absl::StatusOr<int64_t> RegexpInstrNth(Call& call, std::string_view text, std::string_view written,
                                       int64_t position, int64_t occurrence) {
  return RegexpInstrAfter<kOver>(call, text, written, position, occurrence, 0);
}

// Appends a replacement, in which \0 to \9 stand for what was captured and \\ for a backslash.  RE2 has checked it.
void AppendReplacement(std::string_view replacement, absl::Span<const std::string_view> groups,
                       std::string* text) {
  for (size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      *text += replacement[i];
      continue;
    }
    const char next = replacement[++i];
    if (next >= '0' && next <= '9') {
      const auto group = static_cast<size_t>(next - '0');
      if (group < groups.size()) text->append(groups[group]);
    } else {
      *text += next;
    }
  }
}

// Asks for room each time that a text has doubled.
class GrowthWatch {
 public:
  absl::Status Grow(const Call& call, size_t bytes) {
    if (bytes < next_bytes_) return absl::OkStatus();
    next_bytes_ = 2 * bytes;
    return AskForRoom(call, next_bytes_);
  }

 private:
  size_t next_bytes_ = kLargeValueBytes;
};

template <PatternOver kOver>
absl::StatusOr<std::string_view> RegexpReplace(Call& call, std::string_view text, std::string_view written,
                                               std::string_view replacement) {
  const auto found = PatternFor(call, text, written, kOver);
  if (!found.ok()) return found.status();
  const Pattern& pattern = **found;
  std::string fault;
  if (!pattern.re2().CheckRewriteString({replacement.data(), replacement.size()}, &fault)) {
    return absl::OutOfRangeError("Invalid REGEXP_REPLACE pattern: " + fault);
  }
  text = WithData(text);
  std::string_view groups[10];
  const auto asked = absl::MakeSpan(groups, std::min<size_t>(1 + pattern.groups(), std::size(groups)));
  std::string replaced;
  GrowthWatch watch;
  size_t place = 0;
  const char* last_end = nullptr;  // an empty match that begins where the last match ended does not count
  while (place <= text.size() && pattern.Find(text, place, asked)) {
    const std::string_view match = groups[0];
    const auto begin = static_cast<size_t>(match.data() - text.data());
    replaced.append(text.substr(place, begin - place));
    if (!match.empty() || match.data() != last_end) AppendReplacement(replacement, asked, &replaced);
    last_end = match.data() + match.size();
    if (absl::Status status = watch.Grow(call, replaced.size()); !status.ok()) return status;
    if (absl::Status status = call.state<PatternCache>().meter().Add(call, text.size() - place); !status.ok())
      return status;
    place = begin + match.size();
    if (!match.empty()) continue;
    if (place == text.size()) return call.arena()->Copy(replaced);
    const size_t step = pattern.StepAt(text, place);
    replaced.append(text.substr(place, step));
    place += step;
  }
  replaced.append(text.substr(std::min(place, text.size())));
  return call.arena()->Copy(replaced);
}

template <PatternOver kOver>
constexpr Kernel kRegexpExtract =
    KernelByCount<2, RowKernel<RegexpExtract<kOver>>, RowKernel<RegexpExtractFrom<kOver>>,
                  RowKernel<RegexpExtractNth<kOver>>>;
template <PatternOver kOver>
constexpr Kernel kRegexpInstr =
    KernelByCount<2, RowKernel<RegexpInstr<kOver>>, RowKernel<RegexpInstrFrom<kOver>>,
                  RowKernel<RegexpInstrNth<kOver>>, RowKernel<RegexpInstrAfter<kOver>>>;

}  // namespace

std::vector<Function> RegexpFunctions() {
  const Function extract{
      .name = "REGEXP_EXTRACT",
      .overloads = {Scalar("(STRING, STRING, [INT64], [INT64]) -> STRING", kRegexpExtract<kOverString>),
                    Scalar("(BYTES, BYTES, [INT64], [INT64]) -> BYTES", kRegexpExtract<kOverBytes>)},
      .meaning =
          "What the group of a regular expression (RE2) captures in its first match; the match itself where "
          "the expression has no "
          "group; NULL where nothing matches.  The third argument says from which position on, the fourth "
          "which match is meant.",
      .examples = {"REGEXP_EXTRACT('foo@example.com', r'^[a-zA-Z0-9_.+-]+')",
                   "REGEXP_EXTRACT('foo@example.com', r'@(.*)\\.')"}};
  return {
      {.name = "REGEXP_CONTAINS",
       .overloads = {Scalar("(STRING, STRING) -> BOOL", RowKernel<RegexpContains<kOverString>>),
                     Scalar("(BYTES, BYTES) -> BOOL", RowKernel<RegexpContains<kOverBytes>>)},
       .meaning = "Whether a regular expression (RE2) matches somewhere in a value.",
       .examples = {"REGEXP_CONTAINS('foo@example.com', r'@[a-z]+\\.')"}},
      extract,
      {.name = "REGEXP_SUBSTR", .alias_of = "REGEXP_EXTRACT"},
      {.name = "REGEXP_EXTRACT_ALL",
       .overloads = {Scalar("(STRING, STRING) -> ARRAY<STRING>", RowKernel<RegexpExtractAll<kOverString>>),
                     Scalar("(BYTES, BYTES) -> ARRAY<BYTES>", RowKernel<RegexpExtractAll<kOverBytes>>)},
       .meaning = "As REGEXP_EXTRACT, of all matches; none of them begins within another one.",
       .examples = {"REGEXP_EXTRACT_ALL('Try `func(x)` or `func(y)`', '`(.+?)`')"}},
      {.name = "REGEXP_INSTR",
       .overloads = {Scalar("(STRING, STRING, [INT64], [INT64], [INT64]) -> INT64",
                            kRegexpInstr<kOverString>),
                     Scalar("(BYTES, BYTES, [INT64], [INT64], [INT64]) -> INT64", kRegexpInstr<kOverBytes>)},
       .meaning = "The position, from 1, of what REGEXP_EXTRACT would give, or of what comes behind it where "
                  "the fifth argument is 1; 0 where "
                  "nothing matches.",
       .examples = {"REGEXP_INSTR('ab@cd-ef', '@[^-]*')", "REGEXP_INSTR('ab@cd-ef', '@[^-]*', 1, 1, 1)"}},
      {.name = "REGEXP_REPLACE",
       .overloads = {Scalar("(STRING, STRING, STRING) -> STRING", RowKernel<RegexpReplace<kOverString>>),
                     Scalar("(BYTES, BYTES, BYTES) -> BYTES", RowKernel<RegexpReplace<kOverBytes>>)},
       .meaning = "A value with all matches of a regular expression replaced.  In the replacement \\1 to \\9 "
                  "stand for what the groups "
                  "captured, \\0 for the match.",
       .examples = {"REGEXP_REPLACE('# Heading', r'^# ([a-zA-Z0-9\\s]+$)', '<h1>\\\\1</h1>')"}},
  };
}

}  // namespace sonde::sql
