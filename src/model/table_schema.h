// The schema of a table, as the catalog knows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cell.h"
#include "model/gc_rule.h"
#include "model/row_key_schema.h"

namespace sonde {

struct FamilySchema {
  std::string name;
  FamilyId id = 0;
  GcRule gc_rule;
  AggregateKind aggregate = AggregateKind::kNone;
  // The family's google.bigtable.admin.v2.Type, serialized as the client gave it; empty if it gave none.
  std::string value_type;

  bool operator==(const FamilySchema&) const = default;
};

enum class TimestampGranularity : uint8_t { kMillis = 0, kMicros = 1 };

// How the changes of a table are logged for change streams, and how the log is divided among readers.
struct ChangeStreamSchema {
  int64_t retention_micros = 0;
  int64_t start_micros = 0;                   // when the change stream was enabled
  std::vector<std::string> partition_points;  // ascending; a partition ends and the next one starts at each

  bool operator==(const ChangeStreamSchema&) const = default;
};

// A reason besides a change stream for which the changes of a table are logged.
struct LogUse {
  std::string name;              // what needs the records
  int64_t retention_micros = 0;  // it reads a record within this time
  int64_t start_micros = 0;      // when it began: it reads no record from before
  bool reads_garbage = false;    // it wants to be told of what is collected, as a change stream is

  bool operator==(const LogUse&) const = default;
};

// The backup that a table was restored from.  Source: google.bigtable.admin.v2.BackupInfo.
struct RestoredFrom {
  std::string backup;         // projects/P/instances/I/clusters/C/backups/B
  std::string source_table;   // of the backup
  std::string source_backup;  // that the backup was copied from; empty: it is no copy
  int64_t start_micros = 0;   // of the backup
  int64_t end_micros = 0;

  bool operator==(const RestoredFrom&) const = default;
};

// Whether and how backups of a table are made by themselves, once in kAutomatedBackupInterval.
// Source: google.bigtable.admin.v2.Table.AutomatedBackupPolicy.
struct AutomatedBackupPolicy {
  int64_t retention_micros = 0;  // how long each backup is kept
  bool has_frequency = false;    // the client has named the interval, of which there is only one
  int64_t since_micros = 0;      // since 1970: when the table got its policy

  bool operator==(const AutomatedBackupPolicy&) const = default;
};

// A schema is shared and never changed; an altered table gets a new TableSchema.
struct TableSchema {
  std::string name;  // projects/P/instances/I/tables/T
  TableId id = 0;
  TimestampGranularity granularity = TimestampGranularity::kMillis;
  bool deletion_protection = false;
  std::vector<FamilySchema> families;     // by name, ascending
  std::vector<std::string> split_points;  // ascending; where the table was split when it was created
  std::optional<ChangeStreamSchema> change_stream;  // nullopt: there is none
  std::vector<LogUse> log_uses;                // by name, ascending; each is one more reason to log changes
  std::optional<RowKeySchema> row_key_schema;  // keys are not checked against it when they are written

  std::optional<RestoredFrom> restored_from = std::nullopt;  // nullopt: the table was created

  std::optional<AutomatedBackupPolicy> automated_backups = std::nullopt;  // nullopt: none are made
  // The age from which production keeps cells where access is slower.  Here it is kept and has no effect.  nullopt: none.
  std::optional<int64_t> infrequent_access_micros = std::nullopt;

  // Returns null if there is no family of this name or id.
  const FamilySchema* FindFamily(std::string_view family) const;
  const FamilySchema* FindFamily(FamilyId family) const;

  // Whether changes are logged, for a change stream or another use.
  bool IsLogged() const { return change_stream.has_value() || !log_uses.empty(); }
  // Whether the log tells of what garbage collection forgets: then that is deleted, a change of its row.
  bool LogsGarbage() const;
  // Returns null if there is no such use.
  const LogUse* FindLogUse(std::string_view use) const;
  // The least position of a new record of the log: no use began after it.
  int64_t LogPositionMin() const;
  // The time before which nobody needs a record of the log any more; `now_micros` if nobody needs any.
  int64_t LogNeededFromMicros(int64_t now_micros) const;
  // For how long a record may be needed; 0: changes are not logged.
  int64_t LogKeptMicros() const;
  // Takes all reasons to log changes away.
  void StopLogging();

  bool operator==(const TableSchema&) const = default;
};
using TableSchemaRef = std::shared_ptr<const TableSchema>;

}  // namespace sonde
