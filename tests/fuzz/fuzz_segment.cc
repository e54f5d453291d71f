// Segments of a journal.  First byte even: the rest is taken for a segment as it is.  Odd: for the bodies of its frames, which get
// checksums that match, so that what is behind these is reached.  Nothing may come but records in their order, or DATA_LOSS.
#include <algorithm>
#include <memory>
#include <string>

#include "backup/journal/segment.h"
#include "base/crc32c.h"
#include "base/varint.h"
#include "catalog/schema_journal.h"
#include "target.h"

namespace sonde {
namespace {

class TextInput final : public InputFile {
 public:
  explicit TextInput(std::string_view text) : rest_(text) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) override {
    const size_t count = std::min(bytes_max, rest_.size());
    std::copy_n(rest_.data(), count, buffer);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

// One file, which can be read.
class OneFile final : public FileSystem {
 public:
  explicit OneFile(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& /*path*/) override {
    return std::make_unique<TextInput>(text_);
  }

 private:
  static absl::Status Not() { return absl::UnimplementedError("this file can be read only"); }
  absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& /*path*/) override { return Not(); }
  absl::StatusOr<std::unique_ptr<OutputFile>> CreateNew(const std::string& /*path*/) override {
    return Not();
  }
  absl::StatusOr<FileFacts> Look(const std::string& /*path*/) override { return Not(); }
  absl::StatusOr<std::vector<FileFacts>> List(const std::string& /*directory*/) override { return Not(); }
  absl::Status MakeDirectory(const std::string& /*path*/) override { return Not(); }
  absl::Status Rename(const std::string& /*from*/, const std::string& /*to*/) override { return Not(); }
  absl::Status RenameNew(const std::string& /*from*/, const std::string& /*to*/) override { return Not(); }
  absl::Status Remove(const std::string& /*path*/) override { return Not(); }
  absl::Status SyncDirectory(const std::string& /*path*/) override { return Not(); }

  const std::string text_;
};

std::string FramesOf(InputReader input) {
  std::string text = "sonde journal 1\n";
  while (!input.IsEmpty()) {
    const std::string_view body = input.Bytes(input.Byte());
    PutFixed32(&text, static_cast<uint32_t>(body.size()));
    PutFixed32(&text, Crc32c(body));
    text.append(body);
  }
  return text;
}

void Fuzz(InputReader input) {
  const bool is_raw = input.Byte() % 2 == 0;
  OneFile file(is_raw ? std::string(input.Rest()) : FramesOf(input));
  const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(&file, "segment");
  absl::Status status = reader.status();
  int64_t position = 0;
  SegmentRecord record;
  while (status.ok()) {
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    status = more.status();
    if (!more.ok() || !*more) break;
    Require(record.position >= position, "positions ascend");
    position = record.position;
    if (record.kind != SegmentRecord::Kind::kSchema) continue;
    const absl::StatusOr<SchemaEvent> event = DecodeSchemaEvent(position, record.bytes);
    Require(event.ok() || absl::IsDataLoss(event.status()), "damage of an event is DATA_LOSS");
    if (event.ok()) Require(EncodeSchemaEvent(*event).size() <= record.bytes.size(), "an event has one form");
  }
  Require(status.ok() || absl::IsDataLoss(status), "damage is DATA_LOSS");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sonde::Fuzz(sonde::InputReader(data, size));
  return 0;
}
