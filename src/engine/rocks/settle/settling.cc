#include "engine/rocks/settle/settling.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/settle/page_output.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine/rocks/store/rocks_settings.h"
#include "model/expiring_family.h"
#include "model/limits.h"
#include "rocksdb/convenience.h"

namespace sonde {
namespace {

// The memory of a step at most, in sizes of its longest entry: as it was read, as the cells of a page, the
// page, the batch, and the write buffer.  Then, without the first three, the memory of a flush
// (kLargeWriteCopies).
constexpr int64_t kLargeStepCopies = 6;

constexpr size_t kReadAheadBytes = size_t{1} << 20;
// A step goes on to where a page begins, but no further than this many times its limits.
constexpr size_t kStepStretch = 2;
// So much of a page must be forgotten before it is made again for that alone.
constexpr double kForgottenShare = 0.5;

// Whether the header says that it is worth making the page again without what is forgotten.
bool IsMostlyForgotten(const PageHeader& header, const GcRuleEvaluator& rule) {
  const std::optional<int64_t> oldest_kept = rule.OldestKeptMicros();
  const auto min = static_cast<double>(header.timestamp_micros_min);
  const auto max = static_cast<double>(header.timestamp_micros_max);
  if (oldest_kept.has_value() && static_cast<double>(*oldest_kept) - min > kForgottenShare * (max - min) &&
      *oldest_kept > header.timestamp_micros_min) {
    return true;
  }
  // No page has more columns of rows than this, each with so many versions.
  const auto columns = static_cast<double>(header.rows) * static_cast<double>(header.columns);
  return rule.VersionsMax().has_value() && static_cast<double>(header.cells) * (1 - kForgottenShare) >
                                               columns * static_cast<double>(*rule.VersionsMax());
}

}  // namespace

LargeRoom::Place Settling::TakeLargeRoom() const {
  LargeRoom* const room = store_->large_room();
  const auto most = static_cast<int64_t>(store_->long_rows().MostOfRow());
  if (room == nullptr || most < kLargeBytes) return {};
  const auto longest = static_cast<int64_t>(store_->long_rows().longest());
  // While the head is read, a block of each of its tables is there, and what was read.
  uint64_t tables = 0;
  if (!store_->db()->GetIntProperty(store_->resting_head(), "rocksdb.num-files-at-level0", &tables))
    tables = 0;
  const int64_t copies = std::max(kLargeStepCopies, static_cast<int64_t>(tables) + 1);
  return room->TakeSurely(copies * longest, LargeRoom::Turn::kAfterAll);
}

absl::StatusOr<bool> Settling::Step() {
  const LargeRoom::Place place = TakeLargeRoom();
  const absl::MutexLock lock(&mutex_);
  return StepLocked();
}

absl::Status Settling::Switch(const std::function<absl::Status()>& after_step) {
  while (true) {
    {
      const LargeRoom::Place place = TakeLargeRoom();
      const absl::MutexLock lock(&mutex_);  // not held from step to step: others wait for it
      absl::StatusOr<bool> more = StepLocked();
      if (!more.ok()) return more.status();
      if (!*more) {
        position_.clear();
        if (absl::Status status = store_->SwitchHeads(); !status.ok()) return status;
        break;
      }
    }
    if (!after_step) continue;
    if (absl::Status status = after_step(); !status.ok()) return status;
  }
  return store_->FlushRestingHead();
}

absl::Status Settling::Finish(const std::function<absl::Status()>& after_step) {
  while (true) {
    absl::StatusOr<bool> more = Step();
    if (!more.ok()) return more.status();
    if (!*more) return store_->CompactRestingHead();
    if (!after_step) continue;
    if (absl::Status status = after_step(); !status.ok()) return status;
  }
}

absl::StatusOr<bool> Settling::StepLocked() {
  arena_.Clear();
  Taken taken;
  if (absl::Status status = Take(&taken); !status.ok()) return status;
  if (taken.first_key.empty()) return false;

  const bool is_large = taken.bytes >= static_cast<size_t>(kLargeBytes) &&
                        static_cast<int64_t>(store_->long_rows().longest()) >= kLargeBytes;
  // A string that grows by itself may take twice its size.
  constexpr size_t kBatchRestBytes = size_t{1} << 20;
  rocksdb::WriteBatch batch(is_large ? std::min(taken.bytes, 2 * kValueBytesMax) + kBatchRestBytes : 0);
  DirectoryCursor directory(*store_, /*moment=*/nullptr, taken.table);
  for (const auto& [family, _] : taken.families) {
    if (absl::Status status = SettleFamily(&directory, taken, family, &batch); !status.ok()) return status;
  }
  // Tokens and the like are no cells of a page: they go on in the open head until they expire.  Nobody
  // deletes them, so that it does not matter if they come after younger edits there.
  rocksdb::ColumnFamilyHandle* const open_head = store_->head(store_->OpenHeadIndex());
  rocksdb::Status status;
  for (const auto& [key, fragment] : taken.expiring) {
    if (status.ok()) {
      status = batch.Merge(open_head, rocksdb::Slice(key.data(), key.size()),
                           rocksdb::Slice(fragment.data(), fragment.size()));
    }
  }
  const std::string end = taken.last_key + '\0';
  if (status.ok()) status = batch.DeleteRange(store_->resting_head(), taken.first_key, end);
  if (!status.ok()) return FromRocks(status, "Settling rows");
  {
    const CellStore::PagesChange change(store_);
    if (absl::Status written = store_->Write(&batch, "Settling rows"); !written.ok()) return written;
  }
  position_ = end;
  if (is_large) {
    taken = Taken();
    batch = rocksdb::WriteBatch();
    arena_ = codec::ByteArena();
    store_->FlushLarge();
  }
  const absl::MutexLock lock(&counts_mutex_);
  ++counts_.steps;
  return true;
}

absl::Status Settling::Take(Taken* taken) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  // Reading ahead would hold each long block of each table twice.
  const bool is_large = static_cast<int64_t>(store_->long_rows().longest()) >= kLargeBytes;
  read.readahead_size = is_large ? 0 : kReadAheadBytes;
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator(read, store_->resting_head()));
  std::string row_prefix, row_key;
  std::vector<std::string_view> fragments;
  std::optional<std::string> boundary;  // once there is enough: a row before which to stop
  const FragmentsApart apart;
  for (it->Seek(position_); it->Valid();) {
    ParsedKey key;
    if (!ParseKey(it->key().ToStringView(), &key)) return absl::DataLossError("A stored key is damaged");
    if (key.row_prefix != row_prefix) {
      if (!taken->first_key.empty() && key.table != taken->table) break;
      row_prefix = key.row_prefix;
      DecodeRowKey(row_prefix, &row_key);
      const size_t fill =
          std::max(taken->cells / options_.step_cells_max, taken->bytes / options_.step_bytes_max);
      if (fill >= kStepStretch || (boundary.has_value() && row_key >= *boundary)) break;
      if (fill >= 1 && !boundary.has_value()) {
        if (taken->families.empty()) break;
        DirectoryCursor directory(*store_, /*moment=*/nullptr, taken->table);
        absl::StatusOr<DirectoryEntryRef> page =
            directory.FindFrom(key.family, StartOfPageRow(taken->table, key.family, row_key));
        if (!page.ok()) return page.status();
        if (*page == nullptr) break;
        boundary = (*page)->first.row_key;
        if (row_key >= *boundary) break;
      }
    }
    if (taken->first_key.empty()) {
      taken->first_key = it->key().ToString();
      taken->table = key.table;
    }
    taken->last_key = it->key().ToString();
    absl::Status status;
    if (IsLongEntry(it->value().ToStringView())) {
      it->Next();  // which lets its blocks go
      status = TakeLongEntry(key.family, row_key, taken);
    } else {
      fragments.clear();
      if (!AppendFragments(Keep(it->value().ToStringView()), &fragments)) {
        return absl::DataLossError("A stored row is damaged");
      }
      status = TakeEntry(key.family, row_key, fragments, taken);
      it->Next();
    }
    if (!status.ok()) return status;
  }
  return FromRocks(it->status(), "Reading rows that are to settle");
}

absl::Status Settling::TakeEntry(FamilyId family, std::string_view row_key,
                                 absl::Span<const std::string_view> fragments, Taken* taken) {
  if (store_->IsDropped(taken->table, family)) return absl::OkStatus();
  if (IsExpiringFamily(family)) {
    if (IsExpired(family, options_.now_micros())) return absl::OkStatus();
    const std::string_view key = Keep(taken->last_key);
    for (const std::string_view fragment : fragments) {
      taken->expiring.emplace_back(key, fragment);
      taken->bytes += fragment.size();
    }
    return absl::OkStatus();
  }
  const TableShapes shapes(store_->shapes(), taken->table);
  RowEdits edits{.row_key = Keep(row_key)};
  for (const std::string_view fragment : fragments) {
    absl::Status status = DecodeFragment(fragment, shapes, {.keys_only = true}, &scratch_);
    if (!status.ok()) return status;
    edits.fragments.push_back(fragment);
    edits.cells += scratch_.puts.size() + scratch_.adds.size();
    taken->adds = taken->adds || !scratch_.adds.empty();
    taken->bytes += fragment.size();
  }
  taken->cells += edits.cells + 1;  // a row of nothing but deletes counts, too
  taken->families[family].push_back(std::move(edits));
  return absl::OkStatus();
}

// Its fragments stay where they are, in the block cache, which counts them.
absl::Status Settling::TakeLongEntry(FamilyId family, std::string_view row_key, Taken* taken) {
  std::vector<std::string_view> fragments;
  absl::Status status = taken->long_entries.emplace_back().FindLong(
      store_->db(), store_->resting_head(), /*snapshot=*/nullptr, taken->last_key, &fragments);
  return status.ok() ? TakeEntry(family, row_key, fragments, taken) : status;
}

std::string_view Settling::Keep(std::string_view bytes) {
  char* const to = arena_.Reserve(bytes.size());
  std::copy(bytes.begin(), bytes.end(), to);
  arena_.Commit(bytes.size());
  return {to, bytes.size()};
}

absl::Status Settling::SettleFamily(DirectoryCursor* directory, const Taken& taken, FamilyId family,
                                    rocksdb::WriteBatch* batch) {
  FamilySettling settling(store_, directory, family, rules_(taken.table, family), options_.page, batch);
  if (!taken.long_entries.empty() && !taken.adds) {
    settling.set_write_part([this, batch] {
      if (batch->GetDataSize() < options_.step_bytes_max) return absl::OkStatus();
      const CellStore::PagesChange change(store_);
      absl::Status status = store_->Write(batch, "Settling rows");
      if (status.ok()) batch->Clear();
      return status;
    });
  }
  absl::Status status = settling.Run(taken.families.at(family));
  if (status.ok()) Count(settling.counts());
  return status;
}

void Settling::Count(const FamilySettling::Counts& counts) {
  const absl::MutexLock lock(&counts_mutex_);
  counts_.cells_in += counts.cells_in;
  counts_.cells_old += counts.cells_old;
  counts_.cells_forgotten += counts.cells_forgotten;
  counts_.bytes_forgotten += counts.bytes_forgotten;
  counts_.pages += counts.out.pages;
  counts_.page_bytes += counts.out.bytes;
  totals_.pages += static_cast<int64_t>(counts.out.pages) - static_cast<int64_t>(counts.pages_old);
  totals_.cells += static_cast<int64_t>(counts.out.cells) - static_cast<int64_t>(counts.cells_old);
  totals_.bytes += static_cast<int64_t>(counts.out.bytes) - static_cast<int64_t>(counts.bytes_old);
}

absl::StatusOr<bool> Settling::Visit(size_t pages_max, VisitPlace* place) {
  const absl::MutexLock lock(&mutex_);
  DirectoryWalk walk(*store_, place->key);
  rocksdb::WriteBatch batch;
  PageTotals expired;
  std::optional<std::pair<TableId, FamilyId>> of_rule;
  GcRuleEvaluator rule;
  bool more = true;
  for (size_t i = 0; i < pages_max && more; ++i) {
    absl::StatusOr<DirectoryEntryRef> entry = walk.Next();
    if (!entry.ok()) return entry.status();
    if (*entry == nullptr) {
      more = false;
      break;
    }
    const DirectoryEntry& page = **entry;
    place->key = page.key;
    ++place->visited;
    const std::pair<TableId, FamilyId> of_page(page.first.table, page.first.family);
    if (of_rule != of_page) {
      of_rule = of_page;
      rule = rules_(of_page.first, of_page.second);
    }
    const std::optional<int64_t> oldest_kept = rule.OldestKeptMicros();
    if (oldest_kept.has_value() && page.header.timestamp_micros_max < *oldest_kept) {
      if (absl::Status status = DeletePage(*store_, page.key, &batch); !status.ok()) return status;
      ++expired.pages;
      expired.cells += static_cast<int64_t>(page.header.cells);
      expired.bytes += static_cast<int64_t>(page.header.page_bytes);
      continue;
    }
    ++place->totals.pages;
    place->totals.cells += static_cast<int64_t>(page.header.cells);
    place->totals.bytes += static_cast<int64_t>(page.header.page_bytes);
    if (!IsMostlyForgotten(page.header, rule)) continue;
    DirectoryCursor directory(*store_, /*moment=*/nullptr, of_page.first);
    FamilySettling settling(store_, &directory, of_page.second, rule, options_.page, &batch);
    if (absl::Status status = settling.Rewrite(*entry); !status.ok()) return status;
    Count(settling.counts());
    break;  // its neighbour may be part of it by now: the rest with the next call
  }
  {
    const CellStore::PagesChange change(store_);
    if (absl::Status status = store_->Write(&batch, "Dropping what is forgotten"); !status.ok())
      return status;
  }
  const absl::MutexLock counts_lock(&counts_mutex_);
  counts_.pages_expired += static_cast<uint64_t>(expired.pages);
  counts_.cells_expired += static_cast<uint64_t>(expired.cells);
  counts_.bytes_expired += static_cast<uint64_t>(expired.bytes);
  if (!more) totals_ = place->totals;
  return more;
}

absl::Status Settling::DropRange(TableId table, const RowRange& range) {
  const absl::MutexLock lock(&mutex_);
  rocksdb::WriteBatch batch;
  const std::string start = StartOfRange(table, range), end = EndOfRange(table, range);
  store_->NoteDrop(start, end);
  rocksdb::Status status;
  for (size_t i = 0; i < 2 && status.ok(); ++i) status = batch.DeleteRange(store_->head(i), start, end);
  if (!status.ok()) return FromRocks(status, "Dropping a range of rows");
  DirectoryCursor directory(*store_, /*moment=*/nullptr, table);
  const absl::StatusOr<std::vector<FamilyId>> families = directory.Families();
  if (!families.ok()) return families.status();
  for (const FamilyId family : *families) {
    if (absl::Status dropped = DropRows(&directory, family, range, &batch); !dropped.ok()) return dropped;
  }
  const CellStore::PagesChange change(store_);
  absl::Status written = store_->Write(&batch, "Dropping a range of rows");
  if (written.ok()) store_->FlushLargeHeads();
  ++drops_;
  return written;
}

// The pages inside go as they are; of those at the ends, the other rows are written again.
absl::Status Settling::DropRows(DirectoryCursor* directory, FamilyId family, const RowRange& range,
                                rocksdb::WriteBatch* batch) {
  const TableId table = directory->table();
  const std::string start = StartOfPageRow(table, family, range.start);
  const std::string end =
      range.end.empty() ? EndOfPages(table, family) : StartOfPageRow(table, family, range.end);
  absl::StatusOr<DirectoryEntryRef> first = directory->FindBefore(family, start);
  if (!first.ok()) return first.status();
  if (*first != nullptr && (*first)->header.last_row_key < range.start) first->reset();
  absl::StatusOr<DirectoryEntryRef> last = directory->FindBefore(family, end);
  if (!last.ok()) return last.status();
  if (*last != nullptr && (range.end.empty() || (*last)->header.last_row_key < range.end)) last->reset();

  rocksdb::Status status;
  for (const auto which : {CellStore::kPages, CellStore::kDirectory}) {
    if (status.ok()) status = batch->DeleteRange(store_->column_family(which), start, end);
  }
  if (!status.ok()) return FromRocks(status, "Dropping a range of rows");
  if (*first != nullptr) {  // the last one begins inside
    if (absl::Status deleted = DeletePage(*store_, (*first)->key, batch); !deleted.ok()) return deleted;
  }
  PageOutput output(store_, table, family, options_.page, batch);
  const auto keep = [&](const DirectoryEntry& entry, RowRange rows) -> absl::Status {
    absl::StatusOr<std::unique_ptr<OpenPage>> page = LoadPage(*store_, /*snapshot=*/nullptr, entry);
    if (!page.ok()) return page.status();
    PageCursor cursor((*page)->reader.get(), std::move(rows), {}, /*reverse=*/false);
    RowPiece piece;
    while (true) {
      absl::StatusOr<bool> more = cursor.Next(&piece);
      if (!more.ok()) return more.status();
      if (!*more) return absl::OkStatus();
      if (absl::Status added = output.Add(piece.row_key, piece.cells); !added.ok()) return added;
    }
  };
  if (*first != nullptr) {
    if (absl::Status kept = keep(**first, {"", range.start}); !kept.ok()) return kept;
    if (absl::Status finished = output.Finish(); !finished.ok()) return finished;
  }
  if (*last != nullptr) {
    if (absl::Status kept = keep(**last, {range.end, ""}); !kept.ok()) return kept;
  }
  return output.Finish();
}

absl::Status Settling::FreeFamily(TableId table, FamilyId family) {
  const absl::MutexLock lock(&mutex_);
  return Free(StartOfPages(table, family), EndOfPages(table, family), CellStore::kPages);
}

absl::Status Settling::FreeTable(TableId table) {
  const absl::MutexLock lock(&mutex_);
  const std::string start = StartOfRange(table, RowRange::All()), end = EndOfRange(table, RowRange::All());
  store_->NoteDrop(start, end);
  absl::Status status = Free(start, end, CellStore::kFirstHead);
  if (status.ok()) store_->FlushLargeHeads();
  return status;
}

absl::Status Settling::TakeIn(const std::vector<std::string>& pages,
                              const std::vector<std::string>& directory, const PageTotals& totals) {
  if (pages.empty()) return absl::OkStatus();
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  std::vector<rocksdb::IngestExternalFileArg> args(2);
  args[0].column_family = store_->column_family(CellStore::kPages);
  args[0].external_files = pages;
  args[1].column_family = store_->column_family(CellStore::kDirectory);
  args[1].external_files = directory;
  for (rocksdb::IngestExternalFileArg& arg : args) arg.options = options;
  const absl::MutexLock lock(&mutex_);
  {
    const CellStore::PagesChange change(store_);
    const rocksdb::Status status = store_->db()->IngestExternalFiles(args);
    if (!status.ok()) return FromRocks(status, "Taking in restored pages");
  }
  const absl::MutexLock counts_lock(&counts_mutex_);
  totals_.pages += totals.pages;
  totals_.cells += totals.cells;
  totals_.bytes += totals.bytes;
  return absl::OkStatus();
}

// Frees ranges that nobody may read any more, from the column family `first` to the directory.  Deleted
// tables take their deletes along, and so the deletes of deeper entries in other tables.  So all entries are
// deleted before.
absl::Status Settling::Free(const std::string& start, const std::string& end, CellStore::ColumnFamily first) {
  rocksdb::Status status;
  {
    const CellStore::PagesChange change(store_);
    for (size_t i = first; i <= CellStore::kDirectory && status.ok(); ++i) {
      status = store_->db()->DeleteRange(
          SyncedWrite(), store_->column_family(static_cast<CellStore::ColumnFamily>(i)), start, end);
    }
  }
  ++drops_;
  if (status.ok() && store_->ReadersSeePages()) {
    const rocksdb::Slice start_slice(start), end_slice(end);
    for (size_t i = first; i <= CellStore::kDirectory && status.ok(); ++i) {
      status = rocksdb::DeleteFilesInRange(store_->db(),
                                           store_->column_family(static_cast<CellStore::ColumnFamily>(i)),
                                           &start_slice, &end_slice, /*include_end=*/false);
    }
  }
  return FromRocks(status, "Freeing the space of what was dropped");
}

absl::StatusOr<std::optional<std::pair<std::string, std::string>>> Settling::FreeTables(
    const std::string& first, const std::string& last) {
  const absl::MutexLock lock(&mutex_);
  if (!store_->ReadersSeePages()) return std::nullopt;
  std::pair<std::string, std::string> between("", std::string(8, '\xff'));
  {
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> it(
        store_->db()->NewIterator(read, store_->column_family(CellStore::kDirectory)));
    it->SeekForPrev(last);
    if (it->Valid() && it->key().ToStringView() >= first) return std::nullopt;
    if (it->Valid()) between.first = it->key().ToString() + '\0';
    if (it->status().ok()) it->Seek(last);
    if (it->Valid()) between.second = it->key().ToString();
    if (!it->status().ok()) return FromRocks(it->status(), "Reading the directory of pages");
  }
  // As in Free.  And what the directory knows must be on the disk as soon as the tables are not.
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const pages = store_->column_family(CellStore::kPages);
  rocksdb::Status status = batch.DeleteRange(pages, between.first, between.second);
  if (status.ok()) {
    absl::Status written = store_->Write(&batch, "Freeing the space of pages");
    if (!written.ok()) return written;
    status = store_->db()->SyncWAL();
  }
  const rocksdb::Slice start(between.first), end(between.second);
  if (status.ok()) {
    status = rocksdb::DeleteFilesInRange(store_->db(), pages, &start, &end, /*include_end=*/false);
  }
  if (!status.ok()) return FromRocks(status, "Freeing the space of pages");
  return between;
}

SettlingCounts Settling::counts() const {
  const absl::MutexLock lock(&counts_mutex_);
  return counts_;
}

PageTotals Settling::page_totals() const {
  const absl::MutexLock lock(&counts_mutex_);
  return totals_;
}

}  // namespace sonde
