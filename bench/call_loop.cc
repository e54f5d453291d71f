#include "bench/call_loop.h"

#include <chrono>
#include <map>

#include "client/grpc_status.h"

namespace sonde::bench {

using Clock = std::chrono::steady_clock;

absl::Status CallError(const grpc::Status& status) { return FromGrpcStatus(status, "a request failed"); }

absl::Status RunCalls(const std::vector<std::unique_ptr<Call>>& calls, Histogram* latency_us) {
  grpc::CompletionQueue queue;
  std::map<Call*, Clock::time_point> under_way;
  for (const auto& call : calls) {
    const Clock::time_point now = Clock::now();
    if (call->Begin(&queue)) under_way[call.get()] = now;
  }
  absl::Status first_error;
  void* tag = nullptr;
  bool ok = false;
  while (!under_way.empty() && queue.Next(&tag, &ok)) {
    Call* call = static_cast<Call*>(tag);
    const absl::StatusOr<bool> ended = call->Advance(ok);
    if (ended.ok() && !*ended) continue;
    const auto begin = under_way.find(call);
    if (ended.ok()) {
      const auto elapsed =
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin->second);
      latency_us->Add(elapsed.count());
    } else if (first_error.ok()) {
      first_error = ended.status();
    }
    begin->second = Clock::now();
    if (!first_error.ok() || !call->Begin(&queue)) under_way.erase(begin);
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) continue;
  return first_error;
}

}  // namespace sonde::bench
