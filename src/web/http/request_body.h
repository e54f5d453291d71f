// The body of a request without its framing and its content coding.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/byte_source.h"
#include "web/http/request_head.h"

namespace sonde {

// Bytes of a line with a chunk's size, and of all lines that may follow the last chunk.
constexpr size_t kChunkLineBytesMax = 256;
constexpr size_t kTrailerBytesMax = 8 << 10;

// The body of `head` from what follows it on the connection; never takes more of `connection` than that.
// INVALID_ARGUMENT: `connection` ends before the body does, or what is there are no chunks, or others might
// read them differently: a line that does not end as it should, a trailer that is no header;
// RESOURCE_EXHAUSTED: more than `bytes_max`, framing included; otherwise the errors of `connection`.
ByteSource Unframed(const RequestHead& head, ByteSource connection, uint64_t bytes_max);

// `source` without the coding that Content-Encoding names: none, identity, gzip, x-gzip, deflate, zstd, in
// any case.  UNIMPLEMENTED: another one, or several.  The source's INVALID_ARGUMENT: what came is not whole,
// or not in the coding.
absl::StatusOr<ByteSource> Decoded(const std::string& content_encoding, ByteSource source);

}  // namespace sonde
