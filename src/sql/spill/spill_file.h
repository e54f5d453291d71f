// A file of blocks of bytes, which has no name: written from its front to its end, and read likewise, as often as it is wanted.
//
// Shape: a block is its length (4 bytes), the CRC-32C of the place of the block in the file (8 bytes) and its bytes (4 bytes),
//   and the bytes.  Numbers are big-endian.
// Threads: as QuerySpill.
// Errors: those of QuerySpill; DATA_LOSS: a block is not what was written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/spill/spill_space.h"

namespace sonde::sql {

class SpillFile {
 public:
  // `spill` has a space, and must outlive the file.
  static absl::StatusOr<std::unique_ptr<SpillFile>> Create(QuerySpill* spill, std::string_view operator_name);
  // Takes the descriptor, which is that of an empty file.
  SpillFile(QuerySpill* spill, int descriptor, std::string_view operator_name)
      : spill_(spill), descriptor_(descriptor), operator_name_(operator_name) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // RESOURCE_EXHAUSTED also: the block is longer than 4 GiB.
  absl::Status Append(std::string_view block);
  // Replaces *block by the next one; false: there are no more.
  absl::StatusOr<bool> Read(std::string* block);
  // Likewise from `*place`, which comes to stand behind the block: at first 0, or what an earlier call left.  Several threads may
  // read so at once, once nobody appends.
  absl::StatusOr<bool> ReadFrom(int64_t* place, std::string* block) const;
  // Reads from the front again.
  void Rewind() { read_to_ = 0; }
  int64_t bytes() const { return bytes_; }

 private:
  absl::Status Write(std::string_view bytes, int64_t place);
  absl::Status ReadAt(int64_t place, char* to, size_t bytes) const;

  QuerySpill* const spill_;
  const int descriptor_;
  const std::string operator_name_;
  int64_t bytes_ = 0;
  int64_t read_to_ = 0;
};

}  // namespace sonde::sql
