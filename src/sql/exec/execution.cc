#include "sql/exec/execution.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/varint.h"
#include "sql/exec/build.h"
#include "sql/exec/explain.h"
#include "sql/exec/insert.h"
#include "sql/exec/subquery.h"
#include "sql/operator/divided_stream.h"
#include "sql/operator/execution_state.h"
#include "sql/series/series_parts.h"

namespace sonde::sql {
namespace {

constexpr char kPointFormat = 1;
// How the rest of a point is to be read.
enum class PointKind : uint8_t { kPlace = 0, kEnd = 1 };

class PlanExecution final : public Execution {
 public:
  PlanExecution(const BoundQuery& query, std::vector<Value> parameters,
                const ExecutionEnvironment& environment)
      : query_(query),
        view_parameters_(environment.view_parameters),
        spill_(environment.spill),
        subqueries_(&state_) {
    state_.tables = environment.tables;
    state_.deadline = environment.deadline;
    SetHold(environment);
    state_.caller = environment.caller;
    if (spill_.is_there()) state_.spill = &spill_;
    SetInterrupted(environment);
    SetFacts(environment);
    state_.evaluation.parameters = std::move(parameters);
    state_.evaluation.run_query = [this](const Plan& plan, absl::Span<const rows::Batch> outer,
                                         Arena* arena) { return subqueries_.Run(plan, outer, arena); };
    state_.divide_series = [this](const Plan::SeriesScan& scan) { return DivideSeries(&scope_, scan); };
    scope_.state = &state_;
    scope_.idle_workers = environment.idle_workers;
  }

  absl::Status Start(std::string_view resume_after) {
    absl::StatusOr<OperatorPtr> root = BuildOperators(&scope_, *query_.plan);
    if (!root.ok()) return root.status();
    root_ = DivideRows(&scope_, *query_.plan, *std::move(root), BuildOperators, RowsCome::kAtOnce);
    if (query_.insert.has_value()) root_ = MakeInsert(&scope_, *query_.insert, std::move(root_));
    if (query_.explain != BoundQuery::Explain::kNo) {
      root_ = MakeExplain(&scope_, query_, std::move(root_));
    }
    if (root_->HasPlaces()) root_->KeepPlaces();
    if (resume_after.empty() || Resume(resume_after)) return absl::OkStatus();
    return absl::InvalidArgumentError("The resume point is none of this query");
  }

  absl::StatusOr<bool> Next(rows::Batch* batch) override {
    if (is_over_) {
      batch->rows = 0;
      batch->columns.clear();
      return false;
    }
    absl::StatusOr<bool> more = root_->Next(batch);
    is_over_ = more.ok() && !*more;
    // Helpers may be at work for an operator that is not asked again.
    if (!more.ok() || !*more) root_->Suspend();
    rows_of_batch_ = more.ok() && *more ? batch->rows : 0;
    has_begun_ = true;
    return more;
  }

  std::optional<std::string> ResumePoint() const override;
  int64_t now_micros() const override { return state_.evaluation.facts.now_micros; }
  uint64_t rows_scanned() const override { return state_.rows_scanned.load(std::memory_order_relaxed); }
  void Suspend() override { root_->Suspend(); }
  std::string Describe() const override {
    std::string text;
    root_->Describe(0, /*has_run=*/true, &text);
    return text;
  }

 private:
  void SetInterrupted(const ExecutionEnvironment& environment) {
    if (!environment.interrupted && environment.deadline == absl::InfiniteFuture()) return;
    state_.interrupted = [this, interrupted = environment.interrupted,
                          has_helpers = environment.idle_workers != nullptr,
                          deadline = environment.deadline]() -> absl::Status {
      if (interrupted) {
        std::optional<absl::MutexLock> lock;
        if (has_helpers) lock.emplace(&interrupted_mutex_);
        if (absl::Status status = interrupted(); !status.ok()) return status;
      }
      if (deadline != absl::InfiniteFuture() && absl::Now() > deadline) {
        return absl::DeadlineExceededError("The deadline of the query has passed");
      }
      return absl::OkStatus();
    };
  }

  // With helpers, the account and whoever interrupts are asked by one thread at a time.
  void SetHold(const ExecutionEnvironment& environment) {
    if (!environment.hold || environment.idle_workers == nullptr) {
      state_.hold = environment.hold;
      return;
    }
    state_.hold = [this, hold = environment.hold](int64_t more_bytes) {
      const absl::MutexLock lock(&hold_mutex_);
      return hold(more_bytes);
    };
  }

  void SetFacts(const ExecutionEnvironment& environment) {
    StatementFacts& facts = state_.evaluation.facts;
    if (environment.now_micros.has_value()) {
      facts.now_micros = *environment.now_micros;
    } else {
      facts.now_micros = environment.tables != nullptr ? environment.tables->clock().NowMicros()
                                                       : absl::ToUnixMicros(absl::Now());
    }
    facts.view_parameters = &view_parameters_;
    facts.seed = static_cast<uint64_t>(facts.now_micros);
    facts.interrupted = state_.interrupted;
    if (!environment.hold) return;
    // The value's own memory is told by whoever holds it: here it is only asked for.
    facts.hold = [hold = state_.hold](size_t bytes) {
      absl::Status status = hold(static_cast<int64_t>(bytes));
      if (status.ok()) hold(-static_cast<int64_t>(bytes)).IgnoreError();
      return status;
    };
  }

  // Tells the plan of one query from that of another, as far as places go.
  uint32_t Fingerprint() const { return Crc32c(root_->Shape()); }
  bool Resume(std::string_view point);

  const BoundQuery& query_;
  const ViewParameters view_parameters_;
  absl::Mutex hold_mutex_;
  absl::Mutex interrupted_mutex_;
  QuerySpill spill_;
  ExecutionState state_;
  QueryScope scope_;
  Subqueries subqueries_;
  OperatorPtr root_;
  size_t rows_of_batch_ = 0;
  bool has_begun_ = false;
  bool is_over_ = false;
};

std::optional<std::string> PlanExecution::ResumePoint() const {
  if (!root_->HasPlaces()) return std::nullopt;
  std::string point(1, kPointFormat);
  PutVarint(&point, Fingerprint());
  PutVarint(&point, static_cast<uint64_t>(is_over_ ? PointKind::kEnd : PointKind::kPlace));
  if (!is_over_) root_->SavePlace(rows_of_batch_, &point);
  return point;
}

bool PlanExecution::Resume(std::string_view point) {
  uint64_t fingerprint = 0;
  uint64_t kind = 0;
  if (!root_->HasPlaces() || point.front() != kPointFormat) return false;
  point.remove_prefix(1);
  if (!GetVarint(&point, &fingerprint) || fingerprint != Fingerprint() || !GetVarint(&point, &kind)) {
    return false;
  }
  is_over_ = kind == static_cast<uint64_t>(PointKind::kEnd);
  if (!is_over_ && (kind != static_cast<uint64_t>(PointKind::kPlace) || !root_->RestorePlace(&point))) {
    return false;
  }
  return point.empty();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Execution>> Execute(const BoundQuery& query, std::vector<Value> parameters,
                                                   const ExecutionEnvironment& environment) {
  DCHECK(parameters.size() == query.parameters.size());
  auto execution = std::make_unique<PlanExecution>(query, std::move(parameters), environment);
  if (absl::Status status = execution->Start(environment.resume_after); !status.ok()) return status;
  return execution;
}

}  // namespace sonde::sql
