#include "wire/admin/backups.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backup/backup_filter.h"
#include "backup/backup_order.h"
#include "base/bytes.h"
#include "base/format.h"
#include "base/hash.h"
#include "model/names.h"
#include "wire/admin/backup_operations.h"
#include "wire/call/requests.h"
#include "wire/resources/cluster_rules.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::Timestamp;
using google::protobuf::util::TimeUtil;

constexpr size_t kBackupsPageMax = 1'000;
constexpr std::string_view kAnyCluster = "-";

absl::Time NowOf(const BackupParts& parts) { return absl::FromUnixMicros(parts.clock->NowMicros()); }

std::string TextOf(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_full, time, absl::UTCTimeZone());
}

// A time that a client sends, between `least` and `most` from `from` on.
absl::StatusOr<absl::Time> ParseTime(std::string_view field, const Timestamp& time, absl::Time from,
                                     absl::Duration least, absl::Duration most) {
  constexpr int32_t kNanosMax = 999'999'999;
  if (time.seconds() < TimeUtil::kTimestampMinSeconds || time.seconds() > TimeUtil::kTimestampMaxSeconds ||
      time.nanos() < 0 || time.nanos() > kNanosMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field '{}' : {} s and {} ns are no time", field, time.seconds(), time.nanos()));
  }
  const absl::Time parsed = absl::FromUnixMicros(TimeUtil::TimestampToMicroseconds(time));
  if (parsed >= from + least - kBackupTimeSlack && parsed <= from + most) return parsed;
  if (most == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field '{}' : must be at least {} hours after {}, but is {}", field,
                    absl::ToInt64Hours(least), TextOf(from), TextOf(parsed)));
  }
  return absl::InvalidArgumentError(
      fmt::format("Error in field '{}' : must be from {} hours to {} days after {}, but is {}", field,
                  absl::ToInt64Hours(least), absl::ToInt64Hours(most) / 24, TextOf(from), TextOf(parsed)));
}

absl::StatusOr<absl::Time> ParseExpiry(bool is_set, const Timestamp& time, absl::Time from,
                                       absl::Duration most) {
  if (!is_set) return absl::InvalidArgumentError("Error in field 'expire_time' : must be set");
  return ParseTime("expire_time", time, from, kBackupKeptMin, most);
}

absl::StatusOr<std::optional<absl::Time>> ParseHotToStandard(const admin::Backup& backup, BackupType type,
                                                             absl::Time from) {
  if (!backup.has_hot_to_standard_time()) return std::nullopt;
  if (type != BackupType::kHot) {
    return absl::InvalidArgumentError(
        "Error in field 'hot_to_standard_time' : only a backup of type HOT has one");
  }
  const absl::StatusOr<absl::Time> time = ParseTime("hot_to_standard_time", backup.hot_to_standard_time(),
                                                    from, kBackupHotMin, absl::InfiniteDuration());
  if (!time.ok()) return time.status();
  return *time;
}

absl::StatusOr<NewBackup> ParseNewBackup(const admin::CreateBackupRequest& request, absl::Time now) {
  if (absl::Status status = CheckClusterName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckBackupId(request.backup_id()); !status.ok()) return status;
  const admin::Backup& asked = request.backup();
  if (absl::Status status = CheckTableName(asked.source_table()); !status.ok()) return status;
  const std::string_view instance = InstanceOfTable(asked.source_table());
  if (!request.parent().starts_with(fmt::format("{}/clusters/", instance))) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'backup.source_table' : {} is not in the instance of {}",
                    asked.source_table(), request.parent()));
  }
  if (!admin::Backup::BackupType_IsValid(asked.backup_type()))
    return UnknownValue("backup_type", asked.backup_type());
  NewBackup wanted{.name = fmt::format("{}/backups/{}", request.parent(), request.backup_id()), .start = now};
  if (asked.backup_type() == admin::Backup::HOT) wanted.type = BackupType::kHot;
  const absl::StatusOr<absl::Time> expire =
      ParseExpiry(asked.has_expire_time(), asked.expire_time(), now, kBackupKeptMax);
  if (!expire.ok()) return expire.status();
  wanted.expire = *expire;
  const absl::StatusOr<std::optional<absl::Time>> hot = ParseHotToStandard(asked, wanted.type, now);
  if (!hot.ok()) return hot.status();
  wanted.hot_to_standard = *hot;
  return wanted;
}

// ALREADY_EXISTS: there is a backup of the name.
absl::Status CheckBackupIsNew(const Backups& backups, const std::string& name) {
  const absl::Status found = backups.Find(name).status();
  if (absl::IsNotFound(found)) return absl::OkStatus();
  return found.ok() ? absl::AlreadyExistsError(fmt::format("Backup already exists: {}", name)) : found;
}

// The beginning of the names of all backups that a parent has: projects/P/instances/I/clusters/C, where I and C may be '-'.
absl::StatusOr<std::string> PrefixOfParent(const std::string& parent) {
  if (absl::Status status = CheckClusterName(parent); status.ok()) return parent + "/backups/";
  const std::string all_clusters = fmt::format("/clusters/{}", kAnyCluster);
  const std::string all_instances = fmt::format("/instances/{}", kAnyCluster);
  if (!parent.ends_with(all_clusters)) return CheckClusterName(parent);
  const std::string instance = parent.substr(0, parent.size() - all_clusters.size());
  if (absl::Status status = CheckInstanceName(instance); !status.ok()) return status;
  if (!instance.ends_with(all_instances)) return instance + "/clusters/";
  return instance.substr(0, instance.size() - kAnyCluster.size());
}

// The token of a page: its place in the list, and the digest of the request that it continues.
std::string PageToken(const admin::ListBackupsRequest& request, size_t place) {
  const std::string asked = fmt::format("{}\n{}\n{}", request.parent(), request.filter(), request.order_by());
  return fmt::format("{}-{:016x}", place, HashBytes(asked));
}

absl::StatusOr<size_t> PlaceOfToken(const admin::ListBackupsRequest& request) {
  const std::string& token = request.page_token();
  size_t place = 0;
  if (token.empty()) return place;
  std::from_chars(token.data(), token.data() + token.size(), place);
  if (token == PageToken(request, place)) return place;
  return absl::InvalidArgumentError(
      "Error in field 'page_token' : not one that ListBackups gave for this parent, filter and order");
}

}  // namespace

absl::Status CreateBackup(const BackupParts& parts, const admin::CreateBackupRequest& request,
                          google::longrunning::Operation* response) {
  const absl::StatusOr<NewBackup> wanted = ParseNewBackup(request, NowOf(parts));
  if (!wanted.ok()) return wanted.status();
  if (absl::Status status = CheckBackupIsNew(*parts.backups, wanted->name); !status.ok()) return status;
  admin::CreateBackupMetadata metadata;
  metadata.set_name(wanted->name);
  metadata.set_source_table(request.backup().source_table());
  *metadata.mutable_start_time() = ToTimestamp(*wanted->start);
  const auto begin = [&](std::vector<RecordChange> changes) {
    return parts.backups->Begin(*wanted, request.backup().source_table(), std::move(changes)).status();
  };
  return parts.runner->Begin(wanted->name, request, metadata, begin, response);
}

absl::Status CopyBackup(const BackupParts& parts, const admin::CopyBackupRequest& request,
                        google::longrunning::Operation* response) {
  if (absl::Status status = CheckClusterName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckBackupId(request.backup_id()); !status.ok()) return status;
  if (absl::Status status = CheckBackupName(request.source_backup()); !status.ok()) return status;
  const absl::Time now = NowOf(parts);
  const absl::StatusOr<absl::Time> expire =
      ParseExpiry(request.has_expire_time(), request.expire_time(), now, kBackupCopyKeptMax);
  if (!expire.ok()) return expire.status();
  const NewBackup wanted{.name = fmt::format("{}/backups/{}", request.parent(), request.backup_id()),
                         .expire = *expire,
                         .start = now};
  const absl::StatusOr<Backup> source = parts.backups->Find(request.source_backup());
  if (!source.ok()) return source.status();
  if (absl::Status status = CheckBackupIsNew(*parts.backups, wanted.name); !status.ok()) return status;
  admin::CopyBackupMetadata metadata;
  metadata.set_name(wanted.name);
  *metadata.mutable_source_backup_info() = InfoOf(*source);
  *metadata.mutable_progress()->mutable_start_time() = ToTimestamp(now);
  const auto begin = [&](std::vector<RecordChange> changes) {
    return parts.backups->BeginCopy(request.source_backup(), wanted, std::move(changes)).status();
  };
  return parts.runner->Begin(wanted.name, request, metadata, begin, response);
}

absl::Status GetBackup(const BackupParts& parts, const admin::GetBackupRequest& request,
                       admin::Backup* response) {
  if (absl::Status status = CheckBackupName(request.name()); !status.ok()) return status;
  const absl::StatusOr<Backup> backup = parts.backups->Find(request.name());
  if (backup.ok()) BackupToProto(*backup, response);
  return backup.status();
}

absl::Status UpdateBackup(const BackupParts& parts, const admin::UpdateBackupRequest& request,
                          admin::Backup* response) {
  const admin::Backup& asked = request.backup();
  if (absl::Status status = CheckBackupName(asked.name()); !status.ok()) return status;
  if (request.update_mask().paths().empty()) {
    return absl::InvalidArgumentError("A non-empty 'update_mask' must be specified");
  }
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "expire_time" || path == "hot_to_standard_time") continue;
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'update_mask' : '{}' cannot be updated; expire_time and hot_to_standard_time can",
        Printable(path)));
  }
  const auto change = [&](Backup* backup) -> absl::Status {
    for (const std::string& path : request.update_mask().paths()) {
      if (path == "expire_time") {
        const absl::Duration most = backup->source_backup.empty() ? kBackupKeptMax : kBackupCopyKeptMax;
        const absl::StatusOr<absl::Time> expire =
            ParseExpiry(asked.has_expire_time(), asked.expire_time(), backup->start, most);
        if (!expire.ok()) return expire.status();
        backup->expire = *expire;
      } else {
        const absl::StatusOr<std::optional<absl::Time>> hot =
            ParseHotToStandard(asked, backup->type, backup->start);
        if (!hot.ok()) return hot.status();
        backup->hot_to_standard = *hot;
      }
    }
    return absl::OkStatus();
  };
  const absl::StatusOr<Backup> updated = parts.backups->Update(asked.name(), change);
  if (updated.ok()) BackupToProto(*updated, response);
  return updated.status();
}

absl::Status DeleteBackup(const BackupParts& parts, const admin::DeleteBackupRequest& request) {
  if (absl::Status status = CheckBackupName(request.name()); !status.ok()) return status;
  absl::Status status = parts.backups->Delete(request.name());
  if (status.ok()) spdlog::info("deleted backup {}", request.name());
  return status;
}

absl::Status ListBackups(const BackupParts& parts, const admin::ListBackupsRequest& request,
                         admin::ListBackupsResponse* response) {
  const absl::StatusOr<std::string> prefix = PrefixOfParent(request.parent());
  if (!prefix.ok()) return prefix.status();
  const absl::StatusOr<BackupFilter> filter = BackupFilter::Parse(request.filter());
  if (!filter.ok()) return filter.status();
  const absl::StatusOr<BackupOrder> order = BackupOrder::Parse(request.order_by());
  if (!order.ok()) return order.status();
  const absl::StatusOr<size_t> place = PlaceOfToken(request);
  if (!place.ok()) return place.status();
  absl::StatusOr<std::vector<Backup>> all = parts.backups->List(*prefix);
  if (!all.ok()) return all.status();
  std::erase_if(*all, [&](const Backup& backup) { return !filter->Matches(backup); });
  std::sort(all->begin(), all->end(), *order);
  const size_t page =
      request.page_size() <= 0 ? kBackupsPageMax : std::min<size_t>(request.page_size(), kBackupsPageMax);
  const size_t first = std::min(*place, all->size());
  const size_t end = std::min(all->size(), first + page);
  for (size_t i = first; i < end; ++i) BackupToProto((*all)[i], response->add_backups());
  if (end < all->size()) response->set_next_page_token(PageToken(request, end));
  return absl::OkStatus();
}

absl::Status RestoreTable(const BackupParts& parts, const admin::RestoreTableRequest& request,
                          google::longrunning::Operation* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckTableId(request.table_id()); !status.ok()) return status;
  if (absl::Status status = CheckBackupName(request.backup()); !status.ok()) return status;
  const std::string table = fmt::format("{}/tables/{}", request.parent(), request.table_id());
  if (absl::Status status = parts.backups->Find(request.backup()).status(); !status.ok()) return status;
  if (absl::Status status = parts.backups->CheckTableIsFree(table); !status.ok()) return status;
  const absl::StatusOr<Backup> backup = parts.backups->Hold(request.backup());
  if (!backup.ok()) return backup.status();
  admin::RestoreTableMetadata metadata;
  metadata.set_name(table);
  metadata.set_source_type(admin::BACKUP);
  *metadata.mutable_backup_info() = InfoOf(*backup);
  *metadata.mutable_progress()->mutable_start_time() = ToTimestamp(NowOf(parts));
  absl::Status status = parts.runner->Begin(table, request, metadata, nullptr, response);
  if (!status.ok()) parts.backups->Release(request.backup());  // otherwise the operation's end does
  return status;
}

}  // namespace sonde
