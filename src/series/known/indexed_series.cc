#include "series/known/indexed_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "series/known/declaration_store.h"
#include "series/known/point_scan.h"
#include "series/schema/calendar.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

std::set<std::string> TagNames(const SeriesSchema& schema) {
  std::set<std::string> names;
  for (const Tag& tag : schema.tags) names.insert(tag.name);
  return names;
}

struct Marks {
  bool is_whole = false;
  bool is_given_up = false;
};

absl::StatusOr<Marks> ReadMarks(const std::string& series, TableAccess* tables) {
  Marks marks;
  RowRead read;
  read.ranges = {RowRange::Single(DirectoryKey(series))};
  read.columns = {{kIndexFamily, kWholeColumn}, {kIndexFamily, kGivenUpColumn}};
  read.cells_per_column_max = 1;
  const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
    for (const ReadCell& cell : row.cells) {
      if (cell.qualifier == kWholeColumn) marks.is_whole = true;
      if (cell.qualifier == kGivenUpColumn) marks.is_given_up = true;
    }
    return true;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return marks;
}

absl::Status WriteMark(const RowWrite& row, TableAccess* tables) {
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables->MutateRows(kIndexTable, {row});
  return statuses.ok() ? statuses->at(0) : statuses.status();
}

}  // namespace

absl::Status EnsureIndexTable(TableAccess* tables) {
  return tables->EnsureTable(kIndexTable,
                             {{kIndexFamily, GcRule{GcRule::MaxVersions{1}}}, {kIndexSetsFamily, GcRule{}}});
}

std::string DirectoryKey(std::string_view series) {
  std::string key;
  AppendEscaped(series, &key);
  return key + "#s";  // behind the tails (series/index/index_table.h), so that one scan reads it after them
}

KnownSeries IndexedView(const SeriesSchema& schema) {
  KnownSeries view;
  view.schema.name = schema.name;
  view.schema.table = schema.table;
  view.yaml = schema.text.empty() ? schema.name : schema.text;  // it is no open series
  const std::set<std::string> names = TagNames(schema);
  view.labels.assign(names.begin(), names.end());
  return view;
}

EntityTexts::EntityTexts(const SeriesSchema& schema) {
  for (size_t i = 0; i < schema.tags.size(); ++i) {
    names_.emplace_back(schema.tags[i].name, i);
    are_ints_.push_back(schema.tags[i].type == TagType::kInt);
  }
  std::sort(names_.begin(), names_.end());
  for (auto& [name, place] : names_) {
    std::string escaped;
    AppendEscaped(name, &escaped);
    name = escaped + "=";
  }
}

void EntityTexts::Append(absl::Span<const std::string_view> tags, std::string* text) const {
  bool is_first = true;
  for (const auto& [name, place] : names_) {
    if (!is_first) *text += ',';
    is_first = false;
    *text += name;
    const std::string_view value = tags[place];
    int64_t number = 0;
    if (are_ints_[place]) {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc() && end == value.data() + value.size()) {
        *text += std::to_string(number);
        continue;
      }
    }
    AppendEscaped(value, text);
  }
}

bool EntityTexts::Parse(std::string_view text, std::vector<std::string>* tags) const {
  std::vector<std::pair<std::string, std::string>> labels;
  if (!ParseLabelPairs(text, &labels).ok() || labels.size() != names_.size()) return false;
  tags->resize(names_.size());
  std::string name;
  for (size_t i = 0; i < names_.size(); ++i) {
    name.clear();
    AppendEscaped(labels[i].first, &name);
    name += '=';
    if (name != names_[i].first || labels[i].second.empty()) return false;
    (*tags)[names_[i].second] = std::move(labels[i].second);
  }
  return true;
}

int32_t EntityDay(int64_t time_micros) {
  return static_cast<int32_t>(std::max<int64_t>(time_micros, 0) / kMicrosPerDay);
}

int64_t TimeAsFound(const KeyCodec& codec, int64_t time_micros) {
  const SeriesSchema& schema = codec.schema();
  if (!schema.IsRowPerPoint()) return time_micros;
  const KeyPart& part = *schema.FinestTimePart();
  return std::max(codec.UnitOf(part).Start(time_micros), TimesOfPart(schema, part).from_micros);
}

absl::StatusOr<bool> DropIndexMark(const SeriesSchema& schema, TableAccess* tables) {
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(schema.name, tables);
  if (!stored.ok()) return stored.status();
  const bool is_new = !stored->has_value();
  const bool was_indexed = !is_new && (*stored)->schema.is_indexed;
  const bool is_kept = was_indexed == schema.is_indexed && !is_new &&
                       (!was_indexed || TagNames((*stored)->schema) == TagNames(schema));
  if (is_kept || (is_new && !schema.is_indexed)) return is_new;
  const absl::StatusOr<Marks> marks = ReadMarks(schema.name, tables);
  if (!marks.ok()) return marks.status();
  if (!marks->is_whole) return is_new;
  RowWrite row;
  row.row_key = DirectoryKey(schema.name);
  row.delete_columns = {{kIndexFamily, kWholeColumn}};
  if (absl::Status status = WriteMark(row, tables); !status.ok()) return status;
  return is_new;
}

absl::Status KeepIndexMark(const SeriesSchema& schema, bool is_new, TableAccess* tables, const Clock& clock) {
  if (!schema.is_indexed) return absl::OkStatus();
  if (absl::Status status = EnsureIndexTable(tables); !status.ok()) return status;
  if (!is_new) return absl::OkStatus();
  const absl::StatusOr<bool> has_points = HasAnyPoint(schema, tables);
  if (!has_points.ok()) return has_points.status();
  if (*has_points) return absl::OkStatus();
  RowWrite row;
  row.row_key = DirectoryKey(schema.name);
  row.cells = {{kIndexFamily, kWholeColumn, WholeMillis(clock.NowMicros()), "1"}};
  return WriteMark(row, tables);
}

absl::StatusOr<std::optional<Finding>> FindIndexGap(const SeriesSchema& schema, TableAccess* tables) {
  if (!schema.is_indexed) return std::optional<Finding>();
  const absl::StatusOr<Marks> marks = ReadMarks(schema.name, tables);
  if (!marks.ok()) return marks.status();
  if (marks->is_whole && !marks->is_given_up) return std::optional<Finding>();
  Finding finding;
  finding.severity = Severity::kWarning;
  finding.line = schema.index_line;
  finding.reason = marks->is_given_up ? fmt::format(
                                            "the index of series '{}' is given up: it has more entities than "
                                            "a writer may know; the keys alone say "
                                            "which rows are read",
                                            schema.name)
                                      : fmt::format(
                                            "the index of series '{}' does not have all of it: what was "
                                            "written before it was declared so may be "
                                            "missing; the keys alone say which rows are read",
                                            schema.name);
  finding.remedy = fmt::format("complete it: sonde series rebuild stored:{}@index", schema.name);
  return std::optional<Finding>(std::move(finding));
}

}  // namespace sonde::series
