#include "sql/text/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "sql/function/utf8.h"

namespace sonde::sql {
namespace {

// RE2's own default, and GoogleSQL's: an expression that needs more is refused.
constexpr int64_t kMemoryBytesMax = 8 << 20;
constexpr int kGroupsMax = 10;
// What it costs to compile an instruction of a program, as bytes of work.
constexpr size_t kCompileBytesPerInstruction = 256;

re2::StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

RE2::Options OptionsOver(PatternOver over) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemoryBytesMax);
  options.set_encoding(over == PatternOver::kString ? RE2::Options::EncodingUTF8
                                                    : RE2::Options::EncodingLatin1);
  return options;
}

}  // namespace

Pattern::Pattern(std::string_view pattern, PatternOver over)
    : re2_(PieceOf(pattern), OptionsOver(over)), over_(over), groups_(re2_.NumberOfCapturingGroups()) {}

absl::StatusOr<std::unique_ptr<Pattern>> Pattern::Compile(std::string_view pattern, PatternOver over) {
  std::unique_ptr<Pattern> compiled(new Pattern(pattern, over));
  if (!compiled->re2_.ok()) {
    return absl::OutOfRangeError(fmt::format("Cannot parse regular expression: {}", compiled->re2_.error()));
  }
  return compiled;
}

absl::Status Pattern::CheckWork(size_t text_bytes) const {
  const auto instructions = static_cast<uint64_t>(std::max(re2_.ProgramSize(), 1));
  if (text_bytes <= kWorkMax / instructions) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      fmt::format("a regular expression of {} instructions is too large for a value of {} bytes: together "
                  "they may have {}",
                  instructions, text_bytes, kWorkMax));
}

bool Pattern::Find(std::string_view text, size_t place, absl::Span<std::string_view> groups) const {
  DCHECK(groups.size() <= kGroupsMax && place <= text.size());
  re2::StringPiece found[kGroupsMax];
  const int count = static_cast<int>(groups.size());
  if (!re2_.Match(PieceOf(text), place, text.size(), RE2::UNANCHORED, found, count)) return false;
  for (int i = 0; i < count; ++i) groups[i] = std::string_view(found[i].data(), found[i].size());
  return true;
}

size_t Pattern::StepAt(std::string_view text, size_t place) const {
  return over_ == PatternOver::kString ? CharacterBytes(text.substr(place)) : 1;
}

absl::StatusOr<const Pattern*> PatternCache::Get(const Call& call, std::string_view pattern,
                                                 PatternOver over) {
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const auto& entry) {
    return entry.first == pattern && entry.second->over() == over;
  });
  if (known != kept_.end()) {
    if (known != kept_.begin()) std::rotate(kept_.begin(), known, known + 1);
    return kept_.front().second.get();
  }
  absl::StatusOr<std::unique_ptr<Pattern>> compiled = Pattern::Compile(pattern, over);
  if (!compiled.ok()) return compiled.status();
  const auto instructions = static_cast<size_t>(std::max((*compiled)->re2().ProgramSize(), 1));
  if (absl::Status status = meter_.Add(call, instructions * kCompileBytesPerInstruction); !status.ok())
    return status;
  if (kept_.size() == kKeptMax) kept_.pop_back();
  kept_.emplace(kept_.begin(), std::string(pattern), *std::move(compiled));
  return kept_.front().second.get();
}

}  // namespace sonde::sql
