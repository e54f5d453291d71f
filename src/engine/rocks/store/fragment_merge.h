// How RocksDB combines fragments, and what its compactions may drop.
//
// Of a long entry, the fragments stay apart: flushes and compactions copy them as they are, one after the
// other, since to combine a row of 256 MiB takes its size five times over.  Who reads such an entry asks for
// its fragments (head_cursor.h).
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

// An entry is long if its fragments have more bytes than this together, on an average no fewer than a part of
// it, and there are no more of them than that: many small ones are combined whatever they come to.
constexpr size_t kCombinedBytesMax = size_t{16} << 20;
constexpr size_t kCombinedApartMin = 256;  // this part
constexpr size_t kFragmentApartBytesMin = kCombinedBytesMax / kCombinedApartMin;
constexpr size_t kFragmentsApartMax = 4096;

// `combined_bytes_max`: for tests small.
std::shared_ptr<rocksdb::MergeOperator> MakeFragmentMerge(const ShapeDictionary* shapes,
                                                          size_t combined_bytes_max = kCombinedBytesMax);

// While it lives, what its thread reads of a head is not combined: an entry comes as what AppendFragments
// takes apart, or as what IsLongEntry knows, at which a read would fail otherwise.
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

// Appends the fragments of a value that is no long entry, oldest first; the views are into it.  False: it is
// damaged.
[[nodiscard]] bool AppendFragments(std::string_view value, std::vector<std::string_view>* fragments);

// Asked in compactions; must be quick.
using IsDropped = std::function<bool(TableId table, FamilyId family)>;

// Drops entries of dropped families and tables.
std::unique_ptr<rocksdb::CompactionFilter> MakeFragmentFilter(IsDropped is_dropped);

}  // namespace sonde
