#include "series/input/stream_source.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace sonde::series {
namespace {

using SteadyClock = std::chrono::steady_clock;

class Stream {
 public:
  Stream(int descriptor, std::function<absl::Status()> flush, StreamPatience patience)
      : descriptor_(descriptor), flush_(std::move(flush)), patience_(patience) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) {
    if (flush_ != nullptr && (IsIdle() || SteadyClock::now() - last_flush_ >= patience_.busy_max)) {
      const absl::Status status = flush_();
      last_flush_ = SteadyClock::now();
      if (!status.ok()) return status;
    }
    ssize_t bytes = -1;
    do {
      bytes = read(descriptor_, buffer, bytes_max);
    } while (bytes < 0 && errno == EINTR);
    if (bytes < 0) return absl::DataLossError(fmt::format("reading the file: {}", std::strerror(errno)));
    return static_cast<size_t>(bytes);
  }

 private:
  // A poll that fails leaves it to read() to say why.
  bool IsIdle() const {
    pollfd wanted{descriptor_, POLLIN, 0};
    return poll(&wanted, 1, static_cast<int>(patience_.idle_max.count())) == 0;
  }

  const int descriptor_;
  const std::function<absl::Status()> flush_;
  const StreamPatience patience_;
  SteadyClock::time_point last_flush_ = SteadyClock::now();
};

}  // namespace

ByteSource SourceOfDescriptor(int descriptor, std::function<absl::Status()> flush, StreamPatience patience) {
  auto stream = std::make_shared<Stream>(descriptor, std::move(flush), patience);
  return [stream](char* buffer, size_t bytes_max) { return stream->Read(buffer, bytes_max); };
}

}  // namespace sonde::series
