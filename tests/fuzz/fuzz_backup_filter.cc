// The filter of ListBackups: any text is a filter or is refused, and a filter's negation lets through what the filter keeps.
#include <cstdint>
#include <string>
#include <string_view>

#include "backup/backup_filter.h"
#include "backup/backup_order.h"
#include "target.h"

namespace sonde {
namespace {

void CheckBackupFilter(std::string_view text) {
  const Backup backup{.name = "projects/p/instances/i/clusters/c/backups/howling",
                      .source_table = "projects/p/instances/i/tables/prod",
                      .start = absl::FromUnixSeconds(1'700'000'000),
                      .expire = absl::FromUnixSeconds(1'700'086'400),
                      .size_bytes = 5'000};
  const absl::StatusOr<BackupFilter> filter = BackupFilter::Parse(text);
  if (!filter.ok()) {
    Require(filter.status().code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
    return;
  }
  const absl::StatusOr<BackupFilter> negation = BackupFilter::Parse("NOT (" + std::string(text) + ")");
  if (!negation.ok()) return;  // it is empty, or too long or deep by what was added
  Require(filter->Matches(backup) != negation->Matches(backup), "a negation is the other answer");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sonde::CheckBackupFilter(text);
  const sonde::Backup backup{.name = "a"};
  if (const auto order = sonde::BackupOrder::Parse(text); order.ok()) {
    sonde::Require(!(*order)(backup, backup), "nothing comes before itself");
  }
  return 0;
}
