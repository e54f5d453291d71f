#include "client/table_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/bytes.h"

namespace sonde {

namespace admin = google::bigtable::admin::v2;

namespace {

// kNone: no aggregate that this program knows.
AggregateKind AggregateOf(const admin::Type& type) {
  const admin::Type::Aggregate& aggregate = type.aggregate_type();
  switch (aggregate.aggregator_case()) {
    case admin::Type::Aggregate::kSum:
      return AggregateKind::kSum;
    case admin::Type::Aggregate::kMin:
      return AggregateKind::kMin;
    case admin::Type::Aggregate::kMax:
      return AggregateKind::kMax;
    case admin::Type::Aggregate::kHllppUniqueCount:
      return aggregate.input_type().has_int64_type() ? AggregateKind::kHllInt64 : AggregateKind::kHllBytes;
    default:
      return AggregateKind::kNone;
  }
}

}  // namespace

admin::GcRule GcRuleMessage(const GcRule& rule) {
  admin::GcRule proto;
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) {
    proto.set_max_num_versions(versions->count);
  } else if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    proto.mutable_max_age()->set_seconds(age->micros / 1'000'000);
    proto.mutable_max_age()->set_nanos(static_cast<int32_t>(age->micros % 1'000'000 * 1'000));
  } else if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) {
    auto* rules = proto.mutable_intersection();
    for (const GcRule& part : all->rules) *rules->add_rules() = GcRuleMessage(part);
  } else if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) {
    auto* rules = proto.mutable_union_();
    for (const GcRule& part : any->rules) *rules->add_rules() = GcRuleMessage(part);
  }
  return proto;
}

GcRule GcRuleOf(const admin::GcRule& proto) {
  const auto list = [](const auto& rules) {
    std::vector<GcRule> parts;
    for (const admin::GcRule& part : rules) parts.push_back(GcRuleOf(part));
    return parts;
  };
  switch (proto.rule_case()) {
    case admin::GcRule::kMaxNumVersions:
      return {GcRule::MaxVersions{proto.max_num_versions()}};
    case admin::GcRule::kMaxAge:
      return {GcRule::MaxAge{proto.max_age().seconds() * 1'000'000 + proto.max_age().nanos() / 1'000}};
    case admin::GcRule::kIntersection:
      return {GcRule::Intersection{list(proto.intersection().rules())}};
    case admin::GcRule::kUnion:
      return {GcRule::Union{list(proto.union_().rules())}};
    case admin::GcRule::RULE_NOT_SET:
      break;
  }
  return {};
}

absl::StatusOr<CopyAccess::Described> DescribedOf(const std::string& name, const admin::Table& table) {
  CopyAccess::Described described;
  TableSchema& schema = described.schema;
  schema.name = name;
  schema.granularity = table.granularity() == admin::Table::MICROS ? TimestampGranularity::kMicros
                                                                   : TimestampGranularity::kMillis;
  schema.deletion_protection = table.deletion_protection();
  for (const auto& [family_name, family] : table.column_families()) {
    FamilySchema one{.name = family_name, .gc_rule = GcRuleOf(family.gc_rule())};
    if (family.value_type().kind_case() != admin::Type::KIND_NOT_SET)
      one.value_type = family.value_type().SerializeAsString();
    if (family.value_type().has_aggregate_type()) {
      one.aggregate = AggregateOf(family.value_type());
      if (one.aggregate == AggregateKind::kNone) {
        return absl::UnimplementedError(
            fmt::format("family '{}' of table '{}' is an aggregate of a kind that Sonde does not have",
                        Printable(family_name), name));
      }
    }
    schema.families.push_back(std::move(one));
  }
  std::sort(schema.families.begin(), schema.families.end(),
            [](const FamilySchema& a, const FamilySchema& b) { return a.name < b.name; });
  if (table.has_change_stream_config()) described.left_out.emplace_back("its change stream");
  if (table.has_row_key_schema()) described.left_out.emplace_back("its row key schema");
  if (table.has_automated_backup_policy()) described.left_out.emplace_back("its automated backups");
  if (table.has_tiered_storage_config()) described.left_out.emplace_back("its tiered storage");
  return described;
}

absl::Status FillTable(const TableSchema& schema, admin::CreateTableRequest* request,
                       std::vector<std::string>* not_taken) {
  admin::Table* const table = request->mutable_table();
  if (schema.granularity == TimestampGranularity::kMicros) table->set_granularity(admin::Table::MICROS);
  table->set_deletion_protection(schema.deletion_protection);
  for (const FamilySchema& family : schema.families) {
    admin::ColumnFamily& made = (*table->mutable_column_families())[family.name];
    if (!family.gc_rule.KeepsEverything()) *made.mutable_gc_rule() = GcRuleMessage(family.gc_rule);
    if (family.value_type.empty()) continue;
    if (!made.mutable_value_type()->ParseFromString(family.value_type))
      return absl::InternalError(fmt::format("the type of family '{}' is no message", family.name));
    // A new family has the type of an aggregate, or none.
    if (made.value_type().has_aggregate_type()) continue;
    made.clear_value_type();
    not_taken->push_back(fmt::format("the type of family '{}'", family.name));
  }
  for (const std::string& key : schema.split_points) request->add_initial_splits()->set_key(key);
  if (schema.row_key_schema.has_value()) not_taken->emplace_back("its row key schema");
  if (schema.automated_backups.has_value()) not_taken->emplace_back("its automated backups");
  if (schema.infrequent_access_micros.has_value()) not_taken->emplace_back("its tiered storage");
  return absl::OkStatus();
}

}  // namespace sonde
