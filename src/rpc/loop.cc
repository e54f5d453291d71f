#include "rpc/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/time/clock.h"

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;

// How often the times of connections are looked at.
constexpr milliseconds kConnectionTick{250};
constexpr int kEventsMax = 256;

thread_local Loop* current_loop = nullptr;

// The steps that the thread asks for while an AnswersTogether lives.
struct Together {
  int depth = 0;
  std::vector<std::pair<Loop*, Loop::Posted>> steps;
};
thread_local Together together;

int64_t NanosNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

AnswersTogether::AnswersTogether() { ++together.depth; }

AnswersTogether::~AnswersTogether() {
  if (--together.depth > 0) return;
  std::vector<std::pair<Loop*, Loop::Posted>> steps = std::move(together.steps);
  together.steps.clear();
  std::vector<Loop::Posted> of_loop;
  while (!steps.empty()) {
    Loop* const loop = steps.front().first;
    of_loop.clear();
    const auto rest = std::remove_if(steps.begin(), steps.end(), [&](const auto& step) {
      if (step.first != loop) return false;
      of_loop.push_back(step.second);
      return true;
    });
    steps.erase(rest, steps.end());
    loop->PostAll(of_loop);
  }
}

absl::StatusOr<std::shared_ptr<Loop>> Loop::Start(std::shared_ptr<ServerState> state, MakeConnection make) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  std::shared_ptr<Loop> loop(new Loop(std::move(state), make, epoll, wake));
  if (epoll < 0 || wake < 0) return absl::ResourceExhaustedError("No descriptor is left for a loop");
  loop->thread_ = std::thread([loop = loop.get()] { loop->Run(); });
  return loop;
}

Loop::Loop(std::shared_ptr<ServerState> state, MakeConnection make, int epoll, int wake)
    : state_(std::move(state)),
      make_connection_(make),
      epoll_(epoll),
      wake_(wake),
      receive_buffer_(std::make_unique_for_overwrite<char[]>(kReceiveBytes)),
      now_(std::chrono::steady_clock::now()),
      wall_now_(absl::Now()),
      timers_(now_) {
  // Each write to it is an event, so it is never read.
  epoll_event event{EPOLLIN | EPOLLET, {.ptr = nullptr}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

Loop::~Loop() {
  if (thread_.joinable()) thread_.join();
  // Whoever posted the last step may not have written yet, to a descriptor that would then be another's.
  while (waking_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  if (wake_ >= 0) close(wake_);
  if (epoll_ >= 0) close(epoll_);
}

bool Loop::IsCurrent() const { return current_loop == this; }

void Loop::Wake() const {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void Loop::Post(LoopCall* call, CallStep step) {
  if (together.depth > 0) {
    together.steps.push_back({this, {call, step}});
    return;
  }
  bool wakes = false;
  {
    const absl::MutexLock lock(&mutex_);
    posted_.push_back({call, step});
    wakes = std::exchange(is_asleep_, false);
    if (wakes) waking_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!wakes) return;
  Wake();
  waking_.fetch_sub(1, std::memory_order_release);
}

void Loop::PostAll(const std::vector<Posted>& steps) {
  bool wakes = false;
  {
    const absl::MutexLock lock(&mutex_);
    posted_.insert(posted_.end(), steps.begin(), steps.end());
    wakes = std::exchange(is_asleep_, false);
    if (wakes) waking_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!wakes) return;
  Wake();
  waking_.fetch_sub(1, std::memory_order_release);
}

void Loop::Adopt(int descriptor, std::string address, std::string peer) {
  const absl::MutexLock lock(&mutex_);
  tasks_.push_back([this, descriptor, address = std::move(address), peer = std::move(peer)]() mutable {
    connections_.push_back(make_connection_(this, descriptor, std::move(address), std::move(peer)));
    if (is_ending_) connections_.back()->BeginEnd();
  });
  if (std::exchange(is_asleep_, false)) Wake();
}

bool Loop::Do(absl::AnyInvocable<void()> task) {
  const absl::MutexLock lock(&mutex_);
  if (has_ended_) return false;
  tasks_.push_back(std::move(task));
  if (std::exchange(is_asleep_, false)) Wake();
  return true;
}

std::vector<LoopCall*> Loop::Calls() const {
  std::vector<LoopCall*> calls;
  for (const auto& connection : connections_) connection->AddCalls(&calls);
  return calls;
}

void Loop::BeginEnd(TimePoint cancel_at) {
  const absl::MutexLock lock(&mutex_);
  tasks_.push_back([this, cancel_at] {
    cancel_at_ = std::min(cancel_at, cancel_at_);
    if (std::exchange(is_ending_, true)) return;
    for (const auto& connection : connections_) connection->BeginEnd();
  });
  if (std::exchange(is_asleep_, false)) Wake();
}

bool Loop::WaitForEnd(absl::Time until) {
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithDeadline(absl::Condition(&has_ended_), until);
}

std::chrono::nanoseconds Loop::TurnTime() const {
  const int64_t began = turn_began_nanos_.load(std::memory_order_relaxed);
  return std::chrono::nanoseconds(began == 0 ? 0 : NanosNow() - began);
}

bool Loop::CountCall() {
  if (state_->calls() + calls_begun_ - calls_ended_ >= state_->options().calls_max) return false;
  ++calls_begun_;
  calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

void Loop::Wait(LoopConnection* connection, int descriptor, uint32_t events, bool is_new) const {
  epoll_event event{events, {.ptr = connection}};
  epoll_ctl(epoll_, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

void Loop::Run() {
  current_loop = this;
  std::array<epoll_event, kEventsMax> events;
  while (true) {
    int wait_millis = WaitMillis();
    {
      const absl::MutexLock lock(&mutex_);
      if (is_ending_ && connections_.empty() && calls() == 0 && tasks_.empty() && posted_.empty()) {
        has_ended_ = true;
        return;
      }
      if (!posted_.empty() || !tasks_.empty() || !not_written_.empty()) wait_millis = 0;
      is_asleep_ = wait_millis != 0;
    }
    turn_began_nanos_.store(0, std::memory_order_relaxed);
    const int count = epoll_wait(epoll_, events.data(), kEventsMax, wait_millis);
    now_ = std::chrono::steady_clock::now();
    wall_now_ = absl::Now();
    turn_began_nanos_.store(now_.time_since_epoch().count(), std::memory_order_relaxed);
    for (int i = 0; i < count; ++i) {
      auto* const connection = static_cast<LoopConnection*>(events[static_cast<size_t>(i)].data.ptr);
      if (connection != nullptr) connection->OnReady(events[static_cast<size_t>(i)].events);
    }
    TakePosted();
    timers_.Advance(now_, [this](Timer* timer) {
      state_->CountRefusal(Refusal::kDeadline);
      static_cast<LoopCall*>(timer)->OnDeadline();
    });
    CheckTimes();
    FlushAll();
    TellNotWritten();
    FreeOver();
  }
}

int Loop::WaitMillis() const {
  if (!to_flush_.empty()) return 0;
  TimePoint until = TimePoint::max();
  if (!connections_.empty()) until = std::min(next_tick_, cancel_at_);
  if (const std::optional<TimePoint> look = timers_.NextLook()) until = std::min(until, *look);
  if (until == TimePoint::max()) return -1;
  const auto rest = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(rest.count(), 0));
}

void Loop::TakePosted() {
  std::vector<absl::AnyInvocable<void()>> tasks;
  {
    const absl::MutexLock lock(&mutex_);
    is_asleep_ = false;
    steps_.swap(posted_);
    tasks.swap(tasks_);
  }
  for (absl::AnyInvocable<void()>& task : tasks) task();
  for (const Posted& posted : steps_) posted.call->Apply(posted.step);
  steps_.clear();
}

void Loop::TellNotWritten() {
  // A handler may write again, which is told in the next turn.
  std::vector<LoopCall*> calls = std::move(not_written_);
  not_written_.clear();
  for (LoopCall* const call : calls) call->TellNotWritten();
}

void Loop::FlushAll() {
  // Messages that handlers write when they are told that their message has gone are sent in the next turn.
  flushing_.swap(to_flush_);
  for (LoopConnection* const connection : flushing_) connection->Flush();
  flushing_.clear();
}

void Loop::CheckTimes() {
  if (now_ < next_tick_ && now_ < cancel_at_) return;
  next_tick_ = now_ + kConnectionTick;
  const bool is_cancelling = now_ >= cancel_at_;
  for (size_t i = 0; i < connections_.size(); ++i) {
    if (is_cancelling) {
      connections_[i]->CloseNow(absl::UnavailableError("The server ends"));
    } else {
      connections_[i]->CheckTimes();
    }
  }
}

void Loop::FreeOver() {
  if (std::exchange(has_closed_, false)) {
    std::erase_if(to_flush_, [](LoopConnection* connection) { return connection->is_closed(); });
    std::erase_if(connections_, [](const auto& connection) { return connection->is_closed(); });
  }
  if (!not_written_.empty() && !buried_.empty()) {
    std::erase_if(not_written_, [this](LoopCall* call) {
      return std::find(buried_.begin(), buried_.end(), call) != buried_.end();
    });
  }
  for (LoopCall* const call : buried_) delete call;
  const auto ended = static_cast<int64_t>(buried_.size());
  buried_.clear();
  calls_ended_ += ended;
  if (calls_begun_ == 0 && calls_ended_ == 0) return;
  state_->CountCalls(calls_begun_, calls_ended_);
  calls_.store(calls_.load(std::memory_order_relaxed) - calls_ended_, std::memory_order_relaxed);
  calls_begun_ = calls_ended_ = 0;
}

}  // namespace sonde::rpc
