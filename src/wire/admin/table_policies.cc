#include "wire/admin/table_policies.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <string>

#include "base/bytes.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::TimeUtil;

constexpr int64_t kDaySeconds = 24 * 60 * 60;
constexpr int64_t kBackupRetentionDaysMin = 3;
constexpr int64_t kBackupRetentionDaysMax = 90;
constexpr int64_t kTierAgeDaysMin = 30;
// Of a duration (google/protobuf/duration.proto).
constexpr int64_t kDurationSecondsMax = 315'576'000'000;

absl::Status PolicyError(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : {}", field, what));
}

// Whether a duration is in [min, max]; those of days that have a part of a second more are not.
bool IsFromTo(const google::protobuf::Duration& value, int64_t min_seconds, int64_t max_seconds) {
  return value.nanos() >= 0 && value.seconds() >= min_seconds &&
         (value.seconds() < max_seconds || (value.seconds() == max_seconds && value.nanos() == 0));
}

// 0, as an unset duration.
bool IsZero(const google::protobuf::Duration& value) { return value.seconds() == 0 && value.nanos() == 0; }

absl::StatusOr<int64_t> ParseBackupRetention(const google::protobuf::Duration& period) {
  if (IsFromTo(period, kBackupRetentionDaysMin * kDaySeconds, kBackupRetentionDaysMax * kDaySeconds)) {
    return TimeUtil::DurationToMicroseconds(period);
  }
  return PolicyError("automated_backup_policy.retention_period",
                     fmt::format("must be from {} to {} days, but is {} s", kBackupRetentionDaysMin,
                                 kBackupRetentionDaysMax, period.seconds()));
}

// Returns whether the frequency is set.
absl::StatusOr<bool> ParseBackupFrequency(const google::protobuf::Duration& frequency) {
  if (IsZero(frequency)) return false;
  if (frequency.seconds() == kDaySeconds && frequency.nanos() == 0) return true;
  return PolicyError("automated_backup_policy.frequency",
                     fmt::format("must be 24 hours, but is {} s", frequency.seconds()));
}

absl::Status CheckBackupLocations(const admin::Table::AutomatedBackupPolicy& policy) {
  if (policy.locations().empty()) return absl::OkStatus();
  return PolicyError("automated_backup_policy.locations",
                     fmt::format("locations are for instances of the edition ENTERPRISE_PLUS; {} are named",
                                 policy.locations_size()));
}

}  // namespace

absl::StatusOr<AutomatedBackupPolicy> ParseAutomatedBackups(
    const admin::Table::AutomatedBackupPolicy& policy) {
  const absl::StatusOr<int64_t> retention_micros = ParseBackupRetention(policy.retention_period());
  if (!retention_micros.ok()) return retention_micros.status();
  const absl::StatusOr<bool> has_frequency = ParseBackupFrequency(policy.frequency());
  if (!has_frequency.ok()) return has_frequency.status();
  if (absl::Status status = CheckBackupLocations(policy); !status.ok()) return status;
  return AutomatedBackupPolicy{.retention_micros = *retention_micros, .has_frequency = *has_frequency};
}

absl::StatusOr<int64_t> ParseTieredStorage(const admin::TieredStorageConfig& config) {
  if (!config.infrequent_access().has_include_if_older_than()) {
    return PolicyError("tiered_storage_config.infrequent_access",
                       "include_if_older_than must be set; without a rule the whole config must be unset");
  }
  const google::protobuf::Duration& age = config.infrequent_access().include_if_older_than();
  if (IsFromTo(age, kTierAgeDaysMin * kDaySeconds, kDurationSecondsMax)) {
    return TimeUtil::DurationToMicroseconds(age);
  }
  return PolicyError("tiered_storage_config.infrequent_access.include_if_older_than",
                     fmt::format("must be at least {} days and at most {} s, but is {} s", kTierAgeDaysMin,
                                 kDurationSecondsMax, age.seconds()));
}

void PoliciesToProto(const TableSchema& schema, admin::Table* out) {
  if (schema.automated_backups.has_value()) {
    admin::Table::AutomatedBackupPolicy* const policy = out->mutable_automated_backup_policy();
    *policy->mutable_retention_period() =
        TimeUtil::MicrosecondsToDuration(schema.automated_backups->retention_micros);
    if (schema.automated_backups->has_frequency) policy->mutable_frequency()->set_seconds(kDaySeconds);
  }
  if (schema.infrequent_access_micros.has_value()) {
    *out->mutable_tiered_storage_config()->mutable_infrequent_access()->mutable_include_if_older_than() =
        TimeUtil::MicrosecondsToDuration(*schema.infrequent_access_micros);
  }
}

bool PolicyUpdate::IsPath(std::string_view path) {
  const std::string_view field = path.substr(0, path.find('.'));
  return field == "automated_backup_policy" || field == "tiered_storage_config";
}

absl::Status PolicyUpdate::Add(std::string_view path) {
  if (path == "automated_backup_policy") {
    backups_ = true;
  } else if (path == "automated_backup_policy.retention_period") {
    retention_ = true;
  } else if (path == "automated_backup_policy.frequency") {
    frequency_ = true;
  } else if (path == "automated_backup_policy.locations") {
    locations_ = true;
  } else if (path == "tiered_storage_config") {
    tiers_ = true;
  } else if (path == "tiered_storage_config.infrequent_access" ||
             path == "tiered_storage_config.infrequent_access.include_if_older_than") {
    // A part of a config that is not there says nothing; only the whole removes it.
    if (absl::Status status = ParseTieredStorage(wanted_.tiered_storage_config()).status(); !status.ok())
      return status;
    tiers_ = true;
  } else {
    return PolicyError("update_mask", fmt::format("'{}' is no field of a table", Printable(path)));
  }
  return absl::OkStatus();
}

absl::Status PolicyUpdate::ApplyBackups(TableSchema* schema) const {
  if (backups_ && !wanted_.has_automated_backup_policy()) {
    schema->automated_backups.reset();
    return absl::OkStatus();
  }
  if (!backups_ && !retention_ && !frequency_ && !locations_) return absl::OkStatus();
  admin::Table current;
  PoliciesToProto(*schema, &current);
  const admin::Table::AutomatedBackupPolicy& wanted = wanted_.automated_backup_policy();
  admin::Table::AutomatedBackupPolicy policy = backups_ ? wanted : current.automated_backup_policy();
  if (retention_) *policy.mutable_retention_period() = wanted.retention_period();
  if (frequency_) *policy.mutable_frequency() = wanted.frequency();
  if (locations_) *policy.mutable_locations() = wanted.locations();
  absl::StatusOr<AutomatedBackupPolicy> parsed = ParseAutomatedBackups(policy);
  if (!parsed.ok()) return parsed.status();
  parsed->since_micros =
      schema->automated_backups.has_value() ? schema->automated_backups->since_micros : now_micros_;
  schema->automated_backups = *parsed;
  return absl::OkStatus();
}

absl::Status PolicyUpdate::Apply(TableSchema* schema) const {
  if (absl::Status status = ApplyBackups(schema); !status.ok()) return status;
  if (!tiers_) return absl::OkStatus();
  schema->infrequent_access_micros.reset();
  if (!wanted_.has_tiered_storage_config()) return absl::OkStatus();
  const absl::StatusOr<int64_t> age_micros = ParseTieredStorage(wanted_.tiered_storage_config());
  if (!age_micros.ok()) return age_micros.status();
  schema->infrequent_access_micros = *age_micros;
  return absl::OkStatus();
}

}  // namespace sonde
