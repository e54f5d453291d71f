// The write buffer of a head: RocksDB's skip list, with a memory of places.  It begins to search for an
// entry's place where the last entry of its series went.  Series grow at their ends, so that is mostly the
// next place, and a few comparisons find it.  A search from the top takes some twenty, in memory that is
// seldom in a cache.
//
// A series is recognized by its key without the end, which counts its rows in most schemas.  Places are
// remembered for as many series as the buffer has slots.  For other series, and in other orders, it searches
// from the top, as RocksDB does.
//
// It tells the sizes of ranges (GetApproximateSizes) by bytes, not by the number of entries.
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/memtablerep.h"

namespace sonde {

// A slot takes some 250 bytes of the buffer once it is used.
std::shared_ptr<rocksdb::MemTableRepFactory> MakeHeadBufferFactory(size_t slots);

}  // namespace sonde
