#include "series/derive/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "hll/fingerprint.h"
#include "series/key/field_codec.h"
#include "series/key/row_points.h"
#include "series/key/scan_plan.h"
#include "series/known/declaration_store.h"
#include "series/known/point_scan.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/entity_notes.h"
#include "series/write/rollup_keeper.h"
#include "series/write/row_batch.h"
#include "series/write/stored_rows.h"

namespace sonde::series {
namespace {

constexpr size_t kCellsPerBatch = 20'000;
constexpr size_t kRowsPerLook = 500;  // of the earlier table, whose hashes are read at once
constexpr char kHashFamily[] = "d";
constexpr char kHashColumn[] = "h";

using Hashes = std::vector<uint64_t>;  // ascending

std::vector<size_t> AllFields(const SeriesSchema& schema) {
  std::vector<size_t> fields(schema.fields.size());
  std::iota(fields.begin(), fields.end(), 0);
  return fields;
}

SeriesSchema Alone(SeriesSchema schema) {
  schema.earlier.clear();
  return schema;
}

// Hashes the value itself, not the way it is written: in a blob, 1.50 is 1.5.
uint64_t HashOf(int64_t time_micros, const Field& field, std::string_view value) {
  std::string text = fmt::format("{} {} ", time_micros, field.name);
  const absl::StatusOr<FieldValue> known = DecodeValue(field, value);
  text += known.ok() ? ValueText(*known) : std::string(value);
  return Fingerprint2011(text);
}

std::string TextOf(Hashes hashes) {
  std::sort(hashes.begin(), hashes.end());
  std::string text;
  for (const uint64_t hash : hashes) PutFixed64(&text, hash);
  return text;
}

Hashes HashesOf(std::string_view text) {
  Hashes hashes;
  uint64_t hash = 0;
  while (GetFixed64(&text, &hash)) hashes.push_back(hash);
  return hashes;
}

bool Has(const Hashes& hashes, uint64_t hash) { return std::ranges::binary_search(hashes, hash); }

// A batch is written; the last row of the earlier table that it is of.
using BatchDone = std::function<absl::Status(const std::string& key)>;

// The points of one version, read from its table, and written into the present one.
class VersionCopy {
 public:
  VersionCopy(const SeriesSchema& to, const VersionSpan& from, TableAccess* tables, const Clock& clock,
              RewriteTotals* totals)
      : from_(from),
        tables_(tables),
        clock_(clock),
        totals_(totals),
        copied_table_(CopiedTable(to.name, from.schema->table)),
        codec_(*from.schema),
        points_(codec_.schema(), AllFields(codec_.schema())),
        batch_(Alone(to)) {
    for (const Field& field : codec_.schema().fields) new_fields_.push_back(to.FindField(field.name));
    values_.resize(to.fields.size());
    if (!to.rollups.empty()) rollups_ = std::make_unique<RollupKeeper>(to, tables, &clock);
    if (to.is_indexed) entities_ = std::make_unique<EntityNotes>(to, tables, &clock, nullptr);
  }

  // All rows behind `last_key`, with their hashes.
  absl::Status Copy(const std::string& last_key, const BatchDone& done) {
    const absl::Status made =
        tables_->EnsureTable(copied_table_, {{kHashFamily, GcRule{GcRule::MaxVersions{1}}}});
    if (!made.ok()) return made;
    is_copying_ = true;
    return ForEachRow(last_key, done, [&](ReadRow&& row) { return CopyRow(row); });
  }

  // Copies points that were written since the copy; brings roll-ups up to date.
  absl::Status CatchUp(const BatchDone& done) {
    std::vector<ReadRow> rows;
    const absl::Status status = ForEachRow("", done, [&](ReadRow&& row) -> absl::Status {
      rows.push_back(std::move(row));
      return rows.size() < kRowsPerLook ? absl::OkStatus() : CatchUpRows(std::exchange(rows, {}));
    });
    if (!status.ok()) return status;
    const std::string last_key = rows.empty() ? "" : rows.back().row_key;
    if (absl::Status last = CatchUpRows(rows); !last.ok()) return last;
    if (absl::Status written = WriteBatch(); !written.ok()) return written;
    if (rollups_ != nullptr) {
      if (absl::Status refreshed = rollups_->Refresh(); !refreshed.ok()) return refreshed;
    }
    return last_key.empty() ? absl::OkStatus() : done(last_key);
  }

 private:
  absl::Status ForEachRow(const std::string& last_key, const BatchDone& done,
                          const std::function<absl::Status(ReadRow&&)>& take) {
    selection_.from_micros = from_.from_micros;
    selection_.to_micros = from_.to_micros;
    absl::StatusOr<ScanPlan> plan = PlanScan(codec_, selection_);
    if (!plan.ok()) return plan.status();
    if (!last_key.empty()) plan->ranges = ClipRanges(plan->ranges, {Successor(last_key), ""});
    if (plan->ranges.empty()) return absl::OkStatus();
    const RowRead read = MakeRowRead(codec_.schema(), AllFields(codec_.schema()), from_.from_micros,
                                     from_.to_micros, std::move(plan->ranges));
    absl::Status problem;
    std::string key;
    const absl::Status status = tables_->ReadRows(from_.schema->table, read, [&](ReadRow&& row) {
      ++totals_->rows;
      key = row.row_key;
      problem = take(std::move(row));
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
    return is_copying_ ? done(key) : absl::OkStatus();
  }

  // The points of the row into points_, and its key; false: there are none.
  absl::StatusOr<bool> ReadPoints(const ReadRow& row) {
    if (absl::Status status = codec_.Decode(row.row_key, &key_); !status.ok()) return status;
    if (!Matches(codec_, selection_, key_)) return false;
    if (absl::Status status = points_.Read(row, key_, from_.from_micros, from_.to_micros); !status.ok())
      return status;
    return points_.Count() > 0;
  }

  // In the order of the present declaration's fields, which may have got others since.
  const std::vector<std::string_view>& ValuesOf(const RowPoint& point) {
    values_.assign(values_.size(), {});
    for (size_t i = 0; i < new_fields_.size(); ++i) {
      if (new_fields_[i]) values_[*new_fields_[i]] = point.values[i];
    }
    return values_;
  }

  absl::Status CopyRow(const ReadRow& row) {
    const absl::StatusOr<bool> has_points = ReadPoints(row);
    if (!has_points.ok() || !*has_points) return has_points.status();
    Hashes hashes;
    for (size_t i = 0; i < points_.Count(); ++i) {
      const int64_t time_micros = points_.Get(i).time_micros;
      const std::vector<std::string_view>& values = ValuesOf(points_.Get(i));
      for (size_t field = 0; field < values.size(); ++field) {
        if (values[field].data() == nullptr) continue;
        hashes.push_back(HashOf(time_micros, batch_.schema().fields[field], values[field]));
      }
      if (absl::Status status = Add(time_micros, values); !status.ok()) return status;
    }
    hash_rows_.push_back({row.row_key, {{kHashFamily, kHashColumn, 0, TextOf(std::move(hashes))}}, {}});
    return absl::OkStatus();
  }

  absl::Status CatchUpRows(const std::vector<ReadRow>& rows) {
    if (rows.empty()) return absl::OkStatus();
    RowRead read;
    for (const ReadRow& row : rows) read.ranges.push_back(RowRange::Single(row.row_key));
    std::map<std::string, Hashes, std::less<>> copied;
    const absl::Status status = tables_->ReadRows(copied_table_, read, [&](ReadRow&& row) {
      copied[row.row_key] = HashesOf(row.cells[0].value);
      return true;
    });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    for (const ReadRow& row : rows) {
      if (absl::Status caught = CatchUpRow(row, copied[row.row_key]); !caught.ok()) return caught;
    }
    return absl::OkStatus();
  }

  absl::Status CatchUpRow(const ReadRow& row, const Hashes& copied) {
    const absl::StatusOr<bool> has_points = ReadPoints(row);
    if (!has_points.ok() || !*has_points) return has_points.status();
    const std::vector<Field>& fields = batch_.schema().fields;
    std::optional<NewValues> now;
    for (size_t i = 0; i < points_.Count(); ++i) {
      const int64_t time_micros = points_.Get(i).time_micros;
      std::vector<std::string_view> values = ValuesOf(points_.Get(i));
      bool has_any = false;
      for (size_t field = 0; field < values.size(); ++field) {
        const std::string_view value = std::exchange(values[field], {});
        if (value.data() == nullptr || Has(copied, HashOf(time_micros, fields[field], value))) continue;
        if (!now) {
          now.emplace();
          if (absl::Status status = ReadNew(&*now); !status.ok()) return status;
        }
        const auto there = now->find({time_micros, field});
        // Another value than was copied was written there since.
        if (there != now->end() && !Has(copied, there->second)) continue;
        values[field] = value;
        has_any = true;
      }
      if (!has_any) continue;
      if (absl::Status status = Add(time_micros, values); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // By time and field: the hash of what the new table has of this series, in the time of points_.
  using NewValues = std::map<std::pair<int64_t, size_t>, uint64_t>;
  absl::Status ReadNew(NewValues* values) {
    Selection selection;
    for (const std::string& tag : key_.tags) selection.tags.push_back({{tag}, {}});
    selection.from_micros = points_.Get(0).time_micros;
    selection.to_micros = points_.Get(points_.Count() - 1).time_micros + 1;
    const SeriesSchema& schema = batch_.schema();
    return ScanPoints(schema, selection, tables_,
                      [&](const DecodedKey&, const RowPoint& point) -> absl::StatusOr<bool> {
                        for (size_t field = 0; field < point.values.size(); ++field) {
                          if (point.values[field].data() == nullptr) continue;
                          (*values)[{point.time_micros, field}] =
                              HashOf(point.time_micros, schema.fields[field], point.values[field]);
                        }
                        return true;
                      });
  }

  absl::Status Add(int64_t time_micros, const std::vector<std::string_view>& values) {
    const std::vector<std::string_view> tags(key_.tags.begin(), key_.tags.end());
    const EncodedPoint encoded{tags, time_micros, values, clock_.NowMicros()};
    if (absl::Status status = batch_.Prepare(encoded); !status.ok()) return status;
    batch_.Commit(encoded);
    // Its time may be found as another one in the present table.
    if (entities_ != nullptr) entities_->Note(tags, time_micros, batch_.codec());
    ++totals_->points;
    // Roll-ups of the earlier table's points are the new one's.
    if (!is_copying_ && rollups_ != nullptr && rollups_->Check(tags, time_micros).ok())
      rollups_->Touch(tags, time_micros);
    return absl::OkStatus();
  }

  absl::Status WriteRows(const std::string& table, const std::vector<RowWrite>& rows) {
    const auto statuses = tables_->MutateRows(table, rows);
    if (!statuses.ok()) return statuses.status();
    for (const absl::Status& status : *statuses) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status WriteBatch() {
    if (batch_.rows().empty()) return absl::OkStatus();
    if (entities_ != nullptr) {
      if (absl::Status status = entities_->Register(); !status.ok()) return status;
      entities_->Clear();
    }
    if (rollups_ != nullptr && !is_copying_) {
      if (absl::Status status = rollups_->BeforeWrite(); !status.ok()) return status;
    }
    if (!hash_rows_.empty()) {
      if (absl::Status status = WriteRows(copied_table_, hash_rows_); !status.ok()) return status;
      hash_rows_.clear();
    }
    const absl::WriterMutexLock alone(&tables_->merging());
    absl::Status status = JoinStored(&batch_, tables_);
    if (status.ok()) status = WriteRows(batch_.schema().table, batch_.rows());
    batch_.Clear();
    return status;
  }

  const VersionSpan from_;
  TableAccess* tables_;
  const Clock& clock_;
  RewriteTotals* totals_;
  const std::string copied_table_;
  bool is_copying_ = false;
  Selection selection_;
  KeyCodec codec_;
  RowPoints points_;
  DecodedKey key_;                                 // of points_
  std::vector<std::optional<size_t>> new_fields_;  // of the version's: which of the present declaration
  std::vector<std::string_view> values_;           // of a point, by the latter
  RowBatch batch_;
  std::vector<RowWrite> hash_rows_;
  std::unique_ptr<RollupKeeper> rollups_;  // null: there are none
  std::unique_ptr<EntityNotes> entities_;  // null: the series is not indexed
};

}  // namespace

std::string CopiedTable(const std::string& series, const std::string& table) {
  return fmt::format("{}{:016x}", kCopiedTablePrefix, Fingerprint2011(series + "#" + table));
}

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
    const absl::Status status = copy.Copy(*last_key, [&](const std::string& key) -> absl::Status {
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
      const absl::Status status = copy.CatchUp([&](const std::string&) -> absl::Status {
        if (!progress || progress(totals)) return absl::OkStatus();
        return absl::CancelledError("the rewrite was broken off; run it again");
      });
      if (!status.ok()) return status;
    }
    for (const std::string& old : {table, CopiedTable(schema.name, table)}) {
      const absl::Status dropped = tables->DropTable(old);
      if (!dropped.ok() && !absl::IsNotFound(dropped)) return dropped;
    }
    if (absl::Status status = DeleteNotes(schema.name, table, tables); !status.ok()) return status;
    ++totals.versions;
  }
  return totals;
}

}  // namespace sonde::series
