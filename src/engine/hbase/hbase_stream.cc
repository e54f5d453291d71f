#include "engine/hbase/hbase_stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "base/large_room.h"

namespace sonde {
namespace {

// A row before `row`, with no row that anybody is likely to have between them.  Empty: there is no row before it.
std::string RowBefore(std::string row) {
  if (row.empty()) return row;
  const char last = row.back();
  row.pop_back();
  if (last == '\0') return row;  // exactly
  row.push_back(static_cast<char>(static_cast<unsigned char>(last) - 1));
  row.append(8, '\xff');
  return row;
}

hbase::ScanRange ScanRangeOf(const RowRange& range, bool reverse) {
  if (!reverse) return {.start = range.start, .stop = range.end};
  return {.start = range.end, .stop = RowBefore(range.start), .with_start = false, .reverse = true};
}

}  // namespace

HBaseStream::HBaseStream(hbase::Client* client, hbase::TableName table, std::vector<RowRange> ranges,
                         RowStore::ScanOptions options)
    : client_(client),
      table_(std::move(table)),
      ranges_(ranges.begin(), ranges.end()),
      options_(std::move(options)),
      choice_(ChoiceOf(options_.hints)) {
  if (choice_.qualifiers.empty()) ranges_.clear();  // the reader wants no cell
}

absl::Status HBaseStream::CheckStop() const {
  if (absl::Now() >= options_.deadline)
    return absl::DeadlineExceededError("The deadline passed while table " + table_.Text() + " was scanned");
  return options_.interrupted ? options_.interrupted() : absl::OkStatus();
}

bool HBaseStream::Open() {
  if (ranges_.empty()) return false;
  if (options_.reverse) {
    range_ = std::move(ranges_.back());
    ranges_.pop_back();
  } else {
    range_ = std::move(ranges_.front());
    ranges_.pop_front();
  }
  hbase::ScanBounds bounds;
  // One more than is wanted: the answer then says that there are more, and a single row takes one call.
  if (options_.hints.rows_max.has_value()) {
    bounds.rows_max =
        static_cast<uint32_t>(std::clamp<int64_t>(*options_.hints.rows_max, 1, bounds.rows_max - 1) + 1);
  }
  scan_ = client_->Scan(table_, ScanRangeOf(range_, options_.reverse),
                        HBaseChoiceOf(choice_, options_.reverse), bounds, options_.deadline);
  return true;
}

absl::Status HBaseStream::CheckLarge(const hbase::Cell& cell) {
  if (cell.value.size() < static_cast<size_t>(kLargeBytes) || !options_.take_large) return absl::OkStatus();
  return options_.take_large(cell.value.size());
}

absl::StatusOr<bool> HBaseStream::Fetch() {
  bytes_.clear();
  while (true) {
    if (absl::Status status = CheckStop(); !status.ok()) return status;
    if (scan_ == nullptr && !Open()) return false;
    hbase::RowScan::Part part;
    const absl::StatusOr<bool> more = scan_->Next(&part);
    if (!more.ok()) return more.status();
    if (!*more || (options_.reverse && part.row < range_.start)) {
      scan_.reset();
      continue;
    }
    for (const hbase::Cell& stored : part.cells) {
      if (absl::Status status = CheckLarge(stored); !status.ok()) return status;
      SeamCell cell;
      if (absl::Status status = ReadStoredCell(stored, &bytes_, &cell); !status.ok()) return status;
      if (!MayGive(options_.hints, cell.family)) continue;
      if (pieces_.empty() || pieces_.back().family != cell.family) {
        RowPiece& piece = pieces_.emplace_back();
        piece.row_key = std::string(part.row);
        piece.family = cell.family;
      }
      pieces_.back().cells.push_back(cell.cell);
    }
    if (pieces_.empty()) continue;
    pieces_.back().last_of_row = part.is_last_of_row;
    return true;
  }
}

absl::StatusOr<bool> HBaseStream::Next(RowPiece* piece) {
  if (pieces_.empty()) {
    const absl::StatusOr<bool> more = Fetch();
    if (!more.ok() || !*more) return more;
  }
  *piece = std::move(pieces_.front());
  pieces_.pop_front();
  return true;
}

}  // namespace sonde
