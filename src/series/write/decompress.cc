#include "series/write/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::series {
namespace {

constexpr size_t kInputBytes = 256 * 1024;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with gzip's header

class Unpacker {
 public:
  explicit Unpacker(ByteSource source) : source_(std::move(source)) {}
  ~Unpacker() {
    if (kind_ == Kind::kGzip) inflateEnd(&gzip_);
  }
  Unpacker(const Unpacker&) = delete;

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) {
    if (kind_ == Kind::kUnknown) {
      if (absl::Status status = Begin(); !status.ok()) return status;
    }
    switch (kind_) {
      case Kind::kGzip:
        return ReadGzip(buffer, bytes_max);
      case Kind::kZstd:
        return ReadZstd(buffer, bytes_max);
      case Kind::kPlain:
      case Kind::kUnknown:
        break;
    }
    if (at_ == input_.size()) return source_(buffer, bytes_max);
    const size_t bytes = std::min(bytes_max, input_.size() - at_);
    std::memcpy(buffer, input_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }

 private:
  enum class Kind : uint8_t { kUnknown, kPlain, kGzip, kZstd };

  // Takes more from the source behind what is left.
  absl::Status Fill() {
    input_.erase(0, at_);
    at_ = 0;
    const size_t kept = input_.size();
    input_.resize(kept + kInputBytes);
    const absl::StatusOr<size_t> bytes = source_(input_.data() + kept, kInputBytes);
    input_.resize(kept + (bytes.ok() ? *bytes : 0));
    is_at_end_ = bytes.ok() && *bytes == 0;
    return bytes.status();
  }

  absl::Status Begin() {
    while (!is_at_end_ && input_.size() < kZstdMagic.size()) {
      if (absl::Status status = Fill(); !status.ok()) return status;
    }
    if (input_.starts_with(kGzipMagic)) {
      if (inflateInit2(&gzip_, kGzipWindow) != Z_OK)
        return absl::ResourceExhaustedError("no memory to unpack gzip");
      kind_ = Kind::kGzip;
    } else if (input_.starts_with(kZstdMagic)) {
      zstd_.reset(ZSTD_createDCtx());
      kind_ = Kind::kZstd;
    } else {
      kind_ = Kind::kPlain;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> ReadGzip(char* buffer, size_t bytes_max) {
    gzip_.next_out = reinterpret_cast<Bytef*>(buffer);
    gzip_.avail_out = static_cast<uInt>(bytes_max);
    while (gzip_.avail_out == bytes_max) {
      if (at_ == input_.size()) {
        if (absl::Status status = Fill(); !status.ok()) return status;
      }
      if (is_at_end_ && at_ == input_.size()) break;
      if (is_between_ && inflateReset(&gzip_) != Z_OK) return absl::DataLossError("gzip: can't go on");
      is_between_ = false;
      gzip_.next_in = reinterpret_cast<Bytef*>(input_.data() + at_);
      gzip_.avail_in = static_cast<uInt>(input_.size() - at_);
      const int result = inflate(&gzip_, Z_NO_FLUSH);
      at_ = input_.size() - gzip_.avail_in;
      if (result == Z_STREAM_END) {
        is_between_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return absl::DataLossError("the gzip data is damaged");
      }
    }
    const size_t bytes = bytes_max - gzip_.avail_out;
    if (bytes == 0 && !is_between_) return absl::DataLossError("the gzip data ends early");
    return bytes;
  }

  absl::StatusOr<size_t> ReadZstd(char* buffer, size_t bytes_max) {
    ZSTD_outBuffer out = {buffer, bytes_max, 0};
    while (out.pos == 0) {
      if (at_ == input_.size()) {
        if (absl::Status status = Fill(); !status.ok()) return status;
      }
      // Even without input, what is unpacked already may wait.
      ZSTD_inBuffer in = {input_.data(), input_.size(), at_};
      const size_t left = ZSTD_decompressStream(zstd_.get(), &out, &in);
      if (ZSTD_isError(left) != 0) return absl::DataLossError("the zstd data is damaged");
      if (in.pos != at_ || out.pos != 0) is_between_ = left == 0;
      at_ = in.pos;
      if (is_at_end_ && at_ == input_.size() && out.pos == 0) {
        if (!is_between_) return absl::DataLossError("the zstd data ends early");
        break;
      }
    }
    return out.pos;
  }

  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  ByteSource source_;
  std::string input_;  // from at_ on, not unpacked yet
  size_t at_ = 0;
  bool is_at_end_ = false;
  Kind kind_ = Kind::kUnknown;
  z_stream gzip_{};
  std::unique_ptr<ZSTD_DCtx, FreeContext> zstd_;
  bool is_between_ = false;  // of two packed streams
};

}  // namespace

ByteSource Unpacked(ByteSource packed) {
  auto unpacker = std::make_shared<Unpacker>(std::move(packed));
  return [unpacker](char* buffer, size_t bytes_max) { return unpacker->Read(buffer, bytes_max); };
}

}  // namespace sonde::series
