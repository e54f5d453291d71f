#include "backup/repository/prune_repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/time/civil_time.h"
#include "backup/repository/repository_lock.h"

namespace sonde {
namespace {

// Adds the newest of each period, as long as there may be more periods.
template <typename PeriodOf>
void KeepNewestOfEach(const std::vector<const Manifest*>& newest_first, int periods_max,
                      const PeriodOf& period_of, std::set<std::string>* kept) {
  std::set<absl::CivilDay> periods;
  for (const Manifest* manifest : newest_first) {
    const absl::CivilDay period = period_of(absl::ToCivilDay(manifest->moment, absl::UTCTimeZone()));
    if (periods.contains(period)) continue;
    if (periods.size() >= static_cast<size_t>(std::max(periods_max, 0))) break;
    periods.insert(period);
    kept->insert(manifest->id);
  }
}

absl::CivilDay MondayOf(absl::CivilDay day) { return absl::PrevWeekday(day + 1, absl::Weekday::monday); }

absl::StatusOr<std::vector<Manifest>> ReadAllManifests(const Repository& repository) {
  const absl::StatusOr<std::vector<std::string>> ids = repository.BackupIds();
  if (!ids.ok()) return ids.status();
  std::vector<Manifest> manifests;
  for (const std::string& id : *ids) {
    absl::StatusOr<Manifest> manifest = repository.Read(id);
    if (absl::IsDataLoss(manifest.status())) {
      return absl::DataLossError(
          fmt::format("{}; nobody knows which blobs it needs, so nothing was removed: remove {} first if the "
                      "backup is given up",
                      std::string(manifest.status().message()), repository.ManifestPath(id)));
    }
    if (!manifest.ok()) return manifest.status();
    manifests.push_back(*std::move(manifest));
  }
  return manifests;
}

absl::Status RemoveManifests(const Repository& repository, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (absl::Status status = repository.files()->Remove(repository.ManifestPath(id)); !status.ok())
      return status;
  }
  return ids.empty() ? absl::OkStatus() : repository.files()->SyncDirectory(repository.backups_path());
}

// The files that nobody names and that are old enough to go.
absl::StatusOr<std::vector<std::pair<std::string, uint64_t>>> FindUnnamed(const Repository& repository,
                                                                          const std::set<std::string>& named,
                                                                          absl::Time now) {
  const absl::StatusOr<std::map<std::string, FileFacts>> blobs = repository.Blobs();
  if (!blobs.ok()) return blobs.status();
  std::vector<std::pair<std::string, uint64_t>> unnamed;
  for (const auto& [sha256, facts] : *blobs) {
    if (!named.contains(sha256) && now - facts.modified > kUnnamedKept)
      unnamed.emplace_back(repository.BlobPath(sha256), facts.bytes);
  }
  const auto parts = repository.Parts();
  if (!parts.ok()) return parts.status();
  for (const auto& [path, facts] : *parts) {
    if (now - facts.modified > kUnnamedKept) unnamed.emplace_back(path, facts.bytes);
  }
  return unnamed;
}

}  // namespace

std::vector<std::string> ChooseBackups(const std::vector<Manifest>& manifests, const KeepPolicy& policy) {
  std::map<std::pair<std::string, std::string>, std::vector<const Manifest*>> groups;
  for (const Manifest& manifest : manifests) groups[{manifest.store, manifest.table}].push_back(&manifest);
  std::set<std::string> kept;
  for (auto& [of_what, group] : groups) {
    std::ranges::sort(group, [](const Manifest* a, const Manifest* b) {
      return std::tie(a->moment, a->id) > std::tie(b->moment, b->id);
    });
    KeepNewestOfEach(group, policy.daily, [](absl::CivilDay day) { return day; }, &kept);
    KeepNewestOfEach(group, policy.weekly, MondayOf, &kept);
  }
  return {kept.begin(), kept.end()};
}

absl::StatusOr<PruneReport> PruneRepository(const Repository& repository, const PruneOptions& options) {
  const KeepPolicy& keep = options.keep;
  if (keep.daily < 0 || keep.weekly < 0 || (keep.daily == 0 && keep.weekly == 0)) {
    return absl::InvalidArgumentError(fmt::format(
        "Keeping {} daily and {} weekly backups keeps nothing: one of them must be at least 1, and none "
        "below 0",
        keep.daily, keep.weekly));
  }
  const absl::StatusOr<std::unique_ptr<RepositoryLock>> lock = RepositoryLock::Take(repository);
  if (!lock.ok()) return lock.status();
  const absl::StatusOr<std::vector<Manifest>> manifests = ReadAllManifests(repository);
  if (!manifests.ok()) return manifests.status();

  PruneReport report{.kept = ChooseBackups(*manifests, keep)};
  const std::set<std::string> kept(report.kept.begin(), report.kept.end());
  std::set<std::string> named;
  for (const Manifest& manifest : *manifests) {
    if (!kept.contains(manifest.id)) {
      report.removed.push_back(manifest.id);
      continue;
    }
    for (const ManifestFile& file : manifest.files) named.insert(file.sha256);
  }
  const absl::Time now = absl::FromUnixMicros(repository.tools().clock->NowMicros());
  const auto unnamed = FindUnnamed(repository, named, now);
  if (!unnamed.ok()) return unnamed.status();
  if (!options.is_dry_run) {
    absl::Status status = (*lock)->CheckHeld();
    if (status.ok()) status = RemoveManifests(repository, report.removed);
    if (!status.ok()) return status;
  }
  for (const auto& [path, bytes] : *unnamed) {
    if (!options.is_dry_run) {
      absl::Status status = (*lock)->Keep();
      if (status.ok()) status = repository.files()->Remove(path);
      if (!status.ok()) return status;
    }
    ++report.blobs_removed;
    report.bytes_removed += bytes;
  }
  return report;
}

}  // namespace sonde
