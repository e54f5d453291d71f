// Bytes that were packed by gzip (RFC 1952), zlib (RFC 1950) or zstd (RFC 8878), unpacked as they are asked
// for.
//
// Several packed streams one behind the other are one.  What ends before its last stream does is an error,
// and so are bytes that its checksums do not fit.
#pragma once

#include <cstdint>

#include "base/byte_source.h"

namespace sonde {

enum class Packing : uint8_t { kGzip, kZlib, kZstd };

// As the codings of HTTP.  DATA_LOSS: bytes that are damaged or end early, a window of zstd of more than 8
// MiB (RFC 9659); otherwise the errors of `packed`.
ByteSource Unpacked(ByteSource packed, Packing packing);

// The same of a file's bytes that begin as gzip or zstd do, of any window that zstd's own programs take;
// others as they are.
ByteSource UnpackedBySign(ByteSource source);

}  // namespace sonde
