#include "engine/hbase/hbase_stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "base/large_room.h"
#include "engine/hbase/packed/packed_cells.h"

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

HBaseStream::HBaseStream(hbase::Client* client, hbase::TableName table, CellStorage storage,
                         std::vector<RowRange> ranges, RowStore::ScanOptions options)
    : client_(client),
      table_(std::move(table)),
      ranges_(ranges.begin(), ranges.end()),
      options_(std::move(options)),
      choice_(ChoiceOf(options_.hints, storage)),
      packed_(options_.hints) {
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

absl::StatusOr<bool> HBaseStream::FetchPart() {
  if (has_part_) return true;
  const absl::StatusOr<bool> more = scan_->Next(&part_);
  if (!more.ok()) return more.status();
  has_part_ = *more && !(options_.reverse && part_.row < range_.start);
  return has_part_;
}

absl::Status HBaseStream::TakePart() {
  for (const hbase::Cell& stored : part_.cells) {
    if (absl::Status status = CheckLarge(stored); !status.ok()) return status;
    if (IsPacked(stored)) {
      if (absl::Status status = packed_.Add(part_.row, stored); !status.ok()) return status;
      continue;
    }
    SeamCell cell;
    if (absl::Status status = ReadStoredCell(stored, &bytes_, &cell); !status.ok()) return status;
    if (!MayGive(options_.hints, cell.family)) continue;
    if (!packed_.has_left()) {
      AppendCell(part_.row, cell.family, cell.cell, &pieces_);
    } else if (absl::Status status = packed_.Give(cell.family, cell.cell, &pieces_); !status.ok()) {
      return status;
    }
  }
  return part_.is_last_of_row ? packed_.GiveRest(&pieces_) : absl::OkStatus();
}

absl::StatusOr<bool> HBaseStream::Fetch() {
  bytes_.clear();
  while (true) {
    if (absl::Status status = CheckStop(); !status.ok()) return status;
    if (scan_ == nullptr && !Open()) return false;
    const absl::StatusOr<bool> more = FetchPart();
    if (!more.ok()) return more.status();
    bool is_last_of_row = true;
    if (packed_.has_left() && (!*more || packed_.row_key() != part_.row)) {
      // The row before has ended, as is only known now.
      if (absl::Status status = packed_.GiveRest(&pieces_); !status.ok()) return status;
    } else if (*more) {
      if (absl::Status status = TakePart(); !status.ok()) return status;
      is_last_of_row = part_.is_last_of_row;
      has_part_ = false;
    } else {
      scan_.reset();
    }
    if (pieces_.empty()) continue;
    pieces_.back().last_of_row = is_last_of_row;
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
