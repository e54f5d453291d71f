#include "sql/spill/spill_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/crc32c.h"
#include "base/varint.h"

namespace sonde::sql {
namespace {

constexpr size_t kHeadBytes = 8;

uint32_t CheckOf(int64_t place, std::string_view block) {
  std::string where;
  PutFixed64(&where, static_cast<uint64_t>(place));
  return Crc32c(block, Crc32c(where));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpillFile>> SpillFile::Create(QuerySpill* spill,
                                                             std::string_view operator_name) {
  const absl::StatusOr<int> descriptor = spill->Open(operator_name);
  if (!descriptor.ok()) return descriptor.status();
  return std::unique_ptr<SpillFile>(new SpillFile(spill, *descriptor, operator_name));
}

SpillFile::~SpillFile() {
  ::close(descriptor_);
  spill_->Give(bytes_);
}

absl::Status SpillFile::Append(std::string_view block) {
  constexpr size_t kBlockBytesMax = std::numeric_limits<uint32_t>::max();
  if (block.size() > kBlockBytesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("{} cannot put a row of {} bytes on disk; {} is the limit", operator_name_, block.size(),
                    kBlockBytesMax));
  }
  const auto more = static_cast<int64_t>(kHeadBytes + block.size());
  if (absl::Status status = spill_->Take(operator_name_, more); !status.ok()) return status;
  const int64_t place = bytes_;
  bytes_ += more;
  std::string head;
  PutFixed32(&head, static_cast<uint32_t>(block.size()));
  PutFixed32(&head, CheckOf(place, block));
  if (absl::Status status = Write(head, place); !status.ok()) return status;
  return Write(block, place + static_cast<int64_t>(kHeadBytes));
}

absl::Status SpillFile::Write(std::string_view bytes, int64_t place) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string text =
          fmt::format("{} cannot put {} bytes on disk, where the query has {}: {}", operator_name_,
                      bytes.size(), spill_->bytes(), std::strerror(errno));
      return errno == ENOSPC || errno == EDQUOT ? absl::ResourceExhaustedError(text)
                                                : absl::UnavailableError(text);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    place += written;
  }
  return absl::OkStatus();
}

absl::Status SpillFile::ReadAt(int64_t place, char* to, size_t bytes) const {
  while (bytes > 0) {
    const ssize_t read = ::pread(descriptor_, to, bytes, place);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) {
      return absl::UnavailableError(
          fmt::format("{} cannot read rows that it put on disk: {}", operator_name_, std::strerror(errno)));
    }
    if (read == 0) return absl::DataLossError(operator_name_ + " misses rows that it put on disk");
    to += read;
    place += read;
    bytes -= static_cast<size_t>(read);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SpillFile::Read(std::string* block) { return ReadFrom(&read_to_, block); }

absl::StatusOr<bool> SpillFile::ReadFrom(int64_t* place, std::string* block) const {
  if (*place == bytes_) return false;
  char head[kHeadBytes];
  if (absl::Status status = ReadAt(*place, head, kHeadBytes); !status.ok()) return status;
  std::string_view numbers(head, kHeadBytes);
  uint32_t size = 0;
  uint32_t check = 0;
  const bool is_whole = GetFixed32(&numbers, &size) && GetFixed32(&numbers, &check);
  const int64_t end = *place + static_cast<int64_t>(kHeadBytes) + size;
  if (is_whole && end <= bytes_) {
    block->resize(size);
    absl::Status status = ReadAt(*place + static_cast<int64_t>(kHeadBytes), block->data(), size);
    if (!status.ok()) return status;
    if (CheckOf(*place, *block) == check) {
      *place = end;
      return true;
    }
  }
  return absl::DataLossError(operator_name_ + " finds rows damaged that it put on disk");
}

}  // namespace sonde::sql
