#include "series/query/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/key/field_codec.h"
#include "series/query/row_points.h"

namespace sonde::series {
namespace {

// A scan for newest points passes over so many rows of a series that it is done with before it seeks to the
// next.
constexpr int kRowsPassedOverMax = 16;

std::vector<size_t> FieldsOf(const SeriesSchema& schema, const Query& query) {
  if (!query.fields.empty()) return query.fields;
  std::vector<size_t> fields;
  const bool is_count_only = std::all_of(query.aggregates.begin(), query.aggregates.end(),
                                         [](Aggregate a) { return a == Aggregate::kCount; });
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (query.every && !is_count_only && schema.fields[i].type == FieldType::kString) continue;
    fields.push_back(i);
  }
  return fields;
}

// Whether all points of a series come one after the other in the order of the keys.
bool IsBySeries(const SeriesSchema& schema) {
  bool is_behind_time = false;
  for (const KeyPart& part : schema.key) {
    if (part.IsTime()) is_behind_time = true;
    if (part.kind == KeyPart::Kind::kTag && is_behind_time) return false;
  }
  return true;
}

bool IsReversed(const SeriesSchema& schema) {
  const auto part =
      std::find_if(schema.key.begin(), schema.key.end(), [](const KeyPart& p) { return p.IsTime(); });
  return part != schema.key.end() && part->reverse;
}

using RowCallback = std::function<bool(const ResultRow&)>;

class QueryRun {
 public:
  QueryRun(const SeriesSchema& schema, const Query& query, TableAccess* tables, const RowCallback& row)
      : codec_(schema),
        query_(query),
        tables_(tables),
        row_(row),
        fields_(FieldsOf(schema, query)),
        points_(codec_.schema(), fields_) {}

  absl::StatusOr<QueryStats> Run(bool is_latest_table);

 private:
  const SeriesSchema& schema() const { return codec_.schema(); }
  RowRead MakeRead(std::vector<RowRange> ranges) const;
  // Scans; `row` sees rows that Matches, with points_ read, and answers whether to go on.
  absl::Status Scan(const RowRead& read, const std::function<absl::StatusOr<bool>(const ReadRow&)>& row);

  absl::Status RunRaw();
  absl::Status RunAggregates();
  absl::Status RunLatest();
  absl::Status RunLatestTable();
  absl::StatusOr<bool> AddAggregates(const std::vector<std::string>& tags);
  // False: whoever asked has enough.
  bool EmitAggregates();
  absl::Status ScanLatestBySeries();
  absl::Status ScanLatestOfAll();
  bool EmitLatest();

  absl::StatusOr<ResultRow> MakeResult(const RowPoint& point) const;
  bool Emit(const ResultRow& result);
  // The bytes that all keys of this series begin with.
  absl::StatusOr<std::string> SeriesPrefix(const std::vector<std::string>& tags) const;

  KeyCodec codec_;
  const Query& query_;
  TableAccess* tables_;
  const RowCallback& row_;
  std::vector<size_t> fields_;
  RowPoints points_;
  DecodedKey key_;  // of the row at hand
  QueryStats stats_;
  bool is_enough_ = false;
  std::map<std::vector<std::string>, std::map<int64_t, std::vector<Accumulator>>> buckets_;
  std::map<std::vector<std::string>, std::vector<ResultRow>> latest_;  // by time, the newest first
};

RowRead QueryRun::MakeRead(std::vector<RowRange> ranges) const {
  RowRead read;
  read.ranges = std::move(ranges);
  read.family = schema().family;
  if (fields_.size() < schema().fields.size()) {
    const std::set<size_t> fields(fields_.begin(), fields_.end());  // each once
    for (const size_t field : fields)
      read.columns.push_back({schema().family, schema().fields[field].qualifier});
  }
  if (schema().layout == Layout::kRow) {
    read.cells_per_column_max = 1;
  } else {
    // Timestamps of cells are whole milliseconds.
    const auto round_up = [](int64_t micros) {
      return (micros + kMicrosPerMilli - 1) / kMicrosPerMilli * kMicrosPerMilli;
    };
    read.start_micros = round_up(std::max<int64_t>(query_.selection.from_micros, 0));
    if (query_.selection.to_micros < kTimeEndMicros) read.end_micros = round_up(query_.selection.to_micros);
  }
  return read;
}

absl::Status QueryRun::Scan(const RowRead& read,
                            const std::function<absl::StatusOr<bool>(const ReadRow&)>& row) {
  ++stats_.requests;
  absl::Status problem;
  const absl::Status status = tables_->ReadRows(stats_.table, read, [&](ReadRow&& found) {
    ++stats_.rows_read;
    stats_.cells_read += static_cast<int64_t>(found.cells.size());
    for (const ReadCell& cell : found.cells)
      stats_.value_bytes_read += static_cast<int64_t>(cell.value.size());
    problem = codec_.Decode(found.row_key, &key_);
    if (!problem.ok()) return false;
    if (!Matches(codec_, query_.selection, key_)) return true;
    points_.Read(found, key_, query_.selection.from_micros, query_.selection.to_micros);
    const absl::StatusOr<bool> goes_on = row(found);
    problem = goes_on.status();
    return goes_on.ok() && *goes_on;
  });
  return problem.ok() ? status : problem;
}

absl::StatusOr<ResultRow> QueryRun::MakeResult(const RowPoint& point) const {
  ResultRow result{key_.tags, point.time_micros, std::vector<ResultValue>(fields_.size())};
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (point.cells[i] == nullptr) continue;
    absl::StatusOr<FieldValue> value = DecodeValue(schema().fields[fields_[i]], point.cells[i]->value);
    if (!value.ok()) return value.status();
    std::visit([&](auto&& held) { result.values[i] = std::move(held); }, *std::move(value));
  }
  return result;
}

bool QueryRun::Emit(const ResultRow& result) {
  ++stats_.results;
  is_enough_ = !row_(result) || (query_.rows_max && stats_.results >= *query_.rows_max);
  return !is_enough_;
}

absl::Status QueryRun::RunRaw() {
  return Scan(MakeRead(stats_.ranges), [&](const ReadRow&) -> absl::StatusOr<bool> {
    for (size_t i = 0; i < points_.Count(); ++i) {
      const absl::StatusOr<ResultRow> result = MakeResult(points_.Get(i));
      if (!result.ok()) return result.status();
      if (!Emit(*result)) return false;
    }
    return true;
  });
}

absl::StatusOr<bool> QueryRun::AddAggregates(const std::vector<std::string>& tags) {
  auto& series = buckets_[tags];
  int64_t start_micros = 0;
  int64_t end_micros = 0;
  std::vector<Accumulator>* bucket = nullptr;
  for (size_t p = 0; p < points_.Count(); ++p) {
    const RowPoint& point = points_.Get(p);
    if (bucket == nullptr || point.time_micros < start_micros || point.time_micros >= end_micros) {
      start_micros = query_.every->Start(point.time_micros);
      end_micros = query_.every->End(point.time_micros);
      bucket = &series.try_emplace(start_micros, fields_.size()).first->second;
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (point.cells[i] == nullptr) continue;
      const Field& field = schema().fields[fields_[i]];
      if (field.type == FieldType::kString) {
        (*bucket)[i].AddCount();
        continue;
      }
      const std::optional<double> number = DecodeNumber(field, point.cells[i]->value);
      if (!number) return DecodeValue(field, point.cells[i]->value).status();
      (*bucket)[i].Add(point.time_micros, *number);
    }
  }
  return true;
}

bool QueryRun::EmitAggregates() {
  for (const auto& [tags, series] : buckets_) {
    for (const auto& [start_micros, bucket] : series) {
      ResultRow result{tags, start_micros, {}};
      for (const Accumulator& field : bucket) {
        for (const Aggregate aggregate : query_.aggregates) {
          const std::optional<double> value = field.Value(aggregate);
          if (aggregate == Aggregate::kCount) {
            result.values.emplace_back(field.count());
          } else if (value) {
            result.values.emplace_back(*value);
          } else {
            result.values.emplace_back();
          }
        }
      }
      if (!Emit(result)) return false;
    }
  }
  buckets_.clear();
  return true;
}

absl::Status QueryRun::RunAggregates() {
  const bool is_by_series = IsBySeries(schema());
  const absl::Status status = Scan(MakeRead(stats_.ranges), [&](const ReadRow&) -> absl::StatusOr<bool> {
    if (points_.Count() == 0) return true;
    if (is_by_series && !buckets_.empty() && buckets_.begin()->first != key_.tags && !EmitAggregates())
      return false;
    return AddAggregates(key_.tags);
  });
  if (!status.ok() || is_enough_) return status;
  EmitAggregates();
  return absl::OkStatus();
}

absl::StatusOr<std::string> QueryRun::SeriesPrefix(const std::vector<std::string>& tags) const {
  std::string prefix;
  for (size_t i = 0; i < schema().key.size() && !schema().key[i].IsTime(); ++i) {
    const KeyPart& part = schema().key[i];
    absl::Status status;
    if (part.kind == KeyPart::Kind::kConst) {
      prefix += part.text;
    } else {
      status = codec_.AppendTag(part.tag, tags[part.tag], &prefix);
    }
    if (!status.ok()) return status;
    if (i + 1 < schema().key.size()) prefix += schema().delimiter;
  }
  return prefix;
}

absl::Status QueryRun::ScanLatestBySeries() {
  const bool is_forward = IsReversed(schema());
  std::vector<RowRange> ranges = stats_.ranges;
  while (!ranges.empty()) {
    RowRead read = MakeRead(ranges);
    read.reversed = !is_forward;
    if (read.cells_per_column_max == 0 && *query_.latest < INT32_MAX) {
      // The newest N points of a row are among the newest N cells of each of its columns.
      read.cells_per_column_max = static_cast<int32_t>(*query_.latest);
    }
    int rows_passed_over = 0;
    bool seeks = false;
    absl::Status status = Scan(read, [&](const ReadRow&) -> absl::StatusOr<bool> {
      std::vector<ResultRow>& newest = latest_[key_.tags];
      if (newest.size() >= static_cast<size_t>(*query_.latest)) {
        seeks = ++rows_passed_over > kRowsPassedOverMax;
        return !seeks;
      }
      rows_passed_over = 0;
      for (size_t i = points_.Count(); i-- > 0 && newest.size() < static_cast<size_t>(*query_.latest);) {
        absl::StatusOr<ResultRow> result = MakeResult(points_.Get(i));
        if (!result.ok()) return result.status();
        newest.push_back(*std::move(result));
      }
      return true;
    });
    if (!status.ok() || !seeks) return status;
    const absl::StatusOr<std::string> prefix = SeriesPrefix(key_.tags);
    if (!prefix.ok()) return prefix.status();
    if (prefix->empty()) return absl::OkStatus();  // one series only
    if (is_forward && PrefixEnd(*prefix).empty()) return absl::OkStatus();
    ranges = ClipRanges(ranges, is_forward ? RowRange{PrefixEnd(*prefix), ""} : RowRange{"", *prefix});
  }
  return absl::OkStatus();
}

absl::Status QueryRun::ScanLatestOfAll() {
  return Scan(MakeRead(stats_.ranges), [&](const ReadRow&) -> absl::StatusOr<bool> {
    std::vector<ResultRow>& newest = latest_[key_.tags];
    for (size_t i = points_.Count(); i-- > 0;) {
      const RowPoint& point = points_.Get(i);
      const bool is_full = newest.size() >= static_cast<size_t>(*query_.latest);
      if (is_full && newest.back().time_micros >= point.time_micros) continue;
      absl::StatusOr<ResultRow> result = MakeResult(point);
      if (!result.ok()) return result.status();
      const auto place = std::find_if(newest.begin(), newest.end(), [&](const ResultRow& row) {
        return row.time_micros < point.time_micros;
      });
      newest.insert(place, *std::move(result));
      if (is_full) newest.pop_back();
    }
    return true;
  });
}

bool QueryRun::EmitLatest() {
  for (const auto& [tags, newest] : latest_) {
    for (const ResultRow& result : newest) {
      if (!Emit(result)) return false;
    }
  }
  return true;
}

absl::Status QueryRun::RunLatest() {
  const absl::Status status = IsBySeries(schema()) ? ScanLatestBySeries() : ScanLatestOfAll();
  if (!status.ok()) return status;
  EmitLatest();
  return absl::OkStatus();
}

// Each column of the row is the newest of its field, whatever its time.
absl::Status QueryRun::RunLatestTable() {
  RowRead read = MakeRead(stats_.ranges);
  read.cells_per_column_max = 1;
  return Scan(read, [&](const ReadRow&) -> absl::StatusOr<bool> {
    RowPoint newest;
    newest.cells.assign(fields_.size(), nullptr);
    for (size_t p = 0; p < points_.Count(); ++p) {
      const RowPoint& point = points_.Get(p);
      newest.time_micros = point.time_micros;
      for (size_t i = 0; i < fields_.size(); ++i) {
        if (point.cells[i] != nullptr) newest.cells[i] = point.cells[i];
      }
    }
    if (points_.Count() == 0) return true;
    const absl::StatusOr<ResultRow> result = MakeResult(newest);
    if (!result.ok()) return result.status();
    return Emit(*result);
  });
}

absl::StatusOr<QueryStats> QueryRun::Run(bool is_latest_table) {
  stats_.table = schema().table;
  absl::StatusOr<ScanPlan> plan = PlanScan(codec_, query_.selection);
  if (!plan.ok()) return plan.status();
  stats_.ranges = std::move(plan->ranges);
  // The newest points of all series need a few rows of each: that is what was asked for.
  const bool seeks = is_latest_table || (query_.latest && IsBySeries(schema()));
  stats_.is_full_scan = plan->is_full_scan && !seeks;
  if (stats_.ranges.empty() || query_.rows_max == 0) return std::move(stats_);
  absl::Status status;
  if (is_latest_table) {
    status = RunLatestTable();
  } else if (query_.latest) {
    status = RunLatest();
  } else {
    status = query_.every ? RunAggregates() : RunRaw();
  }
  if (!status.ok()) return status;
  return std::move(stats_);
}

}  // namespace

absl::StatusOr<ResultHeader> HeaderOf(const SeriesSchema& schema, const Query& query) {
  ResultHeader header;
  for (const Tag& tag : schema.tags) header.tags.push_back(tag.name);
  header.time_unit = {BucketWidth::Kind::kFixed, schema.resolution_micros};
  if (query.latest && query.every)
    return absl::InvalidArgumentError("the latest points and --every exclude each other");
  if (query.latest && *query.latest < 1) {
    return absl::InvalidArgumentError(
        fmt::format("the latest {} points; allowed: 1 and more", *query.latest));
  }
  if (query.every.has_value() != !query.aggregates.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("--every and --agg go together; aggregates: {}", AggregateNames()));
  }
  if (query.every) header.time_unit = *query.every;
  for (const size_t index : FieldsOf(schema, query)) {
    const Field& field = schema.fields[index];
    const bool is_text = field.type == FieldType::kString;
    if (!query.every) header.values.push_back({field.name, !is_text});
    for (const Aggregate aggregate : query.aggregates) {
      if (is_text && aggregate != Aggregate::kCount) {
        return absl::InvalidArgumentError(fmt::format("{} of field '{}', which is a string; allowed: count",
                                                      AggregateName(aggregate), field.name));
      }
      header.values.push_back({fmt::format("{}({})", AggregateName(aggregate), field.name), true});
    }
  }
  return header;
}

absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row) {
  if (absl::Status status = HeaderOf(schema, query).status(); !status.ok()) return status;
  const bool is_all_time = query.selection.from_micros <= 0 && query.selection.to_micros >= kTimeEndMicros;
  if (query.latest == 1 && is_all_time && !schema.latest.empty()) {
    return QueryRun(MakeLatestSchema(schema, schema.latest[0]), query, tables, row).Run(true);
  }
  return QueryRun(schema, query, tables, row).Run(false);
}

}  // namespace sonde::series
