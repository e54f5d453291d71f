#include "series/query/open_rows.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "promql/syntax/matcher.h"
#include "series/index/entity_index.h"
#include "series/query/query_header.h"
#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

using promql::Matcher;
using promql::MatchKind;

// Beginnings of keys that labels are written out as.
constexpr size_t kPrefixesMax = 1'000;
// So many entities are read one by one whatever share of the series they are, unless they are all.
constexpr size_t kFewEntities = 64;
// Where more is meant than one in so many of a series' entities, each as often as the series has times of the length of the question's, the
// series is read as it lies, and others are passed over.
constexpr int64_t kShareMax = 4;
// In a series of fewer times as many days as the question's, little has ended: its time alone is no reason to ask the index.
constexpr int64_t kOld = 2;
// More fields are not looked up.
constexpr size_t kFieldsMax = 16;
// Ranges of one read, in this process and elsewhere.
constexpr size_t kEntitiesMax = 100'000;
constexpr size_t kEntitiesMaxElsewhere = kScanRangesMax;

// The values of a filter as one condition.
absl::StatusOr<Matcher> MatcherOf(const std::string& label, const TagFilter& filter) {
  if (filter.values.size() == 1 && !filter.prefix)
    return Matcher::Create(MatchKind::kEqual, label, filter.values[0]);
  std::string pattern;
  for (const std::string& value : filter.values) pattern += re2::RE2::QuoteMeta(value) + "|";
  if (filter.prefix) {
    pattern += re2::RE2::QuoteMeta(*filter.prefix) + ".*";
  } else {
    pattern.pop_back();
  }
  return Matcher::Create(MatchKind::kMatches, label, std::move(pattern));
}

// INVALID_ARGUMENT: a pattern that PromQL refuses.
absl::StatusOr<std::vector<Matcher>> MatchersOf(const KnownSeries& open, const Query& query) {
  std::vector<Matcher> matchers;
  const auto add = [&](absl::StatusOr<Matcher> matcher) {
    if (matcher.ok()) matchers.push_back(*std::move(matcher));
    return matcher.status();
  };
  const std::vector<TagFilter>& filters = query.selection.tags;
  for (size_t label = 0; label < filters.size(); ++label) {
    if (filters[label].IsAny()) continue;
    if (absl::Status status = add(MatcherOf(open.labels[label], filters[label])); !status.ok()) return status;
  }
  for (const TagCondition& condition : query.conditions) {
    // A filter of one value often says the same.
    const bool is_said = !condition.is_negated && condition.tag < filters.size() &&
                         filters[condition.tag].values.size() == 1 && !filters[condition.tag].prefix;
    if (is_said) continue;
    const MatchKind kind = condition.is_negated ? MatchKind::kMatchesNot : MatchKind::kMatches;
    absl::Status status = add(Matcher::Create(kind, open.labels[condition.tag], condition.pattern));
    if (!status.ok()) return status;
  }
  return matchers;
}

bool HasTimes(const Selection& selection) {
  constexpr int64_t kMicrosMax = EntityIndex::kDaysMax * kMicrosPerDay;
  return selection.from_micros > kTimeBeginMicros && selection.to_micros < kTimeEndMicros &&
         selection.to_micros - selection.from_micros < kMicrosMax;
}

// The names of the fields that a point must have one of; none: it may have any.
std::vector<std::string> FieldsAskedFor(const SeriesSchema& schema, const Query& query) {
  std::vector<size_t> places = FieldsOf(schema, query);
  places.insert(places.end(), query.witnesses.begin(), query.witnesses.end());
  if (places.size() >= schema.fields.size() || places.size() > kFieldsMax) return {};
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const size_t place : places) names.push_back(schema.fields[place].name);
  return names;
}

// How many times as many days the series has as the time that is asked for; 0: nobody knows.
absl::StatusOr<int64_t> AgeOf(const KnownSeries& open, const Selection& times, EntityIndex* index,
                              TableAccess* tables) {
  const absl::StatusOr<EntityIndex::Days> days = index->DaysOf(open.schema.name, tables);
  if (absl::IsPermissionDenied(days.status())) return 0;
  if (!days.ok()) return days.status();
  if (!days->has_value()) return 0;
  const auto day_of = [](int64_t micros) { return FloorMicros(micros, kMicrosPerDay) / kMicrosPerDay; };
  const int64_t asked = day_of(times.to_micros - 1) - day_of(times.from_micros) + 1;
  return ((*days)->second - (*days)->first + 1) / std::max<int64_t>(asked, 1);
}

// Whether so many entities of so many are a small part of the rows of the series: it may be much older than what is asked for.
absl::StatusOr<bool> AreFew(const KnownSeries& open, const Selection& times, const EntityAnswer& answer,
                            EntityIndex* index, TableAccess* tables) {
  const auto count = static_cast<int64_t>(answer.count);
  const auto total = static_cast<int64_t>(answer.total);
  if ((answer.count <= kFewEntities && count < total) || count * kShareMax <= total) return true;
  const absl::StatusOr<int64_t> age = AgeOf(open, times, index, tables);
  if (!age.ok()) return age.status();
  return count * kShareMax <= total * *age;
}

}  // namespace

absl::StatusOr<std::optional<std::vector<std::string>>> ChooseEntities(const KnownSeries& open,
                                                                       const Query& query,
                                                                       const Selection& times,
                                                                       std::vector<std::string> fields,
                                                                       TableAccess* tables) {
  const std::optional<std::vector<std::string>> all;
  absl::StatusOr<std::vector<Matcher>> matchers = MatchersOf(open, query);
  if (!matchers.ok()) return all;
  EntityQuestion question;
  question.matchers = *std::move(matchers);
  question.from_micros = times.from_micros;
  question.to_micros = times.to_micros;
  question.fields = std::move(fields);
  question.interrupted = query.interrupted;
  const absl::StatusOr<std::optional<EntityAnswer>> answer = query.index->Select(open, question, tables);
  // Who may read the series need not be one who may read its index.
  if (absl::IsPermissionDenied(answer.status())) return all;
  if (!answer.ok()) return answer.status();
  if (!answer->has_value()) return all;
  const size_t count_max = tables->numbers() == nullptr ? kEntitiesMaxElsewhere : kEntitiesMax;
  if ((*answer)->count > count_max) return all;
  const absl::StatusOr<bool> are_few = AreFew(open, times, **answer, query.index, tables);
  if (!are_few.ok()) return are_few.status();
  if (!*are_few) return all;
  return TextsOf(**answer);
}

namespace {

// The beginnings of the labels of keys.  Labels stand in the key in their order: as long as the first ones have given values, these are
// where it begins.
struct Beginnings {
  std::vector<std::string> texts = {""};
  bool are_whole = true;      // they are all of the labels
  bool end_in_value = false;  // a whole one
  size_t fixed = 0;           // so many labels have given values
};

Beginnings BeginningsOf(const KnownSeries& open, const Selection& selection) {
  Beginnings found;
  for (size_t i = 0; i < open.labels.size() && found.are_whole; ++i) {
    const TagFilter& filter = selection.tags[i];
    const bool has_empty = std::find(filter.values.begin(), filter.values.end(), "") != filter.values.end();
    const size_t values = filter.values.size() + (filter.prefix ? 1 : 0);
    found.are_whole = values > 0 && !filter.prefix && !has_empty;
    if (values == 0 || has_empty || found.texts.size() * values > kPrefixesMax) {
      found.are_whole = false;
      break;
    }
    if (found.are_whole) ++found.fixed;
    found.end_in_value = !filter.prefix;
    std::vector<std::string> longer;
    for (const std::string& text : found.texts) {
      std::string begin = text.empty() ? text : text + ",";
      AppendEscaped(open.labels[i], &begin);
      begin += '=';
      for (const std::string& value : filter.values) AppendEscaped(value, &longer.emplace_back(begin));
      if (filter.prefix) AppendEscaped(*filter.prefix, &longer.emplace_back(begin));
    }
    found.texts = std::move(longer);
  }
  return found;
}

// Whether there are conditions on labels from this one on.
bool HasConditionsFrom(size_t label, const Query& query, const Selection& selection) {
  const auto first =
      selection.tags.begin() + static_cast<std::ptrdiff_t>(std::min(label, selection.tags.size()));
  return std::any_of(first, selection.tags.end(), [](const TagFilter& filter) { return !filter.IsAny(); }) ||
         std::any_of(query.conditions.begin(), query.conditions.end(),
                     [label](const TagCondition& condition) { return condition.tag >= label; });
}

// The rows of these entities.
absl::StatusOr<std::vector<RowRange>> RangesOf(const std::vector<std::string>& texts, const KeyCodec& codec,
                                               Selection selection) {
  // They differ in the labels only.
  const std::string model = kNoLabelsText;
  selection.tags = {TagFilter{.values = {model}, .prefix = {}}};
  const absl::StatusOr<ScanPlan> plan = PlanScan(codec, selection);
  if (!plan.ok()) return plan.status();
  const std::string begin = codec.schema().key[0].text + codec.schema().delimiter;
  const auto put = [&](std::string_view text, std::string_view of_model, std::string* key) {
    const std::string_view behind = of_model.substr(begin.size() + model.size());
    key->reserve(begin.size() + text.size() + behind.size());
    key->append(begin).append(text).append(behind);
  };
  std::vector<RowRange> ranges;
  ranges.reserve(texts.size() * plan->ranges.size());
  for (const RowRange& range : plan->ranges) {
    for (const std::string& text : texts) {
      RowRange& made = ranges.emplace_back();
      put(text, range.start, &made.start);
      put(text, range.end, &made.end);
    }
  }
  return NormalizeRanges(std::move(ranges));
}

}  // namespace

absl::StatusOr<OpenRows> PlanOpenRows(const KnownSeries& open, const KeyCodec& codec, const Query& query,
                                      const Selection& selection, TableAccess* tables) {
  const Beginnings beginnings = BeginningsOf(open, selection);
  if (query.index != nullptr && !beginnings.are_whole) {
    std::vector<std::string> fields = FieldsAskedFor(codec.schema(), query);
    Selection times = selection;
    times.from_micros = std::max<int64_t>(times.from_micros, 0);  // no open series has earlier points
    bool asks =
        HasConditionsFrom(beginnings.fixed, query, selection) || (beginnings.fixed == 0 && !fields.empty());
    if (!asks && HasTimes(selection)) {
      const absl::StatusOr<int64_t> age = AgeOf(open, times, query.index, tables);
      if (!age.ok()) return age.status();
      asks = *age >= kOld;
    }
    if (asks) {
      const absl::StatusOr<std::optional<std::vector<std::string>>> entities =
          ChooseEntities(open, query, times, std::move(fields), tables);
      if (!entities.ok()) return entities.status();
      if (entities->has_value()) {
        absl::StatusOr<std::vector<RowRange>> ranges = RangesOf(**entities, codec, selection);
        if (!ranges.ok()) return ranges.status();
        return OpenRows{*std::move(ranges), static_cast<int64_t>((*entities)->size())};
      }
    }
  }
  std::vector<RowRange> ranges;
  const auto add = [&](TagFilter labels) -> absl::Status {
    const Selection part{.tags = {std::move(labels)},
                         .from_micros = selection.from_micros,
                         .to_micros = selection.to_micros,
                         .fields = {}};
    const absl::StatusOr<ScanPlan> plan = PlanScan(codec, part);
    if (plan.ok()) ranges.insert(ranges.end(), plan->ranges.begin(), plan->ranges.end());
    return plan.status();
  };
  for (const std::string& text : beginnings.texts) {
    absl::Status status;
    if (beginnings.are_whole) {
      status = add({.values = {text.empty() ? kNoLabelsText : text}, .prefix = {}});
    } else if (beginnings.end_in_value) {
      // Nothing follows the value, or another label: `host=a` is no beginning of `host=ab`.
      status = add({.values = {text}, .prefix = {}});
      if (status.ok()) status = add({.values = {}, .prefix = text + ","});
    } else if (!text.empty()) {
      status = add({.values = {}, .prefix = text});
    } else {
      status = add({});
    }
    if (!status.ok()) return status;
  }
  return OpenRows{NormalizeRanges(std::move(ranges))};
}

}  // namespace sonde::series
