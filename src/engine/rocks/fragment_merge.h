// How RocksDB combines fragments, and what its compactions may drop.
#pragma once

#include <functional>
#include <memory>

#include "engine/rocks/shape_dictionary.h"
#include "model/cell.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"

namespace sonde {

std::shared_ptr<rocksdb::MergeOperator> MakeFragmentMerge(const ShapeDictionary* shapes);

// Asked in compactions; must be quick.
using IsDropped = std::function<bool(TableId table, FamilyId family)>;

// Drops entries of dropped families and tables.
std::unique_ptr<rocksdb::CompactionFilter> MakeFragmentFilter(IsDropped is_dropped);

}  // namespace sonde
