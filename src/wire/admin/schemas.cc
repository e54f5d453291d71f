#include "wire/admin/schemas.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>

#include "gc/gc_rule.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/admin/row_key_schemas.h"
#include "wire/admin/table_policies.h"
#include "wire/call/requests.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr int64_t kMicrosOfSecond = 1'000'000;
constexpr int64_t kNanosOfMicro = 1'000;
constexpr int64_t kSecondsPerDay = 24 * 60 * 60;

absl::StatusOr<AggregateKind> ParseAggregate(const admin::Type::Aggregate& aggregate) {
  if (aggregate.aggregator_case() == admin::Type::Aggregate::kHllppUniqueCount) {
    switch (aggregate.input_type().kind_case()) {
      case admin::Type::kInt64Type:
        return AggregateKind::kHllInt64;
      case admin::Type::kBytesType:
      case admin::Type::kStringType:
      case admin::Type::KIND_NOT_SET:
        return AggregateKind::kHllBytes;
      default:
        return absl::InvalidArgumentError(
            "Error in field 'value_type.aggregate_type.input_type' : hllpp_unique_count takes int64_type, "
            "bytes_type or string_type");
    }
  }
  if (aggregate.has_input_type() && aggregate.input_type().kind_case() != admin::Type::kInt64Type) {
    return absl::InvalidArgumentError(
        "Error in field 'value_type.aggregate_type.input_type' : sum, min and max take int64_type");
  }
  switch (aggregate.aggregator_case()) {
    case admin::Type::Aggregate::kSum:
      return AggregateKind::kSum;
    case admin::Type::Aggregate::kMin:
      return AggregateKind::kMin;
    case admin::Type::Aggregate::kMax:
      return AggregateKind::kMax;
    default:
      return absl::InvalidArgumentError("Error in field 'value_type.aggregate_type' : no aggregator is set");
  }
}

absl::StatusOr<GcRule> ParseGcRuleAt(const admin::GcRule& rule, int depth) {
  if (depth > kGcRuleDepthMax)
    return absl::InvalidArgumentError(
        fmt::format("GC rule is nested deeper than {} levels", kGcRuleDepthMax));
  const auto list = [depth](const auto& rules) -> absl::StatusOr<std::vector<GcRule>> {
    std::vector<GcRule> result;
    for (const admin::GcRule& part : rules) {
      absl::StatusOr<GcRule> parsed = ParseGcRuleAt(part, depth + 1);
      if (!parsed.ok()) return parsed.status();
      result.push_back(*std::move(parsed));
    }
    return result;
  };
  switch (rule.rule_case()) {
    case admin::GcRule::kMaxNumVersions:
      return GcRule{GcRule::MaxVersions{rule.max_num_versions()}};
    case admin::GcRule::kMaxAge: {
      const google::protobuf::Duration& age = rule.max_age();
      int64_t micros = 0;
      if (__builtin_mul_overflow(age.seconds(), kMicrosOfSecond, &micros) ||
          __builtin_add_overflow(micros, age.nanos() / kNanosOfMicro, &micros)) {
        return absl::InvalidArgumentError(
            fmt::format("Error in field 'max_age' : {} s is too long", age.seconds()));
      }
      return GcRule{GcRule::MaxAge{micros}};
    }
    case admin::GcRule::kIntersection: {
      auto rules = list(rule.intersection().rules());
      if (!rules.ok()) return rules.status();
      return GcRule{GcRule::Intersection{*std::move(rules)}};
    }
    case admin::GcRule::kUnion: {
      auto rules = list(rule.union_().rules());
      if (!rules.ok()) return rules.status();
      return GcRule{GcRule::Union{*std::move(rules)}};
    }
    case admin::GcRule::RULE_NOT_SET:
      break;
  }
  return GcRule{};
}

void GcRuleToProto(const GcRule& rule, admin::GcRule* out) {
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) {
    out->set_max_num_versions(versions->count);
  } else if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    out->mutable_max_age()->set_seconds(age->micros / kMicrosOfSecond);
    out->mutable_max_age()->set_nanos(static_cast<int32_t>(age->micros % kMicrosOfSecond * kNanosOfMicro));
  } else if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) {
    out->mutable_intersection();
    for (const GcRule& part : all->rules) GcRuleToProto(part, out->mutable_intersection()->add_rules());
  } else if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) {
    out->mutable_union_();
    for (const GcRule& part : any->rules) GcRuleToProto(part, out->mutable_union_()->add_rules());
  }
}

absl::StatusOr<TimestampGranularity> ParseGranularity(admin::Table::TimestampGranularity granularity) {
  switch (granularity) {
    case admin::Table::TIMESTAMP_GRANULARITY_UNSPECIFIED:
    case admin::Table::MILLIS:
      return TimestampGranularity::kMillis;
    case admin::Table::MICROS:
      return TimestampGranularity::kMicros;
    default:
      return UnknownValue("table.granularity", granularity);
  }
}

absl::StatusOr<std::vector<std::string>> ParseSplits(const admin::CreateTableRequest& request) {
  if (request.initial_splits_size() > kInitialSplitsMax) {
    return absl::InvalidArgumentError(fmt::format("Too many initial splits: {} provided; limit {}",
                                                  request.initial_splits_size(), kInitialSplitsMax));
  }
  std::vector<std::string> splits;
  for (const auto& split : request.initial_splits()) {
    if (absl::Status status = CheckRowKey(split.key()); !status.ok()) return status;
    splits.push_back(split.key());
  }
  std::sort(splits.begin(), splits.end());
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  return splits;
}

// No mask stands for the rule.
absl::StatusOr<UpdateFamily> ParseUpdate(
    const admin::ModifyColumnFamiliesRequest::Modification& modification) {
  UpdateFamily result{.name = modification.id()};
  bool wants_rule = modification.update_mask().paths().empty();
  for (const std::string& path : modification.update_mask().paths()) {
    if (path == "gc_rule") {
      wants_rule = true;
    } else if (path == "value_type") {
      const admin::Type& type = modification.update().value_type();
      result.value_type = type.SerializeAsString();
      result.is_aggregate = type.kind_case() == admin::Type::kAggregateType;
    } else {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'update_mask' : unknown path '{}'; known: gc_rule, value_type", path));
    }
  }
  if (wants_rule) {
    absl::StatusOr<GcRule> rule = ParseGcRule(modification.update().gc_rule());
    if (!rule.ok()) return rule.status();
    result.gc_rule = *std::move(rule);
  }
  return result;
}

}  // namespace

absl::StatusOr<GcRule> ParseGcRule(const admin::GcRule& rule) {
  if (rule.ByteSizeLong() > kGcRuleBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("GC rule has {} bytes; limit {}", rule.ByteSizeLong(), kGcRuleBytesMax));
  }
  absl::StatusOr<GcRule> parsed = ParseGcRuleAt(rule, 0);
  if (!parsed.ok()) return parsed;
  if (absl::Status status = CheckGcRule(*parsed); !status.ok()) return status;
  return parsed;
}

absl::StatusOr<int64_t> ParseRetention(const admin::ChangeStreamConfig& config) {
  const google::protobuf::Duration& period = config.retention_period();
  const bool in_limits =
      period.seconds() >= kChangeStreamRetentionDaysMin * kSecondsPerDay && period.nanos() >= 0 &&
      (period.seconds() < kChangeStreamRetentionDaysMax * kSecondsPerDay ||
       (period.seconds() == kChangeStreamRetentionDaysMax * kSecondsPerDay && period.nanos() == 0));
  if (!in_limits) {
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'change_stream_config.retention_period' : must be from {} to {} days, but is {} s",
        kChangeStreamRetentionDaysMin, kChangeStreamRetentionDaysMax, period.seconds()));
  }
  return period.seconds() * kMicrosOfSecond + period.nanos() / kNanosOfMicro;
}

absl::StatusOr<FamilySchema> ParseFamily(const std::string& name, const admin::ColumnFamily& family) {
  if (absl::Status status = CheckFamilyName(name); !status.ok()) return status;
  FamilySchema result;
  result.name = name;
  absl::StatusOr<GcRule> rule = ParseGcRule(family.gc_rule());
  if (!rule.ok()) return rule.status();
  result.gc_rule = *std::move(rule);
  // A type without a kind says as little as none.
  if (family.value_type().kind_case() == admin::Type::KIND_NOT_SET) return result;
  if (family.value_type().kind_case() != admin::Type::kAggregateType)
    return absl::InvalidArgumentError(
        "Error in field 'value_type' : a new family's may only be an aggregate_type");
  absl::StatusOr<AggregateKind> aggregate = ParseAggregate(family.value_type().aggregate_type());
  if (!aggregate.ok()) return aggregate.status();
  result.aggregate = *aggregate;
  result.value_type = family.value_type().SerializeAsString();
  return result;
}

absl::StatusOr<TableSchema> ParseCreateTable(const admin::CreateTableRequest& request) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckTableId(request.table_id()); !status.ok()) return status;
  const admin::Table& table = request.table();
  TableSchema schema;
  schema.name = fmt::format("{}/tables/{}", request.parent(), request.table_id());
  schema.deletion_protection = table.deletion_protection();
  absl::StatusOr<TimestampGranularity> granularity = ParseGranularity(table.granularity());
  if (!granularity.ok()) return granularity.status();
  schema.granularity = *granularity;
  for (const auto& [name, family] : table.column_families()) {
    absl::StatusOr<FamilySchema> parsed = ParseFamily(name, family);
    if (!parsed.ok()) return parsed.status();
    schema.families.push_back(*std::move(parsed));
  }
  if (table.has_row_key_schema()) {
    absl::StatusOr<RowKeySchema> keys = ParseRowKeySchema(table.row_key_schema());
    if (!keys.ok()) return keys.status();
    schema.row_key_schema = *std::move(keys);
  }
  if (table.has_change_stream_config()) {
    absl::StatusOr<int64_t> retention_micros = ParseRetention(table.change_stream_config());
    if (!retention_micros.ok()) return retention_micros.status();
    schema.change_stream = {.retention_micros = *retention_micros};
  }
  if (table.has_automated_backup_policy()) {
    absl::StatusOr<AutomatedBackupPolicy> policy = ParseAutomatedBackups(table.automated_backup_policy());
    if (!policy.ok()) return policy.status();
    schema.automated_backups = *policy;
  }
  if (table.has_tiered_storage_config()) {
    absl::StatusOr<int64_t> age_micros = ParseTieredStorage(table.tiered_storage_config());
    if (!age_micros.ok()) return age_micros.status();
    schema.infrequent_access_micros = *age_micros;
  }
  absl::StatusOr<std::vector<std::string>> splits = ParseSplits(request);
  if (!splits.ok()) return splits.status();
  schema.split_points = *std::move(splits);
  return schema;
}

absl::StatusOr<std::vector<FamilyModification>> ParseModifications(
    const admin::ModifyColumnFamiliesRequest& request) {
  std::vector<FamilyModification> result;
  for (const auto& modification : request.modifications()) {
    if (absl::Status status = CheckFamilyName(modification.id()); !status.ok()) return status;
    switch (modification.mod_case()) {
      case admin::ModifyColumnFamiliesRequest::Modification::kCreate: {
        absl::StatusOr<FamilySchema> family = ParseFamily(modification.id(), modification.create());
        if (!family.ok()) return family.status();
        result.push_back(CreateFamily{*std::move(family)});
        break;
      }
      case admin::ModifyColumnFamiliesRequest::Modification::kUpdate: {
        absl::StatusOr<UpdateFamily> update = ParseUpdate(modification);
        if (!update.ok()) return update.status();
        result.push_back(*std::move(update));
        break;
      }
      case admin::ModifyColumnFamiliesRequest::Modification::kDrop:
        if (!modification.drop()) return absl::InvalidArgumentError("Error in field 'drop' : must be true");
        result.push_back(DropFamily{modification.id()});
        break;
      case admin::ModifyColumnFamiliesRequest::Modification::MOD_NOT_SET:
        return absl::InvalidArgumentError(
            fmt::format("The modification of '{}' says neither create, update nor drop", modification.id()));
    }
  }
  if (result.empty()) return absl::InvalidArgumentError("No modifications provided");
  return result;
}

void InfoToProto(const RestoredFrom& from, admin::BackupInfo* out) {
  using google::protobuf::util::TimeUtil;
  out->set_backup(from.backup);
  *out->mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(from.start_micros);
  *out->mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(from.end_micros);
  out->set_source_table(from.source_table);
  out->set_source_backup(from.source_backup);
}

void ToProto(const TableSchema& schema, admin::Table::View view, admin::Table::View unspecified,
             admin::Table* out) {
  if (view == admin::Table::VIEW_UNSPECIFIED) view = unspecified;
  out->set_name(schema.name);
  if (view == admin::Table::SCHEMA_VIEW || view == admin::Table::FULL) {
    out->set_granularity(schema.granularity == TimestampGranularity::kMicros ? admin::Table::MICROS
                                                                             : admin::Table::MILLIS);
    out->set_deletion_protection(schema.deletion_protection);
    if (schema.change_stream.has_value()) {
      *out->mutable_change_stream_config()->mutable_retention_period() =
          google::protobuf::util::TimeUtil::MicrosecondsToDuration(schema.change_stream->retention_micros);
    }
    if (schema.restored_from.has_value()) {
      admin::RestoreInfo* const info = out->mutable_restore_info();
      info->set_source_type(admin::BACKUP);
      InfoToProto(*schema.restored_from, info->mutable_backup_info());
    }
    PoliciesToProto(schema, out);
    if (schema.row_key_schema.has_value()) ToProto(*schema.row_key_schema, out->mutable_row_key_schema());
    for (const FamilySchema& family : schema.families) {
      admin::ColumnFamily& column_family = (*out->mutable_column_families())[family.name];
      if (!family.gc_rule.KeepsEverything()) GcRuleToProto(family.gc_rule, column_family.mutable_gc_rule());
      // It was serialized here; nothing else can be in it.
      if (!family.value_type.empty())
        (void)column_family.mutable_value_type()->ParseFromString(family.value_type);
    }
  }
}

bool ShowsClusters(admin::Table::View view) {
  return view == admin::Table::REPLICATION_VIEW || view == admin::Table::ENCRYPTION_VIEW ||
         view == admin::Table::FULL;
}

void ClustersToProto(const std::vector<std::string>& cluster_ids, admin::Table::View view,
                     admin::Table* out) {
  for (const std::string& id : cluster_ids) {
    admin::Table::ClusterState& cluster = (*out->mutable_cluster_states())[id];
    if (view != admin::Table::ENCRYPTION_VIEW)
      cluster.set_replication_state(admin::Table::ClusterState::READY);
    if (view != admin::Table::REPLICATION_VIEW) {
      cluster.add_encryption_info()->set_encryption_type(admin::EncryptionInfo::GOOGLE_DEFAULT_ENCRYPTION);
    }
  }
}

}  // namespace sonde
