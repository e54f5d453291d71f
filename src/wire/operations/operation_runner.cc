#include "wire/operations/operation_runner.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/background.h"
#include "base/format.h"

namespace sonde {
namespace {

constexpr absl::Duration kBetweenTries = absl::Seconds(1);

// Time for a call that concerns a lease.
absl::Time SoonAfterNow() { return absl::Now() + absl::Seconds(5); }

std::string LeaseOf(std::string_view name) {
  return fmt::format("operation/{}", name.substr(name.rfind('/') + 1));
}

absl::Status Ending() { return absl::UnavailableError("The server is ending"); }

}  // namespace

absl::Status RunningOperation::GoesOn() {
  // The end of the server first: a cancelled operation is cancelled by the next one, too.
  if (is_pausing_) {
    was_paused_ = true;
    return Ending();
  }
  if (is_cancelled_) return absl::CancelledError(fmt::format("Operation {} was cancelled", name()));
  return absl::OkStatus();
}

void RunningOperation::Tell(const google::protobuf::Message& metadata) {
  const auto now = std::chrono::steady_clock::now();
  const bool write = now - written_ >= absl::ToChronoMilliseconds(kBetweenWrites);
  if (write) written_ = now;
  // Progress that is not written is written by the next change, or is made again after a restart.
  operations_->Update(name(), metadata, write).IgnoreError();
}

OperationRunner::OperationRunner(Operations* operations, std::map<std::string, OperationKind> kinds,
                                 Leases* leases, absl::Duration hold_every)
    : operations_(operations), kinds_(std::move(kinds)), leases_(leases), hold_every_(hold_every) {
  if (leases_ == nullptr) {
    const absl::MutexLock lock(&mutex_);
    for (const std::string& name : operations_->Running()) Enqueue(name, /*is_resumed=*/true);
  } else {
    sharing_ = std::thread([this] { Share(); });
  }
  for (size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Work(); });
}

OperationRunner::~OperationRunner() {
  Pause();
  for (std::thread& thread : threads_) thread.join();
  if (!sharing_.joinable()) return;
  sharing_.join();
  const absl::MutexLock lock(&mutex_);
  for (const auto& [name, turn] : turns_) ended_.push_back(name);
  // Others need not wait; what cannot be given back now ends with its time.
  for (const std::string& name : ended_) leases_->Release(LeaseOf(name), SoonAfterNow()).IgnoreError();
}

void OperationRunner::Share() {
  std::optional<std::chrono::steady_clock::time_point> held;
  while (true) {
    FollowOnce();
    const auto now = std::chrono::steady_clock::now();
    if (!held.has_value() || now - *held >= absl::ToChronoNanoseconds(hold_every_)) {
      HoldOnce();
      held = now;
    }
    const absl::MutexLock lock(&mutex_);
    const auto is_pausing = [this] { return is_pausing_.load(); };
    if (changed_.WaitFor(&mutex_, std::min(kFollowEvery, hold_every_), absl::Condition(&is_pausing))) return;
  }
}

void OperationRunner::FollowOnce() {
  const absl::StatusOr<std::vector<std::string>> cancelled = operations_->Follow();
  if (!cancelled.ok()) return;  // the store is away for a moment
  const absl::MutexLock lock(&mutex_);
  for (const std::string& name : *cancelled) {
    if (const auto turn = turns_.find(name); turn != turns_.end()) turn->second->is_cancelled = true;
  }
}

void OperationRunner::HoldOnce() {
  std::vector<std::string> here, ended;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, turn] : turns_) here.push_back(name);
    ended = std::exchange(ended_, {});
  }
  for (const std::string& name : here) leases_->Hold(LeaseOf(name), SoonAfterNow()).IgnoreError();
  for (const std::string& name : ended) leases_->Release(LeaseOf(name), SoonAfterNow()).IgnoreError();
  for (const std::string& name : operations_->Running()) {
    if (std::ranges::find(here, name) != here.end() || is_pausing_) continue;
    const absl::StatusOr<absl::Duration> held = leases_->Hold(LeaseOf(name), SoonAfterNow());
    if (!held.ok() || *held <= absl::ZeroDuration()) continue;
    // Whoever had the lease may have come to the end of the operation.
    if (!operations_->Follow().ok()) continue;
    const absl::MutexLock lock(&mutex_);
    if (!operations_->Runs(name)) {
      ended_.push_back(name);
      continue;
    }
    if (turns_.contains(name) || comes_here_.contains(name)) continue;  // it begins here
    operations_->TakeOver(name);
    Enqueue(name, /*is_resumed=*/true);
  }
}

absl::Status OperationRunner::HoldNew(const std::string& name) {
  if (leases_ == nullptr) return absl::OkStatus();
  const absl::StatusOr<absl::Duration> held = leases_->Hold(LeaseOf(name), SoonAfterNow());
  if (!held.ok()) return held.status();
  if (*held > absl::ZeroDuration()) return absl::OkStatus();
  return absl::UnavailableError(fmt::format("Another server holds operation {}", name));
}

void OperationRunner::Pause() {
  const absl::MutexLock lock(&mutex_);
  is_pausing_ = true;
  changed_.SignalAll();
}

void OperationRunner::Enqueue(std::string name, bool is_resumed) {
  comes_here_.erase(name);
  auto turn = std::make_unique<Turn>();
  turn->name = name;
  turn->is_resumed = is_resumed;
  // Whoever has found it in a list may have cancelled it already.
  const std::optional<OperationRecord> record = operations_->FindRecord(name);
  turn->is_cancelled = record.has_value() && record->is_cancelled;
  waiting_.push_back(turn.get());
  turns_[std::move(name)] = std::move(turn);
  changed_.SignalAll();
}

absl::Status OperationRunner::Begin(std::string_view resource, const google::protobuf::Message& request,
                                    const google::protobuf::Message& metadata,
                                    const Operations::Commit& commit, google::longrunning::Operation* out) {
  {
    const absl::MutexLock lock(&mutex_);
    if (is_pausing_) return Ending();
    if (turns_.size() + beginning_ >= kRunningMax) {
      return absl::ResourceExhaustedError(fmt::format(
          "Too many operations run: an operation of {} was asked for, {} run, and the limit is {}", resource,
          turns_.size() + beginning_, kRunningMax));
    }
    ++beginning_;
  }
  // The lease comes before the record: an operation without one is anybody's.
  const Operations::Commit held_commit = [&](std::vector<RecordChange> changes) {
    if (absl::Status held = HoldNew(out->name()); !held.ok()) return held;
    {
      const absl::MutexLock lock(&mutex_);
      comes_here_.insert(out->name());
    }
    return commit ? commit(std::move(changes)) : operations_->store()->WriteRecords(changes);
  };
  absl::Status status =
      operations_->Begin(resource, request, metadata, leases_ == nullptr ? commit : held_commit, out);
  const absl::MutexLock lock(&mutex_);
  --beginning_;
  if (status.ok()) Enqueue(out->name(), /*is_resumed=*/false);
  comes_here_.erase(out->name());
  return status;
}

absl::Status OperationRunner::Cancel(const std::string& name) {
  if (const std::optional<OperationRecord> record = operations_->FindRecord(name);
      record.has_value() && !record->end_micros.has_value()) {
    const auto kind = kinds_.find(record->kind);
    if (kind != kinds_.end() && !kind->second.is_cancellable) {
      return absl::FailedPreconditionError(
          fmt::format("Operation {} cannot be cancelled: it is one of {}", name, record->kind));
    }
  }
  const absl::StatusOr<bool> runs = operations_->RequestCancel(name);
  if (!runs.ok() || !*runs) return runs.status();
  const absl::MutexLock lock(&mutex_);
  if (const auto turn = turns_.find(name); turn != turns_.end()) turn->second->is_cancelled = true;
  return absl::OkStatus();
}

absl::Duration OperationRunner::UntilNextTurn() const {
  if (waiting_.empty()) return absl::InfiniteDuration();
  const Turn* const next = *std::ranges::min_element(waiting_, {}, &Turn::not_before);
  return std::max(absl::FromChrono(next->not_before - std::chrono::steady_clock::now()),
                  absl::ZeroDuration());
}

OperationRunner::Turn* OperationRunner::TakeTurn() {
  const auto now = std::chrono::steady_clock::now();
  const auto at = std::ranges::find_if(waiting_, [now](const Turn* turn) { return turn->not_before <= now; });
  if (at == waiting_.end()) return nullptr;
  Turn* const turn = *at;
  waiting_.erase(at);
  return turn;
}

void OperationRunner::Work() {
  WorkBehindRequests();
  while (true) {
    Turn* turn = nullptr;
    {
      const absl::MutexLock lock(&mutex_);
      while (!is_pausing_ && (turn = TakeTurn()) == nullptr) {
        const auto has_news = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return is_pausing_ || UntilNextTurn() == absl::ZeroDuration();
        };
        changed_.WaitFor(&mutex_, UntilNextTurn(), absl::Condition(&has_news));
      }
      if (is_pausing_) return;
    }
    const bool looks_again = RunOne(turn);
    const absl::MutexLock lock(&mutex_);
    if (!looks_again) {
      if (leases_ != nullptr) ended_.push_back(turn->name);
      turns_.erase(turn->name);
      continue;
    }
    turn->not_before = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kBetweenLooks);
    waiting_.push_back(turn);
  }
}

bool OperationRunner::RunOne(Turn* turn) {
  std::optional<OperationRecord> record = operations_->FindRecord(turn->name);
  if (!record.has_value() || record->end_micros.has_value()) return false;
  const auto kind = kinds_.find(record->kind);
  if (kind == kinds_.end()) {
    Finish(*turn, {.status = absl::AbortedError("The server was restarted.")});
    return false;
  }
  RunningOperation operation(operations_, *std::move(record), turn->is_resumed, &turn->is_cancelled,
                             &is_pausing_);
  const OperationEnd end = kind->second.run(&operation);
  if (operation.looks_again()) return true;
  if (!end.status.ok() && operation.was_paused()) return false;
  Finish(*turn, end);
  return false;
}

void OperationRunner::Finish(const Turn& turn, const OperationEnd& end) {
  if (end.next.has_value()) {
    // If it cannot be held now, whoever gets it first runs it.
    HoldNew(end.next->name).IgnoreError();
    const absl::MutexLock lock(&mutex_);
    comes_here_.insert(end.next->name);
  }
  for (bool first = true;; first = false) {
    const absl::Status status = operations_->Finish(turn.name, end);
    if (status.ok() || absl::IsNotFound(status)) break;
    if (first) spdlog::error("Writing the end of {}: {}", turn.name, std::string(status.message()));
    const absl::MutexLock lock(&mutex_);
    const auto is_pausing = [this] { return is_pausing_.load(); };
    if (changed_.WaitFor(&mutex_, kBetweenTries, absl::Condition(&is_pausing))) return;
  }
  if (end.status.ok()) {
    spdlog::info("ended {}", turn.name);
  } else {
    spdlog::warn("ended {}: {}", turn.name, std::string(end.status.message()));
  }
  if (!end.next.has_value()) return;
  const absl::MutexLock lock(&mutex_);
  Enqueue(end.next->name, /*is_resumed=*/false);
}

}  // namespace sonde
