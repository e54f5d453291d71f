#include "web/dashboard_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"

namespace sonde {
namespace {

std::string KeyOf(std::string_view name) { return fmt::format("{}{}", DashboardStore::kRecordPrefix, name); }

Dashboard FromRecord(const Record& record) {
  return {.name = record.key.substr(DashboardStore::kRecordPrefix.size()),
          .etag = fmt::format("{:016x}", HashBytes(record.value, /*seed=*/0)),
          .document = record.value};
}

absl::Status NoDashboard(std::string_view name) {
  return absl::NotFoundError(fmt::format("There is no dashboard '{}'", Printable(name)));
}

// Null: there is none of the name.
const Record* FindRecord(const std::vector<Record>& records, std::string_view name) {
  const auto found = std::ranges::find(records, KeyOf(name), &Record::key);
  return found == records.end() ? nullptr : &*found;
}

}  // namespace

absl::StatusOr<std::vector<Dashboard>> DashboardStore::List() {
  const absl::StatusOr<std::vector<Record>> records = records_->ReadRecords(kRecordPrefix);
  if (!records.ok()) return records.status();
  std::vector<Dashboard> all;
  for (const Record& record : *records) all.push_back(FromRecord(record));
  return all;
}

absl::StatusOr<Dashboard> DashboardStore::Get(std::string_view name) {
  const absl::StatusOr<std::vector<Record>> records = records_->ReadRecords(KeyOf(name));
  if (!records.ok()) return records.status();
  const Record* const record = FindRecord(*records, name);
  if (record == nullptr) return NoDashboard(name);
  return FromRecord(*record);
}

absl::StatusOr<Dashboard> DashboardStore::Put(std::string_view name, std::string document,
                                              std::string_view etag) {
  const absl::StatusOr<std::vector<Record>> records = records_->ReadRecords(kRecordPrefix);
  if (!records.ok()) return records.status();
  const Record* const before = FindRecord(*records, name);
  if (!etag.empty() && (before == nullptr || FromRecord(*before).etag != etag)) {
    return absl::AbortedError(
        fmt::format("Dashboard '{}' has changed since etag '{}'; nothing was saved", name, Printable(etag)));
  }
  if (before == nullptr && records->size() >= kDashboardsMax) {
    return absl::ResourceExhaustedError(fmt::format(
        "There are {} dashboards; at most {} are allowed, so delete one", records->size(), kDashboardsMax));
  }
  const Record after{.key = KeyOf(name), .value = std::move(document)};
  const RecordChange change{after.key, after.value, before == nullptr ? 0 : before->version};
  if (absl::Status status = records_->WriteRecords({change}); !status.ok()) {
    if (!absl::IsAborted(status)) return status;
    return absl::AbortedError(
        fmt::format("Dashboard '{}' was saved by somebody else at the same moment; nothing was saved", name));
  }
  return FromRecord(after);
}

absl::Status DashboardStore::Delete(std::string_view name) {
  const absl::StatusOr<Dashboard> found = Get(name);
  if (!found.ok()) return found.status();
  return records_->WriteRecords({{KeyOf(name), std::nullopt}});
}

}  // namespace sonde
