// Copies bytes from file to file while it counts, hashes and paces them.
//
// Threads: an object is for one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/file_system.h"

namespace sonde {

struct TransferOptions {
  // How fast at most; nullopt: as fast as the disks are.
  std::optional<uint64_t> bytes_per_second_max = std::nullopt;
  // Told how many bytes are done, now and then.  May be null.
  std::function<void(uint64_t bytes_done)> on_progress = nullptr;
};

class Transfer {
 public:
  // `keep` is called at least once for each kChunkBytes; its error ends the copying.  May be null.
  explicit Transfer(TransferOptions options, std::function<absl::Status()> keep = nullptr);

  struct Copied {
    uint64_t bytes = 0;
    std::string sha256;
  };
  // Reads `from` to its end; writes it to `to` and syncs it, unless `to` is null.
  absl::StatusOr<Copied> Copy(InputFile* from, OutputFile* to);
  // Counts bytes that need no copying.
  void Pass(uint64_t bytes);

 private:
  void Count(uint64_t bytes);
  // Waits until so many bytes may have been moved.
  void Pace(uint64_t bytes);

  const TransferOptions options_;
  const std::function<absl::Status()> keep_;
  uint64_t bytes_done_ = 0;
  uint64_t bytes_moved_ = 0;
  const std::chrono::steady_clock::time_point start_;
};

constexpr size_t kChunkBytes = size_t{1} << 20;

}  // namespace sonde
