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

absl::StatusOr<std::vector<uint64_t>> MeasureRowRanges(const CellStore& store, TableId table,
                                                       const std::vector<std::string>& starts,
                                                       const std::string& end) {
  DirectoryCursor directory(store, /*snapshot=*/nullptr, table);
  const absl::StatusOr<std::vector<FamilyId>> families = directory.Families();
  if (!families.ok()) return families.status();
  std::vector<uint64_t> result;
  result.reserve(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const RowRange range{starts[i], i + 1 < starts.size() ? starts[i + 1] : end};
    uint64_t& bytes = result.emplace_back(0);
    absl::Status status;
    for (const auto head : {CellStore::kFirstHead, CellStore::kSecondHead}) {
      if (status.ok()) {
        status = AddSize(store, store.column_family(head), StartOfRange(table, range),
                         EndOfRange(table, range), &bytes);
      }
    }
    for (const FamilyId family : *families) {
      if (status.ok()) {
        status = AddSize(
            store, store.column_family(CellStore::kPages), StartOfPageRow(table, family, range.start),
            range.end.empty() ? EndOfPages(table, family) : StartOfPageRow(table, family, range.end), &bytes);
      }
    }
    if (!status.ok()) return status;
  }
  return result;
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
