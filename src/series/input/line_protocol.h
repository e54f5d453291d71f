// Points as InfluxDB's line protocol writes them:
//   measurement,tag=value,tag=value field=1.5,count=3i,up=true,note="text" 1556813561098000000
// Names and tag values have a backslash before a blank, comma or equals sign of their own; texts in quotes
// before a quote or backslash, and may hold line ends.  A line end anywhere else ends the line, and so does
// the first one behind a quote that never ends.  Lines that begin with # (behind blanks, too) and empty ones
// are passed over, and so is a byte order mark at the front.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::series {

constexpr size_t kLineBytesMax = 1 << 20;
constexpr size_t kLineNamesMax = 1'000;  // tags and fields of a line

enum class LineValueType : uint8_t { kFloat, kInt, kUnsigned, kBool, kText };

struct LineField {
  std::string_view name;
  LineValueType type = LineValueType::kFloat;
  std::string_view value;  // of numbers, their digits; of kBool, true or false; of kText, without quotes
};

// Views into the text that was parsed, or (of what had backslashes) into the parser.
struct LinePoint {
  std::string_view measurement;
  std::vector<std::pair<std::string_view, std::string_view>> tags;  // as they stand in the line
  std::string_view tags_text;                                       // all of them, as written
  std::vector<LineField> fields;
  std::optional<int64_t> timestamp;  // in the sender's unit
};

class LineProtocolParser {
 public:
  // `text` must outlive the parser.
  explicit LineProtocolParser(std::string_view text);

  enum class Step : uint8_t { kPoint, kBadLine, kEnd };
  // The next line that is not passed over.  `point` is good until the next call.
  Step Next(LinePoint* point);

  int64_t line() const { return line_; }                   // of the last step, from 1
  std::string_view line_text() const { return text_; }     // the same
  const std::string& problem() const { return problem_; }  // of kBadLine

 private:
  bool ParseLine(LinePoint* point);
  bool ParseTags(std::string_view text, LinePoint* point);
  bool ParseFields(std::string_view* text, LinePoint* point);
  bool ParseValue(std::string_view* text, LineField* field);
  bool ParseText(std::string_view* text, LineField* field);
  bool Fail(std::string problem);
  // Without the backslashes before `escaped`.
  std::string_view Unescape(std::string_view text, std::string_view escaped);
  // Moves the first `end` bytes of rest_ and the line end behind them into text_.
  void TakeLine(size_t end);
  // Where the quoted text ends that *text begins with.  Where that is on a later line, text_ and *text are
  // extended to the end of that line.  Nothing: it never ends.
  std::optional<size_t> EndOfText(std::string_view* text);

  std::string_view rest_;  // what follows the line
  std::string_view text_;  // the line at hand
  int64_t line_ = 0;
  int64_t next_line_ = 1;
  std::string problem_;
  std::deque<std::string> unescaped_;
};

}  // namespace sonde::series
