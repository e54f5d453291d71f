#include "engine/rocks/range_sizes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/rocks/directory.h"
#include "engine/rocks/key.h"
#include "engine/rocks/page_key.h"
#include "engine/rocks/rocks_status.h"

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

absl::Status AddSize(const CellStore& store, rocksdb::ColumnFamilyHandle* column_family,
                     const std::string& from, const std::string& to, uint64_t* bytes) {
  const rocksdb::Range keys(from, to);
  rocksdb::SizeApproximationOptions what;
  what.include_memtables = true;
  uint64_t size = 0;
  const rocksdb::Status status = store.db()->GetApproximateSizes(what, column_family, &keys, 1, &size);
  *bytes += size;
  return FromRocks(status, "Measuring a table");
}

}  // namespace

absl::StatusOr<std::vector<RangeStats>> MeasureRanges(const CellStore& store, TableId table) {
  DirectoryCursor directory(store, /*snapshot=*/nullptr, table);
  const absl::StatusOr<std::vector<FamilyId>> families = directory.Families();
  if (!families.ok()) return families.status();
  std::vector<std::string> row_keys = FileStarts(store, table);
  row_keys.emplace_back();  // the end

  std::vector<RangeStats> result;
  std::string start;
  for (std::string& end : row_keys) {
    const RowRange range{start, end};
    RangeStats& stats = result.emplace_back();
    absl::Status status;
    for (const auto head : {CellStore::kFirstHead, CellStore::kSecondHead}) {
      if (status.ok()) {
        status = AddSize(store, store.column_family(head), StartOfRange(table, range),
                         EndOfRange(table, range), &stats.bytes);
      }
    }
    for (const FamilyId family : *families) {
      if (status.ok()) {
        status = AddSize(store, store.column_family(CellStore::kPages), StartOfPageRow(table, family, start),
                         end.empty() ? EndOfPages(table, family) : StartOfPageRow(table, family, end),
                         &stats.bytes);
      }
    }
    if (!status.ok()) return status;
    start = end;
    stats.end_key = std::move(end);
  }
  return result;
}

}  // namespace sonde
