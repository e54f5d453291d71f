#include "engine/rocks/page_files.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/large_room.h"
#include "base/varint.h"
#include "cellblock/page.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/key.h"
#include "engine/rocks/store/page_key.h"
#include "rocksdb/sst_file_writer.h"

namespace sonde {
namespace {

constexpr size_t kCopyReadAheadBytes = size_t{1} << 20;
// The memory of a page that is copied, in sizes of the page: the block that it was read in, the block that it is
// written in, and that block as it goes to the disk.
constexpr int64_t kCopiedPageCopies = 3;

// Files of one column family, one after the other.
class FileSequence {
 public:
  FileSequence(const CellStore& target, CellStore::ColumnFamily which, const PageFilesOptions& options)
      : target_(target), which_(which), options_(options) {}

  absl::Status Put(rocksdb::Slice key, rocksdb::Slice value) {
    rocksdb::Status status;
    if (writer_ == nullptr) {
      rocksdb::ColumnFamilyHandle* const handle = target_.column_family(which_);
      writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(),
                                                         target_.db()->GetOptions(handle), handle);
      paths_.push_back(fmt::format("{}/{}-{:06}.sst", options_.directory,
                                   CellStore::ColumnFamilyNames()[which_], paths_.size()));
      status = writer_->Open(paths_.back());
    }
    if (status.ok()) status = writer_->Put(key, value);
    if (!status.ok()) return FromRocks(status, fmt::format("Writing {}", paths_.back()));
    return writer_->FileSize() < options_.file_bytes_max ? absl::OkStatus() : Finish();
  }

  absl::Status Finish() {
    if (writer_ == nullptr) return absl::OkStatus();
    const rocksdb::Status status = writer_->Finish();
    writer_.reset();
    return FromRocks(status, fmt::format("Writing {}", paths_.back()));
  }

  std::vector<std::string> TakePaths() { return std::move(paths_); }

 private:
  const CellStore& target_;
  const CellStore::ColumnFamily which_;
  const PageFilesOptions& options_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;  // null: no file is open
  std::vector<std::string> paths_;
};

// Goes along the directory of a table, and along its pages in step.
class PageCopy {
 public:
  PageCopy(const CellStore& source, TableId from, const CellStore& target, TableId into,
           const PageFilesOptions& options)
      : source_(source),
        target_(target),
        options_(options),
        start_(TableStart(from)),
        end_(TableStart(from + 1)),
        start_bound_(start_),
        end_bound_(end_),
        into_(TableStart(into)),
        pages_(target, CellStore::kPages, options),
        directory_(target, CellStore::kDirectory, options) {}

  absl::StatusOr<PageFiles> Run() {
    const std::unique_ptr<rocksdb::Iterator> entries = Iterate(CellStore::kDirectory);
    PageFiles files;
    int64_t bytes_all = 0;
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      const absl::StatusOr<PageHeader> header = ReadPageHeader(entries->value().ToStringView());
      if (!header.ok()) return header.status();
      bytes_all += static_cast<int64_t>(header->page_bytes);
    }
    if (options_.check_room != nullptr) {
      if (absl::Status status = options_.check_room(static_cast<uint64_t>(bytes_all)); !status.ok())
        return status;
    }
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      if (absl::Status status = CopyOne(*entries, &files.totals); !status.ok()) return status;
      if (options_.on_progress == nullptr) continue;
      const double done =
          bytes_all == 0 ? 1 : static_cast<double>(files.totals.bytes) / static_cast<double>(bytes_all);
      if (absl::Status status = options_.on_progress(done); !status.ok()) return status;
    }
    if (!entries->status().ok()) return FromRocks(entries->status(), "Reading the directory of pages");
    for (FileSequence* const sequence : {&pages_, &directory_}) {
      if (absl::Status status = sequence->Finish(); !status.ok()) return status;
    }
    files.pages = pages_.TakePaths();
    files.directory = directory_.TakePaths();
    return files;
  }

 private:
  static std::string TableStart(TableId table) {
    std::string key;
    PutFixed32(&key, table);
    return key;
  }

  std::unique_ptr<rocksdb::Iterator> Iterate(CellStore::ColumnFamily which) const {
    rocksdb::ReadOptions read;
    read.iterate_lower_bound = &start_bound_;
    read.iterate_upper_bound = &end_bound_;
    read.fill_cache = false;
    // Reading ahead would hold each long block twice.
    const bool is_large = source_.long_rows().longest() >= static_cast<uint64_t>(kLargeBytes);
    read.readahead_size = is_large ? 0 : kCopyReadAheadBytes;
    return std::unique_ptr<rocksdb::Iterator>(source_.db()->NewIterator(read, source_.column_family(which)));
  }

  absl::Status CopyOne(const rocksdb::Iterator& entry, PageTotals* totals) {
    std::string_view rest = entry.value().ToStringView();
    const absl::StatusOr<PageHeader> header = ReadPageHeader(rest);
    if (!header.ok()) return header.status();
    rest.remove_prefix(header->header_bytes);
    uint64_t checksum = 0;
    if (!GetFixed64(&rest, &checksum))
      return absl::DataLossError("An entry of the directory of pages is damaged");

    LargeRoom::Place place;
    const auto bytes = static_cast<int64_t>(header->page_bytes);
    if (bytes >= kLargeBytes && target_.large_room() != nullptr) {
      place = target_.large_room()->TakeSurely(kCopiedPageCopies * bytes, LargeRoom::Turn::kAfterAll);
    }
    if (page_ == nullptr) {
      page_ = Iterate(CellStore::kPages);
      page_->SeekToFirst();
    } else {
      page_->Next();
    }
    if (!page_->status().ok()) return FromRocks(page_->status(), "Reading a page");
    const auto of_key = [&] { return Printable(entry.key().ToStringView()); };
    if (!page_->Valid() || page_->key() != entry.key()) {
      return absl::DataLossError(fmt::format("The page of the directory's key '{}' is missing", of_key()));
    }
    const std::string_view page = page_->value().ToStringView();
    if (page.size() != header->page_bytes || ChecksumOfPage(page) != checksum || !HasItsChecksum(page)) {
      return absl::DataLossError(
          fmt::format("The page with the key '{}' is not the one that the directory names", of_key()));
    }
    std::string key = into_;
    key.append(entry.key().ToStringView().substr(into_.size()));
    if (absl::Status status = pages_.Put(key, page_->value()); !status.ok()) return status;
    ++totals->pages;
    totals->cells += static_cast<int64_t>(header->cells);
    totals->bytes += bytes;
    return directory_.Put(key, entry.value());
  }

  const CellStore& source_;
  const CellStore& target_;
  const PageFilesOptions& options_;
  const std::string start_, end_;
  const rocksdb::Slice start_bound_, end_bound_;  // RocksDB keeps pointers to these
  const std::string into_;
  FileSequence pages_, directory_;
  std::unique_ptr<rocksdb::Iterator> page_;  // null before the first
};

}  // namespace

absl::StatusOr<PageFiles> WritePageFiles(const CellStore& source, TableId from, const CellStore& target,
                                         TableId into, const PageFilesOptions& options) {
  return PageCopy(source, from, target, into, options).Run();
}

}  // namespace sonde
