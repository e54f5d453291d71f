// The parts of a declaration beside its own table: derived tables, ranked queries, earlier versions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "model/names.h"
#include "series/schema/schema_parser.h"
#include "series/schema/schema_reader.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr std::string_view kDeriveExample = "'derive' must be a list, as in [ latest: host_now ]";
constexpr std::array kRollupAggregates = {RollupAggregate::kCount, RollupAggregate::kSum,
                                          RollupAggregate::kMin,   RollupAggregate::kMax,
                                          RollupAggregate::kFirst, RollupAggregate::kLast};

std::optional<RollupAggregate> RollupAggregateOfName(std::string_view name) {
  for (const RollupAggregate aggregate : kRollupAggregates) {
    if (RollupAggregateName(aggregate) == name) return aggregate;
  }
  return std::nullopt;
}

// "5/s", "20/m", "3/h", "1/d" as times a day.
std::optional<double> TimesPerDay(std::string_view text) {
  double count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || !(count > 0 && count <= 1e12)) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size() - end);
  for (const auto& [name, seconds] :
       {std::pair("/s", 1.0), std::pair("/m", 60.0), std::pair("/h", 3600.0), std::pair("/d", 86400.0)}) {
    if (unit == name) return count * 86400.0 / seconds;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> SchemaReader::ListOf(const MapReader& map, std::string_view key,
                                              std::string_view what) {
  std::vector<std::string> texts;
  const YAML::Node node = map.Find(key);
  if (!node.IsDefined()) return texts;
  const std::string in = fmt::format("'{}' of {}", key, what);
  if (!node.IsSequence()) {
    if (const auto text = TextOf(node, in, problems_)) texts.push_back(*text);
    return texts;
  }
  for (const YAML::Node& entry : node) {
    if (const auto text = TextOf(entry, in, problems_)) texts.push_back(*text);
  }
  return texts;
}

bool SchemaReader::TakeTable(const std::string& table, int line) {
  if (!CheckTableId(table).ok()) {
    Complain(line,
             fmt::format("table '{}'; allowed: 1 to 50 letters, digits and _ - ., not starting with - or .",
                         Printable(table)));
    return false;
  }
  if (tables_.insert(table).second) return true;
  Complain(line, fmt::format("table '{}' is used twice by this declaration", table));
  return false;
}

void SchemaReader::ReadDerived(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() > kDerivedTablesMax) {
    return Complain(LineOf(node), fmt::format("{}; of up to {} tables", kDeriveExample, kDerivedTablesMax));
  }
  for (const YAML::Node& entry : node) {
    if (!entry.IsMap() || entry.size() != 1) {
      Complain(LineOf(entry), std::string(kDeriveExample));
      continue;
    }
    const std::string kind = entry.begin()->first.IsScalar() ? entry.begin()->first.Scalar() : "";
    const YAML::Node value = entry.begin()->second;
    if (kind == "latest") {
      ReadLatest(value);
    } else if (kind == "period") {
      ReadPeriod(value);
    } else if (kind == "order") {
      ReadOrder(value);
    } else if (kind == "rollup") {
      ReadRollup(value);
    } else {
      Complain(LineOf(entry),
               fmt::format("derived table '{}'; allowed: latest, period, order, rollup", Printable(kind)));
    }
  }
}

void SchemaReader::ReadLatest(const YAML::Node& node) {
  const int line = LineOf(node);
  const auto table = TextOf(node, "the table of 'latest'", problems_);
  if (!table || !TakeTable(*table, line)) return;
  if (schema_.tags.empty()) return Complain(line, "'latest' needs at least one tag in 'key'");
  schema_.latest.push_back({*table, line});
}

void SchemaReader::ReadPeriod(const YAML::Node& node) {
  const MapReader map(node, "'period'", {"table", "every", "max_age"}, problems_);
  PeriodTable period;
  period.line = LineOf(node);
  const std::string pattern = map.Text("table").value_or("");
  const absl::StatusOr<BucketWidth> every = ParseBucketWidth(map.Text("every").value_or("day"));
  if (!every.ok()) return Complain(period.line, fmt::format("'every': {}", TextOfStatus(every.status())));
  period.every = *every;
  period.max_age_micros = DurationOf(map, "max_age", "'period'");
  const size_t open = pattern.find('{');
  const size_t close = pattern.find('}');
  std::optional<TimeFormat> format;
  if (open != std::string::npos && close != std::string::npos && open < close) {
    format = TimeFormatOfName(std::string_view(pattern).substr(open + 1, close - open - 1));
  }
  if (!format || IsEpochFormat(*format)) {
    return Complain(period.line,
                    fmt::format("'table' of 'period' is '{}'; allowed: a name with one time format in "
                                "braces, as in SENSOR_{{yyyymmdd}}",
                                Printable(pattern)));
  }
  period.format = *format;
  period.prefix = pattern.substr(0, open);
  period.suffix = pattern.substr(close + 1);
  if (!period.every.IsMultipleOf(TimeFormatUnit(*format))) {
    return Complain(period.line, fmt::format("time format '{}' can't tell periods of one {} apart",
                                             TimeFormatName(*format), period.every.Name()));
  }
  if (!schema_.IsRowPerPoint() && !(schema_.bucket && period.every.IsMultipleOf(*schema_.bucket))) {
    return Complain(period.line, fmt::format("a period of one {} cuts rows: it must be made of whole buckets",
                                             period.every.Name()));
  }
  if (TakeTable(period.TableAt(0), period.line)) schema_.periods.push_back(std::move(period));
}

void SchemaReader::ReadOrder(const YAML::Node& node) {
  const MapReader map(node, "'order'", {"table", "key", "bucket", "layout", "retention"}, problems_);
  OrderTable order;
  order.line = LineOf(node);
  order.table = map.Text("table").value_or("");
  if (!TakeTable(order.table, order.line)) return;
  // Its key is read as a key of the series is: into a copy of the schema, which is put back.
  const SeriesSchema series = schema_;
  schema_.key.clear();
  schema_.bucket.reset();
  bucket_is_wrong_ = false;
  if (const auto text = map.Text("bucket")) {
    const absl::StatusOr<BucketWidth> bucket = ParseBucketWidth(*text);
    bucket_is_wrong_ = !bucket.ok();
    if (!bucket.ok()) Complain(order.line, fmt::format("'bucket': {}", TextOfStatus(bucket.status())));
    if (bucket.ok()) schema_.bucket = *bucket;
  }
  if (map.Has("key")) {
    ReadKey(map.Find("key"));
  } else {
    Complain(order.line, "'order' has no 'key'");
  }
  const Layout usual = schema_.FindPart(KeyPart::Kind::kTime) != nullptr && !series.IsRowPerPoint()
                           ? Layout::kRow
                           : series.layout;
  const auto text = map.Text("layout");
  const std::optional<Layout> layout = text ? LayoutOfName(*text) : std::optional<Layout>(usual);
  const bool layout_fits = layout == series.layout || layout == Layout::kRow || layout == Layout::kCells;
  if (!layout_fits) Complain(order.line, "'layout' of 'order'; allowed: that of the series, cells, row");
  if (layout_fits && problems_->empty()) {
    schema_.layout = *layout;
    schema_.layout_line = order.line;
    CheckKey();
    CheckLayout();
  }
  order.key = std::move(schema_.key);
  order.bucket = schema_.bucket;
  order.layout = layout_fits ? *layout : series.layout;
  schema_ = series;
  if (map.Has("retention")) order.retention = ReadRetention(map.Find("retention"), "'order'");
  CheckAge(MakeOrderSchema(schema_, order), order.line);
  schema_.orders.push_back(std::move(order));
}

void SchemaReader::ReadRollup(const YAML::Node& node) {
  const MapReader map(node, "'rollup'", {"table", "every", "aggregates", "retention"}, problems_);
  RollupTable rollup;
  rollup.line = LineOf(node);
  rollup.table = map.Text("table").value_or("");
  if (!TakeTable(rollup.table, rollup.line)) return;
  const absl::StatusOr<BucketWidth> every = ParseBucketWidth(map.Text("every").value_or("hour"));
  if (!every.ok()) return Complain(rollup.line, fmt::format("'every': {}", TextOfStatus(every.status())));
  rollup.every = *every;
  for (const std::string& name : ListOf(map, "aggregates", "'rollup'")) {
    const std::optional<RollupAggregate> aggregate = RollupAggregateOfName(name);
    if (!aggregate) {
      Complain(rollup.line,
               fmt::format("aggregate '{}' of 'rollup'; allowed: count, sum, min, max, first, last "
                           "(an average is sum / count)",
                           Printable(name)));
    } else if (std::find(rollup.aggregates.begin(), rollup.aggregates.end(), *aggregate) ==
               rollup.aggregates.end()) {
      rollup.aggregates.push_back(*aggregate);
    }
  }
  if (!map.Has("aggregates")) {
    rollup.aggregates = {RollupAggregate::kCount, RollupAggregate::kSum, RollupAggregate::kMin,
                         RollupAggregate::kMax};
  }
  const bool has_number = std::any_of(schema_.fields.begin(), schema_.fields.end(),
                                      [](const Field& field) { return field.type != FieldType::kString; });
  if (!has_number) Complain(rollup.line, "'rollup' needs a field that is a number");
  if (map.Has("retention")) {
    // The documents' short form: retention: 5y.
    const YAML::Node retention = map.Find("retention");
    rollup.retention.is_declared = true;
    if (retention.IsScalar()) {
      rollup.retention.max_age_micros = DurationOf(map, "retention", "'rollup'");
    } else {
      rollup.retention = ReadRetention(retention, "'rollup'");
    }
  }
  schema_.rollups.push_back(std::move(rollup));
}

void SchemaReader::ReadQueries(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() > kQueriesMax) {
    return Complain(LineOf(node), fmt::format("'queries' must be a list of up to {} texts or maps, the most "
                                              "important first",
                                              kQueriesMax));
  }
  for (const YAML::Node& query : node) ReadQuery(query);
}

void SchemaReader::ReadQuery(const YAML::Node& node) {
  DeclaredQuery query;
  query.line = LineOf(node);
  if (!node.IsMap()) {
    const auto text = TextOf(node, "a query", problems_);
    query.text = text.value_or("");
    query.is_text_only = true;
    schema_.queries.push_back(std::move(query));
    return;
  }
  const MapReader map(node, "a query", {"ask", "tags", "range", "fields", "every", "rate"}, problems_);
  query.text = map.Text("ask").value_or("");
  if (!map.Has("ask")) Complain(query.line, "a query has no 'ask': a text that says what it asks for");
  for (const std::string& name : ListOf(map, "tags", "a query")) {
    if (const std::optional<size_t> tag = schema_.FindTag(name)) {
      query.tags.push_back(*tag);
    } else {
      Complain(query.line,
               fmt::format("query '{}' fixes '{}', which is no tag", query.text, Printable(name)));
    }
  }
  for (const std::string& name : ListOf(map, "fields", "a query")) {
    if (const std::optional<size_t> field = schema_.FindField(name)) {
      query.fields.push_back(*field);
    } else {
      Complain(query.line,
               fmt::format("query '{}' asks for '{}', which is no field", query.text, Printable(name)));
    }
  }
  ReadQueryRange(map, &query);
  if (const auto text = map.Text("rate")) {
    query.times_per_day = TimesPerDay(*text);
    if (!query.times_per_day) {
      Complain(query.line, fmt::format("'rate' of a query is '{}'; allowed: such as 5/s, 20/m, 3/h, 1/d",
                                       Printable(*text)));
    }
  }
  schema_.queries.push_back(std::move(query));
}

void SchemaReader::ReadQueryRange(const MapReader& map, DeclaredQuery* query) {
  if (const auto text = map.Text("range"); text == "latest") {
    query->range = DeclaredQuery::Range::kLatest;
  } else if (text && *text != "all") {
    query->range = DeclaredQuery::Range::kDuration;
    const absl::StatusOr<BucketWidth> width = ParseBucketWidth(*text);
    if (width.ok()) {
      query->range_micros = width->MicrosMax();
    } else {
      Complain(query->line,
               fmt::format("'range' of a query is '{}'; allowed: latest, all, a duration such as 24h, "
                           "day, week, month",
                           Printable(*text)));
    }
  }
  if (const auto text = map.Text("every")) {
    const absl::StatusOr<BucketWidth> every = ParseBucketWidth(*text);
    if (every.ok()) query->every = *every;
    if (!every.ok())
      Complain(query->line, fmt::format("'every' of a query: {}", TextOfStatus(every.status())));
  }
}

void SchemaReader::ReadVersions(const YAML::Node& root, const YAML::Node& node) {
  if (is_version_) return;
  if (!node.IsSequence() || node.size() > kVersionsMax) {
    return Complain(LineOf(node),
                    fmt::format("'versions' must be a list of up to {} maps, each with 'until' and what "
                                "was different before: table, key, bucket, layout, slot, delimiter",
                                kVersionsMax));
  }
  for (const YAML::Node& entry : node) {
    const int line = LineOf(entry);
    const MapReader map(entry, "a version",
                        {"until", "table", "key", "bucket", "layout", "slot", "blob", "delimiter",
                         "retention", "corrections", "origin"},
                        problems_);
    if (!entry.IsMap()) continue;
    std::optional<int64_t> until;
    if (const auto text = map.Text("until")) until = ParseDayOrMinute(*text);
    if (!until) {
      const std::string what = map.Has("until") ? fmt::format("'until' of a version is '{}'; allowed",
                                                              Printable(map.Text("until").value_or("")))
                                                : "a version has no 'until'";
      Complain(line,
               what + ": the time (UTC) from which the next one applies, as 2021-03-05 or 2021-03-05-1204");
      continue;
    }
    if (!schema_.earlier.empty() && *until <= schema_.earlier.back().until_micros) {
      Complain(line, "'versions' must be in the order of their 'until', the oldest first");
      continue;
    }
    if (!map.Has("table")) {
      Complain(line, "a version has no 'table': each version has a table of its own");
      continue;
    }
    YAML::Node version(YAML::NodeType::Map);
    for (const auto& inherited : root) {
      const std::string key = inherited.first.Scalar();
      const bool is_own = key == "versions" || key == "derive" || key == "queries" || map.Has(key) ||
                          (key == "time" && map.Has("origin"));
      // A bucket and a slot belong to the key and the layout that they were declared with.
      const bool is_replaced =
          (map.Has("key") && key == "bucket") || (map.Has("layout") && (key == "slot" || key == "blob"));
      if (!is_own && !is_replaced) version.force_insert(inherited.first, inherited.second);
    }
    for (const auto& own : entry) {
      const std::string& key = own.first.Scalar();
      if (key != "until" && key != "origin") version.force_insert(own.first, own.second);
    }
    if (const auto origin = map.Text("origin")) {
      YAML::Node time(YAML::NodeType::Map);
      if (root["time"].IsDefined()) time = YAML::Clone(root["time"]);
      time["origin"] = *origin;
      version.force_insert("time", time);
    }
    SchemaReader reader(schema_.file, tables_, problems_);
    reader.line_ = line;
    SeriesSchema earlier = reader.Read(version);
    tables_.insert(earlier.table);
    earlier.until_micros = *until;
    schema_.earlier.push_back(std::move(earlier));
  }
}

}  // namespace sonde::series
