#include "journal/segment_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "absl/time/time.h"
#include "backup/journal/segment.h"

namespace sonde {
namespace {

// A table's clock and the catalog's may differ by as much when a table is deleted.
constexpr int64_t kDeletionSlackMicros = 10'000'000;

// The pieces of a table's log behind a position, a chunk at a time.
class LogCursor {
 public:
  LogCursor(RowLog* log, TableId table, int64_t after, int64_t through, size_t chunk_bytes)
      : log_(log), table_(table), through_(through), chunk_bytes_(chunk_bytes), next_position_(after + 1) {}

  struct Piece {
    int64_t position = 0;
    uint32_t index = 0;
    std::string bytes;
  };

  TableId table() const { return table_; }
  const Piece& front() const { return chunk_.front(); }

  // Goes to the first piece, or to the next one.  Returns false if there is none.
  absl::StatusOr<bool> Advance() {
    if (!chunk_.empty()) chunk_.pop_front();
    if (!chunk_.empty()) return true;
    if (next_position_ > through_) return false;
    size_t bytes = 0;
    bool stopped = false;
    const absl::Status status = log_->Read(
        table_, RowRange::All(), next_position_, next_index_, through_, [&](const RowLog::Piece& piece) {
          bytes += piece.bytes.size();
          chunk_.push_back({piece.position, piece.index, std::string(piece.bytes)});
          stopped = bytes >= chunk_bytes_;
          return !stopped;
        });
    if (absl::IsNotFound(status)) {
      return absl::UnavailableError(fmt::format("Table {} was dropped meanwhile: try again", table_));
    }
    if (!status.ok()) return status;
    if (stopped) {
      next_position_ = chunk_.back().position;
      next_index_ = chunk_.back().index + 1;
    } else {
      next_position_ = through_ + 1;
    }
    return !chunk_.empty();
  }

 private:
  RowLog* const log_;
  const TableId table_;
  const int64_t through_;
  const size_t chunk_bytes_;
  int64_t next_position_;
  uint32_t next_index_ = 0;
  std::deque<Piece> chunk_;
};

// The cursor with the least position comes first; at one position, the table with the least id.
struct IsBehind {
  bool operator()(const LogCursor* a, const LogCursor* b) const {
    return std::pair(a->front().position, a->table()) > std::pair(b->front().position, b->table());
  }
};

class Cutter {
 public:
  Cutter(const CutRequest& request, SegmentWriter* writer) : request_(request), writer_(writer) {}

  // Returns the last position.
  absl::StatusOr<int64_t> Run() {
    absl::Status status = OpenCursors();
    if (status.ok()) status = AddGap();
    if (!status.ok()) return status;
    auto event = request_.events.begin();
    int64_t last = request_.after;  // all up to it is written
    while (true) {
      const LogCursor* const row = heap_.empty() ? nullptr : heap_.top();
      const bool has_event = event != request_.events.end();
      if (row == nullptr && !has_event) return request_.through;
      const bool takes_event = has_event && (row == nullptr || event->position <= row->front().position);
      const int64_t position = takes_event ? event->position : row->front().position;
      if (position > last && writer_->bytes() >= request_.bytes_max) return last;
      last = position;
      status = takes_event ? AddEvent(*event++) : AddPiece();
      if (!status.ok()) return status;
    }
  }

 private:
  absl::Status OpenCursors() {
    const size_t chunk_bytes = kCutChunkBytes / std::max<size_t>(request_.tables.size(), 1);
    for (const TableId table : request_.tables) {
      const absl::StatusOr<RowLog::End> end = request_.log->FindEnd(table, RowRange::All(), 0);
      if (absl::IsNotFound(end.status())) {
        return absl::UnavailableError(fmt::format("Table {} was dropped meanwhile: try again", table));
      }
      if (!end.ok()) return end.status();
      if (end->last_record <= request_.after) continue;
      cursors_.push_back(
          std::make_unique<LogCursor>(request_.log, table, request_.after, request_.through, chunk_bytes));
      const absl::StatusOr<bool> found = cursors_.back()->Advance();
      if (!found.ok()) return found.status();
      if (*found) heap_.push(cursors_.back().get());
    }
    return absl::OkStatus();
  }

  // A table that was dropped so soon after it was deleted that its last changes may not be in an earlier segment.
  absl::Status AddGap() {
    std::optional<SegmentRecord> gap;
    std::string why;
    for (const SchemaEvent& event : request_.events) {
      if (!event.dropped.has_value()) continue;
      if (event.dropped->deleted_micros + kDeletionSlackMicros <= request_.after) continue;
      why = fmt::format("table {} was dropped before its last changes were copied", event.dropped->table);
      gap = {.kind = SegmentRecord::Kind::kGap, .position = request_.after + 1, .gap_end = event.position};
    }
    if (!gap.has_value()) return absl::OkStatus();
    gap->bytes = why;
    return writer_->Add(*gap);
  }

  absl::Status AddEvent(const SchemaEvent& event) {
    const std::string bytes = EncodeSchemaEvent(event);
    return writer_->Add({.kind = SegmentRecord::Kind::kSchema, .position = event.position, .bytes = bytes});
  }

  absl::Status AddPiece() {
    LogCursor* const cursor = heap_.top();
    heap_.pop();
    const LogCursor::Piece& piece = cursor->front();
    absl::Status status = writer_->Add({.kind = SegmentRecord::Kind::kRow,
                                        .position = piece.position,
                                        .table = cursor->table(),
                                        .piece = piece.index,
                                        .bytes = piece.bytes});
    if (!status.ok()) return status;
    const absl::StatusOr<bool> more = cursor->Advance();
    if (more.ok() && *more) heap_.push(cursor);
    return more.status();
  }

  const CutRequest& request_;
  SegmentWriter* const writer_;
  std::vector<std::unique_ptr<LogCursor>> cursors_;
  std::priority_queue<LogCursor*, std::vector<LogCursor*>, IsBehind> heap_;
};

}  // namespace

absl::StatusOr<CutSegment> CutSegmentOf(const CutRequest& request, FileSystem* files,
                                        const std::string& path) {
  CutSegment cut{.path = path, .place = {request.journal, request.after + 1, request.after}};
  if (request.through <= request.after) return cut;
  absl::StatusOr<std::unique_ptr<OutputFile>> file = files->CreateNew(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::unique_ptr<SegmentWriter>> writer =
      SegmentWriter::Begin(file->get(), request.journal, request.after + 1, request.starts);
  if (!writer.ok()) return writer.status();
  const absl::StatusOr<int64_t> last = Cutter(request, writer->get()).Run();
  absl::Status status = last.ok() ? (*writer)->Finish(*last, /*syncs=*/false) : last.status();
  if (!status.ok()) {
    files->Remove(path).IgnoreError();  // what failed is what is told
    return status;
  }
  cut.place.last = *last;
  cut.records = (*writer)->records();
  cut.is_cut_short = *last < request.through;
  return cut;
}

}  // namespace sonde
