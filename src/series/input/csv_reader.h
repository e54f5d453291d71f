// Reads CSV as RFC 4180 has it: records end with CRLF or LF; a value may stand in double quotes and then hold
// separators, line ends and (doubled) quotes.  Empty lines and a byte order mark in front are skipped.
//
// Memory is one buffer, which grows to the longest record, up to kCsvRecordBytesMax.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/byte_source.h"

namespace sonde::series {

constexpr size_t kCsvRecordBytesMax = 1 << 20;

// From a text that outlives it.
ByteSource SourceOfText(std::string_view text);

class CsvReader {
 public:
  explicit CsvReader(ByteSource source, char separator = ',')
      : source_(std::move(source)), separator_(separator) {}

  struct Record {
    std::vector<std::string_view> values;  // until the next call of Next
    int64_t line = 0;                      // where it begins, from 1
    std::string problem;                   // not empty: the record is damaged, and `values` holds nothing
  };
  // False at the end.  A damaged record (a quote that never ends, text behind a closing quote, a record that
  // is too long) ends at its first line end, and the next one is read as if nothing had been.  Errors are the
  // source's.
  absl::StatusOr<bool> Next(Record* record);

  // Bytes of the source that records have taken up so far.
  int64_t bytes_read() const { return bytes_before_buffer_ + static_cast<int64_t>(at_); }

 private:
  // Takes more from the source; false at its end.
  absl::StatusOr<bool> Fill();
  void SplitPlain(std::string_view line, std::vector<std::string_view>* values) const;
  // The end of the record (behind its line end) with quotes at `at_`, its values into the record.  npos: more
  // bytes are needed.
  size_t SplitQuoted(bool is_all, Record* record);
  void TakeDamaged(std::string problem, Record* record);

  ByteSource source_;
  char separator_;
  std::string buffer_;
  size_t at_ = 0;
  bool is_at_end_ = false;
  bool is_started_ = false;
  int64_t bytes_before_buffer_ = 0;
  int64_t line_ = 1;
  std::string unquoted_;                           // values in quotes, one behind the other
  std::vector<std::pair<size_t, size_t>> pieces_;  // values: offset and size in buffer_, or in unquoted_
  std::vector<bool> is_unquoted_;
};

}  // namespace sonde::series
