#include "engine/hbase/records.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "base/random.h"
#include "base/varint.h"
#include "engine/engine_errors.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/row_edit.h"
#include "engine/hbase/stored_row.h"
#include "hbase/row_version.h"

namespace sonde {
namespace {

constexpr char kRecordsRow[] = "records";
constexpr char kCheckRow[] = "check";
constexpr FamilyId kRecords = 1;
constexpr FamilyId kWrites = 2;

absl::StatusOr<int64_t> TakeNumber(std::string_view* value) {
  uint64_t number = 0;
  if (!GetFixed64(value, &number)) return absl::DataLossError("A record in HBase is too short");
  return static_cast<int64_t>(number);
}

// What the row has of the records that were asked for.
struct Found {
  int64_t writes = 0;
  std::map<std::string, Record, std::less<>> records;
};

absl::StatusOr<Found> FindRecords(const StoredRow& row) {
  Found found;
  for (const SeamCell& cell : row.cells()) {
    std::string_view value = cell.cell.value;
    const absl::StatusOr<int64_t> number = TakeNumber(&value);
    if (!number.ok()) return number.status();
    if (cell.family == kWrites) found.writes = *number;
    if (cell.family != kRecords) continue;
    const std::string key(cell.cell.qualifier);
    found.records[key] = {key, std::string(value), *number};
  }
  return found;
}

std::string NumberBytes64(int64_t number) {
  std::string bytes;
  PutFixed64(&bytes, static_cast<uint64_t>(number));
  return bytes;
}

}  // namespace

absl::Status HBaseRecords::Write(const std::vector<RecordChange>& changes, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  if (changes.empty()) return absl::OkStatus();
  StoredChoice choice{.qualifiers = {StoredFamilyRange(kWrites)}};
  for (const RecordChange& change : changes) {
    if (change.expected_version.has_value())
      choice.qualifiers.push_back(StoredColumnRange(kRecords, change.key));
  }
  const auto read = [&] { return ReadStoredRow(client_, table_, kRecordsRow, choice, deadline); };
  const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
    const absl::StatusOr<Found> found = FindRecords(row);
    if (!found.ok()) return found.status();
    const std::string number = NumberBytes64(found->writes + 1);
    std::map<std::string_view, std::optional<std::string_view>> values;  // by key: the last change counts
    for (const RecordChange& change : changes) {
      values[change.key] = change.value;
      if (!change.expected_version.has_value()) continue;
      const auto record = found->records.find(change.key);
      const int64_t version = record == found->records.end() ? 0 : record->second.version;
      if (version != *change.expected_version) return RecordWasChanged(change, version);
    }
    FamilyDelta records{.family = kRecords};
    for (const auto& [key, value] : values) {
      if (value.has_value()) {
        records.puts.push_back({key, 0, edit->bytes.emplace_back(number + std::string(*value))});
      } else {
        records.deletes.push_back({key, {}});
      }
    }
    FamilyDelta writes{.family = kWrites};
    writes.puts.push_back({"", 0, edit->bytes.emplace_back(number)});
    const absl::Status made =
        MakeEdit(kRecordsRow, {.families = {std::move(records), std::move(writes)}}, row, edit);
    if (!made.ok()) return made;
    return Made::kEdit;
  };
  return CommitGuarded(client_, table_, kRecordsRow, read, make, deadline, conflicts_);
}

absl::StatusOr<std::vector<Record>> HBaseRecords::Read(std::string_view prefix, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const StoredChoice choice{
      .qualifiers = {StoredColumnsRange(kRecords, {std::string(prefix), PrefixEnd(prefix)})}};
  const absl::StatusOr<StoredRow> row = ReadStoredRow(client_, table_, kRecordsRow, choice, deadline);
  if (!row.ok()) return row.status();
  absl::StatusOr<Found> found = FindRecords(*row);
  if (!found.ok()) return found.status();
  std::vector<Record> records;
  for (auto& [key, record] : found->records) {
    if (key.starts_with(prefix)) records.push_back(std::move(record));
  }
  return records;
}

absl::StatusOr<int64_t> HBaseRecords::Version(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const StoredChoice choice{.qualifiers = {StoredFamilyRange(kWrites)}};
  const absl::StatusOr<StoredRow> row = ReadStoredRow(client_, table_, kRecordsRow, choice, deadline);
  if (!row.ok()) return row.status();
  const absl::StatusOr<Found> found = FindRecords(*row);
  if (!found.ok()) return found.status();
  return found->writes;
}

absl::Status HBaseRecords::CheckWrites(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  SystemRandom random;
  const std::string version = hbase::FirstVersion(&random);
  hbase::RowChange change{.row = kCheckRow};
  change.puts.push_back(
      {{}, kVersionFamily, kVersionQualifier, kVersionTime, hbase::CellType::kPut, version});
  return client_->rows()->Apply(table_, {&change, 1}, deadline)[0];
}

}  // namespace sonde
