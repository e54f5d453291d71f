// Patterns of LIKE: % stands for any characters, _ for one, \ takes the meaning from the next character.
//
//   LikePattern::Compile("a%", LikePattern::Over::kString)->Matches("abc")
//
// Threads: a pattern is immutable.
// Cost: patterns with a % at their ends only compare once; others look for their parts from left to right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde::sql {

class LikePattern {
 public:
  // What _ stands for: a character in UTF-8, or a byte.
  enum class Over : uint8_t { kString, kBytes };

  // OUT_OF_RANGE: the pattern ends within an escape.
  static absl::StatusOr<LikePattern> Compile(std::string_view pattern, Over over);

  bool Matches(std::string_view text) const;

 private:
  // What stands between two %: literal bytes, each behind so many characters of which any will do.
  struct Piece {
    size_t any_characters = 0;
    std::string bytes;
  };
  struct Segment {
    std::vector<Piece> pieces;
    size_t bytes_min = 0;  // of what it matches
    bool is_literal() const { return pieces.size() == 1 && pieces[0].any_characters == 0; }
  };

  explicit LikePattern(Over over) : over_(over) {}
  void AddCharacter(char byte);
  void AddAny();
  // How many bytes of the beginning of `text` the segment matches; npos: it does not match there.
  size_t MatchAtStart(const Segment& segment, std::string_view text) const;
  bool MatchesAtEnd(const Segment& segment, std::string_view text) const;
  // Cuts `text` behind the first match.  False: there is none.
  bool TakeFirst(const Segment& segment, std::string_view* text) const;

  Over over_;
  std::vector<Segment> segments_;  // at least one; between each two stands %
};

}  // namespace sonde::sql
