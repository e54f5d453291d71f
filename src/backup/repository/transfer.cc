#include "backup/repository/transfer.h"

#include <string_view>
#include <thread>

#include "backup/repository/sha256_stream.h"

namespace sonde {

Transfer::Transfer(TransferOptions options, std::function<absl::Status()> keep)
    : options_(std::move(options)), keep_(std::move(keep)), start_(std::chrono::steady_clock::now()) {}

absl::StatusOr<Transfer::Copied> Transfer::Copy(InputFile* from, OutputFile* to) {
  std::string buffer(kChunkBytes, '\0');
  Sha256Stream hash;
  Copied copied;
  while (true) {
    if (keep_) {
      if (absl::Status status = keep_(); !status.ok()) return status;
    }
    const absl::StatusOr<size_t> count = from->Read(buffer.data(), buffer.size());
    if (!count.ok()) return count.status();
    if (*count == 0) break;
    const std::string_view bytes(buffer.data(), *count);
    hash.Add(bytes);
    if (to != nullptr) {
      if (absl::Status status = to->Append(bytes); !status.ok()) return status;
    }
    copied.bytes += bytes.size();
    Count(bytes.size());
    Pace(bytes.size());
  }
  if (to != nullptr) {
    if (absl::Status status = to->Sync(); !status.ok()) return status;
  }
  copied.sha256 = hash.Finish();
  return copied;
}

void Transfer::Pass(uint64_t bytes) { Count(bytes); }

void Transfer::Count(uint64_t bytes) {
  bytes_done_ += bytes;
  if (options_.on_progress) options_.on_progress(bytes_done_);
}

void Transfer::Pace(uint64_t bytes) {
  bytes_moved_ += bytes;
  if (!options_.bytes_per_second_max.has_value()) return;
  const std::chrono::duration<double> due(static_cast<double>(bytes_moved_) /
                                          static_cast<double>(*options_.bytes_per_second_max));
  std::this_thread::sleep_until(start_ + std::chrono::duration_cast<std::chrono::nanoseconds>(due));
}

}  // namespace sonde
