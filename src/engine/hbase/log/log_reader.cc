#include "engine/hbase/log/log_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "hbase/attempts.h"

namespace sonde {
namespace {

constexpr int kReadsAtOnceMax = 4;
constexpr int kTriesMax = 4;  // of a slice, one of whose rows was cut off
constexpr size_t kPieceOverhead = 96;
// A scan that has seen so many times a slice's bytes begins anew, over a shorter time.
constexpr size_t kSeenMax = 4;
constexpr int64_t kWindowMicrosFirst = int64_t{60} * 60 * 1'000'000;
constexpr int64_t kWindowMicrosMin = 1'000;
constexpr int64_t kPositionMax = INT64_MAX - 1;

int64_t AddUpTo(int64_t a, int64_t b, int64_t max) { return b >= max - a ? max : a + b; }
int64_t MultiplyUpTo(int64_t a, int64_t b, int64_t max) { return a >= max / b ? max : a * b; }

}  // namespace

void LogSlice::Add(LogPlace place, std::string_view bytes) {
  const size_t size = bytes.size() + kPieceOverhead;
  bytes_seen_ += size;
  if (place < start_ || place >= end_) return;
  const auto [at, is_new] = pieces_.try_emplace(place, bytes);
  if (!is_new) return;
  bytes_ += size;
  while (bytes_ > bytes_max_ && pieces_.size() > 1) {
    const auto last = std::prev(pieces_.end());
    bytes_ -= last->second.size() + kPieceOverhead;
    end_ = last->first;
    pieces_.erase(last);
  }
}

absl::Status LogReader::Read(const hbase::TableName& table, const RowRange& partition, LogPlace start,
                             int64_t through, int64_t frontier,
                             const std::function<bool(const RowLog::Piece&)>& visit, absl::Time deadline) {
  const LogPlace end{std::min(through, kPositionMax) + 1, 0};
  start.position = std::max<int64_t>(start.position, 0);
  int64_t window = kWindowMicrosFirst;
  {
    const absl::MutexLock lock(&mutex_);
    const auto at = window_micros_.find(table);
    if (at != window_micros_.end()) window = at->second;
  }
  while (start < end) {
    SliceRef slice = Recall(table, partition, start);
    const bool was_kept = slice != nullptr;
    if (!was_kept) {
      const LogPlace window_end = std::min(end, {AddUpTo(start.position, window, kPositionMax) + 1, 0});
      absl::StatusOr<SliceRef> fetched = Fetch(table, partition, start, window_end, deadline);
      if (absl::IsFailedPrecondition(fetched.status())) return absl::OkStatus();  // it was never logged
      if (!fetched.ok()) return fetched.status();
      slice = *std::move(fetched);
      // The next window is as long as this one would have filled a slice.
      const bool is_full = slice->end() < window_end;
      const int64_t taken = std::max(slice->end().position - start.position, kWindowMicrosMin);
      if (is_full)
        window = taken;
      else if (slice->pieces().empty())
        window = kPositionMax;  // nothing here: all the rest, of which a slice takes what it has room for
      else if (slice->bytes() < slice_bytes_max_ / 2)
        window = MultiplyUpTo(window, 2, kPositionMax);
      if (is_full || !slice->pieces().empty()) {
        const absl::MutexLock lock(&mutex_);
        window_micros_[table] = window;
      }
    }
    for (auto piece = slice->pieces().lower_bound(start); piece != slice->pieces().end(); ++piece) {
      if (piece->first >= end) return absl::OkStatus();
      if (visit({piece->first.position, piece->first.index, piece->second})) continue;
      const bool is_left = std::next(piece) != slice->pieces().end();
      if (!was_kept && is_left && slice->end() <= LogPlace{frontier + 1, 0}) Keep(table, partition, slice);
      return absl::OkStatus();
    }
    start = slice->end();
  }
  return absl::OkStatus();
}

LogReader::SliceRef LogReader::Recall(const hbase::TableName& table, const RowRange& partition,
                                      LogPlace start) {
  const absl::MutexLock lock(&mutex_);
  const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.table == table && kept.partition == partition && kept.slice->start() <= start &&
           start < kept.slice->end();
  });
  if (at == kept_.end()) return nullptr;
  std::rotate(kept_.begin(), at, std::next(at));
  return kept_.front().slice;
}

void LogReader::Keep(const hbase::TableName& table, const RowRange& partition, SliceRef slice) {
  const absl::MutexLock lock(&mutex_);
  if (slice->bytes() > kLogSlicesKeptBytesMax) return;
  kept_bytes_ += slice->bytes();
  kept_.push_front({table, partition, std::move(slice)});
  while (kept_bytes_ > kLogSlicesKeptBytesMax) {
    kept_bytes_ -= kept_.back().slice->bytes();
    kept_.pop_back();
  }
}

absl::StatusOr<LogReader::SliceRef> LogReader::Fetch(const hbase::TableName& table, const RowRange& partition,
                                                     LogPlace start, LogPlace end, absl::Time deadline) {
  {
    const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return reading_ < kReadsAtOnceMax; };
    const absl::MutexLock lock(&mutex_, absl::Condition(&has_room));
    ++reading_;
  }
  hbase::Attempts attempts(deadline, absl::Seconds(5));
  absl::StatusOr<SliceRef> result = SliceRef();
  while (true) {
    const auto slice = std::make_shared<LogSlice>(start, end, slice_bytes_max_);
    const absl::StatusOr<bool> is_whole = Scan(table, partition, slice.get(), deadline);
    ++slices_;
    if (is_whole.ok() && *is_whole) {
      result = slice;
      break;
    }
    if (is_whole.ok()) {
      end = slice->end();
      continue;
    }
    result = is_whole.status();
    // A row that was cut off in its middle may be whole the next time.
    if (!absl::IsUnavailable(is_whole.status()) || attempts.count() >= kTriesMax ||
        !attempts.WaitAfter({.remedy = hbase::Remedy::kWait})) {
      break;
    }
  }
  const absl::MutexLock lock(&mutex_);
  --reading_;
  return result;
}

absl::StatusOr<bool> LogReader::Scan(const hbase::TableName& table, const RowRange& partition,
                                     LogSlice* slice, absl::Time deadline) {
  const LogPlace end = slice->end();
  const std::unique_ptr<hbase::RowScan> scan = client_->Scan(
      table, {.start = partition.start, .stop = partition.end}, LogChoice(slice->start(), end), {}, deadline);
  hbase::RowScan::Part part;
  while (true) {
    const absl::StatusOr<bool> more = scan->Next(&part);
    if (!more.ok()) return more.status();
    if (!*more) return true;
    for (const hbase::Cell& cell : part.cells) {
      if (cell.family != kLogFamily) continue;
      const absl::StatusOr<LogPlace> place = ParseLogQualifier(cell.qualifier);
      if (!place.ok()) return place.status();
      slice->Add(*place, cell.value);
    }
    // Never so short that it would be empty.
    if (slice->bytes_seen() > kSeenMax * slice_bytes_max_ && slice->end() < end && slice->pieces().size() > 1)
      return false;
  }
}

}  // namespace sonde
