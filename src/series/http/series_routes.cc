// Series as JSON, under /api/v1/series; docs/http-series.md describes it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/bytes.h"
#include "series/http/asked_series.h"
#include "series/http/ingest_service.h"
#include "series/http/query_memory.h"
#include "series/input/csv_loader.h"
#include "series/input/json_lines_loader.h"
#include "series/known/complete_tables.h"
#include "series/known/declarations.h"
#include "series/output/result_writer.h"
#include "series/query/query.h"
#include "series/query/query_request.h"
#include "series/schema/check.h"
#include "series/schema/schema_parser.h"
#include "series/write/late_points.h"
#include "web/http/query_reader.h"

namespace sonde::series {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kRowsUsual = 100'000;
constexpr int64_t kRowsMax = 1'000'000;
constexpr size_t kAnswerBytesMax = 128 << 20;
constexpr int64_t kSeriesListedMax = 1'000;
constexpr size_t kSeriesNameBytesMax = 1'024;  // of one that is asked for
constexpr size_t kProblemsShownMax = 20;
constexpr size_t kRangesShownMax = 100;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// As `sonde series check` of the tables.
absl::StatusOr<Json> Check(const KnownSeries& series, TableAccess* tables) {
  std::vector<Finding> all = CheckSchema(series.schema);
  const absl::StatusOr<std::vector<Finding>> incomplete = FindIncompleteTables(series.schema, tables);
  if (!incomplete.ok()) return incomplete.status();
  all.insert(all.end(), incomplete->begin(), incomplete->end());
  Json findings = Json::array();
  for (const Finding& finding : all) {
    findings.push_back({{"severity", SeverityName(finding.severity)},
                        {"line", finding.line},
                        {"reason", finding.reason},
                        {"remedy", finding.remedy}});
  }
  return findings;
}

// The tags that keys begin with, before the time: conditions on the first of them narrow what is read.
std::vector<std::string> TagsBeforeTime(const KnownSeries& series, const SeriesSchema& view) {
  std::vector<std::string> names;
  if (series.is_open()) {
    for (const Tag& tag : view.tags) names.push_back(tag.name);
    return names;
  }
  for (const KeyPart& part : view.key) {
    if (part.IsTime()) break;
    if (part.kind == KeyPart::Kind::kTag) names.push_back(view.tags[part.tag].name);
  }
  return names;
}

Json Describe(const KnownSeries& series) {
  const SeriesSchema schema = LabelsAsTags(series);
  Json json = {{"name", schema.name},   {"table", schema.table},     {"is_declared", !series.is_open()},
               {"tags", Json::array()}, {"key_tags", Json::array()}, {"fields", Json::array()}};
  for (const Tag& tag : schema.tags) {
    json["tags"].push_back({{"name", tag.name}, {"type", tag.type == TagType::kInt ? "int" : "string"}});
  }
  for (const std::string& name : TagsBeforeTime(series, schema)) json["key_tags"].push_back(name);
  for (const Field& field : schema.fields) {
    json["fields"].push_back({{"name", field.name}, {"type", FieldTypeName(field.type)}});
    if (!field.unit.empty()) json["fields"].back()["unit"] = field.unit;
  }
  return json;
}

// The same, and its declaration with what there is to say of it.
absl::StatusOr<Json> DescribeWhole(const KnownSeries& series, TableAccess* tables) {
  Json json = Describe(series);
  if (series.is_open()) return json;
  absl::StatusOr<Json> check = Check(series, tables);
  if (!check.ok()) return check.status();
  json["declaration"] = series.yaml;
  json["check"] = *std::move(check);
  return json;
}

// Derived tables that can be asked as series of their own, each with the name to ask for: those of periods
// only where they are there.
absl::StatusOr<Json> DerivedOf(const SeriesSchema& schema, TableAccess* tables) {
  Json derived = Json::array();
  const auto add = [&](std::string_view kind, const std::string& table) {
    derived.push_back({{"name", schema.name + "@" + table}, {"table", table}, {"kind", kind}});
  };
  for (const LatestTable& latest : schema.latest) add("latest", latest.table);
  for (const OrderTable& order : schema.orders) add("order", order.table);
  for (const RollupTable& rollup : schema.rollups) add("rollup", rollup.table);
  if (schema.periods.empty()) return derived;
  const absl::StatusOr<std::vector<std::string>> all = tables->ListTables();
  if (!all.ok()) return all.status();
  for (const PeriodTable& period : schema.periods) {
    for (const std::string& table : *all) {
      if (period.PeriodOf(table)) add("period", table);
    }
  }
  return derived;
}

absl::StatusOr<int64_t> ReadLimit(const std::string& text, int64_t most) {
  int64_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error == std::errc() && end == text.data() + text.size() && limit >= 1 && limit <= most) return limit;
  return absl::InvalidArgumentError(fmt::format("limit '{}'; allowed: 1 to {}", Printable(text), most));
}

absl::Status List(IngestService* service, const HttpRequest& request, HttpResponse* response) {
  QueryReader query(request);
  const int64_t limit = query.Int("limit", kSeriesListedMax, 1, kSeriesListedMax);
  const std::string start = query.Text("start", kSeriesNameBytesMax);
  if (absl::Status status = query.Finish(); !status.ok()) return status;
  Json all = Json::array();
  Json next = nullptr;
  const std::vector<KnownSeriesRef> known = service->declarations().List();
  for (const KnownSeriesRef& series : known) {
    if (series->schema.name < start) continue;
    if (static_cast<int64_t>(all.size()) == limit) {
      next = series->schema.name;
      break;
    }
    all.push_back(Describe(*series));
  }
  response->body = Dump({{"series", std::move(all)},
                         {"next", std::move(next)},
                         {"count", known.size()},
                         {"count_max", kSeriesMax}});
  return absl::OkStatus();
}

absl::Status Get(IngestService* service, const HttpRequest& request, HttpResponse* response) {
  if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
  const absl::StatusOr<KnownSeriesRef> series = FindSeries(service, request);
  if (!series.ok()) return series.status();
  absl::StatusOr<Json> json = DescribeWhole(**series, &service->tables());
  if (!json.ok()) return json.status();
  absl::StatusOr<Json> derived = DerivedOf((*series)->schema, &service->tables());
  if (!derived.ok()) return derived.status();
  if (!(*series)->is_open()) (*json)["derived"] = *std::move(derived);
  response->body = Dump(*json);
  return absl::OkStatus();
}

absl::Status Put(IngestService* service, const HttpRequest& request, HttpBody* body, HttpResponse* response) {
  const absl::StatusOr<std::string> yaml = body->ReadAll();
  if (!yaml.ok()) return yaml.status();
  const absl::StatusOr<SeriesSchema> schema = ParseSchema(*yaml, "declaration");
  if (!schema.ok()) return schema.status();
  if (schema->name != request.parts.at("name")) {
    return absl::InvalidArgumentError(fmt::format("the declaration is of series '{}', the path names '{}'",
                                                  schema->name, Printable(request.parts.at("name"))));
  }
  const absl::StatusOr<KnownSeriesRef> series = service->declarations().Declare(*yaml);
  if (!series.ok()) return series.status();
  const absl::StatusOr<Json> json = DescribeWhole(**series, &service->tables());
  if (!json.ok()) return json.status();
  response->body = Dump(*json);
  return absl::OkStatus();
}

// The members of a query, by their names in URLs and in JSON.
struct Members {
  std::map<std::string, std::vector<std::string>*> lists;
  std::map<std::string, std::string*> texts;
  std::string format;
  std::string limit;

  explicit Members(QueryRequest* request)
      : lists{{"where", &request->where},
              {"field", &request->fields},
              {"agg", &request->aggregates},
              {"group_by", &request->group_by},
              {"window", &request->windows}},
        texts{{"from", &request->from},     {"to", &request->to},       {"last", &request->last},
              {"latest", &request->latest}, {"every", &request->every}, {"zone", &request->zone},
              {"change", &request->change}, {"fill", &request->fill},   {"top", &request->top},
              {"by", &request->by},         {"limit", &limit},          {"format", &format}} {}
  Members(const Members&) = delete;

  absl::Status Set(const std::string& name, const std::string& value) {
    if (const auto list = lists.find(name); list != lists.end()) {
      // A condition may hold a comma.
      for (std::string_view rest = value; !rest.empty();) {
        const size_t comma = name == "where" ? std::string_view::npos : rest.find(',');
        list->second->emplace_back(rest.substr(0, comma));
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
      }
      return absl::OkStatus();
    }
    if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = value;
      return absl::OkStatus();
    }
    std::vector<std::string> names;
    for (const auto& [known, list] : lists) names.push_back(known);
    for (const auto& [known, text] : texts) names.push_back(known);
    std::sort(names.begin(), names.end());
    return absl::InvalidArgumentError(
        fmt::format("unknown parameter '{}'; allowed: {}", Printable(name), fmt::join(names, ", ")));
  }

  // The same, with the parameters by the names that they have here, and not as flags of the command line.
  absl::Status InWordsOfHere(const absl::Status& status) const {
    std::string message(status.message());
    const auto rename = [&](const std::string& name) {
      const std::string flag = "--" + absl::StrReplaceAll(name, {{"_", "-"}});
      for (size_t at = 0; (at = message.find(flag, at)) != std::string::npos; at += name.size()) {
        const size_t end = at + flag.size();
        const bool is_word =
            end == message.size() || (!absl::ascii_isalnum(message[end]) && message[end] != '-');
        if (is_word) message.replace(at, flag.size(), name);
      }
    };
    for (const auto& [name, list] : lists) rename(name);
    for (const auto& [name, text] : texts) rename(name);
    return absl::Status(status.code(), message);
  }

  absl::Status SetJson(const std::string& name, const Json& value) {
    const auto set_one = [&](const Json& one) -> absl::Status {
      if (one.is_string()) return Set(name, one.get<std::string>());
      if (one.is_number()) return Set(name, one.dump());
      return absl::InvalidArgumentError(
          fmt::format("parameter '{}' must be a text, a number, or a list of them", Printable(name)));
    };
    if (!value.is_array()) return set_one(value);
    for (const Json& one : value) {
      if (absl::Status status = set_one(one); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

absl::Status ReadMembers(const HttpRequest& request, HttpBody* body, Members* members) {
  for (const auto& [name, value] : request.query) {
    if (absl::Status status = members->Set(name, value); !status.ok()) return status;
  }
  if (request.method != "POST") return absl::OkStatus();
  const absl::StatusOr<std::string> text = body->ReadAll();
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return absl::InvalidArgumentError("the body must be a JSON object of parameters");
  for (const auto& [name, value] : json.items()) {
    if (absl::Status status = members->SetJson(name, value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

Json ToJson(const QueryStats& stats) {
  Json ranges = Json::array();
  for (const RowRange& range : stats.ranges) {
    if (ranges.size() == kRangesShownMax) break;
    ranges.push_back({Printable(range.start), Printable(range.end)});
  }
  Json json = {{"table", stats.table},
               {"ranges", std::move(ranges)},
               {"ranges_count", stats.ranges.size()},
               {"is_full_scan", stats.is_full_scan},
               {"is_whole_series", stats.is_whole_series},
               {"rows_read", stats.rows_read},
               {"cells_read", stats.cells_read},
               {"value_bytes_read", stats.value_bytes_read}};
  if (stats.indexed_entities) json["indexed_entities"] = *stats.indexed_entities;
  return json;
}

// {"columns": [...], "rows": [[...]], "is_truncated": ..., "stats": {...}}: a row's members go straight to
// text.
class JsonAnswer {
 public:
  explicit JsonAnswer(const ResultHeader& header) : zone_(header.zone) {
    Json columns = Json::array();
    for (const std::string& tag : header.tags) columns.push_back({{"name", tag}, {"kind", "tag"}});
    columns.push_back({{"name", "time"}, {"kind", "time"}});
    for (const ResultHeader::Column& column : header.values) {
      columns.push_back({{"name", column.name}, {"kind", column.is_number ? "number" : "text"}});
      if (!column.unit.empty()) columns.back()["unit"] = column.unit;
    }
    text_ = "{\"columns\":" + columns.dump() + ",\"rows\":[";
  }

  void Row(const ResultRow& row) {
    text_ += is_first_ ? "[" : ",\n[";
    is_first_ = false;
    if (row.tags_number != tags_number_) {
      tags_number_ = row.tags_number;
      tags_text_.clear();
      for (const std::string& tag : row.tags) {
        tags_text_ += Json(tag).dump(-1, ' ', false, Json::error_handler_t::replace);
        tags_text_ += ',';
      }
    }
    text_ += tags_text_;
    text_ += '"';
    AppendTimeTextIn(zone_, row.time_micros, &text_);
    text_ += "\",";
    for (const ResultValue& value : row.values) {
      AppendJson(value, &text_);
      text_ += ',';
    }
    text_.back() = ']';
  }

  std::string Finish(const QueryStats& stats, bool is_truncated) {
    text_ += "],\"is_truncated\":";
    text_ += is_truncated ? "true" : "false";
    text_ += ",\"stats\":" + ToJson(stats).dump() + "}\n";
    return std::move(text_);
  }
  // Bytes since TakeText.
  size_t bytes() const { return text_.size(); }
  std::string TakeText() {
    std::string text = std::exchange(text_, {});
    text_.reserve(text.capacity());  // the next part is as long
    return text;
  }

 private:
  std::optional<absl::TimeZone> zone_;
  std::optional<int64_t> tags_number_;  // of the row before
  std::string tags_text_;               // of its tags, each with a comma behind it
  std::string text_;
  bool is_first_ = true;
};

absl::Status TooMany(size_t bytes) {
  return absl::InvalidArgumentError(fmt::format(
      "the answer has more than {} bytes, the limit: ask for less (limit, every, fields)", bytes));
}

absl::Status Ask(IngestService* service, const HttpRequest& request, HttpBody* body, HttpResponse* response) {
  const absl::StatusOr<KnownSeriesRef> series = FindSeriesToAsk(service, request);
  if (!series.ok()) return series.status();
  QueryRequest asked;
  Members members(&asked);
  if (absl::Status status = ReadMembers(request, body, &members); !status.ok()) return status;
  const bool is_csv = members.format == "csv";
  if (!members.format.empty() && members.format != "json" && !is_csv) {
    return absl::InvalidArgumentError(
        fmt::format("format '{}'; allowed: json, csv", Printable(members.format)));
  }
  int64_t rows_max = kRowsUsual;
  if (!members.limit.empty()) {
    const absl::StatusOr<int64_t> limit = ReadLimit(members.limit, kRowsMax);
    if (!limit.ok()) return limit.status();
    rows_max = *limit;
  }
  asked.limit = rows_max + 1;  // one more tells whether there are more
  const SeriesSchema view = LabelsAsTags(**series);
  absl::StatusOr<Query> query = ParseQuery(view, asked, service->clock().NowMicros());
  if (!query.ok()) return members.InWordsOfHere(query.status());
  query->interrupted = InterruptedWhenGone(request);
  query->idle_workers = service->idle_workers();
  query->index = &service->index();
  const absl::StatusOr<ResultHeader> header = HeaderOf(view, *query);
  if (!header.ok()) return members.InWordsOfHere(header.status());
  const auto memory = std::make_shared<QueryMemory>(&service->admission());
  query->hold = [memory](int64_t more_bytes) { return memory->Hold(more_bytes); };
  const auto text = std::make_shared<AnswerText>(memory);
  JsonAnswer answer(*header);
  std::ostringstream csv_text;
  const std::unique_ptr<ResultWriter> csv =
      is_csv ? MakeResultWriter(ResultFormat::kCsv, *header, &csv_text) : nullptr;
  absl::Status written;
  bool is_truncated = false;
  int64_t rows = 0;
  const absl::StatusOr<QueryStats> stats =
      RunQuery(**series, *query, service->TablesFor(request).get(), [&](const ResultRow& row) {
        is_truncated = ++rows > rows_max;
        if (is_truncated) return false;
        if (is_csv) {
          csv->Row(row);
          if (static_cast<size_t>(csv_text.tellp()) >= AnswerText::kPartBytes) {
            written = text->Append(std::move(csv_text).str());
            csv_text.str({});
          }
        } else {
          answer.Row(row);
          if (answer.bytes() >= AnswerText::kPartBytes) written = text->Append(answer.TakeText());
        }
        if (written.ok() && text->bytes() > kAnswerBytesMax) written = TooMany(kAnswerBytesMax);
        return written.ok();
      });
  if (!written.ok()) return written;
  if (!stats.ok()) return members.InWordsOfHere(stats.status());
  std::string rest;
  if (is_csv) {
    // A CSV file can't say in itself that rows are missing.
    if (is_truncated && members.limit.empty()) {
      return absl::InvalidArgumentError(fmt::format(
          "the answer has more than {} rows: say limit (1 to {}) to have that many, or ask for less",
          rows_max, kRowsMax));
    }
    response->headers.emplace_back("Sonde-Is-Truncated", is_truncated ? "true" : "false");
    response->content_type = "text/csv; charset=utf-8";
    rest = std::move(csv_text).str();
  } else {
    rest = answer.Finish(*stats, is_truncated);
  }
  if (text->IsEmpty()) {
    response->body = std::move(rest);
    return absl::OkStatus();
  }
  if (absl::Status status = text->Append(std::move(rest)); !status.ok()) return status;
  response->stream = [text](std::string* part) { return text->Next(part); };
  return absl::OkStatus();
}

// One problem a line of a body.
struct Problems {
  Json shown = Json::array();
  void Add(int64_t line, std::string_view reason) {
    if (shown.size() < kProblemsShownMax) shown.push_back({{"line", line}, {"reason", reason}});
  }
};

absl::Status WritePoints(IngestService* service, const HttpRequest& request, HttpBody* body,
                         HttpResponse* response) {
  const absl::StatusOr<KnownSeriesRef> series = FindSeries(service, request);
  if (!series.ok()) return series.status();
  if ((*series)->is_open()) {
    return absl::FailedPreconditionError(
        "points of a series that is not declared come by line protocol, to /write");
  }
  const std::string type = request.Header("content-type").value_or("application/x-ndjson");
  const bool is_csv = type.starts_with("text/csv");
  // curl --data-binary says that it is a form, when it is told nothing.
  const auto is_json = [&](std::string_view name) { return type.starts_with(name); };
  if (!is_csv && !is_json("application/x-ndjson") && !is_json("application/json") &&
      !is_json("application/x-www-form-urlencoded")) {
    return absl::InvalidArgumentError(fmt::format(
        "Content-Type '{}'; allowed: application/x-ndjson (JSON lines), text/csv", Printable(type)));
  }
  absl::StatusOr<Admission::Place> place = service->Admit(request);
  if (!place.ok()) return place.status();
  const absl::StatusOr<std::string> text = ReadBody(body, &*place);
  if (!text.ok()) return text.status();
  const SeriesSchema& schema = (*series)->schema;
  CsvMapping mapping;
  mapping.names = schema.csv.columns;
  mapping.constants = schema.csv.constants;
  mapping.time_column = schema.csv.time_column;
  mapping.time_format = request.Query("time_format").value_or(schema.csv.time_format);
  mapping.is_by_options = false;
  mapping.refuses_unknown = request.Query("strict").value_or("") == "true";
  Problems problems;
  const CsvLoader::Callbacks callbacks = {
      [&](int64_t line, std::string_view reason) { problems.Add(line, reason); }, {}, {}};
  PointWriter writer(schema, &service->tables(), {}, &service->clock(), PointWriter::Target::kAll,
                     {.refresher = &service->refresher(), .index = &service->index_writer()});
  absl::StatusOr<CsvTotals> totals =
      is_csv ? CsvLoader(mapping, callbacks).Load(SourceOfText(*text), &writer)
             : JsonLinesLoader(mapping, callbacks).Load(SourceOfText(*text), &writer);
  if (!totals.ok()) return totals.status();
  service->points()->AddWritten(schema.name, is_csv ? kSenderCsv : kSenderJson,
                                {static_cast<uint64_t>(totals->points), writer.totals().newest_micros});
  service->points()->AddRefused(PointCounts::Refusal::kInvalid, static_cast<uint64_t>(totals->bad_lines));
  Json answer = {{"points", totals->points}, {"refused", totals->bad_lines}};
  if (!totals->ignored_columns.empty()) {
    answer["ignored"] = totals->ignored_columns;
    answer["ignored_values"] = totals->ignored_values;
  }
  const std::vector<std::string> late =
      TooLateForRollups(schema, writer.totals().oldest_micros, service->clock().NowMicros());
  if (!late.empty()) answer["warnings"] = late;
  if (totals->bad_lines > 0) {
    response->code = 400;
    answer["error"] = {
        {"code", 400},
        {"status", "INVALID_ARGUMENT"},
        {"message", fmt::format("{} lines were refused; the others are written", totals->bad_lines)}};
    answer["problems"] = std::move(problems.shown);
  }
  response->body = Dump(answer);
  return absl::OkStatus();
}

}  // namespace

void AddSeriesRoutes(IngestService* service, IngestService::SeriesOfMatchers of_matchers, Router* router) {
  router->Add({"GET", "/api/v1/series",
               [service, of_matchers = std::move(of_matchers)](const HttpRequest& request, HttpBody*,
                                                               HttpResponse* response) {
                 const bool has_matchers = of_matchers && request.query.contains("match[]");
                 return has_matchers ? of_matchers(request, response) : List(service, request, response);
               }});
  router->Add({"GET", "/api/v1/series/{name}",
               [service](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                 return Get(service, request, response);
               }});
  router->Add({"PUT", "/api/v1/series/{name}",
               [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                 return Put(service, request, body, response);
               }});
  for (const char* const method : {"GET", "POST"}) {
    router->Add({method, "/api/v1/series/{name}/query",
                 [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                   return Ask(service, request, body, response);
                 }});
  }
  router->Add({"POST", "/api/v1/series/{name}/write",
               [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                 return WritePoints(service, request, body, response);
               },
               kIngestBodyBytesMax});
}

}  // namespace sonde::series
