#include "backup/journal/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "backup/journal/journal_upkeep.h"
#include "backup/repository/transfer.h"

namespace sonde {
namespace {

// Reads the whole segment, so that none but a sound one comes into the repository.
absl::Status CheckCut(FileSystem* files, const CutSegment& cut) {
  const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(files, cut.path);
  if (!reader.ok()) return reader.status();
  return (*reader)->ReadAll(cut.place, [](const SegmentRecord& /*record*/) { return absl::OkStatus(); });
}

}  // namespace

absl::StatusOr<Follower> Follower::Open(const Repository& repository, JournalSource* source,
                                        const JournalPlace& base) {
  Follower follower(repository, source, base);
  FileSystem* const files = repository.files();
  absl::Status status = files->MakeDirectory(JournalsPath(repository));
  if (status.ok()) status = files->MakeDirectory(JournalPath(repository, base.id));
  if (status.ok()) status = files->SyncDirectory(JournalsPath(repository));
  if (status.ok()) status = files->SyncDirectory(repository.directory());
  // A follower that was killed may have left the name of its last segment in memory only.
  if (status.ok()) status = files->SyncDirectory(JournalPath(repository, base.id));
  if (!status.ok()) return status;
  const absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(repository, base.id);
  if (!segments.ok()) return segments.status();
  follower.starts_ = segments->empty();
  follower.after_ = base.from_micros;
  follower.small_count_ = segments->size();
  if (!segments->empty()) {
    follower.after_ = std::ranges::max(*segments, {}, [](const SegmentFile& segment) {
                        return segment.place.last;
                      }).place.last;
  }
  return follower;
}

absl::StatusOr<bool> Follower::Step() {
  absl::StatusOr<CutSegment> cut = source_->Cut(base_.id, after_, starts_);
  if (absl::IsOutOfRange(cut.status()) && after_ < base_.from_micros) {
    // The chain before has ended; the backup begins a new one.
    after_ = base_.from_micros;
    starts_ = true;
    cut = source_->Cut(base_.id, after_, starts_);
  }
  if (!cut.ok()) return cut.status();
  const bool makes_restorable = after_ < base_.through_micros;
  if (cut->records == 0 && !makes_restorable && cut->place.last - after_ < kIdleSegmentMicros) return false;
  if (cut->place.last <= after_) return false;  // a write is under way for long
  if (absl::Status status = Store(*cut); !status.ok()) return status;
  after_ = cut->place.last;
  starts_ = false;
  if (++small_count_ >= kMergeCount) {
    small_count_ = 0;
    const absl::StatusOr<bool> merged = MergeSegments(*repository_, base_.id);
    // NOT_FOUND: another follower, or `prune`, was first.
    if (!merged.ok() && !absl::IsNotFound(merged.status())) return merged.status();
  }
  return cut->is_cut_short;
}

absl::Status Follower::Store(const CutSegment& cut) {
  FileSystem* const files = repository_->files();
  if (cut.place.journal != base_.id || cut.place.first != after_ + 1) {
    return absl::DataLossError(
        fmt::format("{} begins at {} and not behind {}", cut.path, cut.place.first, after_));
  }
  if (absl::Status status = CheckCut(files, cut); !status.ok()) return status;
  const std::string directory = JournalPath(*repository_, base_.id);
  const std::string part = fmt::format("{}/{:016x}.part", directory, repository_->tools().random->Next());
  auto remove = absl::MakeCleanup([&] { files->Remove(part).IgnoreError(); });  // prune removes it, too
  {
    absl::StatusOr<std::unique_ptr<InputFile>> from = files->Open(cut.path);
    if (!from.ok()) return from.status();
    absl::StatusOr<std::unique_ptr<OutputFile>> to = files->CreateNew(part);
    if (!to.ok()) return to.status();
    Transfer transfer({});
    if (absl::Status status = transfer.Copy(from->get(), to->get()).status(); !status.ok()) return status;
  }
  const std::string name = SegmentName(cut.place.first, cut.place.last);
  absl::Status status = files->Rename(part, fmt::format("{}/{}", directory, name));
  if (!status.ok()) return status;
  std::move(remove).Cancel();
  return files->SyncDirectory(directory);
}

}  // namespace sonde
