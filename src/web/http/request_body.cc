#include "web/http/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "codec/unpack.h"

namespace sonde {
namespace {

constexpr size_t kBodyTextBytesShown = 60;

absl::Status EndsEarly() { return absl::InvalidArgumentError("The body ended before its time"); }

// A part of what a connection brings.
class Wire {
 public:
  Wire(ByteSource connection, uint64_t bytes_max)
      : connection_(std::move(connection)), bytes_max_(bytes_max), bytes_left_(bytes_max) {}

  // At least one byte.
  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) {
    if (bytes_left_ == 0) {
      return absl::ResourceExhaustedError(
          fmt::format("The body has more than {} bytes as it was sent: send it in parts", bytes_max_));
    }
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(bytes_max, bytes_left_));
    const absl::StatusOr<size_t> bytes = connection_(buffer, wanted);
    if (!bytes.ok()) return bytes;
    if (*bytes == 0) return EndsEarly();
    bytes_left_ -= *bytes;
    return bytes;
  }

  // Without its line end, which is CR LF: who takes another one sees other chunks.
  absl::StatusOr<std::string> ReadLine(size_t bytes_max) {
    std::string line;
    while (!line.ends_with("\r\n")) {
      if (line.size() == bytes_max) {
        return absl::InvalidArgumentError(
            fmt::format("A line between chunks has more than {} bytes", bytes_max));
      }
      char sign = 0;
      const absl::StatusOr<size_t> bytes = Read(&sign, 1);
      if (!bytes.ok()) return bytes.status();
      const bool is_behind_cr = line.ends_with('\r');
      const bool is_text = sign == '\t' || !absl::ascii_iscntrl(static_cast<unsigned char>(sign));
      line += sign;
      if (is_behind_cr ? sign != '\n' : !is_text && sign != '\r') {
        return absl::InvalidArgumentError(fmt::format("A line between chunks has a control character: '{}'",
                                                      Printable(line, kBodyTextBytesShown)));
      }
    }
    line.resize(line.size() - 2);
    return line;
  }

 private:
  const ByteSource connection_;
  const uint64_t bytes_max_;
  uint64_t bytes_left_;
};

class Counted {
 public:
  Counted(Wire wire, uint64_t bytes) : wire_(std::move(wire)), bytes_left_(bytes) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) {
    if (bytes_left_ == 0) return 0;
    absl::StatusOr<size_t> bytes =
        wire_.Read(buffer, static_cast<size_t>(std::min<uint64_t>(bytes_max, bytes_left_)));
    if (bytes.ok()) bytes_left_ -= *bytes;
    return bytes;
  }

 private:
  Wire wire_;
  uint64_t bytes_left_;
};

class Chunked {
 public:
  explicit Chunked(Wire wire) : wire_(std::move(wire)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) {
    if (!is_at_end_ && bytes_left_ == 0) {
      if (absl::Status status = BeginChunk(); !status.ok()) return status;
    }
    if (is_at_end_) return 0;
    const absl::StatusOr<size_t> bytes =
        wire_.Read(buffer, static_cast<size_t>(std::min<uint64_t>(bytes_max, bytes_left_)));
    if (!bytes.ok()) return bytes;
    bytes_left_ -= *bytes;
    if (bytes_left_ > 0) return bytes;
    const absl::StatusOr<std::string> rest = wire_.ReadLine(kChunkLineBytesMax);
    if (!rest.ok()) return rest.status();
    if (!rest->empty()) return absl::InvalidArgumentError("A chunk has more bytes than its size says");
    return bytes;
  }

 private:
  absl::Status BeginChunk() {
    const absl::StatusOr<std::string> line = wire_.ReadLine(kChunkLineBytesMax);
    if (!line.ok()) return line.status();
    const size_t digits = std::min(line->find_first_not_of("0123456789abcdefABCDEF"), line->size());
    const size_t behind = std::min(line->find_first_not_of(" \t", digits), line->size());
    const auto [end, error] = std::from_chars(line->data(), line->data() + digits, bytes_left_, 16);
    // Behind a semicolon may stand what means nothing here.
    if (error != std::errc() || (behind < line->size() && (*line)[behind] != ';')) {
      return absl::InvalidArgumentError(
          fmt::format("The size of a chunk is '{}'", Printable(*line, kBodyTextBytesShown)));
    }
    if (bytes_left_ > 0) return absl::OkStatus();
    size_t trailer_bytes_left = kTrailerBytesMax;
    while (true) {
      const absl::StatusOr<std::string> trailer = wire_.ReadLine(trailer_bytes_left);
      if (!trailer.ok()) return trailer.status();
      if (trailer->empty()) break;
      if (const auto header = ParseHeaderLine(*trailer); !header.ok()) return header.status();
      trailer_bytes_left -= trailer->size() + 2;
    }
    is_at_end_ = true;
    return absl::OkStatus();
  }

  Wire wire_;
  uint64_t bytes_left_ = 0;  // of the chunk
  bool is_at_end_ = false;
};

template <typename Framing>
ByteSource SourceOf(std::shared_ptr<Framing> framing) {
  return [framing = std::move(framing)](char* buffer, size_t bytes_max) {
    return framing->Read(buffer, bytes_max);
  };
}

}  // namespace

ByteSource Unframed(const RequestHead& head, ByteSource connection, uint64_t bytes_max) {
  Wire wire(std::move(connection), bytes_max);
  if (head.is_chunked) return SourceOf(std::make_shared<Chunked>(std::move(wire)));
  return SourceOf(std::make_shared<Counted>(std::move(wire), head.body_bytes.value_or(0)));
}

absl::StatusOr<ByteSource> Decoded(const std::string& content_encoding, ByteSource source) {
  const std::string coding = absl::AsciiStrToLower(content_encoding);
  std::optional<Packing> packing;
  if (coding == "gzip" || coding == "x-gzip") packing = Packing::kGzip;
  if (coding == "deflate") packing = Packing::kZlib;
  if (coding == "zstd") packing = Packing::kZstd;
  if (!packing && (coding.empty() || coding == "identity")) return source;
  if (!packing) {
    return absl::UnimplementedError(
        fmt::format("Content-Encoding '{}'; allowed: gzip, deflate, zstd, identity",
                    Printable(content_encoding, kBodyTextBytesShown)));
  }
  return [unpacked = Unpacked(std::move(source), *packing), coding](
             char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
    absl::StatusOr<size_t> bytes = unpacked(buffer, bytes_max);
    if (!absl::IsDataLoss(bytes.status())) return bytes;
    return absl::InvalidArgumentError(
        fmt::format("Content-Encoding {}: {}", coding, std::string(bytes.status().message())));
  };
}

}  // namespace sonde
