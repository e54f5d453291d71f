// Unpacks bytes of gzip (RFC 1952), zlib (RFC 1950) or zstd (RFC 8878) as they are asked for.
//
// Several packed streams, one behind the other, are one.  Bytes that end before their last stream does are an
// error, as are bytes that do not fit their checksums.
#pragma once

#include <cstdint>

#include "base/byte_source.h"

namespace sonde {

enum class Packing : uint8_t { kGzip, kZlib, kZstd };

// The packings are the codings of HTTP.  DATA_LOSS: the bytes are damaged or end early, or a window of zstd
// is larger than 8 MiB (RFC 9659).  All other errors are those of `packed`.
ByteSource Unpacked(ByteSource packed, Packing packing);

// Unpacks a file's bytes if they begin as gzip or zstd do; a window of zstd may be as large as zstd's own
// programs take.  Other bytes stay as they are.  Errors as for Unpacked.
ByteSource UnpackedBySign(ByteSource source);

}  // namespace sonde
