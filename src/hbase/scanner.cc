#include "hbase/scanner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sonde::hbase {
namespace {

constexpr absl::Duration kRenewTimeout = absl::Seconds(5);

}  // namespace

// The calls to the scanner, which must not overlap, and the timer that renews its lease between them.
class Scanner::Line final : public LoopTimer, public std::enable_shared_from_this<Line> {
 public:
  Line(Servers* servers, ServerAddress server, uint64_t id, absl::Duration lease)
      : servers_(servers), server_(std::move(server)), id_(id), wait_(absl::ToChronoNanoseconds(lease / 3)) {}

  // -- the owner's thread --
  void Begin() {
    servers_->loop()->Post([self = shared_from_this()] {
      self->self_ = self;
      self->end_ = self->servers_->loop()->now() + absl::ToChronoNanoseconds(kRenewedMax);
      self->SetTimer();
    });
  }
  void End() {
    servers_->loop()->Post([self = shared_from_this()] {
      self->servers_->loop()->timers()->Remove(self.get());
      self->self_.reset();
    });
  }
  // Waits until no call is under way, which a renewal may be, and lets the next one begin.
  void Enter() {
    const absl::MutexLock lock(&mutex_, absl::Condition(this, &Line::IsIdle));
    is_busy_ = true;
    result_.reset();
  }
  OnResult Keeper() {
    return [self = shared_from_this()](CallResult result) {
      const bool is_well = !result.failure.has_value();
      {
        const absl::MutexLock lock(&self->mutex_);
        self->result_ = std::move(result);
      }
      self->Leave(is_well);
    };
  }
  // Closes the scanner at the server, behind a call that is under way: HBase refuses a call to a scanner that another one is at work
  // with, and the scanner would stay open for its lease, and keep what was deleted since from being compacted away.
  void Close() {
    {
      const absl::MutexLock lock(&mutex_);
      closes_ = true;
      if (is_busy_) return;
    }
    SendClose();
  }
  CallResult Take() {
    const absl::MutexLock lock(&mutex_, absl::Condition(this, &Line::HasResult));
    CallResult result = *std::move(result_);
    result_.reset();
    return result;
  }

  // -- the loop's thread --
  void OnDue() override {
    if (servers_->loop()->now() >= end_) return;
    SetTimer();
    const std::shared_ptr<Connection> connection = servers_->Existing(server_, kRegionService);
    if (connection == nullptr) return;
    {
      const absl::MutexLock lock(&mutex_);
      if (is_busy_) return;
      is_busy_ = true;
    }
    connection->Send(
        "Scan", RenewScanMessage(id_), {}, kRenewTimeout,
        [self = shared_from_this()](const CallResult& result) { self->Leave(!result.failure.has_value()); });
  }

 private:
  // A call has ended.
  void Leave(bool is_well) {
    {
      const absl::MutexLock lock(&mutex_);
      is_busy_ = false;
      if (!closes_ || !is_well) return;
    }
    SendClose();
  }
  // Nobody waits for the answer.
  void SendClose() {
    const std::shared_ptr<Connection> connection = servers_->Existing(server_, kRegionService);
    if (connection != nullptr)
      connection->Send("Scan", CloseScanMessage(id_), {}, kRenewTimeout, [](const CallResult&) {});
  }
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !is_busy_; }
  bool HasResult() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return result_.has_value(); }
  void SetTimer() { servers_->loop()->timers()->Set(this, servers_->loop()->now() + wait_); }

  Servers* const servers_;
  const ServerAddress server_;
  const uint64_t id_;
  const std::chrono::nanoseconds wait_;
  std::shared_ptr<Line> self_;  // while the timer may be set
  Loop::TimePoint end_;
  absl::Mutex mutex_;
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool closes_ ABSL_GUARDED_BY(mutex_) = false;  // once no call is under way
  std::optional<CallResult> result_ ABSL_GUARDED_BY(mutex_);
};

Scanner::Scanner(Servers* servers, ServerAddress server, uint64_t id, absl::Duration lease)
    : servers_(servers),
      server_(std::move(server)),
      id_(id),
      line_(std::make_shared<Line>(servers, server_, id, std::max(lease, absl::Seconds(1)))) {
  line_->Begin();
}

Scanner::~Scanner() {
  line_->End();
  if (!is_closed_) line_->Close();
}

void Scanner::Ask(const ScanBounds& bounds, absl::Duration timeout) {
  line_->Enter();
  has_asked_ = true;
  const std::string message = NextScanMessage(id_, sequence_++, bounds);
  servers_->Start({server_, kRegionService, "Scan", message}, timeout, line_->Keeper());
}

CallResult Scanner::Take() {
  has_asked_ = false;
  return line_->Take();
}

}  // namespace sonde::hbase
