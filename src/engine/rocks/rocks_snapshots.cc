#include "engine/rocks/rocks_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/time/clock.h"
#include "engine/engine_errors.h"

namespace sonde {
namespace {

constexpr char kBeforeTable = '@';
// The suffix of a snapshot that is not done, or not any more.
constexpr char kUnfinishedSuffix[] = ".part";
// How often a restore that waits for another asks whether to go on.
constexpr absl::Duration kBetweenAsks = absl::Milliseconds(100);

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

absl::Status RocksSnapshots::TakeTurn(std::string_view name, const RestoreOptions& options) {
  const absl::MutexLock lock(&restoring_mutex_);
  const auto is_free = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(restoring_mutex_) {
    return !restoring_.contains(name);
  };
  while (!restored_.WaitFor(&restoring_mutex_, std::min(options.deadline - absl::Now(), kBetweenAsks),
                            absl::Condition(&is_free))) {
    if (!CheckDeadline(options.deadline).ok()) {
      return absl::DeadlineExceededError("The deadline passed while another restore was under way");
    }
    if (!options.on_progress) continue;
    if (absl::Status status = options.on_progress(0); !status.ok()) return status;
  }
  restoring_.emplace(name);
  return absl::OkStatus();
}

absl::Status RocksSnapshots::Restore(std::string_view name, TableId into, const RestoreOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  if (absl::Status status = TakeTurn(name, options); !status.ok()) return status;
  absl::Status status = RestoreAlone(name, into, options);
  const absl::MutexLock lock(&restoring_mutex_);
  restoring_.erase(restoring_.find(name));
  restored_.SignalAll();
  return status;
}

absl::Status RocksSnapshots::RestoreAlone(std::string_view name, TableId into,
                                          const RestoreOptions& options) {
  const std::optional<std::string> path = Find(name);
  if (!path.has_value()) return NoSnapshot(name);
  // The directory of the restore's files, which is unfinished until the table has them.
  const std::string work = fmt::format("{}/restore-{}{}", directory_, into, kUnfinishedSuffix);
  std::error_code error;
  std::filesystem::remove_all(work, error);
  if (!error) std::filesystem::create_directory(work, error);
  if (error) return absl::UnavailableError(fmt::format("Making {}: {}", work, error.message()));
  const TableId table = ParseDirectory(std::filesystem::path(*path).filename().string())->table;
  absl::Status status = copies_.restore(*path, table, into, work, options);
  std::filesystem::remove_all(work, error);
  return status;
}

void RocksSnapshots::RemoveUnfinished() const {
  std::vector<std::filesystem::path> unfinished;
  std::error_code error;
  std::filesystem::directory_iterator entries(directory_, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == kUnfinishedSuffix) unfinished.push_back(entries->path());
  }
  for (const std::filesystem::path& path : unfinished) std::filesystem::remove_all(path, error);
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
