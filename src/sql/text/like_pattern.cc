#include "sql/text/like_pattern.h"

#include <algorithm>

#include "absl/status/status.h"
#include "sql/function/utf8.h"
#include "sql/text/text_search.h"

namespace sonde::sql {
namespace {

constexpr size_t kNoMatch = std::string_view::npos;

bool IsInsideCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

absl::StatusOr<LikePattern> LikePattern::Compile(std::string_view pattern, Over over) {
  LikePattern compiled(over);
  compiled.segments_.emplace_back();
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%') {
      // Several % are one.
      if (compiled.segments_.size() > 1 && compiled.segments_.back().pieces.empty()) continue;
      compiled.segments_.emplace_back();
    } else if (pattern[i] == '_') {
      compiled.AddAny();
    } else {
      if (pattern[i] == '\\' && ++i == pattern.size())
        return absl::OutOfRangeError("LIKE pattern ends with a backslash");
      compiled.AddCharacter(pattern[i]);
    }
  }
  return compiled;
}

void LikePattern::AddCharacter(char byte) {
  Segment& segment = segments_.back();
  if (segment.pieces.empty()) segment.pieces.emplace_back();
  segment.pieces.back().bytes += byte;
  ++segment.bytes_min;
}

void LikePattern::AddAny() {
  Segment& segment = segments_.back();
  if (segment.pieces.empty() || !segment.pieces.back().bytes.empty()) segment.pieces.emplace_back();
  ++segment.pieces.back().any_characters;
  ++segment.bytes_min;
}

size_t LikePattern::MatchAtStart(const Segment& segment, std::string_view text) const {
  if (text.size() < segment.bytes_min) return kNoMatch;
  const size_t size = text.size();
  for (const Piece& piece : segment.pieces) {
    for (size_t i = 0; i < piece.any_characters; ++i) {
      if (text.empty()) return kNoMatch;
      text.remove_prefix(over_ == Over::kBytes ? 1 : CharacterBytes(text));
    }
    if (!text.starts_with(piece.bytes)) return kNoMatch;
    text.remove_prefix(piece.bytes.size());
  }
  return size - text.size();
}

bool LikePattern::MatchesAtEnd(const Segment& segment, std::string_view text) const {
  if (text.size() < segment.bytes_min) return false;
  if (segment.pieces.empty()) return true;
  for (auto piece = segment.pieces.rbegin(); piece != segment.pieces.rend(); ++piece) {
    if (!text.ends_with(piece->bytes)) return false;
    text.remove_suffix(piece->bytes.size());
    for (size_t i = 0; i < piece->any_characters; ++i) {
      if (text.empty()) return false;
      do {
        text.remove_suffix(1);
        // The byte that was taken is before the end of what is left.
      } while (over_ == Over::kString && !text.empty() && IsInsideCharacter(text.data()[text.size()]));
    }
  }
  return true;
}

bool LikePattern::TakeFirst(const Segment& segment, std::string_view* text) const {
  if (segment.is_literal()) {
    const size_t found = FindText(*text, segment.pieces[0].bytes, 0);
    if (found == kNoMatch) return false;
    text->remove_prefix(found + segment.pieces[0].bytes.size());
    return true;
  }
  while (text->size() >= segment.bytes_min) {
    const size_t matched = MatchAtStart(segment, *text);
    if (matched != kNoMatch) {
      text->remove_prefix(matched);
      return true;
    }
    if (text->empty()) return false;
    text->remove_prefix(over_ == Over::kBytes ? 1 : CharacterBytes(*text));
  }
  return false;
}

bool LikePattern::Matches(std::string_view text) const {
  const size_t matched = MatchAtStart(segments_.front(), text);
  if (matched == kNoMatch) return false;
  text.remove_prefix(matched);
  if (segments_.size() == 1) return text.empty();
  for (size_t i = 1; i + 1 < segments_.size(); ++i) {
    if (!TakeFirst(segments_[i], &text)) return false;
  }
  return MatchesAtEnd(segments_.back(), text);
}

}  // namespace sonde::sql
