#include "series/query/query_request.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/bytes.h"
#include "base/nearest_word.h"
#include "series/schema/status_text.h"
#include "series/schema/time_parser.h"

namespace sonde::series {
namespace {

std::string TagNames(const SeriesSchema& schema) {
  std::vector<std::string> names;
  for (const Tag& tag : schema.tags) names.push_back(tag.name);
  return names.empty() ? "no tag: the series has none" : fmt::format("{}", fmt::join(names, ", "));
}

absl::Status AtFlag(std::string_view flag, const absl::Status& status) {
  return absl::InvalidArgumentError(fmt::format("{}: {}", flag, TextOfStatus(status)));
}

absl::Status AddEqual(const std::string& text, size_t tag, std::string value, Selection* selection) {
  TagFilter& filter = selection->tags[tag];
  if (value.empty() || value.back() != '*') {
    filter.values.push_back(std::move(value));
    return absl::OkStatus();
  }
  value.pop_back();
  if (filter.prefix) {
    return absl::InvalidArgumentError(
        fmt::format("--where '{}': a second prefix of this tag", Printable(text)));
  }
  filter.prefix = std::move(value);
  return absl::OkStatus();
}

// `text`: FIELD>NUMBER, or with >=, < or <=.  False: it is none.
bool ReadValueCondition(const SeriesSchema& schema, std::string_view text, Query* query) {
  const size_t sign = text.find_first_of("<>");
  if (sign == std::string_view::npos) return false;
  const std::optional<size_t> field = schema.FindField(std::string(text.substr(0, sign)));
  const bool is_greater = text[sign] == '>';
  const bool has_equal = text.substr(sign + 1).starts_with('=');
  using Order = ValueCondition::Order;
  ValueCondition condition{.order = is_greater ? (has_equal ? Order::kGreaterOrEqual : Order::kGreater)
                                               : (has_equal ? Order::kLessOrEqual : Order::kLess)};
  const std::string number(text.substr(sign + (has_equal ? 2 : 1)));
  if (!field || !absl::SimpleAtod(number, &condition.number)) return false;
  condition.field = *field;
  query->value_conditions.push_back(condition);
  return true;
}

// Says which tag may have been meant by a name that is none.
std::string MeantTag(const SeriesSchema& schema, std::string_view name) {
  if (schema.FindTag(name).has_value()) return "";
  std::vector<std::string> names;
  for (const Tag& tag : schema.tags) names.push_back(tag.name);
  const std::optional<std::string> nearest = NearestWord(name, names);
  return nearest.has_value() ? fmt::format(". Did you mean '{}'?", *nearest) : "";
}

absl::Status ReadWhere(const SeriesSchema& schema, const QueryRequest& request, Query* query) {
  query->selection.tags.resize(schema.tags.size());
  for (const std::string& text : request.where) {
    if (ReadValueCondition(schema, text, query)) continue;
    const size_t sign = text.find_first_of("=!");
    const std::optional<size_t> tag = schema.FindTag(text.substr(0, sign));
    const std::string_view rest =
        sign == std::string::npos ? std::string_view() : std::string_view(text).substr(sign);
    if (!tag || !(rest.starts_with("=") || rest.starts_with("!=") || rest.starts_with("!~"))) {
      return absl::InvalidArgumentError(
          fmt::format("--where '{}'; allowed: TAG=VALUE, TAG=PREFIX*, TAG=~REGEX, TAG!=VALUE or TAG!~REGEX, "
                      "with the tags {}; or FIELD>NUMBER, FIELD>=NUMBER, FIELD<NUMBER or FIELD<=NUMBER{}",
                      Printable(text), TagNames(schema), MeantTag(schema, text.substr(0, sign))));
    }
    if (rest.starts_with("=~") || rest.starts_with("!~")) {
      query->conditions.push_back({*tag, std::string(rest.substr(2)), rest[0] == '!'});
    } else if (rest.starts_with("!=")) {
      query->conditions.push_back({*tag, re2::RE2::QuoteMeta(std::string(rest.substr(2))), true});
    } else if (absl::Status status = AddEqual(text, *tag, std::string(rest.substr(1)), &query->selection);
               !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTimes(const QueryRequest& request, int64_t now_micros, Selection* selection) {
  // A time that names no zone is UTC.
  const absl::StatusOr<TimeParser> times = TimeParser::Create("auto", true);
  if (!times.ok()) return times.status();
  const auto read = [&](const std::string& text, std::string_view flag, int64_t* micros) -> absl::Status {
    if (text.empty()) return absl::OkStatus();
    const std::optional<int64_t> time = times->Parse(text);
    if (!time) return AtFlag(flag, times->Refusal(text));
    *micros = *time;
    return absl::OkStatus();
  };
  if (absl::Status status = read(request.from, "--from", &selection->from_micros); !status.ok())
    return status;
  if (absl::Status status = read(request.to, "--to", &selection->to_micros); !status.ok()) return status;
  if (!request.from.empty() && !request.to.empty() && selection->from_micros >= selection->to_micros) {
    return absl::InvalidArgumentError(
        fmt::format("--from '{}' is not before --to '{}'", Printable(request.from), Printable(request.to)));
  }
  if (request.last.empty()) return absl::OkStatus();
  if (!request.from.empty()) return absl::InvalidArgumentError("--last and --from exclude each other");
  const absl::StatusOr<int64_t> duration = ParseDurationMicros(request.last);
  if (!duration.ok()) return AtFlag("--last", duration.status());
  selection->from_micros = std::max(kTimeBeginMicros, now_micros - *duration);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadNumber(std::string_view flag, std::string_view text, int64_t min) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < min) {
    return absl::InvalidArgumentError(
        fmt::format("{} '{}'; allowed: a whole number{}", flag, Printable(text),
                    min == std::numeric_limits<int64_t>::min() ? "" : fmt::format(" from {}", min)));
  }
  return number;
}

absl::Status ReadFields(const SeriesSchema& schema, const QueryRequest& request, Query* query) {
  for (const std::string& name : request.fields) {
    const std::optional<size_t> field = schema.FindField(name);
    if (!field) {
      std::vector<std::string> names;
      for (const Field& known : schema.fields) names.push_back(known.name);
      return absl::InvalidArgumentError(
          fmt::format("--field '{}'; allowed: {}", Printable(name), fmt::join(names, ", ")));
    }
    query->fields.push_back(*field);
  }
  return absl::OkStatus();
}

absl::Status ReadGroups(const SeriesSchema& schema, const QueryRequest& request, Query* query) {
  if (request.group_by.empty()) return absl::OkStatus();
  query->group_by.emplace();
  if (request.group_by == std::vector<std::string>{"-"}) return absl::OkStatus();
  for (const std::string& name : request.group_by) {
    const std::optional<size_t> tag = schema.FindTag(name);
    const bool is_again =
        tag && std::find(query->group_by->begin(), query->group_by->end(), *tag) != query->group_by->end();
    if (!tag || is_again) {
      return absl::InvalidArgumentError(
          fmt::format("--group-by '{}'{}; allowed: {}, or - for one group of everything", Printable(name),
                      is_again ? " again" : "", TagNames(schema)));
    }
    query->group_by->push_back(*tag);
  }
  return absl::OkStatus();
}

absl::Status ReadBuckets(const QueryRequest& request, Query* query) {
  if (!request.every.empty()) {
    if (const auto zone = FindTimeZone(request.zone); !zone.ok()) return AtFlag("--zone", zone.status());
    absl::StatusOr<TimeBuckets> every = TimeBuckets::Parse(request.every, request.zone);
    if (!every.ok()) return AtFlag("--every", every.status());
    query->every = *std::move(every);
  } else if (!request.zone.empty()) {
    return absl::InvalidArgumentError("--zone says where days begin: it needs --every");
  }
  for (const std::string& text : request.windows) {
    const absl::StatusOr<int64_t> buckets = ReadNumber("--window", text, 1);
    if (!buckets.ok()) return buckets.status();
    query->windows.push_back(static_cast<int>(std::min<int64_t>(*buckets, kWindowBucketsMax + 1)));
  }
  if (request.fill.empty()) return absl::OkStatus();
  const std::optional<Fill> fill = FillOfName(request.fill);
  if (!fill) {
    return absl::InvalidArgumentError(
        fmt::format("--fill '{}'; allowed: none, null, previous, linear", Printable(request.fill)));
  }
  query->fill = *fill;
  return absl::OkStatus();
}

absl::Status ReadAggregates(const QueryRequest& request, Query* query) {
  for (const std::string& name : request.aggregates) {
    const std::optional<Aggregate> aggregate = AggregateOfName(name);
    if (!aggregate) {
      return absl::InvalidArgumentError(
          fmt::format("--agg '{}'; allowed: {}", Printable(name), AggregateNames()));
    }
    query->aggregates.push_back(*aggregate);
  }
  if (query->aggregates.empty() && (query->every || query->group_by)) query->aggregates = {Aggregate::kAvg};
  if (request.change.empty()) return absl::OkStatus();
  query->change = ChangeOfName(request.change);
  if (query->change) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--change '{}'; allowed: delta, increase, rate", Printable(request.change)));
}

absl::Status ReadTop(const QueryRequest& request, Query* query) {
  if (request.top.empty()) {
    return request.by.empty() ? absl::OkStatus() : absl::InvalidArgumentError("--by needs --top");
  }
  const absl::StatusOr<int64_t> count = ReadNumber("--top", request.top, std::numeric_limits<int64_t>::min());
  if (!count.ok()) return count.status();
  const int64_t bounded = std::clamp<int64_t>(*count, -static_cast<int64_t>(kTopMax) - 1, kTopMax + 1);
  query->top = Top{static_cast<size_t>(bounded < 0 ? -bounded : bounded), request.by, bounded < 0};
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Query> ParseQuery(const SeriesSchema& schema, const QueryRequest& request,
                                 int64_t now_micros) {
  Query query;
  query.now_micros = now_micros;
  if (absl::Status status = ReadWhere(schema, request, &query); !status.ok()) return status;
  if (absl::Status status = ReadTimes(request, now_micros, &query.selection); !status.ok()) return status;
  if (absl::Status status = ReadFields(schema, request, &query); !status.ok()) return status;
  if (!request.latest.empty()) {
    const absl::StatusOr<int64_t> count = ReadNumber("--latest", request.latest, 1);
    if (!count.ok()) return count.status();
    query.latest = *count;
  }
  if (absl::Status status = ReadGroups(schema, request, &query); !status.ok()) return status;
  if (absl::Status status = ReadBuckets(request, &query); !status.ok()) return status;
  if (absl::Status status = ReadAggregates(request, &query); !status.ok()) return status;
  if (absl::Status status = ReadTop(request, &query); !status.ok()) return status;
  if (request.limit < 0) {
    return absl::InvalidArgumentError(fmt::format("--limit {}; allowed: 0 (none) and more", request.limit));
  }
  if (request.limit > 0) query.rows_max = request.limit;
  return query;
}

}  // namespace sonde::series
