#include "sql/operator/divided_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "sql/plan/key_ranges.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

// Parts that each thread may be ahead; a part that is done waits until those before it are taken.
constexpr size_t kPartsOfThreadAhead = 4;

bool HasQuery(const Expression& expression) {
  if (expression.plan != nullptr || expression.kind == Expression::Kind::kOuter) return true;
  return std::ranges::any_of(expression.arguments,
                             [](const ExpressionPtr& argument) { return HasQuery(*argument); });
}

bool IsOfTemporal(const TemporalArguments& temporal) {
  return std::ranges::all_of(
      std::initializer_list<const Expression*>{temporal.as_of.get(), temporal.after.get(),
                                               temporal.after_or_equal.get(), temporal.before.get(),
                                               temporal.before_or_equal.get(), temporal.latest_n.get()},
      [](const Expression* argument) { return argument == nullptr || IsSameOnAllThreads(*argument); });
}

bool AreSame(const std::vector<ExpressionPtr>& expressions) {
  return std::ranges::all_of(expressions,
                             [](const ExpressionPtr& expression) { return IsSameOnAllThreads(*expression); });
}

const Plan* SourceBelow(const Plan& plan) {
  const Plan* at = &plan;
  while (at->kind != Plan::Kind::kScan && at->kind != Plan::Kind::kSeries) {
    const bool is_by_row = at->kind == Plan::Kind::kFilter || at->kind == Plan::Kind::kProject ||
                           at->kind == Plan::Kind::kUnpack || at->kind == Plan::Kind::kUnnest;
    if (!is_by_row || !AreSame(at->expressions)) return nullptr;
    at = at->inputs[0].get();
  }
  return at;
}

// The family whose pages say how the rows lie; null: the table has none.  Where no cell is read, any will do: parts are ranges of
// keys, and each has the rows of all families.
const std::string* FamilyOf(const Plan::Scan& scan) {
  for (const ScanColumn& column : scan.columns) {
    if (!column.family.empty()) return &column.family;
  }
  return scan.table->families.empty() ? nullptr : &scan.table->families.front().name;
}

bool IsWholeTable(const std::vector<RowRange>& ranges) {
  return ranges.size() == 1 && ranges[0].start.empty() && ranges[0].end.empty();
}

}  // namespace

bool IsSameOnAllThreads(const Expression& expression) {
  return !HasVolatile(expression) && !HasQuery(expression);
}

bool DividedRows::Fits(const QueryScope& scope, const Plan& plan) {
  if (scope.idle_workers == nullptr || scope.idle_workers->helpers() == 0) return false;
  if (scope.state->tables == nullptr) return false;
  const Plan* const source = SourceBelow(plan);
  if (source == nullptr) return false;
  if (source->kind == Plan::Kind::kSeries) {
    return scope.state->divide_series && !source->series->IsOfNewest() &&
           IsOfTemporal(source->series->temporal) && AreSame(source->series->conditions);
  }
  const Plan::Scan& scan = *source->scan;
  return !scan.reversed && FamilyOf(scan) != nullptr && IsOfTemporal(scan.temporal) &&
         AreSame(scan.time_conditions);
}

DividedRows::DividedRows(const QueryScope* scope, const Plan& plan, BuildPart build, MakeFold make_fold,
                         bool keeps_places)
    : scope_(scope),
      plan_(plan),
      source_(*SourceBelow(plan)),
      build_(std::move(build)),
      make_fold_(std::move(make_fold)),
      keeps_places_(keeps_places) {}

DividedRows::~DividedRows() = default;

absl::StatusOr<std::unique_ptr<DividedRows::Reader>> DividedRows::MakeReader(bool folds) const {
  auto reader = std::make_unique<Reader>();
  const ExecutionState& whole = *scope_->state;
  ExecutionState& state = reader->state;
  state.tables = whole.tables;
  state.deadline = whole.deadline;
  state.interrupted = whole.interrupted;
  if (folds) {
    state.interrupted = [&whole, of = reader.get()]() -> absl::Status {
      if (of->all->IsInVain(of->part)) return absl::CancelledError("nobody takes this part");
      return whole.interrupted ? whole.interrupted() : absl::OkStatus();
    };
  }
  state.hold = whole.hold;
  state.caller = whole.caller;
  state.points_from_micros = whole.points_from_micros;
  state.scan_ranges = &reader->ranges;
  state.evaluation.facts = whole.evaluation.facts;
  state.evaluation.facts.interrupted = state.interrupted;
  state.evaluation.parameters = whole.evaluation.parameters;
  reader->scope.state = &state;
  absl::StatusOr<OperatorPtr> rows = build_(&reader->scope, plan_);
  if (!rows.ok()) return rows.status();
  reader->rows = *std::move(rows);
  if (keeps_places_) reader->rows->KeepPlaces();
  if (!folds) return reader;
  absl::StatusOr<std::unique_ptr<PartFold>> fold = make_fold_(&reader->scope);
  if (!fold.ok()) return fold.status();
  reader->fold = *std::move(fold);
  return reader;
}

absl::StatusOr<std::unique_ptr<DividedRows::Reader>> DividedRows::TakeReader() {
  {
    const absl::MutexLock lock(&mutex_);
    if (!readers_.empty()) {
      std::unique_ptr<Reader> reader = std::move(readers_.back());
      readers_.pop_back();
      return reader;
    }
  }
  return MakeReader(/*folds=*/true);
}

void DividedRows::GiveBack(std::unique_ptr<Reader> reader) {
  reader->fold->Clear();
  const absl::MutexLock lock(&mutex_);
  readers_.push_back(std::move(reader));
}

absl::Status DividedRows::DoPart(const PartsInOrder& all, size_t part_of_all) {
  absl::StatusOr<std::unique_ptr<Reader>> taken = TakeReader();
  if (!taken.ok()) return taken.status();
  const size_t part = parts_begin_ + part_of_all;
  Reader& reader = **taken;
  done_[part] = *std::move(taken);
  reader.all = &all;
  reader.part = part_of_all;
  reader.ranges = divided_.parts[part];
  reader.rows->Restart();
  rows::Batch batch;
  while (true) {
    const absl::StatusOr<bool> more = reader.rows->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status added = reader.fold->Add(*reader.rows, batch); !added.ok()) return added;
  }
  if (std::this_thread::get_id() != own_thread_.load(std::memory_order_relaxed))
    parts_of_helpers_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

void DividedRows::Begin() {
  if (std::exchange(has_begun_, true)) return;
  // An error is the whole's, which meets it, too.
  if (source_.kind == Plan::Kind::kSeries) {
    absl::StatusOr<std::unique_ptr<DividedSource>> series = scope_->state->divide_series(*source_.series);
    if (series.ok() && *series != nullptr) series_ = *std::move(series);
    if (series_ != nullptr) left_ = series_->ranges();
  } else {
    absl::StatusOr<std::vector<RowRange>> ranges = KeyRanges(*source_.scan, *scope_->evaluation());
    if (ranges.ok()) left_ = *std::move(ranges);
  }
  reads_all_ = IsWholeTable(left_);
}

bool DividedRows::Divide() {
  if (left_.empty()) return false;
  absl::StatusOr<DividedRanges> divided =
      series_ != nullptr
          ? series_->Divide(left_)
          : scope_->state->tables->Divide(*source_.scan->table, *FamilyOf(*source_.scan), left_);
  // An error is the reader's, who meets it.
  if (!divided.ok() || divided->parts.size() < 2) return false;
  divided_ = *std::move(divided);
  divided_once_ = true;
  next_ = 0;
  return true;
}

void DividedRows::BeginParts() {
  parts_begin_ = next_;
  done_.clear();
  done_.resize(divided_.parts.size());
  IdleWorkers* const workers = scope_->idle_workers;
  all_ = std::make_unique<PartsInOrder>(
      workers, divided_.parts.size() - parts_begin_, kPartsOfThreadAhead * (1 + workers->helpers()),
      [this](const PartsInOrder& all, size_t part) { return DoPart(all, part); });
}

absl::StatusOr<bool> DividedRows::NextOfFirst(rows::Batch* batch) {
  if (!has_begun_) {
    Begin();
    if (!Divide()) {
      is_over_ = true;
      return false;
    }
    absl::StatusOr<std::unique_ptr<Reader>> first = MakeReader(/*folds=*/false);
    if (!first.ok()) return first.status();
    alone_ = *std::move(first);
    alone_->ranges = divided_.parts[0];
    next_ = 1;
    ++parts_done_;
  }
  if (alone_ == nullptr || all_ != nullptr) return false;
  return NextOfAlone(batch);
}

absl::StatusOr<bool> DividedRows::NextOfAlone(rows::Batch* batch) {
  absl::StatusOr<bool> more = alone_->rows->Next(batch);
  const uint64_t rows = alone_->state.rows_scanned.exchange(0, std::memory_order_relaxed);
  rows_read_ += rows;
  scope_->state->CountScanned(rows);
  return more;
}

absl::StatusOr<PartFold*> DividedRows::NextPart(Operator* whole) {
  if (taken_ != nullptr) GiveBack(std::move(taken_));
  own_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  Begin();
  while (!is_over_) {
    if (all_ == nullptr) {
      const bool are_begun = next_ < divided_.parts.size();
      if (!are_begun && !Divide()) {
        is_over_ = true;
        NoteDivided();
        break;
      }
      BeginParts();
    }
    const absl::StatusOr<std::optional<size_t>> part = all_->Next();
    if (!part.ok()) {
      EndParts();
      break;
    }
    if (!part->has_value()) {
      all_.reset();
      left_ = std::move(divided_.rest);
      divided_ = DividedRanges();
      next_ = 0;
      continue;
    }
    taken_ = std::move(done_[parts_begin_ + **part]);
    ++next_;
    ++parts_done_;
    const uint64_t rows = taken_->state.rows_scanned.exchange(0, std::memory_order_relaxed);
    rows_read_ += rows;
    scope_->state->CountScanned(rows);
    whole->TakeCounts(taken_->rows.get());
    return taken_->fold.get();
  }
  return nullptr;
}

void DividedRows::NoteDivided() {
  if (!divided_once_ || !left_.empty()) return;
  if (series_ != nullptr) return series_->NoteDivided(rows_read_);
  if (!reads_all_) return;
  scope_->state->tables->NoteFullScan(*source_.scan->table, static_cast<int64_t>(rows_read_),
                                      scope_->state->caller);
}

void DividedRows::EndParts() {
  if (std::exchange(is_over_, true) || !divided_once_) return;
  all_.reset();
  done_.clear();
  {
    const absl::MutexLock lock(&mutex_);
    readers_.clear();
  }
  left_.clear();
  for (size_t part = next_; part < divided_.parts.size(); ++part) {
    std::ranges::move(divided_.parts[part], std::back_inserter(left_));
  }
  std::ranges::move(divided_.rest, std::back_inserter(left_));
}

absl::StatusOr<bool> DividedRows::NextOfRest(rows::Batch* batch) {
  if (!reads_rest_) {
    reads_rest_ = true;
    alone_.reset();
    taken_.reset();
    if (left_.empty()) return false;
    absl::StatusOr<std::unique_ptr<Reader>> rest = MakeReader(/*folds=*/false);
    if (!rest.ok()) return rest.status();
    alone_ = *std::move(rest);
    alone_->ranges = NormalizeRanges(std::move(left_));
    left_.clear();
    if (alone_->ranges.empty()) alone_.reset();
  }
  if (alone_ == nullptr) return false;
  return NextOfAlone(batch);
}

std::string DividedRows::Text() const {
  if (!divided_once_) return "";
  return fmt::format("{} parts, {} by {} helpers", parts_done_,
                     parts_of_helpers_.load(std::memory_order_relaxed), scope_->idle_workers->helpers());
}

}  // namespace sonde::sql
