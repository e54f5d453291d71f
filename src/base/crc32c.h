// CRC-32C (Castagnoli), as RocksDB, iSCSI and ext4 compute it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

// The CRC of `bytes`.  With `before`, the CRC of the bytes in front, it is the CRC of both together.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace sonde
