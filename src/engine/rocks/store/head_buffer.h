// The write buffer of a head: RocksDB's skip list, which begins to search for the place of an entry where the
// last one of its series went.  Series grow at their ends, so that the place is mostly the next one, and a
// few comparisons find it instead of some twenty, in memory that is seldom in a cache.
//
// A series is known by its key without the end, which counts its rows in most schemas.  Places are remembered
// for as many series as the buffer has slots; for others, and in other orders, it searches from the top, as
// RocksDB does.
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/memtablerep.h"

namespace sonde {

// A slot takes some 250 bytes of the buffer once it is used.
std::shared_ptr<rocksdb::MemTableRepFactory> MakeHeadBufferFactory(size_t slots);

}  // namespace sonde
