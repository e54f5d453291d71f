#include "rpc/server.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/processors.h"
#include "rpc/acceptor.h"
#include "rpc/connection.h"
#include "rpc/loop.h"
#include "rpc/server_state.h"

namespace sonde::rpc {
namespace {

// Cancelled calls are over soon, if their handlers do not hang.
constexpr absl::Duration kAfterCancel = absl::Milliseconds(500);

size_t LoopsOf(const ServerOptions& options) {
  if (options.loops > 0) return options.loops;
  return std::max<size_t>(2, static_cast<size_t>(std::ceil(UsableProcessors())));
}

// How long loops are waited for that are asked something.  A turn of a loop takes much less.
constexpr absl::Duration kAskMax = absl::Seconds(1);

// What the loops answer, which may come after nobody waits for it any more.
template <typename Value>
struct FromLoops {
  absl::Mutex mutex;
  Value value ABSL_GUARDED_BY(mutex){};
  size_t awaited ABSL_GUARDED_BY(mutex) = 0;
  bool AreAllThere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return awaited == 0; }
};

void KeepFirst(size_t calls_max, std::vector<RunningCall>* calls) {
  std::sort(calls->begin(), calls->end(),
            [](const RunningCall& a, const RunningCall& b) { return a.came < b.came; });
  if (calls->size() > calls_max) calls->resize(calls_max);
}

std::unique_ptr<LoopConnection> MakeServerConnection(Loop* loop, int descriptor, std::string address,
                                                     std::string peer) {
  return std::make_unique<Connection>(loop, descriptor, std::move(address), std::move(peer));
}

}  // namespace

struct Server::Parts {
  std::shared_ptr<ServerState> state;
  std::vector<std::shared_ptr<Loop>> loops;
  absl::Mutex acceptor_mutex;  // for those who shut down
  std::unique_ptr<Acceptor> acceptor;
  int port = 0;

  // Has each loop add to `answers`, and waits for them, but not for long.
  template <typename Value, typename Ask>
  void AskLoops(const std::shared_ptr<FromLoops<Value>>& answers, const Ask& ask) const {
    for (const std::shared_ptr<Loop>& loop : loops) {
      {
        const absl::MutexLock lock(&answers->mutex);
        ++answers->awaited;
      }
      const bool is_asked = loop->Do([loop = loop.get(), answers, ask] {
        const absl::MutexLock lock(&answers->mutex);
        ask(loop, &answers->value);
        --answers->awaited;
      });
      if (is_asked) continue;
      const absl::MutexLock lock(&answers->mutex);
      --answers->awaited;
    }
    const absl::MutexLock lock(&answers->mutex);
    answers->mutex.AwaitWithTimeout(absl::Condition(answers.get(), &FromLoops<Value>::AreAllThere), kAskMax);
  }

  // As Server's.
  int64_t Shutdown(absl::Duration grace) {
    {
      const absl::MutexLock lock(&acceptor_mutex);
      if (acceptor != nullptr) acceptor->End();
    }
    const auto cancel_at = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(grace);
    const absl::Time until = absl::Now() + grace + kAfterCancel;
    for (const std::shared_ptr<Loop>& loop : loops) loop->BeginEnd(cancel_at);
    int64_t calls = 0;
    for (const std::shared_ptr<Loop>& loop : loops) {
      if (!loop->WaitForEnd(until)) calls += std::max<int64_t>(loop->calls(), 1);
    }
    return calls;
  }
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() {
  Shutdown(absl::ZeroDuration());
  for (const std::shared_ptr<Loop>& loop : parts_->loops) loop->WaitForEnd(absl::InfiniteFuture());
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options, Router router) {
  absl::StatusOr<Listeners> listeners = Listeners::Open(options.host, options.port);
  if (!listeners.ok()) return listeners.status();
  auto parts = std::make_unique<Parts>();
  const size_t loops = LoopsOf(options);
  parts->state = std::make_shared<ServerState>(std::move(options), std::move(router));
  for (size_t i = 0; i < loops; ++i) {
    absl::StatusOr<std::shared_ptr<Loop>> loop = Loop::Start(parts->state, MakeServerConnection);
    if (!loop.ok()) {
      parts->Shutdown(absl::ZeroDuration());
      return loop.status();
    }
    parts->loops.push_back(*std::move(loop));
  }
  parts->port = listeners->port();
  parts->acceptor = std::make_unique<Acceptor>(*std::move(listeners), parts->state, parts->loops);
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

int Server::port() const { return parts_->port; }
ServerFacts Server::facts() const { return parts_->state->facts(); }
bool Server::is_accepting() const { return parts_->state->is_accepting; }
int64_t Server::Shutdown(absl::Duration grace) { return parts_->Shutdown(grace); }

std::vector<RunningCall> Server::ListCalls(size_t calls_max) const {
  auto calls = std::make_shared<FromLoops<std::vector<RunningCall>>>();
  parts_->AskLoops(calls, [calls_max](Loop* loop, std::vector<RunningCall>* list) {
    for (const LoopCall* const call : loop->Calls()) {
      if (std::optional<RunningCall> one = call->Describe(); one.has_value())
        list->push_back(*std::move(one));
    }
    KeepFirst(calls_max, list);
  });
  const absl::MutexLock lock(&calls->mutex);
  return calls->value;
}

bool Server::CancelCall(const std::string& name, const std::string& message) const {
  auto found = std::make_shared<FromLoops<bool>>();
  parts_->AskLoops(found, [name, message](Loop* loop, bool* is_found) {
    for (LoopCall* const call : loop->Calls()) {
      const std::optional<RunningCall> one = call->Describe();
      if (!one.has_value() || one->name != name) continue;
      call->End({absl::StatusCode::kCancelled, message});
      *is_found = true;
      return;
    }
  });
  const absl::MutexLock lock(&found->mutex);
  return found->value;
}

}  // namespace sonde::rpc
