#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bench/data/line_bodies.h"
#include "bench/workload.h"

namespace sonde::bench {
namespace {

constexpr int kTimeoutSeconds = 60;
// A server that has too much to do says so (503), and is asked again.
constexpr int kTriesMax = 200;
constexpr std::chrono::milliseconds kRetryPause{50};

struct Sender {
  absl::Status status;
  uint64_t lines = 0;
  uint64_t points = 0;
  uint64_t bytes = 0;
  Histogram latency_us;
};

absl::Status Post(httplib::Client* client, std::string_view body) {
  for (int left = kTriesMax; left > 0; --left) {
    const auto answer = client->Post("/write", body.data(), body.size(), "text/plain");
    if (!answer) return absl::UnavailableError("POST /write: " + httplib::to_string(answer.error()));
    if (answer->status == 204 || answer->status == 200) return absl::OkStatus();
    if (answer->status != 503) {
      return absl::InternalError(
          fmt::format("POST /write: status {}: {}", answer->status, answer->body.substr(0, 300)));
    }
    std::this_thread::sleep_for(kRetryPause);
  }
  return absl::UnavailableError(fmt::format("POST /write: answered 503 {} times", kTriesMax));
}

void Send(const Options& options, const std::string& host, int port, int number, Sender* sender) {
  const HostRange hosts = HostsOf(options, number);
  if (hosts.begin == hosts.end) return;
  httplib::Client client(host, port);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  client.set_read_timeout(kTimeoutSeconds);
  client.set_write_timeout(kTimeoutSeconds);
  LineBodies bodies(options.shape, hosts.begin, hosts.end, StepsOf(options), options.rows_per_request);
  for (std::string_view body = bodies.Next(); !body.empty() && sender->status.ok(); body = bodies.Next()) {
    const Clock::time_point begin = Clock::now();
    sender->status = Post(&client, body);
    sender->latency_us.Add(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count());
  }
  sender->lines = bodies.lines();
  sender->points = bodies.points();
  sender->bytes = bodies.bytes();
}

}  // namespace

absl::StatusOr<Result> RunLines(const Options& options) {
  const std::pair<std::string, std::string> host_port =
      absl::StrSplit(options.http_endpoint, absl::MaxSplits(':', 1));
  int port = 0;
  if (!absl::SimpleAtoi(host_port.second, &port) || port < 1 || port > 65'535) {
    return absl::InvalidArgumentError(
        fmt::format("--http-endpoint is HOST:PORT; got \"{}\"", options.http_endpoint));
  }
  std::vector<Sender> senders(options.clients);
  const double cpu_begin = ProcessCpuSeconds();
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> threads;
  for (int number = 0; number < options.clients; ++number) {
    threads.emplace_back([&, number] { Send(options, host_port.first, port, number, &senders[number]); });
  }
  for (std::thread& thread : threads) thread.join();
  Result result;
  result.name = "lines";
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  result.client_cpu_seconds = ProcessCpuSeconds() - cpu_begin;
  for (const Sender& sender : senders) {
    if (!sender.status.ok()) return sender.status;
    result.rows += sender.lines;
    result.cells += sender.points;
    result.bytes += sender.bytes;
    result.latency_us.Merge(sender.latency_us);
  }
  result.requests = result.latency_us.count();
  return result;
}

}  // namespace sonde::bench
