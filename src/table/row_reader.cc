#include "table/row_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "table/view_access.h"

namespace sonde {
namespace {

// Returns the intersection of two lists of ranges in normal form.
std::vector<RowRange> Intersect(const std::vector<RowRange>& a, const std::vector<RowRange>& b) {
  const auto ends_before = [](const RowRange& x, const RowRange& y) {
    return !x.end.empty() && (y.end.empty() || x.end < y.end);
  };
  std::vector<RowRange> result;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    RowRange both{std::max(a[i].start, b[j].start), ends_before(a[i], b[j]) ? a[i].end : b[j].end};
    if (!both.IsEmpty()) result.push_back(std::move(both));
    ends_before(a[i], b[j]) ? ++i : ++j;
  }
  return result;
}

}  // namespace

RowReader::RowReader(Engine* engine, TableSchemaRef schema, int64_t now_micros, uint64_t seed,
                     ReadRequest request)
    : engine_(engine),
      request_(std::move(request)),
      visible_(std::move(schema), now_micros, request_.view),
      random_(seed),
      budget_(FilterLimits(), request_.interrupted) {}

absl::StatusOr<std::unique_ptr<RowReader>> RowReader::Open(Engine* engine, TableSchemaRef schema,
                                                           int64_t now_micros, uint64_t seed,
                                                           ReadRequest request, AccessObserver* observer) {
  std::unique_ptr<RowReader> reader(
      new RowReader(engine, std::move(schema), now_micros, seed, std::move(request)));
  if (observer != nullptr) reader->watch_.emplace(observer, reader->visible_.schema()->id);
  if (absl::Status status = reader->Start(); !status.ok()) return status;
  return reader;
}

absl::Status RowReader::Start() {
  const TableSchema& schema = *visible_.schema();
  ranges_ = request_.ranges;
  scan_options_ = {.reverse = request_.reversed,
                   .deadline = request_.deadline,
                   .interrupted = request_.interrupted,
                   .take_large = request_.take_large,
                   .cost = &scan_cost_};
  ReadHints& hints = scan_options_.hints;
  if (request_.filter != nullptr) {
    if (absl::Status status = request_.filter->CheckFamilies(schema); !status.ok()) return status;
    FilterNeeds needs = request_.filter->Needs(schema, &budget_);
    ranges_ = Intersect(ranges_, request_.filter->PossibleRows());
    if (needs.nothing) ranges_.clear();
    hints = std::move(needs.hints);
    RefineReadHints(visible_.rules(), &hints);
    if (!request_.filter->PassesAll()) evaluator_.emplace(*request_.filter, schema, &budget_, &random_);
  }
  if (request_.keys_only) {
    DCHECK(request_.filter == nullptr && request_.view == nullptr);
    hints.keys_only = hints.newest_of_row = true;
  }
  if (request_.view != nullptr) {
    ranges_ = Intersect(ranges_, request_.view->Rows());
    RestrictReadHints(*request_.view, schema, &hints);
  }
  if (!hints.families.has_value()) hints.families = FamilyIds(schema);
  if (hints.families->empty()) ranges_.clear();
  in_parts_ = request_.in_parts && FamiliesComeInOrder() &&
              (!evaluator_.has_value() || request_.filter->SeesCellsAlone());
  return OpenScan();
}

bool RowReader::FamiliesComeInOrder() const {
  const std::vector<FamilyId>& wanted = *scan_options_.hints.families;
  if (wanted.size() <= 1) return true;
  const std::vector<FamilySchema>& families = visible_.schema()->families;
  return !request_.reversed &&
         std::is_sorted(families.begin(), families.end(),
                        [](const FamilySchema& a, const FamilySchema& b) { return a.id < b.id; });
}

absl::Status RowReader::OpenScan() {
  if (ranges_.empty()) return absl::OkStatus();
  // Not after a suspension: then it is the rest.
  if (stats_.rows_seen == 0)
    reads_all_ = ranges_.size() == 1 && ranges_[0].start.empty() && ranges_[0].end.empty();
  absl::StatusOr<std::unique_ptr<RowStream>> stream =
      engine_->Scan(visible_.schema()->id, ranges_, scan_options_);
  if (!stream.ok()) return stream.status();
  assembler_.emplace(*std::move(stream), &visible_, request_.take_row_room);
  return absl::OkStatus();
}

void RowReader::Suspend() {
  if (!assembler_.has_value() || in_row_) return;
  assembler_.reset();
  suspended_ = true;
  if (stats_.rows_seen == 0) return;
  const RowRange rest =
      request_.reversed ? RowRange{"", row_key_} : RowRange{row_key_ + std::string(1, '\0'), ""};
  ranges_ = ClipRanges(ranges_, rest);
}

void RowReader::Restart(bool again) {
  if (!assembler_.has_value()) return;
  const bool from_row = again || in_row_ || assembler_->in_row();
  if (again || in_row_) stats_ = stats_before_row_;
  assembler_.reset();
  suspended_ = true;
  in_row_ = row_passed_ = false;
  if (stats_.rows_seen == 0 && !from_row) return;
  RowRange rest;
  if (request_.reversed) {
    rest.end = from_row ? row_key_ + std::string(1, '\0') : row_key_;
  } else {
    rest.start = from_row ? row_key_ : row_key_ + std::string(1, '\0');
  }
  ranges_ = ClipRanges(ranges_, rest);
}

absl::StatusOr<RowReader::Step> RowReader::Next(int64_t rows_max) {
  absl::StatusOr<Step> step = FindNext(rows_max);
  if (watch_.has_value()) {
    if (absl::IsAborted(step.status())) {
      // It goes on.
    } else if (!step.ok()) {
      watch_->Fail(row_key_);
    } else if (*step == Step::kRow || *step == Step::kPart) {
      watch_->Returned(cells_);
    } else if (*step == Step::kEnd) {
      watch_->End(reads_all_ && (request_.rows_limit == 0 || stats_.rows_returned < request_.rows_limit),
                  stats_.rows_seen, request_.caller);
    }
  }
  return step;
}

absl::StatusOr<RowReader::Step> RowReader::FindNext(int64_t rows_max) {
  if (suspended_) {
    suspended_ = false;
    if (absl::Status status = OpenScan(); !status.ok()) return status;
  }
  if (!assembler_.has_value()) return Step::kEnd;
  if (request_.rows_limit > 0 && stats_.rows_returned >= request_.rows_limit) return Step::kEnd;
  if (request_.interrupted) {
    if (absl::Status status = request_.interrupted(); !status.ok()) return status;
  }
  for (int64_t i = 0; i < rows_max; ++i) {
    bool ends = true;
    absl::StatusOr<bool> more =
        in_parts_ ? assembler_->NextPart(&row_key_, &cells_, &ends) : assembler_->Next(&row_key_, &cells_);
    if (!more.ok()) return more.status();
    if (!*more) return Step::kEnd;
    if (!std::exchange(in_row_, !ends)) {
      stats_before_row_ = stats_;
      ++stats_.rows_seen;
      if (watch_.has_value()) watch_->Saw(row_key_);
    }
    stats_.cells_seen += std::ssize(cells_);
    for (const FilterCell& cell : cells_)
      stats_.bytes_seen += std::ssize(cell.cell.qualifier) + std::ssize(cell.cell.value);
    if (evaluator_.has_value() && !cells_.empty()) {
      if (!request_.filter->RowKeyMayPass(row_key_, &budget_)) {
        cells_.clear();
      } else if (absl::Status status = evaluator_->Run(row_key_, &cells_); !status.ok()) {
        return status;
      }
    }
    if (!ends && cells_.empty()) return Step::kPaused;
    const bool passed = row_passed_ || !cells_.empty();
    row_passed_ = passed && !ends;
    if (!passed) continue;
    stats_.cells_returned += std::ssize(cells_);
    if (!ends) return Step::kPart;
    ++stats_.rows_returned;
    return Step::kRow;
  }
  return Step::kPaused;
}

}  // namespace sonde
