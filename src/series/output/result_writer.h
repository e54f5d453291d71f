// Answers as text: a table for people, CSV (RFC 4180) and JSON (one object a line) for programs.
//
// CSV and JSON have times as RFC 3339, in UTC or with the offset of the zone that was asked for, and numbers
// in full, ints with all of their digits; the table shows times as exactly as they
// are meant, and numbers to kTableDigits digits.  A member of a JSON object has the name of its tag or
// column; a column that is called `time`, and a tag that is called so or as a column, is NAME_1 there (or _2,
// ..., where that is taken, too).
//
// Threads: a writer is not for several threads.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "series/query/query_words.h"

namespace sonde::series {

constexpr int kTableDigits = 6;
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  virtual void Row(const ResultRow& row) = 0;
  virtual void End() {}
};

enum class ResultFormat : uint8_t { kTable, kCsv, kJson };
std::optional<ResultFormat> ResultFormatOfName(std::string_view name);

// `out` must outlive the writer.
std::unique_ptr<ResultWriter> MakeResultWriter(ResultFormat format, ResultHeader header, std::ostream* out);

// A value in JSON; of a text, bytes that are no UTF-8 become U+FFFD.
void AppendJson(const ResultValue& value, std::string* out);

// A time as a table shows it: 2021, 2021-03, 2021-03-05, 2021-03-05 12:04, ...
std::string ShortTimeText(int64_t micros, TimeUnit unit);

}  // namespace sonde::series
