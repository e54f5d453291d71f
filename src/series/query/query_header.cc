#include "series/query/query_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/bytes.h"

namespace sonde::series {
namespace {

absl::Status Refuse(std::string text) { return absl::InvalidArgumentError(std::move(text)); }

absl::Status CheckLatest(const Query& query) {
  if (!query.latest) return absl::OkStatus();
  if (*query.latest < 1)
    return Refuse(fmt::format("the latest {} points; allowed: 1 and more", *query.latest));
  if (query.every) return Refuse("the latest points and --every exclude each other");
  if (!query.aggregates.empty()) return Refuse("the latest points and --agg exclude each other");
  if (query.change) return Refuse("the latest points and --change exclude each other");
  return absl::OkStatus();
}

absl::Status CheckBuckets(const Query& query) {
  if (query.every && query.aggregates.empty()) {
    return Refuse(fmt::format("--every and --agg go together; aggregates: {}", AggregateNames()));
  }
  if (query.group_by && query.aggregates.empty()) {
    return Refuse(fmt::format("--group-by and --agg go together; aggregates: {}", AggregateNames()));
  }
  if (!query.windows.empty() && !query.every) return Refuse("--window counts buckets: it needs --every");
  if (query.fill != Fill::kNone && !query.every) return Refuse("--fill fills buckets: it needs --every");
  for (const int window : query.windows) {
    if (window < 1 || window > kWindowBucketsMax) {
      return Refuse(fmt::format("--window {}; allowed: 1 to {} buckets", window, kWindowBucketsMax));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckValueConditions(const SeriesSchema& schema, const Query& query,
                                  const std::vector<size_t>& fields) {
  for (const ValueCondition& condition : query.value_conditions) {
    const Field& field = schema.fields[condition.field];
    if (query.latest || query.change || !query.aggregates.empty()) {
      return Refuse(
          fmt::format("--where of field '{}' asks for points one by one: without --latest, --agg, --every, "
                      "--group-by and "
                      "--change",
                      field.name));
    }
    if (field.type == FieldType::kString) {
      return Refuse(
          fmt::format("--where of field '{}', which is a string; allowed: fields of numbers", field.name));
    }
    if (std::find(fields.begin(), fields.end(), condition.field) == fields.end()) {
      return Refuse(
          fmt::format("--where of field '{}', which is not among --field: ask for it, too", field.name));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTop(const Query& query, const ResultHeader& header) {
  if (!query.top) return absl::OkStatus();
  if (query.top->count < 1 || query.top->count > kTopMax) {
    return Refuse(fmt::format("--top {}; allowed: 1 to {}", query.top->count, kTopMax));
  }
  std::vector<std::string_view> names;
  for (const ResultHeader::Column& column : header.values) {
    if (column.is_number) names.push_back(column.name);
  }
  if (names.empty()) return Refuse("--top needs a column of numbers");
  const std::string& column = query.top->column;
  if (column.empty() || std::find(names.begin(), names.end(), column) != names.end()) return absl::OkStatus();
  return Refuse(fmt::format("--by '{}'; allowed: {}", Printable(column), fmt::join(names, ", ")));
}

// A rate is so much a second; a count counts.
std::string UnitOf(const Field& field, std::optional<Change> change, std::optional<Aggregate> aggregate) {
  if (field.unit.empty() || (aggregate && *aggregate == Aggregate::kCount)) return "";
  return change && *change == Change::kRate ? field.unit + "/s" : field.unit;
}

void AddColumns(const Field& field, const Query& query, std::vector<ResultHeader::Column>* columns) {
  const std::string value = NameOfValues(field, query.change);
  if (query.aggregates.empty()) {
    columns->push_back({value, field.type != FieldType::kString, UnitOf(field, query.change, std::nullopt)});
  }
  for (const Aggregate& aggregate : query.aggregates) {
    const std::string unit = UnitOf(field, query.change, aggregate);
    if (query.windows.empty())
      columns->push_back({fmt::format("{}({})", AggregateName(aggregate), value), true, unit});
    for (const int window : query.windows) {
      columns->push_back({fmt::format("{}({}, {})", AggregateName(aggregate), value, window), true, unit});
    }
  }
}

}  // namespace

std::string NameOfValues(const Field& field, std::optional<Change> change) {
  return change ? fmt::format("{}({})", ChangeName(*change), field.name) : field.name;
}

ColumnType ColumnTypeOf(const Field& field) {
  switch (field.type) {
    case FieldType::kInt:
      return ColumnType::kInt64;
    case FieldType::kDouble:
      return ColumnType::kDouble;
    case FieldType::kString:
      break;
  }
  return ColumnType::kBytes;
}

std::vector<size_t> FieldsOf(const SeriesSchema& schema, const Query& query) {
  if (!query.fields.empty()) return query.fields;
  std::vector<size_t> fields;
  const bool is_count_only = std::all_of(query.aggregates.begin(), query.aggregates.end(),
                                         [](const Aggregate& a) { return a == Aggregate::kCount; });
  const bool takes_texts = is_count_only && !query.change;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (takes_texts || schema.fields[i].type != FieldType::kString) fields.push_back(i);
  }
  return fields;
}

absl::StatusOr<ResultHeader> HeaderOf(const SeriesSchema& schema, const Query& query) {
  ResultHeader header;
  if (absl::Status status = CheckLatest(query); !status.ok()) return status;
  if (absl::Status status = CheckBuckets(query); !status.ok()) return status;
  if (query.group_by) {
    for (const size_t tag : *query.group_by) header.tags.push_back(schema.tags[tag].name);
  } else {
    for (const Tag& tag : schema.tags) header.tags.push_back(tag.name);
  }
  header.time_unit = TimeUnitOf(schema.resolution_micros);
  if (query.every) {
    header.time_unit = query.every->Unit();
    header.zone = query.every->zone();
  }
  const std::vector<size_t> fields = FieldsOf(schema, query);
  if (absl::Status status = CheckValueConditions(schema, query, fields); !status.ok()) return status;
  const size_t columns = fields.size() * std::max<size_t>(query.aggregates.size(), 1) *
                         std::max<size_t>(query.windows.size(), 1);
  if (columns > kColumnsMax) {
    return Refuse(fmt::format("{} columns; allowed: {}; ask for fewer fields, --agg or --window", columns,
                              kColumnsMax));
  }
  for (const size_t index : fields) {
    const Field& field = schema.fields[index];
    if (field.type == FieldType::kString && query.change) {
      return Refuse(
          fmt::format("{} of field '{}', which is a string", ChangeName(*query.change), field.name));
    }
    for (const Aggregate& aggregate : query.aggregates) {
      if (field.type != FieldType::kString || aggregate == Aggregate::kCount) continue;
      return Refuse(fmt::format("{} of field '{}', which is a string; allowed: count",
                                AggregateName(aggregate), field.name));
    }
    AddColumns(field, query, &header.values);
  }
  if (absl::Status status = CheckTop(query, header); !status.ok()) return status;
  return header;
}

}  // namespace sonde::series
