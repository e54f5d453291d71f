// Columns of byte strings that resemble each other: row keys, qualifiers, records of a fixed shape.
//
// A text is a template with fields of fixed width.  In host_12#cpu#1467000010 the fields are the runs of
// digits.  So thousands of such keys are one template and two columns of integers, and a counter or a time
// costs next to nothing, even if it is padded or runs backwards.
//
// Layout (integers: codec/integers.h; strings: codec/strings.h; numbers are varints):
//   form         1 byte; it says what the fields of a template are:
//                  0 each run of ASCII digits, cut after every 19; decimal
//                  1 the last 8 bytes, 2 the last 4 bytes; big-endian
//                  3 the listed bytes; big-endian.  There is one template.
//                  4 no templates: front-coded
//   forms 0-3    count of templates; strings: the templates, with 0 in all fields (the digit, or the byte)
//     form 3     count of fields; each: offset, width in bytes (1 to 8)
//                count of columns, which is the number of fields of the template with the most fields
//                integers: the template of each text, unless there is only one template
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

// Appends the column.  There must be at least one text, and at most kColumnBytesMax bytes in all.
void EncodeTexts(absl::Span<const std::string_view> texts, std::string* out);

// Appends the column if its texts are many of few templates.  Otherwise returns false, and leaves *out as it
// was.
[[nodiscard]] bool EncodeAlikeTexts(absl::Span<const std::string_view> texts, std::string* out);

// The place of a number in a template.
struct TextField {
  uint32_t offset = 0;
  uint32_t width = 0;
};

// Reads a column.  Views the bytes.  Not for several threads.
class TextColumn {
 public:
  // Takes a column of `count` >= 1 texts from the front of *in.
  [[nodiscard]] bool Parse(std::string_view* in, size_t count);

  size_t size() const { return count_; }
  // Decodes texts [begin, end) to out[0] and on; end <= size().  They view this object or *arena.
  [[nodiscard]] bool Decode(size_t begin, size_t end, ByteArena* arena, std::string_view* out);
  // Replaces *text by a text of the column.
  [[nodiscard]] bool At(size_t index, std::string* text);
  // Sets *index to the first text that is not less than `text`, or to size().  The column must be sorted.
  [[nodiscard]] bool LowerBound(std::string_view text, size_t* index);
  // As LowerBound, among the texts from `from` on.  It is cheap if the text is near `from`.
  [[nodiscard]] bool LowerBoundNear(size_t from, std::string_view text, size_t* index);

  // Bytes of decoded data that is kept.
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
  // As LowerBound, among the texts [low, high).
  bool LowerBoundIn(size_t low, size_t high, std::string_view text, size_t* index);
  // Writes a text of a template to `to`.  Its i-th field is fields[i * stride].
  void Compose(const Template& shape, const int64_t* fields, size_t stride, char* to) const;

  Form form_ = Form::kDigits;
  size_t count_ = 0;
  std::string bytes_;
  std::vector<std::string_view> texts_;  // if front-coded: all texts
  ByteArena arena_;
  std::vector<Template> templates_;
  IntegerColumn ids_;  // if there is more than one template: the template of each text
  std::vector<IntegerColumn> columns_;
  std::vector<int64_t> scratch_;
};

}  // namespace sonde::codec
