// What the catalog knows of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cell.h"
#include "model/gc_rule.h"

namespace sonde {

struct FamilySchema {
  std::string name;
  FamilyId id = 0;
  GcRule gc_rule;
  AggregateKind aggregate = AggregateKind::kNone;
  // google.bigtable.admin.v2.Type of the family, serialized as it was given; empty when none was.
  std::string value_type;

  bool operator==(const FamilySchema&) const = default;
};

enum class TimestampGranularity : uint8_t { kMillis = 0, kMicros = 1 };

// How the changes of a table are logged for change streams, and divided among their readers.
struct ChangeStreamSchema {
  int64_t retention_micros = 0;
  int64_t start_micros = 0;                   // when it was enabled
  std::vector<std::string> partition_points;  // ascending; where a partition ends and the next one starts

  bool operator==(const ChangeStreamSchema&) const = default;
};

// Shared and never changed: an altered table is a new TableSchema.
struct TableSchema {
  std::string name;  // projects/P/instances/I/tables/T
  TableId id = 0;
  TimestampGranularity granularity = TimestampGranularity::kMillis;
  bool deletion_protection = false;
  std::vector<FamilySchema> families;               // by name, ascending
  std::vector<std::string> split_points;            // ascending; where the table was split when it was made
  std::optional<ChangeStreamSchema> change_stream;  // nullopt: changes are not logged

  // Null when there is none of that name (id).
  const FamilySchema* FindFamily(std::string_view family) const;
  const FamilySchema* FindFamily(FamilyId family) const;

  bool operator==(const TableSchema&) const = default;
};

}  // namespace sonde
