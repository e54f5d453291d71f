#include "series/known/declaration_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "series/key/field_codec.h"
#include "series/key/key_codec.h"
#include "series/known/declaration_store.h"
#include "series/known/known_series.h"
#include "series/known/point_scan.h"
#include "series/known/row_match.h"
#include "series/known/table_claims.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

// Points that have any of `fields`; none: any points.
absl::StatusOr<bool> HasPoints(const SeriesSchema& schema, int64_t from_micros, int64_t to_micros,
                               TableAccess* tables, std::vector<size_t> fields = {}) {
  if (from_micros >= to_micros) return false;
  SeriesSchema alone = schema;
  alone.earlier.clear();
  bool has_any = false;
  Selection selection;
  selection.from_micros = from_micros;
  selection.to_micros = to_micros;
  selection.fields = std::move(fields);
  const absl::Status status =
      ScanPoints(alone, selection, tables, [&](const DecodedKey&, const RowPoint&) -> absl::StatusOr<bool> {
        has_any = true;
        return false;
      });
  if (absl::IsNotFound(status)) return false;  // no such table
  if (!status.ok()) return status;
  return has_any;
}

// Whether `now` reads the values of those fields whose type was another in `stored`.
absl::Status CheckTypes(const SeriesSchema& schema, const VersionSpan& stored, const SeriesSchema& now,
                        TableAccess* tables) {
  SeriesSchema alone = now;
  alone.earlier.clear();
  Selection selection;
  selection.from_micros = stored.from_micros;
  selection.to_micros = stored.to_micros;
  for (size_t i = 0; i < alone.fields.size(); ++i) {
    const std::optional<size_t> before = stored.schema->FindField(alone.fields[i].name);
    if (before && stored.schema->fields[*before].type != alone.fields[i].type) selection.fields.push_back(i);
  }
  if (selection.fields.empty()) return absl::OkStatus();
  const absl::Status status = ScanPoints(
      alone, selection, tables, [&](const DecodedKey&, const RowPoint& point) -> absl::StatusOr<bool> {
        for (size_t i = 0; i < selection.fields.size(); ++i) {
          if (point.values[i].data() == nullptr) continue;
          const Field& field = alone.fields[selection.fields[i]];
          if (field.type == FieldType::kString || IsNumber(field, point.values[i])) continue;
          return NoNumber(field, point.values[i]);
        }
        return true;
      });
  if (!absl::IsDataLoss(status) && !absl::IsOutOfRange(status))
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  return Unreadable(
      schema,
      fmt::format("values in table '{}' could not be read any more: {}", now.table, TextOfStatus(status)),
      fmt::format("leave the type as it is stored (sonde series show {})", schema.name),
      alone.fields[selection.fields[0]].line);
}

absl::Status CheckVersion(const SeriesSchema& schema, const VersionSpan& stored,
                          const std::vector<VersionSpan>& now, TableAccess* tables) {
  const auto same = std::find_if(now.begin(), now.end(), [&](const VersionSpan& span) {
    return span.schema->table == stored.schema->table;
  });
  const std::string& table = stored.schema->table;
  const auto has_points = [&](int64_t from_micros, int64_t to_micros) {
    return HasPoints(*stored.schema, from_micros, to_micros, tables);
  };
  const absl::StatusOr<bool> has_any = has_points(stored.from_micros, stored.to_micros);
  if (!has_any.ok()) return has_any.status();
  if (!*has_any) return absl::OkStatus();
  if (same == now.end()) {
    const absl::StatusOr<std::string> copied = FindNote(schema.name, kCopiedNote, table, tables);
    if (!copied.ok()) return copied.status();
    if (!copied->empty()) return absl::OkStatus();
    return Unreadable(
        schema, fmt::format("points that are in table '{}' could not be read any more", table),
        "name it under 'versions', with the time until which it holds them and how its rows are");
  }
  if (const RowDifference found = HowRowsDiffer(*stored.schema, *same->schema); !found.what.empty()) {
    return Unreadable(
        schema,
        fmt::format("{} is not the one that the points in table '{}' were written with", found.what, table),
        "declare what was under 'versions', and another table for what is to come", found.line);
  }
  for (size_t i = 0; i < stored.schema->fields.size(); ++i) {
    const std::string& field = stored.schema->fields[i].name;
    if (same->schema->FindField(field)) continue;
    const absl::StatusOr<bool> has_values =
        HasPoints(*stored.schema, stored.from_micros, stored.to_micros, tables, {i});
    if (!has_values.ok()) return has_values.status();
    if (*has_values) {
      return Unreadable(
          schema,
          fmt::format("values of field '{}' that are in table '{}' could not be read any more", field, table),
          "leave the field declared: points need not have it");
    }
  }
  if (absl::Status status = CheckTypes(schema, stored, *same->schema, tables); !status.ok()) return status;
  for (const auto& [from, to] :
       {std::pair(stored.from_micros, std::min(stored.to_micros, same->from_micros)),
        std::pair(std::max(stored.from_micros, same->to_micros), stored.to_micros)}) {
    const absl::StatusOr<bool> has_lost = has_points(from, to);
    if (!has_lost.ok()) return has_lost.status();
    if (*has_lost) {
      return Unreadable(
          schema,
          fmt::format("table '{}' has points of {} to {}, which this declaration looks for elsewhere", table,
                      TimeText(from), to >= kTimeEndMicros ? "now" : TimeText(to)),
          fmt::format(
              "leave each 'until' as it is stored (sonde series show {}); where points lie can only be "
              "changed by a new version",
              schema.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAgainstStored(const SeriesSchema& schema, TableAccess* tables) {
  const std::vector<VersionSpan> now = schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros);
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(schema.name, tables);
  if (!stored.ok()) return stored.status();
  if (stored->has_value()) {
    if ((*stored)->is_open()) {
      return absl::FailedPreconditionError(fmt::format(
          "{}: series '{}' has come undeclared before, and its points are in table '{}'; declare it "
          "under another name",
          schema.file, schema.name, kOpenSeriesTable));
    }
    if ((*stored)->yaml == schema.text) return absl::OkStatus();
    for (const VersionSpan& span : (*stored)->schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
      if (absl::Status status = CheckVersion(schema, span, now, tables); !status.ok()) return status;
    }
  }
  if (absl::Status status = CheckTablesAreFree(schema, tables); !status.ok()) return status;
  for (const VersionSpan& span : now) {
    if (absl::Status status = CheckRows(*span.schema, tables); !status.ok()) return status;
  }
  return CheckDerivedRows(schema, tables);
}

}  // namespace sonde::series
