#include "backup/journal/journal_upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "backup/journal/journal_chain.h"
#include "backup/journal/segment.h"
#include "backup/repository/prune_repository.h"
#include "backup/repository/repository_lock.h"

namespace sonde {
namespace {

constexpr uint64_t kSmallBytesMax = kMergedBytesMax / 4;

class JournalVerifier {
 public:
  JournalVerifier(const Repository& repository, const VerifyOptions& options, VerifyReport* report)
      : repository_(repository), options_(options), report_(report) {}

  absl::Status Run() {
    const absl::StatusOr<std::vector<std::string>> journals = ListJournals(repository_);
    if (!journals.ok()) return journals.status();
    for (const std::string& journal : *journals) {
      const absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(repository_, journal);
      if (!segments.ok()) return segments.status();
      for (const SegmentFile& segment : *segments) {
        if (absl::Status status = LookAt(segment); !status.ok()) return status;
      }
      LookForHoles(*segments);
      if (absl::Status status = LookAtBackups(journal, *segments); !status.ok()) return status;
    }
    for (const std::string& hole : holes_) Damage(hole);
    return absl::OkStatus();
  }

 private:
  void Damage(const std::string& line) {
    ++report_->damage_count;
    if (report_->damage.size() < kDamageLinesMax) report_->damage.push_back(line);
  }

  absl::Status LookAt(const SegmentFile& segment) {
    ++report_->segments_count;
    report_->segment_bytes += segment.bytes;
    absl::StatusOr<std::unique_ptr<SegmentReader>> reader =
        SegmentReader::Open(repository_.files(), segment.path);
    absl::Status status = reader.status();
    if (status.ok()) status = Read(segment, reader->get());
    if (absl::IsNotFound(status)) return absl::OkStatus();  // it was merged or removed meanwhile
    if (!absl::IsDataLoss(status)) return status;
    Damage(std::string(status.message()));
    return absl::OkStatus();
  }

  absl::Status Read(const SegmentFile& segment, SegmentReader* reader) {
    if (absl::Status status = reader->CheckHead(segment.place); !status.ok()) return status;
    if (reader->starts()) starts_.insert(segment.path);
    if (!options_.reads_data) return absl::OkStatus();
    return reader->ReadAll(segment.place, [](const SegmentRecord& /*record*/) { return absl::OkStatus(); });
  }

  // A segment that does not start a chain, without the one before it.
  void LookForHoles(const std::vector<SegmentFile>& segments) {
    std::optional<int64_t> reached;
    for (const SegmentFile& segment : segments) {
      if (reached.has_value()) CheckHole(*reached, segment);
      reached = std::max(reached.value_or(0), segment.place.last);
    }
  }

  void CheckHole(int64_t reached, const SegmentFile& segment) {
    if (segment.place.first <= reached + 1 || starts_.contains(segment.path)) return;
    holes_.insert(fmt::format("{}: the segment before it is missing: changes from {} to {} are not there",
                              segment.path, MomentText(absl::FromUnixMicros(reached + 1)),
                              MomentText(absl::FromUnixMicros(segment.place.first - 1))));
  }

  // A backup whose chain ends before others begin.
  absl::Status LookAtBackups(const std::string& journal, const std::vector<SegmentFile>& segments) {
    const absl::StatusOr<std::vector<std::string>> ids = repository_.BackupIds();
    if (!ids.ok()) return ids.status();
    for (const std::string& id : *ids) {
      const absl::StatusOr<Manifest> manifest = repository_.Read(id);
      if (!manifest.ok()) continue;  // VerifyRepository names it
      if (!manifest->journal.has_value() || manifest->journal->id != journal) continue;
      const SegmentChain chain = ChainFrom(segments, manifest->journal->from_micros);
      if (!chain.next_first.has_value()) continue;
      CheckHole(chain.through, *std::ranges::find(segments, *chain.next_first,
                                                  [](const SegmentFile& one) { return one.place.first; }));
    }
    return absl::OkStatus();
  }

  const Repository& repository_;
  const VerifyOptions& options_;
  VerifyReport* const report_;
  std::set<std::string> starts_;  // the paths of segments that start a chain
  std::set<std::string> holes_;
};

// Copies the records of a segment behind *reached, and moves *reached to its end.
absl::Status CopyRecords(const Repository& repository, const SegmentFile& segment, SegmentWriter* writer,
                         int64_t* reached) {
  const absl::StatusOr<std::unique_ptr<SegmentReader>> reader =
      SegmentReader::Open(repository.files(), segment.path);
  if (!reader.ok()) return reader.status();
  const absl::Status status = (*reader)->ReadAll(segment.place, [&](const SegmentRecord& record) {
    return record.position <= *reached ? absl::OkStatus() : writer->Add(record);
  });
  if (!status.ok()) return status;
  *reached = std::max(*reached, segment.place.last);
  return absl::OkStatus();
}

// The first run of small segments that is long enough; empty: there is none.
std::vector<SegmentFile> FindRun(const std::vector<SegmentFile>& segments) {
  std::vector<SegmentFile> run;
  uint64_t bytes = 0;
  int64_t reached = 0;
  for (const SegmentFile& segment : segments) {
    const bool follows = run.empty() || segment.place.first <= reached + 1;
    if (segment.bytes > kSmallBytesMax || !follows || bytes + segment.bytes > kMergedBytesMax) {
      if (run.size() >= kMergeCount) return run;
      run.clear();
      bytes = 0;
      if (segment.bytes > kSmallBytesMax) continue;
    }
    bytes += segment.bytes;
    reached = run.empty() ? segment.place.last : std::max(reached, segment.place.last);
    run.push_back(segment);
  }
  return run.size() >= kMergeCount ? run : std::vector<SegmentFile>();
}

absl::Status WriteMerged(const Repository& repository, const std::vector<SegmentFile>& run, OutputFile* file,
                         int64_t last) {
  const absl::StatusOr<std::unique_ptr<SegmentReader>> head =
      SegmentReader::Open(repository.files(), run.front().path);
  if (!head.ok()) return head.status();
  const int64_t first = run.front().place.first;
  const absl::StatusOr<std::unique_ptr<SegmentWriter>> writer =
      SegmentWriter::Begin(file, run.front().place.journal, first, (*head)->starts());
  if (!writer.ok()) return writer.status();
  int64_t reached = first - 1;
  for (const SegmentFile& segment : run) {
    if (absl::Status status = CopyRecords(repository, segment, writer->get(), &reached); !status.ok())
      return status;
  }
  return (*writer)->Finish(last, /*syncs=*/true);
}

}  // namespace

absl::Status VerifyJournals(const Repository& repository, const VerifyOptions& options,
                            VerifyReport* report) {
  return JournalVerifier(repository, options, report).Run();
}

absl::StatusOr<PrunedSegments> PruneJournals(const Repository& repository,
                                             const std::vector<std::string>& kept, bool is_dry_run) {
  const absl::StatusOr<std::unique_ptr<RepositoryLock>> lock = RepositoryLock::Take(repository);
  if (!lock.ok()) return lock.status();
  std::map<std::string, int64_t> needed_after;  // by journal
  for (const std::string& id : kept) {
    const absl::StatusOr<Manifest> manifest = repository.Read(id);
    if (!manifest.ok()) return manifest.status();
    if (!manifest->journal.has_value()) continue;
    const auto [at, is_new] = needed_after.try_emplace(manifest->journal->id, manifest->journal->from_micros);
    if (!is_new) at->second = std::min(at->second, manifest->journal->from_micros);
  }
  const absl::StatusOr<std::vector<std::string>> journals = ListJournals(repository);
  if (!journals.ok()) return journals.status();
  const absl::Time old = absl::FromUnixMicros(repository.tools().clock->NowMicros()) - kUnnamedKept;
  std::vector<std::pair<std::string, uint64_t>> unneeded;
  for (const std::string& journal : *journals) {
    const absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(repository, journal);
    if (!segments.ok()) return segments.status();
    const auto needed = needed_after.find(journal);
    for (const SegmentFile& segment : *segments) {
      const bool goes =
          needed == needed_after.end() ? segment.modified < old : segment.place.last <= needed->second;
      if (goes) unneeded.emplace_back(segment.path, segment.bytes);
    }
    const auto parts = ListSegmentParts(repository, journal);
    if (!parts.ok()) return parts.status();
    for (const auto& [path, facts] : *parts) {
      if (facts.modified < old) unneeded.emplace_back(path, facts.bytes);
    }
  }
  PrunedSegments pruned;
  for (const auto& [path, bytes] : unneeded) {
    if (!is_dry_run) {
      absl::Status status = (*lock)->Keep();
      if (status.ok()) status = repository.files()->Remove(path);
      if (!status.ok()) return status;
    }
    ++pruned.count;
    pruned.bytes += bytes;
  }
  return pruned;
}

absl::StatusOr<bool> MergeSegments(const Repository& repository, std::string_view journal) {
  const absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(repository, journal);
  if (!segments.ok()) return segments.status();
  const std::vector<SegmentFile> run = FindRun(*segments);
  if (run.empty()) return false;
  FileSystem* const files = repository.files();
  const std::string directory = JournalPath(repository, journal);
  int64_t last = 0;
  for (const SegmentFile& segment : run) last = std::max(last, segment.place.last);
  const std::string path = fmt::format("{}/{}", directory, SegmentName(run.front().place.first, last));
  const std::string part = fmt::format("{}/{:016x}.part", directory, repository.tools().random->Next());
  auto remove = absl::MakeCleanup([&] { files->Remove(part).IgnoreError(); });  // prune removes it, too
  absl::StatusOr<std::unique_ptr<OutputFile>> file = files->CreateNew(part);
  if (!file.ok()) return file.status();
  absl::Status status = WriteMerged(repository, run, file->get(), last);
  if (status.ok()) status = files->Rename(part, path);
  if (!status.ok()) return status;
  std::move(remove).Cancel();
  status = files->SyncDirectory(directory);
  for (const SegmentFile& segment : run) {
    if (status.ok() && segment.path != path) status = files->Remove(segment.path);
  }
  if (!status.ok()) return status;
  return true;
}

}  // namespace sonde
