#include "web/tables_api.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/format.h"
#include "base/large_room.h"
#include "filter/compiled_filter.h"
#include "model/filters.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/quote_regex.h"
#include "web/http/query_reader.h"
#include "web/rows_answer.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kTablesMax = 1'000;
constexpr size_t kTableNameBytesMax = 1'024;
constexpr int64_t kRowsUsual = 50;
constexpr int64_t kRowsMax = 500;
constexpr int64_t kVersionsMax = 1'000;
// The size of a part of an answer that is made while it is taken.
constexpr size_t kPartBytes = 64 << 10;
// The memory of a cell of a heat map at most, while it becomes text.
constexpr int64_t kHeatCellBytes = sizeof(AccessCounts) + sizeof(int64_t) + 2 * 20;
constexpr int64_t kWindowSecondsUsual = 600;
constexpr int64_t kSecondsMax = int64_t{1} << 40;
constexpr size_t kPatternBytesMax = 1'000;
// Beside the metrics of accesses (HeatMetric).
constexpr std::string_view kSizeMetric = "size";

std::string DumpText(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string Dump(const Json& json) { return DumpText(json) + "\n"; }

std::string Joined(const std::vector<GcRule>& rules, std::string_view word);

// As cbt writes it: "maxversions=1 || maxage=7d".
std::string GcRuleText(const GcRule& rule) {
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) {
    return fmt::format("maxversions={}", versions->count);
  }
  if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    const double seconds = static_cast<double>(age->micros) * 1e-6;
    for (const auto& [unit, length] : {std::pair{"d", 86'400}, std::pair{"h", 3'600}, std::pair{"m", 60}}) {
      if (std::fmod(seconds, length) == 0) return fmt::format("maxage={}{}", seconds / length, unit);
    }
    return fmt::format("maxage={}s", seconds);
  }
  if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) return Joined(all->rules, " && ");
  if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) return Joined(any->rules, " || ");
  return "";
}

std::string Joined(const std::vector<GcRule>& rules, std::string_view word) {
  std::vector<std::string> texts;
  for (const GcRule& rule : rules) texts.push_back(GcRuleText(rule));
  return fmt::format("({})", fmt::join(texts, word));
}

class TablesApi {
 public:
  TablesApi(Tables* tables, KeyVisualizer* key_visualizer, LargeRoom* large_room, TableKnowledge knowledge)
      : tables_(tables),
        key_visualizer_(key_visualizer),
        large_room_(large_room),
        knowledge_(std::move(knowledge)) {}

  absl::Status List(const HttpRequest& request, HttpResponse* response) const {
    QueryReader query(request);
    const std::string start = query.Text("start", kTableNameBytesMax);
    const int64_t limit = query.Int("limit", kTablesMax, 1, kTablesMax);
    if (absl::Status status = query.Finish(); !status.ok()) return status;
    std::vector<TableSchemaRef> schemas = tables_->catalog().ListAll();
    std::erase_if(schemas, [&](const TableSchemaRef& schema) { return schema->name < start; });
    std::sort(schemas.begin(), schemas.end(),
              [](const TableSchemaRef& a, const TableSchemaRef& b) { return a->name < b->name; });
    const size_t count = std::min(schemas.size(), static_cast<size_t>(limit));
    const std::string next =
        count < schemas.size() ? Json(schemas[count]->name).dump() : Json(nullptr).dump();
    schemas.resize(count);
    response->stream = [this, schemas = std::move(schemas), next, at = size_t{0},
                        has_any = false](std::string* part) mutable -> absl::StatusOr<bool> {
      if (at == 0) *part += "{\"tables\":[";
      for (; at < schemas.size() && part->size() < kPartBytes; ++at) {
        const absl::StatusOr<Json> one = Describe(*schemas[at]);
        if (!one.ok()) continue;  // it is being dropped
        if (std::exchange(has_any, true)) *part += ',';
        *part += DumpText(*one);
      }
      if (at < schemas.size()) return true;
      *part += "],\"next\":" + next + "}\n";
      return false;
    };
    return absl::OkStatus();
  }

  absl::Status Get(const HttpRequest& request, HttpResponse* response) const {
    if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
    const absl::StatusOr<TableSchemaRef> schema = Find(request);
    if (!schema.ok()) return schema.status();
    const absl::StatusOr<Json> one = Describe(**schema);
    if (!one.ok()) return one.status();
    response->body = Dump(*one);
    return absl::OkStatus();
  }

  absl::Status Rows(const HttpRequest& request, HttpResponse* response) const {
    const absl::StatusOr<TableSchemaRef> schema = Find(request);
    if (!schema.ok()) return schema.status();
    QueryReader query(request);
    const absl::StatusOr<RowRange> range = ReadRange(&query);
    FilterSpec cells = ReadCellFilter(**schema, &query);
    const int64_t limit = query.Int("limit", kRowsUsual, 1, kRowsMax);
    if (absl::Status status = query.Finish(); !status.ok()) return status;
    if (!range.ok()) return range.status();
    absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(cells);
    if (!filter.ok()) return filter.status();
    absl::StatusOr<std::unique_ptr<RowReader>> reader = tables_->Read(
        *schema,
        {.ranges = {*range},
         .filter = *std::move(filter),
         .rows_limit = limit + 1,
         .in_parts = true,
         .interrupted = InterruptedWhenGone(request),
         .take_large = large_room_ == nullptr ? nullptr : TakeForEntries(large_room_, WhenFull::kRefuse),
         .caller = [caller = request.Caller()] { return caller; }});
    if (!reader.ok()) return reader.status();
    const auto answer = std::make_shared<RowsAnswer>(
        *std::move(reader), limit,
        knowledge_.find_meaning ? knowledge_.find_meaning((*schema)->name) : nullptr);
    if (absl::Status status = answer->Begin(); !status.ok()) return status;
    response->stream = [answer](std::string* part) { return answer->Next(part); };
    return absl::OkStatus();
  }

  absl::Status Map(const HttpRequest& request, HttpResponse* response) const {
    const absl::StatusOr<TableSchemaRef> schema = FindWatched(request);
    if (!schema.ok()) return schema.status();
    QueryReader query(request);
    HeatMapRequest asked{.table = (*schema)->id};
    std::tie(asked.start_seconds, asked.end_seconds) = Window(&query);
    asked.keys = {query.Key("start_key"), query.Key("end_key")};
    asked.columns_max = query.Int("columns", 300, 1, HeatMap::kColumnsMax);
    asked.rows_max = query.Int("rows", 300, 1, HeatMap::kRowsMax);
    const int64_t before_seconds = query.Int("before", 0, 0, kTiers.back().kept_seconds);
    const std::string name = query.Text("metric", 32);
    if (absl::Status status = query.Finish(); !status.ok()) return status;
    if (absl::Status status = CheckWindow(asked.start_seconds, asked.end_seconds); !status.ok())
      return status;
    if (absl::Status status = CheckBefore(before_seconds, asked.start_seconds, name); !status.ok())
      return status;
    if (asked.keys.IsEmpty()) return absl::InvalidArgumentError("end_key must come after start_key");
    if (name == kSizeMetric) return SizeMap(std::move(asked), response);
    const std::optional<HeatMetric> metric = name.empty() ? HeatMetric::kOps : HeatMetricOf(name);
    if (!metric.has_value()) {
      std::vector<std::string_view> names;
      for (const HeatMetric one : AllHeatMetrics()) names.push_back(NameOf(one));
      names.push_back(kSizeMetric);
      return absl::InvalidArgumentError(
          fmt::format("parameter 'metric' must be one of {}", fmt::join(names, ", ")));
    }
    LargeRoom::Place place;
    const int64_t bytes = asked.columns_max * asked.rows_max * kHeatCellBytes * (before_seconds > 0 ? 2 : 1);
    if (large_room_ != nullptr && bytes >= kLargeBytes) {
      absl::StatusOr<LargeRoom::Place> taken =
          large_room_->Take("A heat map", bytes, {.gone = request.is_client_gone});
      if (!taken.ok()) return taken.status();
      place = *std::move(taken);
    }
    const absl::StatusOr<HeatMap> map = key_visualizer_->Map(asked);
    if (!map.ok()) return map.status();
    std::string text = MapToJson(*map, NameOf(*metric), ValuesOf(*map, *metric));
    if (before_seconds > 0) {
      asked.start_seconds -= before_seconds;
      asked.end_seconds -= before_seconds;
      asked.row_starts = map->row_starts;
      const absl::StatusOr<HeatMap> before = key_visualizer_->Map(asked);
      if (!before.ok()) return before.status();
      AddBefore(*before, ValuesOf(*before, *metric), &text);
    }
    response->body = std::move(text);
    return absl::OkStatus();
  }

  absl::Status FindingsOfOne(const HttpRequest& request, HttpResponse* response) const {
    const absl::StatusOr<TableSchemaRef> schema = FindWatched(request);
    if (!schema.ok()) return schema.status();
    QueryReader query(request);
    const auto [start, end] = Window(&query);
    if (absl::Status status = query.Finish(); !status.ok()) return status;
    if (absl::Status status = CheckWindow(start, end); !status.ok()) return status;
    Json all = Json::array();
    if (absl::Status status = AddFindings(**schema, start, end, &all); !status.ok()) return status;
    response->body = Dump({{"findings", std::move(all)}});
    return absl::OkStatus();
  }

  absl::Status FindingsOfAll(const HttpRequest& request, HttpResponse* response) const {
    QueryReader query(request);
    const auto [start, end] = Window(&query);
    if (absl::Status status = query.Finish(); !status.ok()) return status;
    if (absl::Status status = CheckWindow(start, end); !status.ok()) return status;
    Json all = Json::array();
    if (key_visualizer_ != nullptr) {
      const absl::StatusOr<std::set<TableId>> seen = key_visualizer_->ListTables(start, end);
      if (!seen.ok()) return seen.status();
      for (const TableSchemaRef& schema : tables_->catalog().ListAll()) {
        // Where nothing was seen and nothing is large, nothing is to be said.
        if (!seen->contains(schema->id) && key_visualizer_->LargeRows(schema->id).empty()) continue;
        if (absl::Status status = AddFindings(*schema, start, end, &all); !status.ok()) return status;
      }
    }
    response->body = Dump({{"findings", std::move(all)}});
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<TableSchemaRef> Find(const HttpRequest& request) const {
    return tables_->catalog().Find(fmt::format("projects/{}/instances/{}/tables/{}",
                                               request.parts.at("project"), request.parts.at("instance"),
                                               request.parts.at("table")));
  }

  absl::StatusOr<TableSchemaRef> FindWatched(const HttpRequest& request) const {
    if (key_visualizer_ == nullptr) {
      return absl::UnimplementedError(
          "The server was started with --no-keyviz: it keeps no account of accesses");
    }
    return Find(request);
  }

  std::pair<int64_t, int64_t> Window(QueryReader* query) const {
    const int64_t now = tables_->clock().NowMicros() / 1'000'000;
    const int64_t end = query->Int("to", now, 0, kSecondsMax);
    return {query->Int("from", end - kWindowSecondsUsual, 0, kSecondsMax), end};
  }
  static absl::Status CheckWindow(int64_t start, int64_t end) {
    const int64_t most = kTiers.back().kept_seconds + kTiers.back().file_seconds;
    if (start < end && end - start <= most) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format(
        "'from' ({}) must come before 'to' ({}), seconds since 1970, by at most {}", start, end, most));
  }

  absl::StatusOr<Json> Describe(const TableSchema& schema) const {
    const absl::StatusOr<std::vector<RangeStats>> ranges = tables_->engine().Ranges(schema.id);
    if (!ranges.ok()) return ranges.status();
    uint64_t bytes = 0;
    for (const RangeStats& range : *ranges) bytes += range.bytes;
    Json families = Json::array();
    for (const FamilySchema& family : schema.families) {
      families.push_back({{"name", family.name},
                          {"gc_rule", GcRuleText(family.gc_rule)},
                          {"is_aggregate", family.aggregate != AggregateKind::kNone}});
    }
    Json json = {{"name", schema.name},
                 {"id", IdOfTable(schema.name)},
                 {"instance", InstanceOfTable(schema.name)},
                 {"bytes", bytes},
                 {"ranges", ranges->size()},
                 {"families", std::move(families)},
                 {"deletion_protection", schema.deletion_protection},
                 {"change_stream_hours", schema.change_stream.has_value()
                                             ? Json(schema.change_stream->retention_micros / 3'600'000'000)
                                             : Json(nullptr)}};
    json["keys_in_use"] = key_visualizer_ == nullptr ? 0 : std::llround(key_visualizer_->KeyCount(schema.id));
    Json large = Json::array();
    if (key_visualizer_ != nullptr) {
      for (const LargeRow& row : key_visualizer_->LargeRows(schema.id)) {
        large.push_back({{"key", KeyToText(row.row_key)}, {"bytes", row.bytes}});
      }
    }
    json["large_rows"] = std::move(large);
    const std::optional<DeclaredSeries> declared =
        knowledge_.find_series ? knowledge_.find_series(schema.name) : std::nullopt;
    json["series"] = declared.has_value() ? Json(declared->name) : Json(nullptr);
    return json;
  }

  // Reads `prefix`, `start` and `end`.  INVALID_ARGUMENT: they leave nothing.
  static absl::StatusOr<RowRange> ReadRange(QueryReader* query) {
    const std::string prefix = query->Key("prefix"), start = query->Key("start"), end = query->Key("end");
    RowRange range = RowRange::Prefix(prefix);
    if (start > range.start) range.start = start;
    if (!end.empty() && (range.end.empty() || end < range.end)) range.end = end;
    if (!range.IsEmpty()) return range;
    return absl::InvalidArgumentError(fmt::format(
        "no key comes from 'start' ('{}') on, before 'end' ('{}'), and begins with 'prefix' ('{}')",
        KeyToText(start), KeyToText(end), KeyToText(prefix)));
  }

  // Reads which cells of a row are shown: those of a family, of columns, of a time, the newest of each
  // column, with a value.
  static FilterSpec ReadCellFilter(const TableSchema& schema, QueryReader* query) {
    std::vector<FilterSpec> parts;
    const auto pattern = [&](const std::string& name) { return query->Text(name, kPatternBytesMax); };
    if (std::string keys = pattern("pattern"); !keys.empty())
      parts.push_back(filters::RowKey(std::move(keys)));
    if (const std::string family = query->Text("family", kFamilyNameBytesMax); !family.empty()) {
      if (schema.FindFamily(family) == nullptr) {
        std::vector<std::string> names;
        for (const FamilySchema& known : schema.families) names.push_back(known.name);
        query->Refuse(absl::NotFoundError(fmt::format("{}: no family '{}'; there are: {}", schema.name,
                                                      Printable(family), fmt::join(names, ", "))));
      }
      parts.push_back(filters::Family(QuoteRegex(family)));
    }
    if (std::string column = pattern("column"); !column.empty())
      parts.push_back(filters::Qualifier(std::move(column)));
    const int64_t from_seconds = query->Int("from", 0, 0, kSecondsMax),
                  to_seconds = query->Int("to", 0, 0, kSecondsMax);
    if (to_seconds != 0 && from_seconds >= to_seconds) {
      query->Refuse(absl::InvalidArgumentError(fmt::format(
          "'from' ({}) must come before 'to' ({}), seconds since 1970", from_seconds, to_seconds)));
    }
    if (from_seconds != 0 || to_seconds != 0) {
      parts.push_back(filters::Times(from_seconds * 1'000'000, to_seconds * 1'000'000));
    }
    parts.push_back(filters::ColumnLimit(static_cast<int32_t>(query->Int("versions", 1, 1, kVersionsMax))));
    if (std::string value = pattern("value"); !value.empty())
      parts.push_back(filters::Value(std::move(value)));
    if (parts.size() == 1) return std::move(parts.front());
    return filters::Chain(std::move(parts));
  }

  static absl::Status CheckBefore(int64_t before_seconds, int64_t start_seconds, std::string_view metric) {
    if (before_seconds > start_seconds) {
      return absl::InvalidArgumentError(
          fmt::format("parameter 'before' ({}) must not reach behind 1970, from 'from' ({}) on",
                      before_seconds, start_seconds));
    }
    if (before_seconds > 0 && metric == kSizeMetric) {
      return absl::InvalidArgumentError("parameter 'before' is not for sizes, which are known of now alone");
    }
    return absl::OkStatus();
  }

  static std::vector<int64_t> ValuesOf(const HeatMap& map, HeatMetric metric) {
    std::vector<int64_t> values;
    values.reserve(map.counts.size());
    for (const AccessCounts& counts : map.counts) values.push_back(std::llround(ValueOf(counts, metric)));
    return values;
  }

  // How much lies in the ranges of keys that a map would show: one column, of now.
  absl::Status SizeMap(HeatMapRequest asked, HttpResponse* response) const {
    asked.columns_max = 1;
    absl::StatusOr<HeatMap> map = key_visualizer_->Map(asked);
    if (!map.ok()) return map.status();
    RangeSizes* const sizes = tables_->engine().range_sizes();
    if (sizes == nullptr) return absl::UnimplementedError("The store does not tell the sizes of ranges");
    const absl::StatusOr<std::vector<uint64_t>> bytes =
        sizes->Measure(asked.table, map->row_starts, map->keys_end);
    if (!bytes.ok()) return bytes.status();
    map->columns = 1;
    map->start_seconds = asked.start_seconds;
    map->column_seconds = asked.end_seconds - asked.start_seconds;
    response->body = MapToJson(*map, kSizeMetric, {bytes->begin(), bytes->end()});
    return absl::OkStatus();
  }

  // A million numbers: written as they come.
  static std::string MapToJson(const HeatMap& map, std::string_view metric,
                               const std::vector<int64_t>& values) {
    Json starts = Json::array();
    for (const std::string& start : map.row_starts) starts.push_back(KeyToText(start));
    Json keys = Json::array();
    for (const double count : map.row_keys) keys.push_back(std::llround(count));
    Json head = {{"metric", metric},
                 {"start_seconds", map.start_seconds},
                 {"column_seconds", map.column_seconds},
                 {"columns", map.columns},
                 {"row_starts", std::move(starts)},
                 {"keys_end", KeyToText(map.keys_end)},
                 {"row_keys", std::move(keys)}};
    std::string text = Dump(head);
    AddValues(values, &text);
    return text;
  }

  // Into an object that ends with "}\n".  By columns, each from the first key to the last.
  static void AddValues(const std::vector<int64_t>& values, std::string* text) {
    text->resize(text->size() - 2);
    *text += ",\"values\":[";
    for (const int64_t value : values) fmt::format_to(std::back_inserter(*text), "{},", value);
    text->back() = ']';
    *text += "}\n";
  }

  // The earlier time of the same rows.
  static void AddBefore(const HeatMap& before, const std::vector<int64_t>& values, std::string* text) {
    std::string of_before = Dump({{"start_seconds", before.start_seconds},
                                  {"column_seconds", before.column_seconds},
                                  {"columns", before.columns}});
    AddValues(values, &of_before);
    of_before.pop_back();  // "\n"
    text->resize(text->size() - 2);
    *text += ",\"before\":" + of_before + "}\n";
  }

  absl::Status AddFindings(const TableSchema& schema, int64_t start, int64_t end, Json* all) const {
    if (knowledge_.is_own && knowledge_.is_own(schema.name)) return absl::OkStatus();
    absl::StatusOr<std::vector<Finding>> findings = key_visualizer_->Findings(
        schema.id, std::string(IdOfTable(schema.name)), start, end,
        knowledge_.find_series ? knowledge_.find_series(schema.name) : std::nullopt);
    if (!findings.ok()) return findings.status();
    for (const Finding& finding : *findings) {
      all->push_back(
          {{"table", schema.name},
           {"pattern", NameOf(finding.pattern)},
           {"severity", NameOf(finding.severity)},
           {"metric", finding.metric.has_value() ? Json(NameOf(*finding.metric)) : Json(nullptr)},
           {"start_key", KeyToText(finding.start_key)},
           {"end_key", KeyToText(finding.end_key)},
           {"title", finding.title},
           {"text", finding.text},
           {"remedy", finding.remedy},
           {"cure", finding.cure.has_value() ? Json(finding.cure->change) : Json(nullptr)},
           {"declaration", finding.cure.has_value() ? Json(finding.cure->declaration) : Json(nullptr)}});
    }
    return absl::OkStatus();
  }

  Tables* const tables_;
  KeyVisualizer* const key_visualizer_;
  LargeRoom* const large_room_;
  const TableKnowledge knowledge_;
};

}  // namespace

void AddTablesApi(Tables* tables, KeyVisualizer* key_visualizer, LargeRoom* large_room,
                  TableKnowledge knowledge, Router* router) {
  const auto api =
      std::make_shared<const TablesApi>(tables, key_visualizer, large_room, std::move(knowledge));
  const std::string table = "/api/v1/tables/{project}/{instance}/{table}";
  const auto get = [&](const std::string& path, auto handle) {
    router->Add({"GET", path, [api, handle](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                   return handle(*api, request, response);
                 }});
  };
  get("/api/v1/tables",
      [](const TablesApi& it, const HttpRequest& in, HttpResponse* out) { return it.List(in, out); });
  get(table, [](const TablesApi& it, const HttpRequest& in, HttpResponse* out) { return it.Get(in, out); });
  get(table + "/rows",
      [](const TablesApi& it, const HttpRequest& in, HttpResponse* out) { return it.Rows(in, out); });
  get(table + "/heatmap",
      [](const TablesApi& it, const HttpRequest& in, HttpResponse* out) { return it.Map(in, out); });
  get(table + "/findings", [](const TablesApi& it, const HttpRequest& in, HttpResponse* out) {
    return it.FindingsOfOne(in, out);
  });
  get("/api/v1/findings", [](const TablesApi& it, const HttpRequest& in, HttpResponse* out) {
    return it.FindingsOfAll(in, out);
  });
}

}  // namespace sonde
