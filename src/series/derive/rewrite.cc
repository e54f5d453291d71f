#include "series/derive/rewrite.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "series/key/field_codec.h"
#include "series/key/row_points.h"
#include "series/key/scan_plan.h"
#include "series/schema/schema_parser.h"
#include "series/write/declaration_store.h"
#include "series/write/point_scan.h"
#include "series/write/point_writer.h"
#include "series/write/row_batch.h"

namespace sonde::series {
namespace {

constexpr size_t kCellsPerBatch = 20'000;

// Copies one version.
class VersionCopy {
 public:
  VersionCopy(const SeriesSchema& to, const VersionSpan& from, TableAccess* tables, const Clock& clock,
              RewriteTotals* totals)
      : from_(from),
        tables_(tables),
        clock_(clock),
        totals_(totals),
        codec_(*from.schema),
        points_(codec_.schema(), AllFields(to)),
        batch_(Alone(to)) {}

  // Rows behind `last_key`.  `is_filling`: only what the new table does not have.  `done`: a batch is
  // written; its last row's key.
  absl::Status Run(const std::string& last_key, bool is_filling,
                   const std::function<absl::Status(const std::string& key)>& done) {
    Selection selection;
    selection.from_micros = from_.from_micros;
    selection.to_micros = from_.to_micros;
    absl::StatusOr<ScanPlan> plan = PlanScan(codec_, selection);
    if (!plan.ok()) return plan.status();
    if (!last_key.empty()) plan->ranges = ClipRanges(plan->ranges, {Successor(last_key), ""});
    if (plan->ranges.empty()) return absl::OkStatus();
    const RowRead read = MakeRowRead(codec_.schema(), AllFields(batch_.schema()), from_.from_micros,
                                     from_.to_micros, std::move(plan->ranges));
    absl::Status problem;
    std::string key;
    const absl::Status status = tables_->ReadRows(from_.schema->table, read, [&](ReadRow&& row) {
      key = row.row_key;
      problem = CopyRow(row, selection, is_filling);
      if (problem.ok() && batch_.cell_count() >= kCellsPerBatch) {
        problem = WriteBatch();
        if (problem.ok()) problem = done(key);
      }
      return problem.ok();
    });
    if (!problem.ok()) return problem;
    if (absl::IsNotFound(status)) return absl::OkStatus();  // nothing was ever written there
    if (!status.ok()) return status;
    if (key.empty()) return absl::OkStatus();
    if (absl::Status written = WriteBatch(); !written.ok()) return written;
    return done(key);
  }

 private:
  static std::vector<size_t> AllFields(const SeriesSchema& schema) {
    std::vector<size_t> fields(schema.fields.size());
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = i;
    return fields;
  }
  static SeriesSchema Alone(SeriesSchema schema) {
    schema.earlier.clear();
    return schema;
  }

  absl::Status CopyRow(const ReadRow& row, const Selection& selection, bool is_filling) {
    ++totals_->rows;
    DecodedKey key;
    if (absl::Status status = codec_.Decode(row.row_key, &key); !status.ok()) return status;
    if (!Matches(codec_, selection, key)) return absl::OkStatus();
    if (absl::Status status = points_.Read(row, key, from_.from_micros, from_.to_micros); !status.ok())
      return status;
    if (points_.Count() == 0) return absl::OkStatus();
    std::set<std::pair<int64_t, size_t>> known;  // time, field
    if (is_filling) {
      if (absl::Status status = FindKnown(key.tags, &known); !status.ok()) return status;
    }
    const std::vector<std::string_view> tags(key.tags.begin(), key.tags.end());
    for (size_t i = 0; i < points_.Count(); ++i) {
      const RowPoint& point = points_.Get(i);
      std::vector<std::string_view> values = point.values;
      bool has_any = false;
      for (size_t field = 0; field < values.size(); ++field) {
        if (known.contains({point.time_micros, field})) values[field] = {};
        has_any |= values[field].data() != nullptr;
      }
      if (!has_any) continue;
      const EncodedPoint encoded{tags, point.time_micros, values, clock_.NowMicros()};
      if (absl::Status status = batch_.Prepare(encoded); !status.ok()) return status;
      batch_.Commit(encoded);
      ++totals_->points;
    }
    return absl::OkStatus();
  }

  // What the new table has of this series, in the time of points_.
  absl::Status FindKnown(const std::vector<std::string>& tags, std::set<std::pair<int64_t, size_t>>* known) {
    Selection selection;
    for (const std::string& tag : tags) selection.tags.push_back({{tag}, {}});
    selection.from_micros = points_.Get(0).time_micros;
    selection.to_micros = points_.Get(points_.Count() - 1).time_micros + 1;
    return ScanPoints(batch_.schema(), selection, tables_,
                      [&](const DecodedKey&, const RowPoint& point) -> absl::StatusOr<bool> {
                        for (size_t field = 0; field < point.values.size(); ++field) {
                          if (point.values[field].data() != nullptr) known->emplace(point.time_micros, field);
                        }
                        return true;
                      });
  }

  absl::Status WriteBatch() {
    if (batch_.rows().empty()) return absl::OkStatus();
    const auto statuses = tables_->MutateRows(batch_.schema().table, batch_.rows());
    batch_.Clear();
    if (!statuses.ok()) return statuses.status();
    for (const absl::Status& status : *statuses) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const VersionSpan from_;
  TableAccess* tables_;
  const Clock& clock_;
  RewriteTotals* totals_;
  KeyCodec codec_;
  RowPoints points_;
  RowBatch batch_;
};

}  // namespace

absl::StatusOr<RewriteTotals> CopyVersions(const SeriesSchema& schema, TableAccess* tables,
                                           const Clock& clock, const RewriteProgress& progress) {
  if (absl::Status status = EnsureSeriesTables(schema, tables, &clock); !status.ok()) return status;
  RewriteTotals totals;
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    if (span.schema == &schema) break;
    const std::string& table = span.schema->table;
    const absl::StatusOr<std::string> last_key = FindNote(schema.name, kCopiedToNote, table, tables);
    if (!last_key.ok()) return last_key.status();
    VersionCopy copy(schema, span, tables, clock, &totals);
    const absl::Status status = copy.Run(*last_key, false, [&](const std::string& key) -> absl::Status {
      const absl::Status noted = StoreNote(schema.name, kCopiedToNote, table, key, tables, clock);
      if (!noted.ok() || !progress || progress(totals)) return noted;
      return absl::CancelledError("the rewrite was broken off; run it again to go on");
    });
    if (!status.ok()) return status;
    const absl::Status noted = StoreNote(schema.name, kCopiedNote, table, schema.text, tables, clock);
    if (!noted.ok()) return noted;
    ++totals.versions;
  }
  return totals;
}

absl::StatusOr<RewriteTotals> FinishVersions(const SeriesSchema& schema, TableAccess* tables,
                                             const Clock& clock, const RewriteProgress& progress) {
  const absl::StatusOr<std::map<std::string, std::string>> copied =
      ListNotes(schema.name, kCopiedNote, tables);
  if (!copied.ok()) return copied.status();
  if (copied->empty()) {
    return absl::FailedPreconditionError(
        fmt::format("no earlier version of series '{}' was copied; copy them first", schema.name));
  }
  for (const SeriesSchema& version : schema.earlier) {
    if (!copied->contains(version.table)) continue;
    return absl::FailedPreconditionError(
        fmt::format("{}: the declaration still reads table '{}'; take that version out of 'versions' first",
                    schema.file, version.table));
  }
  if (absl::Status status = EnsureSeriesTables(schema, tables, &clock); !status.ok()) return status;
  RewriteTotals totals;
  for (const auto& [table, text] : *copied) {
    const absl::StatusOr<SeriesSchema> before = ParseSchema(text, kDeclarationsTable);
    if (!before.ok()) return before.status();
    for (const VersionSpan& span : before->VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
      if (span.schema->table != table) continue;
      VersionCopy copy(schema, span, tables, clock, &totals);
      const absl::Status status = copy.Run("", true, [&](const std::string&) -> absl::Status {
        if (!progress || progress(totals)) return absl::OkStatus();
        return absl::CancelledError("the rewrite was broken off; run it again");
      });
      if (!status.ok()) return status;
    }
    const absl::Status dropped = tables->DropTable(table);
    if (!dropped.ok() && !absl::IsNotFound(dropped)) return dropped;
    if (absl::Status status = DeleteNotes(schema.name, table, tables); !status.ok()) return status;
    ++totals.versions;
  }
  return totals;
}

}  // namespace sonde::series
