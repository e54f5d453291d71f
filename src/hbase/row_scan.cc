#include "hbase/row_scan.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace sonde::hbase {
namespace {

constexpr absl::Duration kLeaseDefault = absl::Seconds(60);

}  // namespace

RowScan::RowScan(Servers* servers, Regions* regions, TableName table, ScanRange range, CellChoice choice,
                 RowScanOptions options, absl::Time deadline)
    : servers_(servers),
      regions_(regions),
      table_(std::move(table)),
      range_(std::move(range)),
      choice_(std::move(choice)),
      options_(options),
      deadline_(deadline) {}

absl::StatusOr<bool> RowScan::Next(Part* part) {
  while (next_part_ == parts_.size()) {
    if (is_at_end_) return false;
    if (absl::Status status = Fetch(); !status.ok()) {
      is_at_end_ = true;
      return status;
    }
  }
  const ScanAnswer::Part& next = parts_[next_part_++];
  part->cells = absl::MakeConstSpan(cells_).subspan(next_cell_, next.cells);
  next_cell_ += next.cells;
  part->row = part->cells.front().row;
  part->is_last_of_row = !next.may_go_on;
  last_row_ = std::string(part->row);
  has_given_ = true;
  is_within_row_ = next.may_go_on;
  return true;
}

absl::Status RowScan::Fetch() {
  if (absl::Now() >= deadline_)
    return absl::DeadlineExceededError("The scan of table " + table_.Text() + " has no time left");
  if (place_ != nullptr && !region_has_more_) {
    is_within_row_ = false;  // a row ends with its region
    if (!GoToNextRegion()) {
      is_at_end_ = true;
      return absl::OkStatus();
    }
  }
  if (place_ == nullptr) {
    absl::StatusOr<Regions::Place> place = FindRegion();
    if (!place.ok()) return place.status();
    place_ = *std::move(place);
    return TakeAnswer(OpenScanner());
  }
  if (!scanner_->has_asked()) scanner_->Ask(options_.bounds, TimeForOne());
  return TakeAnswer(scanner_->Take());
}

absl::StatusOr<Regions::Place> RowScan::FindRegion() {
  const bool is_before = range_.reverse && (range_.start.empty() || !range_.with_start);
  return is_before ? regions_->FindBefore(table_, range_.start, deadline_)
                   : regions_->Find(table_, range_.start, deadline_);
}

absl::Duration RowScan::TimeForOne() const {
  return std::max(std::min(options_.timeout, deadline_ - absl::Now()), absl::Milliseconds(1));
}

CallResult RowScan::OpenScanner() {
  const std::string message = OpenScanMessage(place_->name, range_, choice_, options_.bounds);
  return servers_->Call({place_->server, kRegionService, "Scan", message}, TimeForOne());
}

absl::Status RowScan::TakeAnswer(CallResult result) {
  if (result.failure.has_value()) return Recover(*result.failure);
  attempts_.reset();
  absl::StatusOr<ScanAnswer> answer = ParseScan(result.answer.parameter());
  if (!answer.ok()) return answer.status();
  if (scanner_ == nullptr && answer->scanner.has_value() && answer->has_more) {
    const absl::Duration lease =
        answer->lease_ms.has_value() ? absl::Milliseconds(*answer->lease_ms) : kLeaseDefault;
    scanner_ = std::make_unique<Scanner>(servers_, place_->server, *answer->scanner, lease);
  }
  region_has_more_ = answer->has_more;
  if (region_has_more_ && scanner_ == nullptr)
    return absl::DataLossError("HBase has more rows, but no scanner for them");
  if (!region_has_more_ && scanner_ != nullptr) {
    scanner_->NoteClosed();
    scanner_.reset();
  }
  if (answer->parts.empty() && region_has_more_) ++heartbeats_;
  // The next rows come while these are looked at.
  if (region_has_more_) scanner_->Ask(options_.bounds, TimeForOne());

  answer_ = std::move(result.answer);
  parts_ = std::move(answer->parts);
  std::erase_if(parts_, [](const ScanAnswer::Part& part) { return part.cells == 0; });
  next_part_ = next_cell_ = 0;
  cells_.clear();
  CellReader reader(answer_.cells());
  for (const ScanAnswer::Part& part : parts_) {
    for (uint32_t i = 0; i < part.cells; ++i) {
      if (reader.is_at_end()) return absl::DataLossError("HBase sent fewer cells than it said");
      absl::StatusOr<Cell> cell = reader.Next();
      if (!cell.ok()) return cell.status();
      if (i > 0 && cell->row != cells_.back().row)
        return absl::DataLossError("HBase sent cells of two rows as one row's");
      cells_.push_back(*cell);
    }
  }
  if (!reader.is_at_end()) return absl::DataLossError("HBase sent more cells than it said");
  return absl::OkStatus();
}

bool RowScan::GoToNextRegion() {
  const Regions::Place done = std::exchange(place_, nullptr);
  if (range_.reverse) {
    if (done->start_key.empty() || (!range_.stop.empty() && range_.stop >= done->start_key)) return false;
    range_.start = done->start_key;
    range_.with_start = false;
  } else {
    if (done->end_key.empty() || (!range_.stop.empty() && range_.stop <= done->end_key)) return false;
    range_.start = done->end_key;
    range_.with_start = true;
  }
  has_given_ = false;  // its last row is behind us
  return true;
}

absl::Status RowScan::Recover(const Failure& failure) {
  if (failure.remedy == Remedy::kLocate) regions_->Forget(*place_);
  if (is_within_row_ && failure.remedy != Remedy::kNone) {
    return absl::UnavailableError("A row of table " + table_.Text() +
                                  " was cut off in its middle: " + failure.message);
  }
  if (!attempts_.has_value()) attempts_.emplace(deadline_, options_.timeout);
  if (!attempts_->WaitAfter(failure)) return attempts_->Over(failure, false);
  // Whatever the fault was, a new scanner behind the last row that was given is right.
  ++reopened_;
  if (scanner_ != nullptr && failure.remedy == Remedy::kReopen) scanner_->NoteClosed();
  scanner_.reset();
  place_ = nullptr;
  region_has_more_ = false;
  if (has_given_) {
    range_.start = range_.reverse ? last_row_ : last_row_ + '\0';
    range_.with_start = !range_.reverse;
  }
  return absl::OkStatus();
}

}  // namespace sonde::hbase
