// Loads a CSV file into a declared series.
//
// The first record names the columns.  Each column is the tag or field of its name (or of the name that
// CsvMapping::names gives it), or the time; other columns are ignored, listed and their values counted, or
// refused (CsvMapping::refuses_unknown).  An empty value of a field
// is no value; blanks around numbers and times do not count.  A line that is not a point is reported with its
// number, and the others are loaded.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "series/input/csv_reader.h"
#include "series/schema/time_parser.h"
#include "series/write/point_writer.h"

namespace sonde::series {

struct CsvMapping {
  std::map<std::string, std::string> names;      // column to tag or field
  std::map<std::string, std::string> constants;  // tag to the value that all lines have
  std::string time_column;                       // empty: the first of time, timestamp, datetime, date
  std::string time_format;                       // as TimeParser::Create
  bool assume_utc = false;
  char separator = ',';
  // Names and constants come from the options --map and --set; otherwise from `csv` of the declaration. Errors name the one or the
  // other.
  bool is_by_options = true;
  bool refuses_unknown = false;  // a column or member that the series does not have is an error
  int64_t lines_skipped = 0;     // points at the front of the file that are passed over: written before
};

// How errors name a column's name of the mapping, and a tag's constant.
std::string TextOfName(const CsvMapping& mapping, std::string_view column, std::string_view name);
std::string TextOfConstant(const CsvMapping& mapping, std::string_view tag, std::string_view value);

// Loaders of lines report their progress after each of so many.
inline constexpr int64_t kLinesPerProgress = 1 << 14;

struct CsvTotals {
  int64_t points = 0;
  int64_t bad_lines = 0;
  int64_t bytes = 0;
  std::vector<std::string> ignored_columns;
  int64_t ignored_values = 0;  // in these
};

class CsvLoader {
 public:
  struct Callbacks {
    std::function<void(int64_t line, std::string_view reason)> bad_line;
    // All points of the first so many lines (the header does not count) are written; an error ends the load.
    std::function<absl::Status(int64_t lines)> written;
    // After every kLinesPerProgress lines, with what is done so far.
    std::function<void(const CsvTotals&)> progress;
  };

  CsvLoader(CsvMapping mapping, Callbacks callbacks)
      : mapping_(std::move(mapping)), callbacks_(std::move(callbacks)) {}

  // INVALID_ARGUMENT: the header does not fit the series (nothing was written); otherwise the error of the
  // source or of a write, and what was written before it stays.
  absl::StatusOr<CsvTotals> Load(ByteSource source, PointWriter* writer) {
    return Run(std::move(source), writer, true);
  }

  // The same, but writes nothing: what Load would say of the lines.
  absl::StatusOr<CsvTotals> Validate(ByteSource source, PointWriter* writer) {
    return Run(std::move(source), writer, false);
  }

 private:
  absl::StatusOr<CsvTotals> Run(ByteSource source, PointWriter* writer, bool is_writing);
  // Where the columns of the header go; fills the members below.
  absl::Status ReadHeader(const std::vector<std::string_view>& columns, const SeriesSchema& schema,
                          CsvTotals* totals);
  absl::Status FindTimeColumn(const std::vector<std::string_view>& columns);
  absl::Status SetConstants(const SeriesSchema& schema, std::vector<bool>* has_tag);
  // Not OK: why the line is not a point.
  absl::Status AddRecord(const CsvReader::Record& record, const TimeParser& times, PointWriter* writer,
                         CsvTotals* totals);

  enum class Target : uint8_t { kIgnored, kTag, kField, kNumberField, kTime };
  struct Column {
    Target target = Target::kIgnored;
    size_t index = 0;
  };

  CsvMapping mapping_;
  Callbacks callbacks_;
  std::vector<Column> columns_;
  std::vector<std::string_view> tags_;
  std::vector<std::string_view> fields_;
};

}  // namespace sonde::series
