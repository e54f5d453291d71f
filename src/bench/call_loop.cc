#include "bench/call_loop.h"

#include <grpcpp/alarm.h>

#include <map>
#include <utility>

namespace sonde::bench {

absl::Status CallError(const grpc::Status& status) { return FromGrpcStatus(status, "a request failed"); }

namespace {

// One request.
struct UnderWay {
  std::chrono::steady_clock::time_point begin;
  std::unique_ptr<grpc::Alarm> pause;  // before it is made again
};

bool MayTryAgain(const Call& call, const UnderWay& under_way) {
  const std::optional<std::chrono::milliseconds> delay = call.retry_delay();
  return delay.has_value() &&
         std::chrono::steady_clock::now() + *delay < under_way.begin + std::chrono::seconds(kRetrySeconds);
}

}  // namespace

absl::Status RunCalls(const std::vector<std::unique_ptr<Call>>& calls, Histogram* latency_us,
                      uint64_t* refused) {
  grpc::CompletionQueue queue;
  std::map<Call*, UnderWay> under_way;
  const auto begin_next = [&](Call* call) {
    const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
    if (!call->Next()) return false;
    under_way[call] = {now, nullptr};
    call->Start(&queue);
    return true;
  };
  for (const auto& call : calls) begin_next(call.get());
  absl::Status first_error;
  void* tag = nullptr;
  bool ok = false;
  while (!under_way.empty() && queue.Next(&tag, &ok)) {
    Call* call = static_cast<Call*>(tag);
    const auto at = under_way.find(call);
    if (std::exchange(at->second.pause, nullptr) != nullptr) {
      if (first_error.ok()) {
        call->Start(&queue);
      } else {
        under_way.erase(at);
      }
      continue;
    }
    const absl::StatusOr<bool> ended = call->Advance(ok);
    if (ended.ok() && !*ended) continue;
    if (ended.ok()) {
      const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - at->second.begin);
      latency_us->Add(elapsed.count());
    } else if (first_error.ok() && MayTryAgain(*call, at->second)) {
      ++*refused;
      at->second.pause = std::make_unique<grpc::Alarm>();
      at->second.pause->Set(&queue, std::chrono::system_clock::now() + *call->retry_delay(), call);
      continue;
    } else if (first_error.ok()) {
      first_error = ended.status();
    }
    if (!first_error.ok() || !begin_next(call)) under_way.erase(call);
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) continue;
  return first_error;
}

}  // namespace sonde::bench
