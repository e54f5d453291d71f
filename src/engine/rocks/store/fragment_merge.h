// How RocksDB combines fragments, and which entries its compactions drop.
//
// The fragments of a long entry stay apart: flushes and compactions copy them as they are, one after the
// other, since to combine a row of 256 MiB takes five times its size.  Readers of a long entry ask for its
// fragments (head_cursor.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/rocks/store/shape_dictionary.h"
#include "model/cell.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"

namespace sonde {

// An entry is long if its fragments together have more than kCombinedBytesMax, at least
// kFragmentApartBytesMin each on average, and if there are at most kFragmentsApartMax of them.  Many small
// fragments are combined however many bytes they have together.
constexpr size_t kCombinedBytesMax = size_t{16} << 20;
constexpr size_t kCombinedApartMin = 256;  // the least average is this part of kCombinedBytesMax
constexpr size_t kFragmentApartBytesMin = kCombinedBytesMax / kCombinedApartMin;
constexpr size_t kFragmentsApartMax = 4096;

// `combined_bytes_max` is small in tests.
std::shared_ptr<rocksdb::MergeOperator> MakeFragmentMerge(const ShapeDictionary* shapes,
                                                          size_t combined_bytes_max = kCombinedBytesMax);

// While it lives, entries of a head that its thread reads are not combined.  An entry comes either as a value
// that AppendFragments takes apart, or as one that IsLongEntry knows, at which a read would fail otherwise.
class FragmentsApart {
 public:
  FragmentsApart();
  ~FragmentsApart();
  FragmentsApart(const FragmentsApart&) = delete;
  FragmentsApart& operator=(const FragmentsApart&) = delete;

 private:
  const bool before_;
};

bool IsLongEntry(std::string_view value);

// Appends the fragments of a value that is no long entry, oldest first.  The views are into the value.
// Returns false if it is damaged.
[[nodiscard]] bool AppendFragments(std::string_view value, std::vector<std::string_view>* fragments);

// Asked in compactions, so it must be quick.
using IsDropped = std::function<bool(TableId table, FamilyId family)>;

// Drops entries of dropped families and tables.
std::unique_ptr<rocksdb::CompactionFilter> MakeFragmentFilter(IsDropped is_dropped);

}  // namespace sonde
