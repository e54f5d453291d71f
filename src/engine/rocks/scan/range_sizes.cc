#include "engine/rocks/scan/range_sizes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/directory.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine/rocks/store/key.h"
#include "engine/rocks/store/page_key.h"

namespace sonde {
namespace {

// Row keys at which files of the heads and of pages begin; ascending, none of them empty.
std::vector<std::string> FileStarts(const CellStore& store, TableId table) {
  std::vector<rocksdb::LiveFileMetaData> files;
  store.db()->GetLiveFilesMetaData(&files);
  std::vector<std::string> row_keys;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const auto is_of = [&](CellStore::ColumnFamily which) {
      return file.column_family_name == store.column_family(which)->GetName();
    };
    if (is_of(CellStore::kPages)) {
      ParsedPageKey parsed;
      if (ParsePageKey(file.smallestkey, &parsed) && parsed.table == table)
        row_keys.push_back(parsed.row_key);
    } else if (is_of(CellStore::kFirstHead) || is_of(CellStore::kSecondHead)) {
      ParsedKey parsed;
      if (!ParseKey(file.smallestkey, &parsed) || parsed.table != table) continue;
      DecodeRowKey(parsed.row_prefix, &row_keys.emplace_back());
    }
  }
  std::sort(row_keys.begin(), row_keys.end());
  row_keys.erase(std::unique(row_keys.begin(), row_keys.end()), row_keys.end());
  if (!row_keys.empty() && row_keys.front().empty()) row_keys.erase(row_keys.begin());
  return row_keys;
}

// RocksDB takes each block of a file for as long as the mean of the file, in which one table may have long entries and another short
// ones; in memory, it goes by a sample of the bytes (head_buffer.h).  So entries are looked at where little lies in a range, and in
// heads also where files have so little of it that few blocks are meant.
constexpr uint64_t kEstimatedBytesMin = 64 << 10;
constexpr uint64_t kHeadFilesEstimatedMin = 4 << 20;
// The bytes that are read for one range, and for all ranges of a call.  Beyond that the estimate has to do.
constexpr uint64_t kRangeBytesReadMax = 8 << 20;
constexpr uint64_t kBytesReadMax = 16 << 20;
constexpr uint64_t kDeletedEntriesMax = 10'000;
// The pages of a call whose sizes are looked up in the directory.
constexpr size_t kPagesLookedUpMax = 1'024;

class Measurement {
 public:
  explicit Measurement(const CellStore& store) : store_(store) {}

  // Adds what lies in [from, to) of a head.  Ranges of a head are best asked for in ascending order.
  absl::Status AddHead(CellStore::ColumnFamily which, const std::string& from, const std::string& to,
                       uint64_t* bytes) {
    uint64_t memory = 0, files = 0;
    absl::Status status =
        Estimate(which, from, to, rocksdb::DB::SizeApproximationFlags::INCLUDE_MEMTABLES, &memory);
    if (status.ok())
      status = Estimate(which, from, to, rocksdb::DB::SizeApproximationFlags::INCLUDE_FILES, &files);
    if (!status.ok()) return status;
    uint64_t size = memory + files;
    const bool is_rough = size < kEstimatedBytesMin || (files > 0 && files < kHeadFilesEstimatedMin);
    if (is_rough && bytes_read_ < kBytesReadMax) Read(which, from, to, &size);
    *bytes += size;
    return absl::OkStatus();
  }

  // Adds the pages of the family that begin in [from, to), as the directory has them.
  absl::Status AddPages(DirectoryCursor* directory, FamilyId family, const std::string& from,
                        const std::string& to, uint64_t* bytes) {
    uint64_t size = 0;
    absl::StatusOr<DirectoryEntryRef> entry = directory->FindFrom(family, from);
    for (; pages_ < kPagesLookedUpMax; ++pages_) {
      if (!entry.ok()) return entry.status();
      if (*entry == nullptr || (*entry)->key >= to) {
        *bytes += size;
        return absl::OkStatus();
      }
      size += (*entry)->header.page_bytes;
      entry = directory->After(*entry);
    }
    size = 0;
    if (absl::Status status = Estimate(CellStore::kPages, from, to,
                                       rocksdb::DB::SizeApproximationFlags::INCLUDE_MEMTABLES |
                                           rocksdb::DB::SizeApproximationFlags::INCLUDE_FILES,
                                       &size);
        !status.ok()) {
      return status;
    }
    *bytes += size;
    return absl::OkStatus();
  }

 private:
  absl::Status Estimate(CellStore::ColumnFamily which, const std::string& from, const std::string& to,
                        rocksdb::DB::SizeApproximationFlags what, uint64_t* size) const {
    const rocksdb::Range keys(from, to);
    return FromRocks(store_.db()->GetApproximateSizes(store_.column_family(which), &keys, 1, size, what),
                     "Measuring a table");
  }

  // Replaces the estimate by the bytes of the keys and values, or by as many as could be read, if they are
  // more.
  void Read(CellStore::ColumnFamily which, const std::string& from, const std::string& to, uint64_t* size) {
    std::unique_ptr<rocksdb::Iterator>& it = iterators_[which];
    if (it == nullptr) {
      rocksdb::ReadOptions read;
      read.total_order_seek = true;
      read.fill_cache = false;
      read.max_skippable_internal_keys = kDeletedEntriesMax;
      it.reset(store_.db()->NewIterator(read, store_.column_family(which)));
    }
    const FragmentsApart apart;
    const rocksdb::Comparator* const order = store_.column_family(which)->GetComparator();
    uint64_t bytes = 0;
    bool is_whole = false;
    for (it->Seek(from); bytes < kRangeBytesReadMax; it->Next()) {
      is_whole = it->status().ok() && (!it->Valid() || order->Compare(it->key(), to) >= 0);
      if (is_whole || !it->Valid()) break;
      const rocksdb::Slice value = it->value();
      const bool is_long = IsLongEntry({value.data(), value.size()});
      bytes += it->key().size() + (is_long ? kCombinedBytesMax : value.size());
    }
    bytes_read_ += bytes;
    *size = is_whole ? bytes : std::max(*size, bytes);
  }

  const CellStore& store_;
  std::array<std::unique_ptr<rocksdb::Iterator>, CellStore::kColumnFamilies> iterators_;
  uint64_t bytes_read_ = 0;
  size_t pages_ = 0;  // that were looked up
};

}  // namespace

absl::StatusOr<std::vector<uint64_t>> MeasureRowRanges(const CellStore& store, TableId table,
                                                       const std::vector<std::string>& starts,
                                                       const std::string& end) {
  DirectoryCursor directory(store, /*moment=*/nullptr, table);
  const absl::StatusOr<std::vector<FamilyId>> families = directory.Families();
  if (!families.ok()) return families.status();
  std::vector<uint64_t> result;
  result.reserve(starts.size());
  Measurement measurement(store);
  for (size_t i = 0; i < starts.size(); ++i) {
    const RowRange range{starts[i], i + 1 < starts.size() ? starts[i + 1] : end};
    uint64_t& bytes = result.emplace_back(0);
    absl::Status status;
    for (const auto head : {CellStore::kFirstHead, CellStore::kSecondHead}) {
      if (status.ok()) {
        status = measurement.AddHead(head, StartOfRange(table, range), EndOfRange(table, range), &bytes);
      }
    }
    for (const FamilyId family : *families) {
      if (status.ok()) {
        status = measurement.AddPages(
            &directory, family, StartOfPageRow(table, family, range.start),
            range.end.empty() ? EndOfPages(table, family) : StartOfPageRow(table, family, range.end), &bytes);
      }
    }
    if (!status.ok()) return status;
  }
  return result;
}

namespace {

// A page takes 0.1 ms for each of its columns that is read.
constexpr size_t kPagesOfPart = 8;
constexpr size_t kPartsMax = 4'096;

// Divides ranges as their pages are met.
class Division {
 public:
  // The following range of all.  Its pages come with AddPage, but for one that begins before it: `has_page` says that there is one, which
  // the range before has no rows of.
  void BeginRange(const RowRange& range, bool has_page) {
    open_ = range;
    if (has_page) ++pages_;
  }
  // A page begins in this row.
  void AddPage(const std::string& row_key) {
    const bool is_inside = row_key > open_.start;
    if (is_inside && pages_ >= kPagesOfPart) {
      part_.push_back({open_.start, row_key});
      open_.start = row_key;
      EndPart();
    }
    ++pages_;
  }
  void EndRange() {
    part_.push_back(open_);
    if (pages_ >= kPagesOfPart) EndPart();
  }
  bool IsFull() const { return divided_.parts.size() >= kPartsMax; }
  // The rest of the range at hand.
  const RowRange& open() const { return open_; }
  DividedRanges Finish(std::vector<RowRange> rest) {
    if (!part_.empty()) EndPart();
    divided_.rest = std::move(rest);
    return std::move(divided_);
  }

 private:
  void EndPart() {
    divided_.parts.push_back(std::move(part_));
    part_.clear();
    pages_ = 0;
  }

  DividedRanges divided_;
  std::vector<RowRange> part_;
  size_t pages_ = 0;  // of part_, and of what open_ adds to it
  RowRange open_;
};

}  // namespace

absl::StatusOr<DividedRanges> DivideRowRanges(const CellStore& store, TableId table, FamilyId family,
                                              const std::vector<RowRange>& ranges) {
  const CellStore::Moment moment(&store);
  DirectoryCursor directory(store, &moment, table);
  Division division;
  std::string last_page;  // its key
  for (size_t i = 0; i < ranges.size(); ++i) {
    const std::string start = StartOfPageRow(table, family, ranges[i].start);
    absl::StatusOr<DirectoryEntryRef> entry = directory.FindBefore(family, start);
    if (!entry.ok()) return entry.status();
    const bool reaches_in = *entry != nullptr && (*entry)->header.last_row_key >= ranges[i].start;
    division.BeginRange(ranges[i], reaches_in && (*entry)->key != last_page);
    if (reaches_in) last_page = (*entry)->key;
    entry = *entry == nullptr ? directory.FindFrom(family, start) : directory.After(*entry);
    while (entry.ok() && *entry != nullptr && ranges[i].Contains((*entry)->first.row_key)) {
      division.AddPage((*entry)->first.row_key);
      last_page = (*entry)->key;
      if (division.IsFull()) {
        std::vector<RowRange> rest(ranges.begin() + static_cast<std::ptrdiff_t>(i), ranges.end());
        rest.front() = division.open();
        return division.Finish(std::move(rest));
      }
      entry = directory.After(*entry);
    }
    if (!entry.ok()) return entry.status();
    division.EndRange();
  }
  return division.Finish({});
}

absl::StatusOr<std::vector<RangeStats>> MeasureRanges(const CellStore& store, TableId table) {
  std::vector<std::string> starts = FileStarts(store, table);
  starts.insert(starts.begin(), "");
  const absl::StatusOr<std::vector<uint64_t>> bytes = MeasureRowRanges(store, table, starts, "");
  if (!bytes.ok()) return bytes.status();
  std::vector<RangeStats> result;
  for (size_t i = 0; i < starts.size(); ++i) {
    result.push_back({i + 1 < starts.size() ? std::move(starts[i + 1]) : "", (*bytes)[i]});
  }
  return result;
}

}  // namespace sonde
