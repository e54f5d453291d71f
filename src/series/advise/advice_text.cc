#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"
#include "series/advise/advise.h"
#include "series/schema/check.h"

namespace sonde::series {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string Draw(const Lines& lines) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string drawn = " ";
    // Names stand left, numbers right.
    for (size_t i = 0; i < line.size(); ++i) {
      drawn +=
          i == 0 ? fmt::format(" {:<{}} ", line[i], widths[i]) : fmt::format(" {:>{}} ", line[i], widths[i]);
    }
    drawn.erase(drawn.find_last_not_of(' ') + 1);
    text += drawn + "\n";
  }
  return text;
}

std::string CountText(double count) {
  if (count >= 1e9) return fmt::format("{:.4g} G", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.4g} M", count / 1e6);
  return fmt::format("{:.0f}", count);
}

struct Sizing {
  double rows_per_day = 0;
  double cells_per_day = 0;
  double bytes_per_day = 0;
  double nodes = 0;
};

std::optional<Sizing> SizeOf(const SeriesSchema& schema, const CandidateMeasure& measure) {
  // How many and how often is the declaration's; how they lie is the candidate's.
  SeriesSchema laid_out = measure.candidate.schema;
  laid_out.tags = schema.tags;
  laid_out.interval_micros = schema.interval_micros;
  const std::optional<SeriesSizes> sizes = EstimateSizes(laid_out);
  if (!sizes || !sizes->has_series_count) return std::nullopt;
  Sizing sizing;
  sizing.rows_per_day = sizes->rows_per_day * sizes->series_count;
  sizing.cells_per_day = sizes->cells_per_day * sizes->series_count;
  sizing.bytes_per_day = sizes->points_per_day * sizes->series_count * measure.bytes_per_point;
  const double days_kept =
      schema.retention.max_age_micros
          ? static_cast<double>(*schema.retention.max_age_micros) / static_cast<double>(kMicrosPerDay)
          : 365;
  const double by_writes = sizes->rows_written_per_second * sizes->series_count / kNodeRowsWrittenPerSecond;
  const double by_bytes = sizing.bytes_per_day * days_kept / kNodeBytesStored;
  sizing.nodes = std::ceil(std::max({1.0, by_writes, by_bytes}));
  return sizing;
}

}  // namespace

std::string SizingText(const SeriesSchema& schema, const CandidateMeasure& measure) {
  const std::optional<Sizing> sizing = SizeOf(schema, measure);
  if (!sizing) return "";
  return fmt::format(
      "{} rows, {} cells, {} a day; {:.0f} {} of Cloud Bigtable (14,000 rows written a second, 5 TB each)",
      CountText(sizing->rows_per_day), CountText(sizing->cells_per_day), BytesText(sizing->bytes_per_day),
      sizing->nodes, sizing->nodes == 1 ? "node" : "nodes");
}

std::string AdviceText(const SeriesSchema& schema, const Advice& advice) {
  std::string text = fmt::format("{} points of {} series, {} candidates, the best first\n\n", advice.points,
                                 advice.series, advice.measures.size());
  Lines lines = {
      {"candidate", "bytes/point", "rows", "cells", "largest row", "hottest tablet", "points/s", ""}};
  for (const CandidateMeasure& measure : advice.measures) {
    lines.push_back({measure.candidate.name + (measure.candidate.is_declared ? " (declared)" : ""),
                     fmt::format("{:.2f}", measure.bytes_per_point), fmt::format("{}", measure.rows),
                     fmt::format("{}", measure.cells),
                     BytesText(static_cast<double>(measure.largest_row_bytes)),
                     fmt::format("{:.0f}%", measure.hottest_share * 100),
                     fmt::format("{:.0f}", measure.points_per_second),
                     measure.candidate.hot_key.empty() ? "" : "hot key"});
  }
  text += Draw(lines);
  for (size_t i = 0; i < advice.measures[0].queries.size(); ++i) {
    text += fmt::format("\nquery {}: {}\n\n", i + 1, advice.measures[0].queries[i].text);
    Lines of_query = {{"candidate", "ms", "ranges", "rows read", "cells read", "value bytes", "results", ""}};
    for (const CandidateMeasure& measure : advice.measures) {
      const QueryMeasure& query = measure.queries[i];
      of_query.push_back({measure.candidate.name, fmt::format("{:.3f}", query.milliseconds),
                          fmt::format("{:.0f}", query.ranges), fmt::format("{:.0f}", query.rows),
                          fmt::format("{:.0f}", query.cells), fmt::format("{:.0f}", query.value_bytes),
                          fmt::format("{:.0f}", query.results), query.is_full_scan ? "whole table" : ""});
    }
    text += Draw(of_query);
  }
  Lines sizes;
  for (const CandidateMeasure& measure : advice.measures) {
    const std::string sizing = SizingText(schema, measure);
    if (!sizing.empty()) sizes.push_back({measure.candidate.name, sizing});
  }
  if (!sizes.empty()) text += "\nall series, a day, from the bytes a point of this sample\n\n" + Draw(sizes);
  text += "\n" + advice.recommendation + "\n";
  if (!advice.measures[0].candidate.yaml.empty()) text += "\n" + advice.measures[0].candidate.yaml;
  return text;
}

std::string AdviceJson(const SeriesSchema& schema, const Advice& advice) {
  nlohmann::ordered_json json = {{"points", advice.points}, {"series", advice.series}};
  for (const CandidateMeasure& measure : advice.measures) {
    nlohmann::ordered_json one = {{"name", measure.candidate.name},
                                  {"declared", measure.candidate.is_declared},
                                  {"yaml", measure.candidate.yaml},
                                  {"bytes_per_point", measure.bytes_per_point},
                                  {"points_per_second", measure.points_per_second},
                                  {"rows", measure.rows},
                                  {"cells", measure.cells},
                                  {"rows_per_series_day", measure.rows_per_series_day},
                                  {"largest_row_bytes", measure.largest_row_bytes},
                                  {"largest_row_key", Printable(measure.largest_row_key)},
                                  {"largest_cell_bytes", measure.largest_cell_bytes},
                                  {"hottest_share", measure.hottest_share},
                                  {"hot_key", measure.candidate.hot_key},
                                  {"cost", measure.cost}};
    for (const QueryMeasure& query : measure.queries) {
      one["queries"].push_back({{"ask", query.text},
                                {"milliseconds", query.milliseconds},
                                {"ranges", query.ranges},
                                {"rows", query.rows},
                                {"cells", query.cells},
                                {"value_bytes", query.value_bytes},
                                {"results", query.results},
                                {"full_scan", query.is_full_scan}});
    }
    if (const std::optional<Sizing> sizing = SizeOf(schema, measure)) {
      one["day"] = {{"rows", sizing->rows_per_day},
                    {"cells", sizing->cells_per_day},
                    {"bytes", sizing->bytes_per_day},
                    {"nodes", sizing->nodes}};
    }
    json["candidates"].push_back(std::move(one));
  }
  json["recommendation"] = advice.recommendation;
  return json.dump(2) + "\n";
}

}  // namespace sonde::series
