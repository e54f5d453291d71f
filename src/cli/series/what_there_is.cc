#include "cli/series/what_there_is.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "series/query/query.h"

namespace sonde {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(2);
constexpr int64_t kSeriesMax = 1'000;  // that are looked at
constexpr size_t kValuesShownMax = 5;
constexpr size_t kValueBytesMax = 64;

bool IsAskedFor(const series::QueryRequest& asked, const std::string& tag) {
  return std::any_of(asked.where.begin(), asked.where.end(), [&](const std::string& condition) {
    return absl::StartsWith(condition, tag + "=") || absl::StartsWith(condition, tag + "!");
  });
}

std::string ValuesText(const std::string& tag, const std::set<std::string>& values) {
  std::vector<std::string> shown;
  for (const std::string& value : values) {
    if (shown.size() == kValuesShownMax) break;
    shown.push_back(Printable(value, kValueBytesMax));
  }
  const size_t more = values.size() - shown.size();
  return fmt::format("{} has {}{}", tag, fmt::join(shown, ", "),
                     more > 0 ? fmt::format(" and {} other values", more) : "");
}

}  // namespace

std::string WhatThereIs(const OpenSeries& opened, const series::QueryRequest& asked) {
  series::QueryRequest newest;
  newest.latest = "1";
  newest.limit = kSeriesMax;
  absl::StatusOr<series::Query> query = series::ParseQuery(opened.schema, newest, SystemClock().NowMicros());
  if (!query.ok()) return "";
  const absl::StatusOr<series::ResultHeader> header = series::HeaderOf(opened.schema, *query);
  if (!header.ok()) return "";
  const absl::Time give_up = absl::Now() + kPatience;
  query->interrupted = [give_up] {
    return absl::Now() < give_up ? absl::OkStatus() : absl::DeadlineExceededError("it takes too long");
  };
  std::vector<std::set<std::string>> values(header->tags.size());
  std::optional<int64_t> newest_micros;
  const auto take_row = [&](const series::ResultRow& row) {
    for (size_t i = 0; i < values.size() && i < row.tags.size(); ++i) values[i].insert(row.tags[i]);
    newest_micros = std::max(newest_micros.value_or(row.time_micros), row.time_micros);
    return true;
  };
  // What was found until an error came is so, too.
  (void)(opened.open ? series::RunQuery(*opened.open, *query, opened.tables.get(), take_row)
                     : series::RunQuery(opened.schema, *query, opened.tables.get(), take_row));
  std::vector<std::string> parts;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty() && IsAskedFor(asked, header->tags[i]))
      parts.push_back(ValuesText(header->tags[i], values[i]));
  }
  if (newest_micros.has_value())
    parts.push_back(fmt::format("the newest point is of {}", series::TimeText(*newest_micros)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace sonde
