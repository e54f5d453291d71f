// Bytes as they are, or unpacked when they begin as gzip or zstd do.
#pragma once

#include "series/write/csv_reader.h"

namespace sonde::series {

// Several packed streams one behind the other are one.  DATA_LOSS: bytes that are damaged or end early;
// otherwise the errors of `packed`.
ByteSource Unpacked(ByteSource packed);

}  // namespace sonde::series
