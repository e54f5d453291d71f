#include "engine/rocks/rocks_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>

#include "engine/engine_errors.h"
#include "model/row_range.h"

namespace sonde {
namespace {

constexpr char kBeforeTable = '@';
// The suffix of a snapshot that is not done, or not any more.
constexpr char kUnfinishedSuffix[] = ".part";
// About how many bytes are restored in one commit.
constexpr size_t kRestoredBytesMax = size_t{4} << 20;

// nullopt: no directory of a snapshot, or one that is not done.
std::optional<Snapshots::Facts> ParseDirectory(const std::string& directory) {
  const size_t at = directory.rfind(kBeforeTable);
  if (at == std::string::npos) return std::nullopt;
  Snapshots::Facts facts{.name = directory.substr(0, at)};
  const char* const end = directory.data() + directory.size();
  const auto [parsed, error] = std::from_chars(directory.data() + at + 1, end, facts.table);
  if (error != std::errc() || parsed != end || !CheckSnapshotName(facts.name).ok()) return std::nullopt;
  return facts;
}

uint64_t BytesBelow(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (const uint64_t size = entry.file_size(error); !error) bytes += size;
  }
  return bytes;
}

// Rows on their way into another table.
class RestoredRows {
 public:
  RestoredRows(RowStore* store, TableId into, absl::Time deadline)
      : store_(store), into_(into), options_{.deadline = deadline} {}

  // Copies the piece.
  absl::Status Add(const RowPiece& piece) {
    size_t bytes = piece.row_key.size();
    for (const CellView& cell : piece.cells) bytes += cell.qualifier.size() + cell.value.size();
    auto& copy = copies_.emplace_back(std::make_unique<std::string>());
    copy->reserve(bytes);  // so that nothing moves
    const auto keep = [&](std::string_view view) {
      copy->append(view);
      return std::string_view(*copy).substr(copy->size() - view.size());
    };
    RowChange change{keep(piece.row_key), {}};
    FamilyDelta& family = change.delta.families.emplace_back();
    family.family = piece.family;
    for (const CellView& cell : piece.cells)
      family.puts.push_back({keep(cell.qualifier), cell.timestamp_micros, keep(cell.value)});
    changes_.push_back(std::move(change));
    bytes_ += bytes;
    return bytes_ < kRestoredBytesMax ? absl::OkStatus() : Write();
  }
  absl::Status Write() {
    absl::Status status = store_->Apply(into_, changes_, options_);
    changes_.clear();
    copies_.clear();
    bytes_ = 0;
    return status;
  }

 private:
  RowStore* const store_;
  const TableId into_;
  const WriteOptions options_;
  std::vector<std::unique_ptr<std::string>> copies_;  // what the changes view
  std::vector<RowChange> changes_;
  size_t bytes_ = 0;
};

}  // namespace

std::string RocksSnapshots::PathOf(const Facts& snapshot) const {
  return fmt::format("{}/{}{}{}", directory_, snapshot.name, kBeforeTable, snapshot.table);
}

absl::StatusOr<std::vector<Snapshots::Facts>> RocksSnapshots::ListAll() const {
  std::vector<Facts> all;
  std::error_code error;
  std::filesystem::directory_iterator entries(directory_, error);
  if (error == std::errc::no_such_file_or_directory) return all;
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::optional<Facts> facts = ParseDirectory(entries->path().filename().string());
    if (facts.has_value()) all.push_back(*std::move(facts));
  }
  if (error) return absl::UnavailableError(fmt::format("Listing {}: {}", directory_, error.message()));
  std::sort(all.begin(), all.end(), [](const Facts& a, const Facts& b) { return a.name < b.name; });
  return all;
}

std::optional<std::string> RocksSnapshots::Find(std::string_view name) const {
  const absl::StatusOr<std::vector<Facts>> all = ListAll();
  if (!all.ok()) return std::nullopt;
  for (const Facts& facts : *all) {
    if (facts.name == name) return PathOf(facts);
  }
  return std::nullopt;
}

absl::Status RocksSnapshots::Make(std::string_view name, TableId table, absl::Time deadline) {
  if (absl::Status status = CheckSnapshotName(name); !status.ok()) return status;
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  if (Find(name).has_value()) return HasSnapshot(name);
  std::error_code error;
  std::filesystem::create_directory(directory_, error);
  if (error) {
    return absl::FailedPreconditionError(fmt::format("Making {}: {}", directory_, error.message()));
  }
  const std::string path = PathOf({.name = std::string(name), .table = table});
  std::filesystem::remove_all(path + kUnfinishedSuffix, error);  // a crash may have left one
  return copies_.make(table, path);
}

absl::StatusOr<std::vector<Snapshots::Facts>> RocksSnapshots::List(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  absl::StatusOr<std::vector<Facts>> all = ListAll();
  if (!all.ok()) return all;
  for (Facts& facts : *all) facts.bytes = BytesBelow(PathOf(facts));
  return all;
}

absl::Status RocksSnapshots::Restore(std::string_view name, TableId into, absl::Time deadline) {
  const std::optional<std::string> path = Find(name);
  if (!path.has_value()) return NoSnapshot(name);
  const absl::StatusOr<std::unique_ptr<RowStore>> copy = copies_.open(*path);
  if (!copy.ok()) return copy.status();
  absl::StatusOr<std::unique_ptr<RowStream>> stream =
      (*copy)->Scan(ParseDirectory(std::filesystem::path(*path).filename().string())->table,
                    {RowRange::All()}, {.deadline = deadline});
  if (!stream.ok()) return stream.status();
  RestoredRows rows(store_, into, deadline);
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) return rows.Write();
    if (absl::Status status = rows.Add(piece); !status.ok()) return status;
  }
}

absl::Status RocksSnapshots::Drop(std::string_view name, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  const std::optional<std::string> path = Find(name);
  if (!path.has_value()) return absl::OkStatus();
  std::error_code error;
  // Without its name it is none, whatever happens to the rest.
  const std::string dropped = *path + kUnfinishedSuffix;
  std::filesystem::rename(*path, dropped, error);
  if (!error) std::filesystem::remove_all(dropped, error);
  if (error) return absl::UnavailableError(fmt::format("Dropping {}: {}", *path, error.message()));
  return absl::OkStatus();
}

}  // namespace sonde
