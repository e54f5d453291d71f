// HTTP: any bytes are a head and a body, or refused; what is refused when it comes whole is when it comes in
// pieces.
#include <algorithm>
#include <string>
#include <string_view>

#include "target.h"
#include "web/http/request_body.h"
#include "web/http/request_head.h"

namespace sonde {
namespace {

constexpr size_t kTextBytesMax = 1 << 16;
constexpr uint64_t kBodyBytesMax = 1 << 20;

// Counts what is taken.
ByteSource SourceOf(std::string_view text, size_t piece_bytes, size_t* taken) {
  return [text, piece_bytes, taken](char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
    const size_t bytes = text.substr(*taken).copy(buffer, std::min(bytes_max, piece_bytes));
    *taken += bytes;
    return bytes;
  };
}

struct Read {
  absl::Status status;
  std::string body;
  size_t taken = 0;
};

Read ReadBody(const RequestHead& head, std::string_view text, size_t piece_bytes) {
  Read read;
  const absl::StatusOr<ByteSource> body =
      Decoded(head.request.Header("content-encoding").value_or(""),
              Unframed(head, SourceOf(text, piece_bytes, &read.taken), kBodyBytesMax));
  read.status = body.status();
  char buffer[1'000];
  while (read.status.ok() && read.body.size() < kBodyBytesMax) {
    const absl::StatusOr<size_t> bytes = (*body)(buffer, sizeof(buffer));
    read.status = bytes.status();
    if (!bytes.ok() || *bytes == 0) break;
    read.body.append(buffer, *bytes);
  }
  return read;
}

void Check(std::string_view text) {
  const std::optional<size_t> end = FindHeadEnd(text);
  if (!end) return;
  Require(*end <= text.size(), "a head ends where it is");
  const absl::StatusOr<RequestHead> head = ParseRequestHead(text.substr(0, *end));
  if (!head.ok()) return;
  Require(!head->request.method.empty() && !head->request.path.empty(), "a request has a method and a path");
  Require(!head->is_chunked || !head->body_bytes, "a body has one length");
  const Read whole = ReadBody(*head, text.substr(*end), text.size());
  const Read pieces = ReadBody(*head, text.substr(*end), 1);
  Require(whole.status.code() == pieces.status.code() && (!whole.status.ok() || whole.body == pieces.body),
          "pieces are read as the whole");
  if (whole.status.ok() && head->body_bytes) {
    Require(whole.taken <= *head->body_bytes, "no more is taken than the body");
  }
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::kTextBytesMax) return 0;
  sonde::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
