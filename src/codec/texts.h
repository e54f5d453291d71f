// Columns of byte strings that are alike: row keys, qualifiers, records with a fixed shape.
//
// A text is a template with fields of a fixed width.  In host_12#cpu#1467000010 the fields are the runs of
// digits, so thousands of such keys are one template and two columns of integers, and a counter or a time
// costs next to nothing, also one that is padded or runs backwards.
//
// Layout (integers: codec/integers.h; strings: codec/strings.h; numbers are varints):
//   form         1 byte, which says what the fields of a template are:
//                  0 each run of ASCII digits, cut after every 19; decimal
//                  1 the last 8 bytes, 2 the last 4 bytes; big-endian
//                  3 the listed ones; big-endian.  There is one template.
//                  4 no templates: front-coded
//   forms 0-3    count of templates; strings: the templates, with 0 in all fields (the digit, or the byte)
//     form 3     count of fields; each: offset, width in bytes (1 to 8)
//                count of columns: of the template with the most fields
//                integers: the template of each text, unless there is one
//                for each column: integers, the field of each text (any number where its template has fewer)
//   form 4       integers: how many bytes each text shares with the one before it; strings: the rest of each
//
// Readers return false for damaged bytes; they never read or write outside what they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "codec/integers.h"
#include "codec/strings.h"

namespace sonde::codec {

// Appends the column; at least one text, kColumnBytesMax in all.
void EncodeTexts(absl::Span<const std::string_view> texts, std::string* out);

// The same, or false, with *out as it was, if the texts are not many of few templates.
[[nodiscard]] bool EncodeAlikeTexts(absl::Span<const std::string_view> texts, std::string* out);

// Where a template has a number.
struct TextField {
  uint32_t offset = 0;
  uint32_t width = 0;
};

// A column that is read.  Views the bytes; not for several threads.
class TextColumn {
 public:
  // A column of `count` >= 1 texts, from the front of *in.
  [[nodiscard]] bool Parse(std::string_view* in, size_t count);

  size_t size() const { return count_; }
  // Texts [begin, end) to out[0] and on; end <= size().  They view this object or *arena.
  [[nodiscard]] bool Decode(size_t begin, size_t end, ByteArena* arena, std::string_view* out);
  // Replaces *text.
  [[nodiscard]] bool At(size_t index, std::string* text);
  // The first text that is not less than `text`, or size(), if the column is sorted.
  [[nodiscard]] bool LowerBound(std::string_view text, size_t* index);
  // Of those from `from` on, where it is cheap to find if it is near.
  [[nodiscard]] bool LowerBoundNear(size_t from, std::string_view text, size_t* index);

  // Of what is decoded and kept.
  size_t KeptBytes() const;

 private:
  enum class Form : uint8_t { kDigits = 0, kLast8 = 1, kLast4 = 2, kListed = 3, kFrontCoded = 4 };
  friend class TextEncoder;

  struct Template {
    std::string_view text;
    std::vector<TextField> fields;
  };

  bool ParseTemplates(std::string_view* in);
  bool ParseFrontCoded(std::string_view* in);
  // As LowerBound, of [low, high).
  bool LowerBoundIn(size_t low, size_t high, std::string_view text, size_t* index);
  // Writes the text of a template to `to`; field i is fields[i * stride].
  void Compose(const Template& shape, const int64_t* fields, size_t stride, char* to) const;

  Form form_ = Form::kDigits;
  size_t count_ = 0;
  std::string bytes_;
  std::vector<std::string_view> texts_;  // front-coded: all of them
  ByteArena arena_;
  std::vector<Template> templates_;
  IntegerColumn ids_;  // if there is more than one template
  std::vector<IntegerColumn> columns_;
  std::vector<int64_t> scratch_;
};

}  // namespace sonde::codec
