#include "backup/journal/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "backup/repository/manifest.h"
#include "base/crc32c.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr std::string_view kMagic = "sonde journal 1\n";
constexpr size_t kFrameBytes = 8;  // length and CRC of a body
constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr uint8_t kHead = 'h', kEnd = 'e';
constexpr uint64_t kStarts = 1;
constexpr int64_t kPositionMax = INT64_MAX - 1;

bool GetPosition(std::string_view* in, int64_t* position) {
  uint64_t value = 0;
  if (!GetVarint(in, &value) || value > static_cast<uint64_t>(kPositionMax)) return false;
  *position = static_cast<int64_t>(value);
  return true;
}

bool GetNumber32(std::string_view* in, uint32_t* number) {
  uint64_t value = 0;
  if (!GetVarint(in, &value) || value > UINT32_MAX) return false;
  *number = static_cast<uint32_t>(value);
  return true;
}

bool GetRecord(std::string_view body, SegmentRecord* record) {
  if (body.empty()) return false;
  record->kind = static_cast<SegmentRecord::Kind>(body.front());
  body.remove_prefix(1);
  if (!GetPosition(&body, &record->position)) return false;
  switch (record->kind) {
    case SegmentRecord::Kind::kRow:
      if (!GetNumber32(&body, &record->table) || !GetNumber32(&body, &record->piece)) return false;
      break;
    case SegmentRecord::Kind::kSchema:
      break;
    case SegmentRecord::Kind::kGap:
      if (!GetPosition(&body, &record->gap_end)) return false;
      break;
    default:
      return false;
  }
  record->bytes = body;
  return true;
}

// The order of records; pieces of a record follow each other.
auto OrderOf(const SegmentRecord& record) {
  const int rank = record.kind == SegmentRecord::Kind::kGap      ? 0
                   : record.kind == SegmentRecord::Kind::kSchema ? 1
                                                                 : 2;
  return std::tuple(record.position, rank, record.table, record.piece);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SegmentWriter>> SegmentWriter::Begin(OutputFile* file,
                                                                    std::string_view journal, int64_t first,
                                                                    bool starts) {
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter(file));
  writer->buffer_ = kMagic;
  std::string body(1, static_cast<char>(kHead));
  PutBytes(&body, journal);
  PutVarint(&body, static_cast<uint64_t>(first));
  PutVarint(&body, starts ? kStarts : 0);
  if (absl::Status status = writer->Put(body); !status.ok()) return status;
  return writer;
}

absl::Status SegmentWriter::Put(std::string_view body) {
  PutFixed32(&buffer_, static_cast<uint32_t>(body.size()));
  PutFixed32(&buffer_, Crc32c(body));
  buffer_.append(body);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status SegmentWriter::Flush() {
  hash_.Add(buffer_);
  bytes_ += buffer_.size();
  absl::Status status = file_->Append(buffer_);
  buffer_.clear();
  return status;
}

absl::Status SegmentWriter::Add(const SegmentRecord& record) {
  std::string body(1, static_cast<char>(record.kind));
  PutVarint(&body, static_cast<uint64_t>(record.position));
  if (record.kind == SegmentRecord::Kind::kRow) {
    PutVarint(&body, record.table);
    PutVarint(&body, record.piece);
  }
  if (record.kind == SegmentRecord::Kind::kGap) PutVarint(&body, static_cast<uint64_t>(record.gap_end));
  body.append(record.bytes);
  if (body.size() > kSegmentRecordBytesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("A change at {} has {} bytes, more than the {} that a journal takes", record.position,
                    body.size(), kSegmentRecordBytesMax));
  }
  ++records_;
  return Put(body);
}

absl::Status SegmentWriter::Finish(int64_t last, bool syncs) {
  if (absl::Status status = Flush(); !status.ok()) return status;
  std::string body(1, static_cast<char>(kEnd));
  PutVarint(&body, static_cast<uint64_t>(last));
  PutVarint(&body, records_);
  PutBytes(&body, hash_.Finish());
  PutFixed32(&buffer_, static_cast<uint32_t>(body.size()));
  PutFixed32(&buffer_, Crc32c(body));
  buffer_.append(body);
  bytes_ += buffer_.size();
  absl::Status status = file_->Append(buffer_);
  return status.ok() && syncs ? file_->Sync() : status;
}

absl::StatusOr<std::unique_ptr<SegmentReader>> SegmentReader::Open(FileSystem* files,
                                                                   const std::string& path) {
  absl::StatusOr<std::unique_ptr<InputFile>> file = files->Open(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<SegmentReader> reader(new SegmentReader(*std::move(file), path));
  if (absl::Status status = reader->ReadHead(); !status.ok()) return status;
  return reader;
}

absl::Status SegmentReader::Damaged(std::string_view what) const {
  return absl::DataLossError(fmt::format("{} is damaged: {}", path_, what));
}

absl::Status SegmentReader::HoldsAnother() const { return Damaged("it holds another segment"); }

absl::Status SegmentReader::Take(size_t count, std::string* out) {
  out->clear();
  while (out->size() < count) {
    if (at_ == buffer_.size()) {
      buffer_.resize(kBufferBytes);
      at_ = 0;
      const absl::StatusOr<size_t> read = file_->Read(buffer_.data(), buffer_.size());
      buffer_.resize(read.ok() ? *read : 0);
      if (!read.ok()) return read.status();
      if (*read == 0) return Damaged("it ends in the middle of a record");
    }
    const size_t some = std::min(count - out->size(), buffer_.size() - at_);
    out->append(buffer_, at_, some);
    at_ += some;
  }
  bytes_ += count;
  return absl::OkStatus();
}

absl::Status SegmentReader::TakeBody() {
  if (absl::Status status = Take(kFrameBytes, &frame_); !status.ok()) return status;
  std::string_view in = frame_;
  uint32_t length = 0, crc = 0;
  if (!GetFixed32(&in, &length) || !GetFixed32(&in, &crc) || length == 0 || length > kSegmentRecordBytesMax) {
    return Damaged(fmt::format("a record says that it has {} bytes", length));
  }
  if (absl::Status status = Take(length, &body_); !status.ok()) return status;
  if (Crc32c(body_) == crc) return absl::OkStatus();
  return Damaged(fmt::format("the checksum of record {} does not match", records_));
}

absl::Status SegmentReader::ReadHead() {
  std::string magic;
  if (absl::Status status = Take(kMagic.size(), &magic); !status.ok()) return status;
  if (magic != kMagic) return Damaged("it does not begin as a segment of format 1");
  hash_.Add(magic);
  if (absl::Status status = TakeBody(); !status.ok()) return status;
  hash_.Add(frame_);
  hash_.Add(body_);
  std::string_view in = body_;
  std::string_view journal;
  uint64_t flags = 0;
  const bool is_head = in.front() == static_cast<char>(kHead);
  in.remove_prefix(1);
  if (!is_head || !GetBytes(&in, &journal) || !IsJournalId(journal) || !GetPosition(&in, &first_) ||
      !GetVarint(&in, &flags) || flags > kStarts || !in.empty()) {
    return Damaged("its head is none");
  }
  journal_ = std::string(journal);
  starts_ = flags == kStarts;
  before_ = {.kind = SegmentRecord::Kind::kGap, .position = first_};
  return absl::OkStatus();
}

absl::Status SegmentReader::CheckOrder(const SegmentRecord& record) {
  if (OrderOf(record) < OrderOf(before_)) {
    return Damaged(fmt::format("record {} at {} is out of order", records_, record.position));
  }
  before_ = record;
  before_.bytes = {};
  return absl::OkStatus();
}

absl::Status SegmentReader::ReadEnd(std::string_view body, const std::string& digest) {
  uint64_t count = 0;
  std::string_view told;
  body.remove_prefix(1);
  if (!GetPosition(&body, &last_) || !GetVarint(&body, &count) || !GetBytes(&body, &told) || !body.empty()) {
    return Damaged("its end is none");
  }
  if (told != digest) return Damaged("its SHA-256 does not match");
  if (count != records_) return Damaged(fmt::format("it has {} records, not {}", records_, count));
  if (before_.position > last_ || first_ > last_) return Damaged("a record lies behind its last position");
  char more = 0;
  const absl::StatusOr<size_t> read = at_ < buffer_.size() ? size_t{1} : file_->Read(&more, 1);
  if (!read.ok()) return read.status();
  return *read == 0 ? absl::OkStatus() : Damaged("there are bytes behind its end");
}

absl::StatusOr<bool> SegmentReader::Next(SegmentRecord* record) {
  if (absl::Status status = TakeBody(); !status.ok()) return status;
  if (body_.front() == static_cast<char>(kEnd)) {
    if (absl::Status status = ReadEnd(body_, hash_.Finish()); !status.ok()) return status;
    return false;
  }
  hash_.Add(frame_);
  hash_.Add(body_);
  *record = {};
  if (!GetRecord(body_, record)) return Damaged(fmt::format("record {} is none", records_));
  if (absl::Status status = CheckOrder(*record); !status.ok()) return status;
  ++records_;
  return true;
}

absl::Status SegmentReader::CheckHead(const SegmentPlace& place) const {
  return journal_ == place.journal && first_ == place.first ? absl::OkStatus() : HoldsAnother();
}

absl::Status SegmentReader::ReadAll(const SegmentPlace& place,
                                    absl::FunctionRef<absl::Status(const SegmentRecord&)> take) {
  if (absl::Status status = CheckHead(place); !status.ok()) return status;
  SegmentRecord record;
  while (true) {
    const absl::StatusOr<bool> more = Next(&record);
    if (!more.ok()) return more.status();
    if (!*more) return last_ == place.last ? absl::OkStatus() : HoldsAnother();
    if (absl::Status status = take(record); !status.ok()) return status;
  }
}

}  // namespace sonde
