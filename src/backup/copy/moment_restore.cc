#include "backup/copy/moment_restore.h"

#include <memory>
#include <utility>

#include "engine/rocks/rocks_engine.h"

namespace sonde {
namespace {

constexpr uint64_t kReadBytesPerSecondMax = uint64_t{4} << 30;  // as fast as the disk is

}  // namespace

absl::StatusOr<ReplayReport> ReplayInto(const Repository& repository, const RestorableRange& base,
                                        const std::string& directory, int64_t to_micros) {
  const absl::StatusOr<std::unique_ptr<RocksEngine>> engine =
      RocksEngine::Open({.data_dir = directory, .scrub_bytes_per_second_max = kReadBytesPerSecondMax});
  if (!engine.ok()) return engine.status();
  absl::StatusOr<std::unique_ptr<JournalReplay>> replay =
      JournalReplay::Open(engine->get(), *base.manifest.journal, to_micros);
  if (!replay.ok()) return replay.status();
  absl::StatusOr<ReplayReport> report = (*replay)->Run(repository.files(), base.chain);
  replay->reset();
  if (!report.ok()) return report;
  if (absl::Status status = (*engine)->Scrub(); !status.ok()) return status;
  return report;
}

}  // namespace sonde
