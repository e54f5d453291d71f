#include "codec/unpack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sonde {
namespace {

constexpr size_t kInputBytes = size_t{256} << 10;
constexpr std::string_view kGzipSign = "\x1f\x8b";
constexpr std::string_view kZstdSign = "\x28\xb5\x2f\xfd";
// zlib: the largest window; 16 more are gzip's header and trailer.
constexpr int kZlibWindow = 15;
constexpr int kGzipWindow = kZlibWindow + 16;
// The memory that zstd may ask for: its own usual limit, and the limit that RFC 9659 sets for HTTP.
constexpr int kZstdWindowLogMax = 27;
constexpr int kZstdWindowLogMaxOfHttp = 23;

// Bytes that came from a source and are not used yet.
class Input {
 public:
  explicit Input(ByteSource source) : source_(std::move(source)) {}

  // Takes more from the source behind what is left.
  absl::Status Fill() {
    bytes_.erase(0, at_);
    at_ = 0;
    const size_t kept = bytes_.size();
    bytes_.resize(kept + kInputBytes);
    const absl::StatusOr<size_t> came = source_(bytes_.data() + kept, kInputBytes);
    bytes_.resize(kept + (came.ok() ? *came : 0));
    is_at_end_ = came.ok() && *came == 0;
    return came.status();
  }
  absl::Status FillIfEmpty() { return empty() && !is_at_end_ ? Fill() : absl::OkStatus(); }

  std::string_view rest() const { return std::string_view(bytes_).substr(at_); }
  void Use(size_t bytes) { at_ += bytes; }
  bool empty() const { return at_ == bytes_.size(); }
  bool is_at_end() const { return is_at_end_ && empty(); }
  const ByteSource& source() const { return source_; }

 private:
  ByteSource source_;
  std::string bytes_;
  size_t at_ = 0;
  bool is_at_end_ = false;
};

class Unpacker {
 public:
  virtual ~Unpacker() = default;
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) = 0;
};

class Inflater final : public Unpacker {
 public:
  Inflater(Input input, Packing packing)
      : input_(std::move(input)), name_(packing == Packing::kGzip ? "gzip" : "deflate") {
    is_ready_ = inflateInit2(&stream_, packing == Packing::kGzip ? kGzipWindow : kZlibWindow) == Z_OK;
  }
  ~Inflater() override {
    if (is_ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) override {
    if (!is_ready_) return absl::ResourceExhaustedError(absl::StrCat("no memory to unpack ", name_));
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(bytes_max);
    while (stream_.avail_out == bytes_max) {
      if (absl::Status status = input_.FillIfEmpty(); !status.ok()) return status;
      if (input_.is_at_end()) break;
      if (is_between_ && inflateReset(&stream_) != Z_OK) {
        return absl::DataLossError(absl::StrCat(name_, ": can't go on"));
      }
      is_between_ = false;
      const std::string_view rest = input_.rest();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
      stream_.avail_in = static_cast<uInt>(rest.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      input_.Use(rest.size() - stream_.avail_in);
      if (result == Z_STREAM_END) {
        is_between_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return absl::DataLossError(absl::StrCat("the ", name_, " data is damaged"));
      }
    }
    const size_t bytes = bytes_max - stream_.avail_out;
    if (bytes == 0 && !is_between_)
      return absl::DataLossError(absl::StrCat("the ", name_, " data ends early"));
    return bytes;
  }

 private:
  Input input_;
  const char* const name_;
  z_stream stream_{};
  bool is_ready_ = false;
  bool is_between_ = false;  // of two packed streams
};

class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker(Input input, int window_log_max) : input_(std::move(input)), context_(ZSTD_createDCtx()) {
    if (context_ != nullptr) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, window_log_max);
  }

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) override {
    if (context_ == nullptr) return absl::ResourceExhaustedError("no memory to unpack zstd");
    ZSTD_outBuffer out = {buffer, bytes_max, 0};
    while (out.pos == 0) {
      if (absl::Status status = input_.FillIfEmpty(); !status.ok()) return status;
      // Even without input, what is unpacked already may wait.
      const std::string_view rest = input_.rest();
      ZSTD_inBuffer in = {rest.data(), rest.size(), 0};
      const size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(left) != 0) return absl::DataLossError("the zstd data is damaged");
      if (in.pos != 0 || out.pos != 0) is_between_ = left == 0;
      input_.Use(in.pos);
      if (input_.is_at_end() && out.pos == 0) {
        if (!is_between_) return absl::DataLossError("the zstd data ends early");
        break;
      }
    }
    return out.pos;
  }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  Input input_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  bool is_between_ = false;  // of two packed streams
};

// Looks at the first bytes before it decides.
class BySign {
 public:
  explicit BySign(ByteSource source) : input_(std::move(source)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) {
    if (!is_begun_) {
      if (absl::Status status = Begin(); !status.ok()) return status;
    }
    if (unpacker_ != nullptr) return unpacker_->Read(buffer, bytes_max);
    if (input_.is_at_end()) return 0;
    if (input_.empty()) return input_.source()(buffer, bytes_max);
    const size_t bytes = std::min(bytes_max, input_.rest().size());
    std::memcpy(buffer, input_.rest().data(), bytes);
    input_.Use(bytes);
    return bytes;
  }

 private:
  absl::Status Begin() {
    bool has_more = true;
    while (has_more && input_.rest().size() < kZstdSign.size()) {
      const size_t before = input_.rest().size();
      if (absl::Status status = input_.Fill(); !status.ok()) return status;
      has_more = input_.rest().size() > before;
    }
    is_begun_ = true;
    if (input_.rest().starts_with(kGzipSign)) {
      unpacker_ = std::make_unique<Inflater>(std::move(input_), Packing::kGzip);
    } else if (input_.rest().starts_with(kZstdSign)) {
      unpacker_ = std::make_unique<ZstdUnpacker>(std::move(input_), kZstdWindowLogMax);
    }
    return absl::OkStatus();
  }

  Input input_;
  bool is_begun_ = false;
  std::unique_ptr<Unpacker> unpacker_;  // null: the bytes are plain
};

}  // namespace

ByteSource Unpacked(ByteSource packed, Packing packing) {
  std::shared_ptr<Unpacker> unpacker;
  if (packing == Packing::kZstd) {
    unpacker = std::make_shared<ZstdUnpacker>(Input(std::move(packed)), kZstdWindowLogMaxOfHttp);
  } else {
    unpacker = std::make_shared<Inflater>(Input(std::move(packed)), packing);
  }
  return [unpacker](char* buffer, size_t bytes_max) { return unpacker->Read(buffer, bytes_max); };
}

ByteSource UnpackedBySign(ByteSource source) {
  auto by_sign = std::make_shared<BySign>(std::move(source));
  return [by_sign](char* buffer, size_t bytes_max) { return by_sign->Read(buffer, bytes_max); };
}

}  // namespace sonde
