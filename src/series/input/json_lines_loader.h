// Loads JSON lines into a declared series: an object a line, its members the tags and fields of their names
// (or of those that CsvMapping::names gives them), and the time.
//
// Numbers and booleans are taken as they are written, null is no value, an empty text is none of a number and
// the empty text of a string, other members are passed over,
// listed and counted, or refused with their line (CsvMapping::refuses_unknown).  A time that is a number is
// in the unit that time_format names (epoch_ms, ...).  A line that is not a point is reported with its
// number, and the others are loaded.
//
// Threads: not for several threads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "series/input/csv_loader.h"
#include "series/schema/time_parser.h"
#include "series/write/point_writer.h"

namespace sonde::series {

constexpr size_t kJsonLineBytesMax = 1 << 20;

class JsonLinesLoader {
 public:
  JsonLinesLoader(CsvMapping mapping, CsvLoader::Callbacks callbacks)
      : mapping_(std::move(mapping)), callbacks_(std::move(callbacks)) {}

  // INVALID_ARGUMENT: the mapping does not fit the series; otherwise the error of the source or of a write,
  // and what was written before it stays.
  absl::StatusOr<CsvTotals> Load(ByteSource source, PointWriter* writer) {
    return Run(std::move(source), writer, true);
  }
  // The same, but writes nothing.
  absl::StatusOr<CsvTotals> Validate(ByteSource source, PointWriter* writer) {
    return Run(std::move(source), writer, false);
  }

 private:
  enum class Target : uint8_t { kTime, kTag, kField };
  struct Member {
    Target target = Target::kField;
    size_t index = 0;
  };

  absl::StatusOr<CsvTotals> Run(ByteSource source, PointWriter* writer, bool is_writing);
  absl::Status FindMembers(const SeriesSchema& schema);
  absl::Status AddLine(std::string_view line, const TimeParser& times, PointWriter* writer,
                       CsvTotals* totals);

  CsvMapping mapping_;
  CsvLoader::Callbacks callbacks_;
  std::map<std::string, Member, std::less<>> members_;
  std::vector<std::string> tags_;
  std::vector<std::optional<std::string>> fields_;  // nothing: the line has none
};

}  // namespace sonde::series
