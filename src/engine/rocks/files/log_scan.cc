#include "engine/rocks/files/log_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/crc32c.h"
#include "engine/rocks/files/rocks_status.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;

enum FrameType : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

struct Frame {
  FrameType type = kFull;
  std::string_view payload;
};

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

uint32_t Unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xA282EAD8u;
  return rotated << 15 | rotated >> 17;
}

// The frame at the start of `bytes`, which end with the block or the file.
std::optional<Frame> ParseFrame(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto type = static_cast<unsigned char>(bytes[6]);
  const size_t length = LittleEndian(bytes.substr(4, 2));
  if (type < kFull || type > kLast || length > bytes.size() - kHeaderBytes) return std::nullopt;
  const auto masked = static_cast<uint32_t>(LittleEndian(bytes.substr(0, 4)));
  if (Crc32c(bytes.substr(6, 1 + length)) != Unmask(masked)) return std::nullopt;
  return Frame{static_cast<FrameType>(type), bytes.substr(kHeaderBytes, length)};
}

bool StartsRecord(const Frame& frame) { return frame.type == kFull || frame.type == kFirst; }

class Scanner {
 public:
  Scanner(const VisitLogRecord& visit, const IsPlausibleRecord& plausible)
      : visit_(visit), plausible_(plausible) {}

  // False: enough is known.
  bool TakeBlock(std::string_view block) {
    size_t at = 0;
    if (!bad_) at = ReadFrames(block);
    if (bad_) scan_.record_behind = HasRecordFrom(block, at);
    scan_.file_bytes += block.size();
    return !scan_.record_behind;
  }

  LogScan Finish() {
    // Zeros that fill a block up belong to what is before them; a record without its end does not.
    if (!bad_ && !in_record_) scan_.sound_bytes = scan_.file_bytes;
    return scan_;
  }

 private:
  // Returns where the bad place is, if there is one.
  size_t ReadFrames(std::string_view block) {
    size_t at = 0;
    while (kBlockBytes - at >= kHeaderBytes && at < block.size()) {
      const std::optional<Frame> frame = ParseFrame(block.substr(at));
      if (!frame.has_value() || StartsRecord(*frame) == in_record_) {
        bad_ = true;
        // A frame that is whole but in the wrong place is looked at again.  Otherwise the next byte is looked
        // at.
        return frame.has_value() ? at : at + 1;
      }
      TakeFrame(*frame, scan_.file_bytes + at);
      at += kHeaderBytes + frame->payload.size();
      if (!in_record_) scan_.sound_bytes = scan_.file_bytes + at;
    }
    if (block.substr(std::min(at, block.size())).find_first_not_of('\0') != std::string_view::npos) {
      bad_ = true;
    }
    return at;
  }

  void TakeFrame(const Frame& frame, uint64_t offset) {
    if (StartsRecord(frame)) {
      record_offset_ = offset;
      record_start_.clear();
    }
    record_start_.append(frame.payload.substr(0, kLogRecordStartBytes - record_start_.size()));
    in_record_ = frame.type == kFirst || frame.type == kMiddle;
    if (in_record_) return;
    ++scan_.records_count;
    if (visit_) visit_(record_start_, record_offset_);
  }

  // Whether a record begins in the block at `at` or behind it, at any byte: lengths cannot be trusted there.
  bool HasRecordFrom(std::string_view block, size_t at) const {
    for (; at + kHeaderBytes < block.size(); ++at) {
      const std::optional<Frame> frame = ParseFrame(block.substr(at));
      if (!frame.has_value() || !StartsRecord(*frame) || frame->payload.empty()) continue;
      if (!plausible_ || plausible_(frame->payload.substr(0, kLogRecordStartBytes))) return true;
    }
    return false;
  }

  const VisitLogRecord& visit_;
  const IsPlausibleRecord& plausible_;
  LogScan scan_;
  bool bad_ = false;
  bool in_record_ = false;
  uint64_t record_offset_ = 0;
  std::string record_start_;
};

// The next block, or less at the end of the file.
rocksdb::Status ReadBlock(rocksdb::SequentialFile* file, std::string* block) {
  block->clear();
  std::string scratch(kBlockBytes, '\0');
  while (block->size() < kBlockBytes) {
    rocksdb::Slice part;
    rocksdb::Status status = file->Read(kBlockBytes - block->size(), &part, scratch.data());
    if (!status.ok() || part.empty()) return status;
    block->append(part.data(), part.size());
  }
  return rocksdb::Status::OK();
}

}  // namespace

absl::StatusOr<LogScan> ScanLog(rocksdb::Env* env, const std::string& path, const VisitLogRecord& visit,
                                const IsPlausibleRecord& plausible) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  uint64_t file_bytes = 0;
  rocksdb::Status status = env->GetFileSize(path, &file_bytes);
  if (status.ok()) status = env->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  if (!status.ok()) return FromRocks(status, fmt::format("Reading {}", path));
  Scanner scanner(visit, plausible);
  std::string block;
  do {
    if (status = ReadBlock(file.get(), &block); !status.ok()) {
      return FromRocks(status, fmt::format("Reading {}", path));
    }
  } while (!block.empty() && scanner.TakeBlock(block) && block.size() == kBlockBytes);
  LogScan scan = scanner.Finish();
  if (scan.record_behind) scan.file_bytes = file_bytes;  // it was not read to its end
  return scan;
}

LogRecordHeader ParseLogRecordHeader(std::string_view start) {
  return {LittleEndian(start.substr(0, 8)), LittleEndian(start.substr(std::min<size_t>(8, start.size()), 4))};
}

absl::StatusOr<std::optional<uint64_t>> FirstSequenceOfLog(rocksdb::Env* env, const std::string& path) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  std::string block;
  rocksdb::Status status = env->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  if (status.ok()) status = ReadBlock(file.get(), &block);
  if (status.IsNotFound() || status.IsPathNotFound()) return std::nullopt;
  if (!status.ok()) return FromRocks(status, fmt::format("Reading {}", path));
  const std::optional<Frame> frame = ParseFrame(block);
  if (!frame.has_value() || !StartsRecord(*frame) || frame->payload.size() < kLogRecordStartBytes) {
    if (block.size() == kBlockBytes) return 0;  // no frame goes on behind a block
    return std::nullopt;
  }
  return ParseLogRecordHeader(frame->payload).first_sequence;
}

}  // namespace sonde
