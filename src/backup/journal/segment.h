// A segment of a journal: the changes of a store whose positions are in one interval, in their order, as a file.
//
// Changes of rows, changes of the catalog, and gaps, by position ascending; at one position the catalog's come first, then rows by
// table.  A position is a time in microseconds (engine/row_log.h).  The file is of use only if it is whole: each record has a
// CRC-32C, and the last one a count and the SHA-256 of all before it.  docs/formats/journal-segment.md has the bytes.
//
// Threads: an object is for one thread.
// Errors: those of the files; DATA_LOSS: the file is damaged, and the text names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/file_system.h"
#include "backup/repository/sha256_stream.h"

namespace sonde {

// No record is longer: a piece of a row's change has up to 128 KiB, an event of the catalog as much as its largest record.
constexpr size_t kSegmentRecordBytesMax = size_t{64} << 20;

// Which journal a segment is of, and which positions it has.
struct SegmentPlace {
  std::string journal;  // its id (IsJournalId)
  int64_t first = 0;    // positions [first, last]
  int64_t last = 0;

  bool operator==(const SegmentPlace&) const = default;
};

struct SegmentRecord {
  // Stored: never renumber.
  enum class Kind : uint8_t { kRow = 1, kSchema = 2, kGap = 3 };
  Kind kind = Kind::kRow;
  int64_t position = 0;
  uint32_t table = 0;      // kRow: the table's id
  uint32_t piece = 0;      // kRow: the index of the piece, from 0
  int64_t gap_end = 0;     // kGap: changes at positions [position, gap_end) may be missing
  std::string_view bytes;  // kRow: a piece (changes/change_record.h).  kSchema: an event.  kGap: why, as text
};

class SegmentWriter {
 public:
  // Begins a segment whose first position is `first`.  `starts`: no segment comes before it.  The file must be empty, and outlive this.
  static absl::StatusOr<std::unique_ptr<SegmentWriter>> Begin(OutputFile* file, std::string_view journal,
                                                              int64_t first, bool starts);

  absl::Status Add(const SegmentRecord& record);
  // Ends the segment at `last`; the bytes are on the disk if `syncs`.  To be called once.
  absl::Status Finish(int64_t last, bool syncs);

  uint64_t bytes() const { return bytes_; }
  uint64_t records() const { return records_; }

 private:
  explicit SegmentWriter(OutputFile* file) : file_(file) {}
  absl::Status Put(std::string_view body);
  absl::Status Flush();

  OutputFile* const file_;
  Sha256Stream hash_;
  std::string buffer_;
  uint64_t bytes_ = 0;
  uint64_t records_ = 0;
};

class SegmentReader {
 public:
  // Opens a segment; reads its head.  `path` is for errors.
  static absl::StatusOr<std::unique_ptr<SegmentReader>> Open(FileSystem* files, const std::string& path);

  const std::string& journal() const { return journal_; }
  int64_t first() const { return first_; }
  bool starts() const { return starts_; }

  // DATA_LOSS: the head is not that of the segment of this place.
  absl::Status CheckHead(const SegmentPlace& place) const;
  // Reads the segment from its first record to its end, and gives each record to `take`; the first error of `take` is returned.  To be
  // called once, and without Next.  DATA_LOSS: also if the segment does not have this place, which is only known at its end.
  absl::Status ReadAll(const SegmentPlace& place, absl::FunctionRef<absl::Status(const SegmentRecord&)> take);

  // Reads the next record, whose bytes stay until the next call.  Returns false when the segment is over, and only if it is whole.
  absl::StatusOr<bool> Next(SegmentRecord* record);

  // After Next has returned false.
  int64_t last() const { return last_; }
  uint64_t records() const { return records_; }
  uint64_t bytes() const { return bytes_; }

 private:
  SegmentReader(std::unique_ptr<InputFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  absl::Status Damaged(std::string_view what) const;
  absl::Status HoldsAnother() const;
  // Takes so many bytes of the file into `out`; DATA_LOSS: it has fewer.
  absl::Status Take(size_t count, std::string* out);
  absl::Status TakeBody();
  absl::Status ReadHead();
  absl::Status ReadEnd(std::string_view body, const std::string& digest);
  absl::Status CheckOrder(const SegmentRecord& record);

  const std::unique_ptr<InputFile> file_;
  const std::string path_;
  Sha256Stream hash_;
  std::string buffer_;
  size_t at_ = 0;  // in the buffer
  std::string frame_, body_;
  std::string journal_;
  int64_t first_ = 0, last_ = 0;
  bool starts_ = false;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
  SegmentRecord before_;  // without bytes
};

}  // namespace sonde
