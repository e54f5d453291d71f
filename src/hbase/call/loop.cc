#include "hbase/call/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace sonde::hbase {
namespace {

constexpr int kEventsMax = 64;

int MillisUntil(std::optional<Loop::TimePoint> next, Loop::TimePoint now) {
  if (!next.has_value()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - now).count();
  return static_cast<int>(std::clamp<int64_t>(wait, 0, 60'000));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Loop>> Loop::Start() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  std::unique_ptr<Loop> loop(new Loop(epoll, wake));
  if (epoll < 0 || wake < 0)
    return absl::ResourceExhaustedError("No descriptor is left for the connections to HBase");
  loop->thread_ = std::thread([loop = loop.get()] { loop->Run(); });
  return loop;
}

Loop::Loop(int epoll, int wake)
    : epoll_(epoll),
      wake_(wake),
      receive_buffer_(std::make_unique_for_overwrite<char[]>(kReceiveBytes)),
      now_(std::chrono::steady_clock::now()),
      timers_(now_) {
  // Each write to it is an event, so it is never read.
  epoll_event event{EPOLLIN | EPOLLET, {.ptr = nullptr}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

Loop::~Loop() {
  if (thread_.joinable()) {
    {
      const absl::MutexLock lock(&mutex_);
      is_ending_ = true;
    }
    Post([] {});
    thread_.join();
  }
  if (wake_ >= 0) close(wake_);
  if (epoll_ >= 0) close(epoll_);
}

void Loop::Post(Task task) {
  const absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
  if (tasks_.size() > 1) return;  // whoever posted the first has woken the thread
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void Loop::Wait(LoopSocket* socket, int descriptor, uint32_t events, bool is_new) {
  if (events == 0) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
    forgotten_.push_back(socket);
    return;
  }
  epoll_event event{events, {.ptr = socket}};
  epoll_ctl(epoll_, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

bool Loop::RunTasks() {
  std::vector<Task> tasks;
  bool is_ending = false;
  do {
    tasks.clear();
    {
      const absl::MutexLock lock(&mutex_);
      tasks.swap(tasks_);
      is_ending = is_ending_;
    }
    for (Task& task : tasks) std::move(task)();
  } while (is_ending && !tasks.empty());  // a task may have posted another one
  return !is_ending;
}

void Loop::Run() {
  std::array<epoll_event, kEventsMax> events;
  bool goes_on = true;
  while (goes_on) {
    const int count = epoll_wait(epoll_, events.data(), kEventsMax,
                                 MillisUntil(timers_.NextLook(), std::chrono::steady_clock::now()));
    now_ = std::chrono::steady_clock::now();
    forgotten_.clear();
    for (int i = 0; i < count; ++i) {
      auto* const socket = static_cast<LoopSocket*>(events[i].data.ptr);
      // An event before this one may have closed the connection.
      if (socket == nullptr || std::find(forgotten_.begin(), forgotten_.end(), socket) != forgotten_.end())
        continue;
      socket->OnReady(events[i].events);
    }
    goes_on = RunTasks();
    timers_.Advance(now_, [](rpc::Timer* timer) { static_cast<LoopTimer*>(timer)->OnDue(); });
  }
}

}  // namespace sonde::hbase
