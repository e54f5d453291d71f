#include "engine/rocks/store/directory.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/varint.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/key.h"

namespace sonde {
namespace {

std::string TableKey(TableId table) {
  std::string key;
  PutFixed32(&key, table);
  return key;
}

absl::StatusOr<DirectoryEntryRef> EntryAt(const rocksdb::Iterator& iterator) {
  auto entry = std::make_shared<DirectoryEntry>();
  entry->key = iterator.key().ToString();
  if (!ParsePageKey(entry->key, &entry->first)) {
    return absl::DataLossError("A key of the directory of pages is damaged");
  }
  std::string_view value(iterator.value().data(), iterator.value().size());
  absl::StatusOr<PageHeader> header = ReadPageHeader(value);
  if (!header.ok()) return header.status();
  entry->header = *std::move(header);
  value.remove_prefix(entry->header.header_bytes);
  if (!GetFixed64(&value, &entry->checksum) || !value.empty()) {
    return absl::DataLossError("An entry of the directory of pages is damaged");
  }
  return entry;
}

rocksdb::Slice Slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

std::string EncodeDirectoryEntry(const PageHeader& header, std::string_view page) {
  std::string entry(page.substr(0, header.header_bytes));
  PutFixed64(&entry, ChecksumOfPage(page));
  return entry;
}

absl::Status PutPage(const CellStore& store, std::string_view key, const PageHeader& header,
                     std::string_view page, rocksdb::WriteBatch* batch) {
  rocksdb::Status status = batch->Put(store.column_family(CellStore::kPages), Slice(key), Slice(page));
  if (status.ok()) {
    status = batch->Put(store.column_family(CellStore::kDirectory), Slice(key),
                        EncodeDirectoryEntry(header, page));
  }
  return FromRocks(status, "Writing a page");
}

absl::Status DeletePage(const CellStore& store, std::string_view key, rocksdb::WriteBatch* batch) {
  rocksdb::Status status = batch->Delete(store.column_family(CellStore::kPages), Slice(key));
  if (status.ok()) status = batch->Delete(store.column_family(CellStore::kDirectory), Slice(key));
  return FromRocks(status, "Deleting a page");
}

DirectoryCursor::DirectoryCursor(const CellStore& store, const CellStore::Moment* moment, TableId table)
    : store_(store),
      moment_(moment),
      table_(table),
      table_start_(TableKey(table)),
      table_end_(TableKey(table + 1)),
      lower_bound_(table_start_),
      upper_bound_(table_end_) {}

rocksdb::Iterator& DirectoryCursor::iterator() {
  if (iterator_ == nullptr) {
    rocksdb::ReadOptions read;
    read.snapshot = moment_ == nullptr ? nullptr : moment_->snapshot();
    read.iterate_lower_bound = &lower_bound_;
    read.iterate_upper_bound = &upper_bound_;
    iterator_.reset(store_.db()->NewIterator(read, store_.column_family(CellStore::kDirectory)));
  }
  return *iterator_;
}

DirectoryCache::Neighbors DirectoryCursor::KnownBefore(FamilyId family, const std::string& key) const {
  if (moment_ == nullptr || !moment_->pages_version().has_value()) return {};
  return store_.directory_cache()->FindBefore(*moment_->pages_version(), table_, family, key);
}

void DirectoryCursor::Remember(DirectoryEntryRef before, DirectoryEntryRef after) const {
  if (moment_ == nullptr || !moment_->pages_version().has_value()) return;
  store_.directory_cache()->Put(*moment_->pages_version(), {std::move(before), std::move(after)});
}

absl::StatusOr<DirectoryEntryRef> DirectoryCursor::FindBefore(FamilyId family, const std::string& key) {
  if (const DirectoryCache::Neighbors known = KnownBefore(family, key); known.known()) return known.before;
  iterator().SeekForPrev(key);
  if (iterator().Valid() && iterator().key() == rocksdb::Slice(key)) iterator().Prev();
  return Here(family);
}

absl::StatusOr<DirectoryEntryRef> DirectoryCursor::FindFrom(FamilyId family, const std::string& key) {
  if (const DirectoryCache::Neighbors known = KnownBefore(family, key); known.known()) return known.after;
  iterator().Seek(key);
  return Here(family);
}

absl::StatusOr<DirectoryEntryRef> DirectoryCursor::After(const DirectoryEntryRef& entry) {
  if (moment_ != nullptr && moment_->pages_version().has_value()) {
    const auto known = store_.directory_cache()->FindAt(*moment_->pages_version(), entry->key);
    if (known.known()) return known.after;
  }
  const rocksdb::Slice key(entry->key);
  if (!iterator().Valid() || iterator().key() != key) iterator().Seek(key);
  if (iterator().Valid() && iterator().key() == key) iterator().Next();
  absl::StatusOr<DirectoryEntryRef> after = Here(entry->first.family);
  if (after.ok()) Remember(entry, *after);
  return after;
}

absl::StatusOr<DirectoryEntryRef> DirectoryCursor::Before(const DirectoryEntryRef& entry) {
  const rocksdb::Slice key(entry->key);
  const bool is_there = iterator_ != nullptr && iterator_->Valid() && iterator_->key() == key;
  if (is_there) iterator_->Prev();
  absl::StatusOr<DirectoryEntryRef> before =
      is_there ? Here(entry->first.family) : FindBefore(entry->first.family, entry->key);
  if (before.ok() && *before != nullptr) Remember(*before, entry);
  return before;
}

absl::StatusOr<std::vector<FamilyId>> DirectoryCursor::Families() {
  std::vector<FamilyId> families;
  rocksdb::Iterator& it = iterator();
  for (it.SeekToFirst(); it.Valid(); it.Seek(EndOfPages(table_, families.back()))) {
    std::string_view key(it.key().data(), it.key().size());
    key.remove_prefix(table_start_.size());
    if (!TakeFamily(&key, &families.emplace_back())) {
      return absl::DataLossError("A key of the directory of pages is damaged");
    }
  }
  if (!it.status().ok()) return FromRocks(it.status(), "Reading the directory of pages");
  return families;
}

absl::StatusOr<DirectoryEntryRef> DirectoryCursor::Here(FamilyId family) {
  if (!iterator_->Valid()) {
    if (!iterator_->status().ok()) return FromRocks(iterator_->status(), "Reading the directory of pages");
    return nullptr;
  }
  absl::StatusOr<DirectoryEntryRef> entry = EntryAt(*iterator_);
  if (entry.ok() && (*entry)->first.family != family) return nullptr;
  return entry;
}

DirectoryWalk::DirectoryWalk(const CellStore& store, const std::string& after)
    : iterator_(store.db()->NewIterator(rocksdb::ReadOptions(), store.column_family(CellStore::kDirectory))) {
  iterator_->Seek(after.empty() ? TableKey(1) : Successor(after));
}

absl::StatusOr<DirectoryEntryRef> DirectoryWalk::Next() {
  if (!iterator_->Valid()) {
    if (!iterator_->status().ok()) return FromRocks(iterator_->status(), "Reading the directory of pages");
    return nullptr;
  }
  absl::StatusOr<DirectoryEntryRef> entry = EntryAt(*iterator_);
  if (entry.ok()) iterator_->Next();
  return entry;
}

namespace {

// About how many bytes of a page a cursor decodes at a time.
constexpr size_t kCursorBytes = size_t{256} << 10;

absl::StatusOr<std::unique_ptr<OpenPage>> TakeOrRead(const CellStore& store,
                                                     const rocksdb::Snapshot* snapshot,
                                                     const DirectoryEntry& entry) {
  if (std::unique_ptr<OpenPage> page = store.page_cache()->Take(entry.checksum); page != nullptr) return page;
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  read.fill_cache = false;  // it is kept open instead
  std::string bytes;
  const rocksdb::Status status =
      store.db()->Get(read, store.column_family(CellStore::kPages), entry.key, &bytes);
  const auto of_row = [&] {
    return fmt::format("of table {}, family {}, from row '{}' on", entry.first.table, entry.first.family,
                       Printable(entry.first.row_key));
  };
  if (status.IsNotFound()) return absl::DataLossError("A page is missing: " + of_row());
  if (!status.ok()) return FromRocks(status, "Reading a page " + of_row());
  absl::StatusOr<std::unique_ptr<OpenPage>> page = OpenPage::Open(std::move(bytes));
  if (!page.ok())
    return absl::DataLossError(fmt::format("{}: {}", std::string(page.status().message()), of_row()));
  if ((*page)->Checksum() != entry.checksum) {
    return absl::DataLossError("A page is not the one that the directory names: " + of_row());
  }
  return page;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OpenPage>> LoadPage(const CellStore& store, const rocksdb::Snapshot* snapshot,
                                                   const DirectoryEntry& entry) {
  PageBudget* const budget = store.page_budget();
  if (absl::Status status = budget->CheckRoom(); snapshot != nullptr && !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<OpenPage>> page = TakeOrRead(store, snapshot, entry);
  if (page.ok()) (*page)->loan = budget->Lend((*page)->MemoryBytes() + kCursorBytes);
  return page;
}

}  // namespace sonde
