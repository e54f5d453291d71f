#include "backup/copy/moment_restore.h"

#include <memory>
#include <utility>
#include <vector>

#include "backup/journal/journal_chain.h"
#include "engine/rocks/rocks_engine.h"

namespace sonde {
namespace {

constexpr uint64_t kReadBytesPerSecondMax = uint64_t{4} << 30;  // as fast as the disk is

}  // namespace

absl::StatusOr<ReplayReport> ReplayInto(const Repository& repository, const JournalPlace& place,
                                        const std::string& directory, int64_t to_micros) {
  const absl::StatusOr<std::unique_ptr<RocksEngine>> engine =
      RocksEngine::Open({.data_dir = directory, .scrub_bytes_per_second_max = kReadBytesPerSecondMax});
  if (!engine.ok()) return engine.status();
  absl::StatusOr<std::unique_ptr<JournalReplay>> replay =
      JournalReplay::Open(engine->get(), place, to_micros);
  if (!replay.ok()) return replay.status();
  const auto find_chain = [&](int64_t after) -> absl::StatusOr<SegmentChain> {
    const absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(repository, place.id);
    if (!segments.ok()) return segments.status();
    return ChainFrom(*segments, after);
  };
  absl::StatusOr<ReplayReport> report = (*replay)->Run(repository.files(), find_chain);
  replay->reset();
  if (!report.ok()) return report;
  if (absl::Status status = (*engine)->Scrub(); !status.ok()) return status;
  return report;
}

}  // namespace sonde
