// Answers as text: a table for people, CSV (RFC 4180) and JSON (one object a line) for programs.
//
// Values: times are RFC 3339 in UTC (in the table shorter), dates YYYY-MM-DD.
//   table  NULL is NULL; texts and bytes as DisplayText; arrays [a, b], structs (a, b), maps {k: v}
//   CSV    NULL is an empty field, an empty text is ""; bytes that are no UTF-8, as Printable; arrays, structs and maps as JSON
//   JSON   numbers as they are, NaN and infinities as the texts "NaN", "Infinity", "-Infinity"; bytes that are no UTF-8, as Printable; structs
//          and maps are objects
//   JSON arrays  a line {"columns": [{"name": ..., "type": ..., "unit": ... where one is known}, ...]}, then an array a row, with values as in JSON
// A member of a JSON object has the name of its column; a name that comes again is NAME_1 there (or _2, ...).
// Threads: not for several threads.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "model/datum.h"
#include "sql/access/sql_access.h"
#include "sql/value/type.h"

namespace sonde::sql {

enum class AnswerFormat : uint8_t {
  kTable,
  kCsv,
  kJson,
  kJsonArrays,  // of HTTP: names of columns may repeat, and a row is never taken for another line
};
// "table", "csv", "json".
std::optional<AnswerFormat> AnswerFormatOfName(std::string_view name);

class AnswerWriter : public AnswerSink {
 public:
  // To be called after the last rows.
  virtual void End() {}
};

// `out` must outlive the writer.
std::unique_ptr<AnswerWriter> MakeAnswerWriter(AnswerFormat format, std::ostream* out);

// A value as JSON, and as a table shows it.
std::string JsonText(const Type& type, const Datum& datum);
std::string ShownText(const Type& type, const Datum& datum);

}  // namespace sonde::sql
