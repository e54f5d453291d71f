#include "backup/copy/send_table.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "table/row_reader.h"

namespace sonde {
namespace {

// A request has no more, unless a single cell is larger.
constexpr size_t kRequestBytes = 4 << 20;
constexpr size_t kRequestCells = 20'000;
constexpr int64_t kRowsAtOnce = 1'000;

// What cells come to, in whatever order they come.
class Sum {
 public:
  void AddRow() { ++sent_.rows; }
  void AddCell(std::string_view row_key, std::string_view family, std::string_view qualifier,
               int64_t timestamp_micros, std::string_view value) {
    ++sent_.cells;
    sent_.bytes += row_key.size() + qualifier.size() + value.size();
    uint64_t hash = HashBytes(row_key, static_cast<uint64_t>(timestamp_micros));
    for (const std::string_view part : {family, qualifier, value}) hash = HashBytes(part, hash);
    hash_ += hash;
  }

  const SentTable& sent() const { return sent_; }
  bool IsLike(const Sum& other) const {
    return hash_ == other.hash_ && sent_.rows == other.sent_.rows && sent_.cells == other.sent_.cells;
  }

 private:
  SentTable sent_;
  uint64_t hash_ = 0;
};

// Rows that are sent together.
class Request {
 public:
  Request(TableAccess* to, const std::string& table) : to_(to), table_(table) {}

  // Sends what is there if the cell finds no room.
  absl::Status Add(const std::string& row_key, CellWrite cell) {
    const size_t bytes = row_key.size() + cell.family.size() + cell.qualifier.size() + cell.value.size();
    if (cells_ >= kRequestCells || (cells_ > 0 && bytes_ + bytes > kRequestBytes)) {
      if (absl::Status status = Send(); !status.ok()) return status;
    }
    if (rows_.empty() || rows_.back().row_key != row_key) rows_.push_back({.row_key = row_key});
    rows_.back().cells.push_back(std::move(cell));
    ++cells_;
    bytes_ += bytes;
    return absl::OkStatus();
  }

  absl::Status Send() {
    if (rows_.empty()) return absl::OkStatus();
    const absl::StatusOr<std::vector<absl::Status>> statuses = to_->MutateRows(table_, rows_);
    if (!statuses.ok()) return statuses.status();
    for (const absl::Status& status : *statuses) {
      if (!status.ok()) return status;
    }
    rows_.clear();
    cells_ = bytes_ = 0;
    return absl::OkStatus();
  }

 private:
  TableAccess* const to_;
  const std::string& table_;
  std::vector<RowWrite> rows_;
  size_t cells_ = 0;
  size_t bytes_ = 0;
};

absl::Status CheckCanBeSent(const TableSchema& schema) {
  if (schema.granularity != TimestampGranularity::kMillis) {
    return absl::UnimplementedError(
        fmt::format("Table '{}' has timestamps of microseconds, which no table that is made through the API "
                    "takes; --data-dir restores it",
                    schema.name));
  }
  for (const FamilySchema& family : schema.families) {
    if (family.aggregate == AggregateKind::kNone) continue;
    return absl::UnimplementedError(
        fmt::format("Family '{}' of table '{}' has aggregates, whose states the API does not set; --data-dir "
                    "restores it",
                    family.name, schema.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<Sum> SendRows(Tables* from, const TableSchemaRef& schema, Request* request,
                             const SendOptions& options) {
  ReadRequest read;
  read.ranges = {RowRange{}};
  read.in_parts = true;
  absl::StatusOr<std::unique_ptr<RowReader>> reader = from->Read(schema, std::move(read));
  if (!reader.ok()) return reader.status();
  Sum sum;
  while (true) {
    const absl::StatusOr<RowReader::Step> step = (*reader)->Next(kRowsAtOnce);
    if (!step.ok()) return step.status();
    if (*step == RowReader::Step::kEnd) break;
    if (*step == RowReader::Step::kPaused) continue;
    const std::string& row_key = (*reader)->row_key();
    for (const FilterCell& cell : (*reader)->cells()) {
      const std::string& family = (*reader)->family_name(cell);
      const CellView& view = cell.cell;
      sum.AddCell(row_key, family, view.qualifier, view.timestamp_micros, view.value);
      absl::Status status = request->Add(row_key, {.family = family,
                                                   .qualifier = std::string(view.qualifier),
                                                   .timestamp_micros = view.timestamp_micros,
                                                   .value = std::string(view.value)});
      if (!status.ok()) return status;
    }
    if (*step == RowReader::Step::kRow) sum.AddRow();
    if (options.on_progress) options.on_progress(sum.sent().bytes);
  }
  if (absl::Status status = request->Send(); !status.ok()) return status;
  return sum;
}

absl::Status Compare(TableAccess* to, const std::string& table, const Sum& sent) {
  Sum found;
  absl::Status status = to->ReadRows(table, {.ranges = {RowRange{}}}, [&](const ReadRow& row) {
    found.AddRow();
    for (const ReadCell& cell : row.cells)
      found.AddCell(row.row_key, cell.family, cell.qualifier, cell.timestamp_micros, cell.value);
    return true;
  });
  if (!status.ok() || found.IsLike(sent)) return status;
  return absl::DataLossError(fmt::format(
      "Table '{}' is not what was sent: it has {} rows and {} cells, and {} rows and {} cells were sent",
      table, found.sent().rows, found.sent().cells, sent.sent().rows, sent.sent().cells));
}

// Fills a table that is there, has the families, and forgets nothing yet, so that it can be compared.
absl::StatusOr<SentTable> Fill(Tables* from, const TableSchemaRef& schema, TableAccess* to,
                               const std::string& as, const SendOptions& options) {
  Request request(to, as);
  const absl::StatusOr<Sum> sum = SendRows(from, schema, &request, options);
  if (!sum.ok()) return sum.status();
  if (absl::Status status = Compare(to, as, *sum); !status.ok()) return status;
  std::vector<FamilyRequest> rules;
  for (const FamilySchema& family : schema->families) {
    if (!family.gc_rule.KeepsEverything()) rules.push_back({family.name, family.gc_rule});
  }
  if (absl::Status status = rules.empty() ? absl::OkStatus() : to->UpdateFamilies(as, rules); !status.ok())
    return status;
  return sum->sent();
}

absl::Status WithWords(const absl::Status& status, std::string_view words) {
  return {status.code(), fmt::format("{}; {}", std::string(status.message()), words)};
}

}  // namespace

absl::StatusOr<SentTable> SendTable(Tables* from, const std::string& source, TableAccess* to,
                                    const std::string& as, const SendOptions& options) {
  const absl::StatusOr<TableSchemaRef> schema = from->catalog().Find(source);
  if (!schema.ok()) return schema.status();
  if (absl::Status status = CheckCanBeSent(**schema); !status.ok()) return status;
  const absl::Status found = to->ListFamilies(as).status();
  if (!found.ok() && !absl::IsNotFound(found)) return found;
  if (found.ok() && !options.resumes)
    return absl::AlreadyExistsError(fmt::format("There is a table '{}' already", as));
  std::vector<FamilyRequest> families;
  for (const FamilySchema& family : (*schema)->families) families.push_back({family.name, GcRule{}});
  absl::Status status = to->EnsureTable(as, families);
  if (status.ok() && found.ok() && !families.empty()) status = to->UpdateFamilies(as, families);
  if (!status.ok()) return status;
  absl::StatusOr<SentTable> sent = Fill(from, *schema, to, as, options);
  if (sent.ok()) return sent;
  if (found.ok()) return WithWords(sent.status(), "what was sent is kept, and the call may be repeated");
  const absl::Status dropped = to->DropTable(as);
  if (dropped.ok()) return WithWords(sent.status(), "the new table was deleted again");
  return WithWords(sent.status(),
                   "the new table is incomplete and could not be deleted: resume, or delete it");
}

}  // namespace sonde
