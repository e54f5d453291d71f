#include "catalog/record/table_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "catalog/record/hex.h"

namespace sonde {
namespace {

using nlohmann::json;

constexpr int kTableRecordVersion = 1;

json GcRuleToJson(const GcRule& rule) {
  struct Visitor {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(const GcRule::MaxVersions& r) const { return {{"max_versions", r.count}}; }
    json operator()(const GcRule::MaxAge& r) const { return {{"max_age_micros", r.micros}}; }
    json operator()(const GcRule::Intersection& r) const { return {{"intersection", List(r.rules)}}; }
    json operator()(const GcRule::Union& r) const { return {{"union", List(r.rules)}}; }
    static json List(const std::vector<GcRule>& rules) {
      json list = json::array();
      for (const GcRule& rule : rules) list.push_back(GcRuleToJson(rule));
      return list;
    }
  };
  return std::visit(Visitor(), rule.rule);
}

GcRule GcRuleFromJson(const json& j) {
  const auto list = [](const json& rules) {
    std::vector<GcRule> result;
    for (const json& rule : rules) result.push_back(GcRuleFromJson(rule));
    return result;
  };
  if (j.is_null()) return {};
  if (j.contains("max_versions")) return {GcRule::MaxVersions{j.at("max_versions").get<int32_t>()}};
  if (j.contains("max_age_micros")) return {GcRule::MaxAge{j.at("max_age_micros").get<int64_t>()}};
  if (j.contains("intersection")) return {GcRule::Intersection{list(j.at("intersection"))}};
  return {GcRule::Union{list(j.at("union"))}};
}

json KeySchemaToJson(const RowKeySchema& schema) {
  json fields = json::array();
  for (const RowKeyField& field : schema.fields) {
    fields.push_back({{"name", field.name},
                      {"kind", static_cast<int>(field.kind)},
                      {"number_encoding", static_cast<int>(field.number_encoding)},
                      {"null_escape", ToHex(field.null_escape)}});
  }
  return {{"encoding", static_cast<int>(schema.encoding)},
          {"delimiter", ToHex(schema.delimiter)},
          {"fields", fields}};
}

// The value of an enum from 0 to `last`.
template <typename Enum>
Enum EnumFromJson(const json& number, Enum last) {
  const int value = number.get<int>();
  if (value < 0 || value > static_cast<int>(last)) throw std::invalid_argument("unknown value of an enum");
  return static_cast<Enum>(value);
}

RowKeySchema KeySchemaFromJson(const json& j) {
  RowKeySchema schema;
  schema.encoding = EnumFromJson(j.at("encoding"), RowKeySchema::Encoding::kOrderedCode);
  schema.delimiter = FromHex(j.at("delimiter").get<std::string>());
  for (const json& field : j.at("fields")) {
    schema.fields.push_back({.name = field.at("name").get<std::string>(),
                             .kind = EnumFromJson(field.at("kind"), RowKeyField::Kind::kTimestamp),
                             .number_encoding = EnumFromJson(field.at("number_encoding"),
                                                             RowKeyField::NumberEncoding::kOrderedCode),
                             .null_escape = FromHex(field.at("null_escape").get<std::string>())});
  }
  return schema;
}

json RestoredToJson(const RestoredFrom& from) {
  return {{"backup", from.backup},
          {"source_table", from.source_table},
          {"source_backup", from.source_backup},
          {"start_micros", from.start_micros},
          {"end_micros", from.end_micros}};
}

RestoredFrom RestoredFromJson(const json& j) {
  return {.backup = j.at("backup").get<std::string>(),
          .source_table = j.at("source_table").get<std::string>(),
          .source_backup = j.at("source_backup").get<std::string>(),
          .start_micros = j.at("start_micros").get<int64_t>(),
          .end_micros = j.at("end_micros").get<int64_t>()};
}

}  // namespace

std::string EncodeTableRecord(const TableRecord& record) {
  const TableSchema& schema = record.schema;
  json families = json::array();
  for (const FamilySchema& family : schema.families) {
    families.push_back({{"name", family.name},
                        {"id", family.id},
                        {"gc_rule", GcRuleToJson(family.gc_rule)},
                        {"aggregate", static_cast<int>(family.aggregate)},
                        {"value_type", ToHex(family.value_type)}});
  }
  json splits = json::array();
  for (const std::string& split : schema.split_points) splits.push_back(ToHex(split));
  json change_stream = nullptr;
  if (schema.change_stream.has_value()) {
    json points = json::array();
    for (const std::string& point : schema.change_stream->partition_points) points.push_back(ToHex(point));
    change_stream = {{"retention_micros", schema.change_stream->retention_micros},
                     {"start_micros", schema.change_stream->start_micros},
                     {"partition_points", points}};
  }
  json log_uses = json::array();
  for (const LogUse& use : schema.log_uses) {
    log_uses.push_back({{"name", use.name},
                        {"retention_micros", use.retention_micros},
                        {"start_micros", use.start_micros},
                        {"reads_garbage", use.reads_garbage}});
  }
  return json{
      {"version", kTableRecordVersion},
      {"name", schema.name},
      {"id", schema.id},
      {"granularity_micros", schema.granularity == TimestampGranularity::kMicros ? 1 : 1000},
      {"deletion_protection", schema.deletion_protection},
      {"families", families},
      {"split_points", splits},
      {"change_stream", change_stream},
      {"log_uses", log_uses},
      {"row_key_schema",
       schema.row_key_schema.has_value() ? KeySchemaToJson(*schema.row_key_schema) : json(nullptr)},
      {"restored_from",
       schema.restored_from.has_value() ? RestoredToJson(*schema.restored_from) : json(nullptr)},
      {"automated_backups", schema.automated_backups.has_value()
                                ? json{{"retention_micros", schema.automated_backups->retention_micros},
                                       {"has_frequency", schema.automated_backups->has_frequency},
                                       {"since_micros", schema.automated_backups->since_micros}}
                                : json(nullptr)},
      {"infrequent_access_micros",
       schema.infrequent_access_micros.has_value() ? json(*schema.infrequent_access_micros) : json(nullptr)},
      {"next_family_id", record.next_family_id}}
      .dump();
}

absl::StatusOr<TableRecord> DecodeTableRecord(std::string_view bytes) {
  try {
    const json j = json::parse(bytes);
    if (j.at("version").get<int>() != kTableRecordVersion) throw std::invalid_argument("unknown version");
    TableRecord record;
    TableSchema& schema = record.schema;
    schema.name = j.at("name").get<std::string>();
    schema.id = j.at("id").get<TableId>();
    schema.granularity = j.at("granularity_micros").get<int>() == 1 ? TimestampGranularity::kMicros
                                                                    : TimestampGranularity::kMillis;
    schema.deletion_protection = j.at("deletion_protection").get<bool>();
    for (const json& family : j.at("families")) {
      schema.families.push_back({.name = family.at("name").get<std::string>(),
                                 .id = family.at("id").get<FamilyId>(),
                                 .gc_rule = GcRuleFromJson(family.at("gc_rule")),
                                 .aggregate = EnumFromJson(family.at("aggregate"), kAggregateKindLast),
                                 .value_type = FromHex(family.at("value_type").get<std::string>())});
    }
    for (const json& split : j.at("split_points"))
      schema.split_points.push_back(FromHex(split.get<std::string>()));
    // Older records do not have all of what follows.
    if (const auto stream = j.find("change_stream"); stream != j.end() && !stream->is_null()) {
      schema.change_stream.emplace();
      schema.change_stream->retention_micros = stream->at("retention_micros").get<int64_t>();
      schema.change_stream->start_micros = stream->at("start_micros").get<int64_t>();
      for (const json& point : stream->at("partition_points")) {
        schema.change_stream->partition_points.push_back(FromHex(point.get<std::string>()));
      }
    }
    if (const auto uses = j.find("log_uses"); uses != j.end()) {
      for (const json& use : *uses) {
        schema.log_uses.push_back({.name = use.at("name").get<std::string>(),
                                   .retention_micros = use.at("retention_micros").get<int64_t>(),
                                   .start_micros = use.at("start_micros").get<int64_t>(),
                                   .reads_garbage = use.value("reads_garbage", false)});
      }
    }
    if (const auto keys = j.find("row_key_schema"); keys != j.end() && !keys->is_null()) {
      schema.row_key_schema = KeySchemaFromJson(*keys);
    }
    if (const auto restored = j.find("restored_from"); restored != j.end() && !restored->is_null()) {
      schema.restored_from = RestoredFromJson(*restored);
    }
    if (const auto policy = j.find("automated_backups"); policy != j.end() && !policy->is_null()) {
      schema.automated_backups = {.retention_micros = policy->at("retention_micros").get<int64_t>(),
                                  .has_frequency = policy->at("has_frequency").get<bool>(),
                                  .since_micros = policy->at("since_micros").get<int64_t>()};
    }
    if (const auto age = j.find("infrequent_access_micros"); age != j.end() && !age->is_null()) {
      schema.infrequent_access_micros = age->get<int64_t>();
    }
    record.next_family_id = j.at("next_family_id").get<FamilyId>();
    return record;
  } catch (const std::exception& e) {
    return absl::DataLossError(
        fmt::format("The record of a table is damaged ({}): {}", e.what(), Printable(bytes)));
  }
}

}  // namespace sonde
