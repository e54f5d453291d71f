#include "series/schema/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "model/limits.h"

namespace sonde::series {
namespace {

constexpr double kRowBytesRecommendedMax = 100e6;
constexpr double kRowBytesMax = 256.0 * 1024 * 1024;
constexpr double kValueBytesRecommendedMax = 10e6;
constexpr size_t kNameBytesShort = 8;
constexpr int kTimestampBytes = 8;
constexpr int kTextValueBytes = 6;  // what a measurement takes as text, about
constexpr int kBinaryValueBytes = 8;
constexpr int kTagBytes = 10;  // of a tag without a width, about
constexpr size_t kFamiliesRecommendedMax = 100;
constexpr double kPlacesFew = 10;

int64_t ValueBytesOf(const Field& field) {
  return field.value_bytes.value_or(field.encoding == FieldEncoding::kText ? kTextValueBytes
                                                                           : kBinaryValueBytes);
}

class Checker {
 public:
  explicit Checker(const SeriesSchema& schema) : schema_(schema) {}

  std::vector<Finding> Run() {
    CheckPrefix();
    CheckCardinality();
    CheckUnique();
    CheckReversed();
    CheckVersions();
    CheckRowSizes();
    CheckValueSizes();
    CheckFamilies();
    CheckNames();
    CheckQueries();
    CheckRollups();
    CheckRollupKeys();
    CheckLatest();
    std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
      return a.severity != b.severity ? a.severity > b.severity : a.line < b.line;
    });
    return std::move(findings_);
  }

 private:
  void Add(Severity severity, int line, std::string reason, std::string remedy) {
    findings_.push_back({severity, line, std::move(reason), std::move(remedy), false});
  }
  void AddHotKey(Severity severity, int line, std::string reason, std::string remedy) {
    findings_.push_back({severity, line, std::move(reason), std::move(remedy), true});
  }

  void CheckPrefix();
  void CheckCardinality();
  void CheckUnique();
  void CheckReversed();
  void CheckVersions();
  void CheckRowSizes();
  void CheckRowSize(const SeriesSchema& table, int line);
  void CheckValueSizes();
  void CheckValueSize(double bytes, int line, std::string_view what, std::string remedy);
  void CheckFamilies();
  void CheckNames();
  void CheckQueries();
  void CheckText(const DeclaredQuery& query);
  void CheckRollups();
  void CheckRollupKeys();
  void CheckLatest();

  // Whether points of a moment and of one row but for the salt go to several of its values.
  bool Spreads(const KeyPart& salt) const { return !salt.salt_tags.empty() || schema_.IsRowPerPoint(); }

  const SeriesSchema& schema_;
  std::vector<Finding> findings_;
};

// A time behind nothing but constants: all writes of a moment go to one place, which moves on as time does.
void Checker::CheckPrefix() {
  bool has_salt_of_bucket = false;
  for (size_t i = 0; i < schema_.key.size(); ++i) {
    const KeyPart& part = schema_.key[i];
    if (part.kind == KeyPart::Kind::kTag) return;
    if (part.kind == KeyPart::Kind::kSalt) {
      if (Spreads(part)) return;
      has_salt_of_bucket = true;
      continue;
    }
    if (part.kind == KeyPart::Kind::kConst || part.kind == KeyPart::Kind::kField) continue;
    const std::string_view where = i == 0 ? "starts with" : "has nothing but constants before";
    const std::string remedy =
        schema_.tags.empty() ? "declare a tag that tells the sources apart and put it in front"
                             : fmt::format("put a tag in front of it, as in [{}, ...]", schema_.tags[0].name);
    if (has_salt_of_bucket) {
      AddHotKey(Severity::kWarning, part.line,
                fmt::format("the salt is of the bucket's start, which all points of one {} share: all writes "
                            "of it go to neighbouring rows, on one node",
                            schema_.bucket->Name()),
                schema_.tags.empty() ? "salt a row for each point (layout: row), or declare a tag"
                                     : "salt the tags, as in { salt: 8 }");
    } else if (part.kind == KeyPart::Kind::kTime) {
      AddHotKey(schema_.tags.empty() ? Severity::kWarning : Severity::kError, part.line,
                fmt::format("the key {} a timestamp: keys only ever {}, so that one node takes all writes",
                            where, part.reverse ? "fall" : "grow"),
                remedy);
    } else {
      AddHotKey(
          Severity::kWarning, part.line,
          fmt::format("the key {} the bucket: all writes of one {} go to neighbouring rows, on one node",
                      where, schema_.bucket->Name()),
          remedy + "; or keep it, when reading all series of one bucket is the query that counts");
    }
    return;
  }
}

// How many places writes go to at a moment, where the declaration says how many values tags have.
void Checker::CheckCardinality() {
  double places = 1;
  std::string names;
  for (const KeyPart& part : schema_.key) {
    if (part.IsTime()) break;
    if (part.kind == KeyPart::Kind::kSalt && Spreads(part)) places *= part.salts;
    if (part.kind != KeyPart::Kind::kTag) continue;
    const Tag& tag = schema_.tags[part.tag];
    if (!tag.count) return;
    places *= static_cast<double>(*tag.count);
    names += (names.empty() ? "" : ", ") + tag.name;
    if (tag.busy_count > 0 && tag.busy_count < kPlacesFew && tag.busy_share > 0.5) {
      AddHotKey(
          Severity::kWarning, tag.line,
          fmt::format(
              "{:.0f}% of the points have one of {} values of '{}': so few rows take most of the writes",
              tag.busy_share * 100, tag.busy_count, tag.name),
          "measure it (sonde series advise), then put { salt: 8, of: time } behind it if one tablet is too "
          "hot");
    }
  }
  if (names.empty() || places >= kPlacesFew) return;
  AddHotKey(
      Severity::kWarning, schema_.key_line,
      fmt::format(
          "in front of the time, the key has only {:.0f} values ({}): writes go to so few places at a time",
          places, names),
      "put a tag with more values in front of the time");
}

void Checker::CheckUnique() {
  const KeyPart* time = schema_.FinestTimePart();
  if (!schema_.IsRowPerPoint() || time == nullptr) return;
  const BucketWidth unit = TimeFormatUnit(time->format);
  const BucketWidth resolution{BucketWidth::Kind::kFixed, schema_.resolution_micros};
  if (!resolution.IsMultipleOf(unit)) {
    Add(Severity::kError, time->line,
        fmt::format(
            "the key is not unique: {} tells times of one {} apart, but points come every {}, and two events "
            "of one {} would be one row",
            TimeFormatName(time->format), unit.Name(), DurationText(schema_.resolution_micros), unit.Name()),
        "choose a finer format (epoch_ms), or a coarser time.resolution, or layout: cells");
    return;
  }
  if (schema_.interval_micros && *schema_.interval_micros < schema_.resolution_micros) {
    Add(Severity::kError, time->line,
        fmt::format("the key is not unique: points come every {}, but their times are rounded down to {}",
                    DurationText(*schema_.interval_micros), DurationText(schema_.resolution_micros)),
        "choose a finer time.resolution");
    return;
  }
  const auto text = std::find_if(schema_.fields.begin(), schema_.fields.end(),
                                 [](const Field& field) { return field.type == FieldType::kString; });
  if (text == schema_.fields.end() || unit.MicrosMax() < kMicrosPerHour) return;
  Add(Severity::kWarning, time->line,
      fmt::format(
          "the key may not be unique: two events of one series and {} are one row, and one is lost, even "
          "where their '{}' differs",
          unit.Name(), text->name),
      fmt::format("make '{}' a tag, if it tells events apart", text->name));
}

bool AsksForLatest(const DeclaredQuery& query) {
  if (!query.is_text_only) return query.range == DeclaredQuery::Range::kLatest;
  return query.text.find("latest") != std::string::npos || query.text.find("newest") != std::string::npos ||
         query.text.find("last") != std::string::npos;
}

void Checker::CheckReversed() {
  for (const KeyPart& part : schema_.key) {
    if (!part.IsTime() || !part.reverse) continue;
    if (std::any_of(schema_.queries.begin(), schema_.queries.end(), AsksForLatest)) return;
    Add(Severity::kWarning, part.line,
        "time is reversed, but no query asks for the latest: reversed keys help only those, and are hard to "
        "read",
        "remove 'reverse: true', or say under 'queries' that the latest points are what is asked for");
  }
}

void Checker::CheckVersions() {
  const Layout layout = schema_.layout;
  const bool has_versions = layout == Layout::kCells || layout == Layout::kColumns ||
                            (layout == Layout::kBlob && !schema_.IsRowPerPoint());
  if (!has_versions) return;
  if (!schema_.retention.is_declared) {
    Add(Severity::kWarning, schema_.layout_line,
        fmt::format(
            "layout {} without 'retention': each event is a version of a cell, and nothing ever forgets "
            "one",
            LayoutName(layout)),
        "declare it: retention: { max_age: 90d }, or { max_versions: all } to keep everything");
  }
  if (schema_.retention.max_versions) {
    const std::string lost =
        layout == Layout::kColumns
            ? fmt::format(
                  "max_versions: {} keeps only that many events with equal readings; the others are lost",
                  *schema_.retention.max_versions)
            : fmt::format(
                  "max_versions: {} keeps only that many events of each field and row; the others are lost",
                  *schema_.retention.max_versions);
    Add(Severity::kWarning, schema_.layout_line, lost, "use max_age, or max_versions: all");
  }
  if (!schema_.bucket) {
    Add(Severity::kWarning, schema_.key_line,
        fmt::format("layout {} without a bucket: the row of a series grows as long as points come",
                    LayoutName(layout)),
        "declare a 'bucket' (minute, hour, day, week, month) and put it behind the tags in 'key'");
  }
}

// Checks the own table, and tables with rows of another shape.  A period's rows are those of the own table.
void Checker::CheckRowSizes() {
  CheckRowSize(schema_, schema_.layout_line);
  for (const OrderTable& order : schema_.orders) CheckRowSize(MakeOrderSchema(schema_, order), order.line);
}

void Checker::CheckRowSize(const SeriesSchema& table, int line) {
  const std::optional<SeriesSizes> sizes = EstimateSizes(table);
  if (!sizes || sizes->row_bytes <= kRowBytesRecommendedMax) return;
  const bool is_refused = sizes->row_bytes > kRowBytesMax;
  const std::string what = table.IsRowPerPoint() ? "point" : table.bucket ? table.bucket->Name() : "series";
  const std::string of_table = table.table == schema_.table ? "" : fmt::format(" in table '{}'", table.table);
  Add(is_refused ? Severity::kError : Severity::kWarning, line,
      fmt::format("a row of one {}{} will hold about {}; {}", what, of_table, BytesText(sizes->row_bytes),
                  is_refused ? "more than 256 MiB can't be read" : "the recommended maximum is 100 MB"),
      table.IsRowPerPoint() ? "keep large values elsewhere, and their place here"
                            : "choose a smaller bucket, or fewer fields");
}

// A value is a field's, or in layout blob those of all fields together.
void Checker::CheckValueSizes() {
  double all_bytes = 0;
  for (const Field& field : schema_.fields) {
    all_bytes += static_cast<double>(ValueBytesOf(field) + field.qualifier.size());
    if (schema_.layout == Layout::kBlob || !field.value_bytes) continue;
    CheckValueSize(static_cast<double>(*field.value_bytes), field.line,
                   fmt::format("a value of field '{}'", field.name),
                   "keep large values elsewhere, and their place here");
  }
  if (schema_.layout != Layout::kBlob) return;
  CheckValueSize(all_bytes, schema_.layout_line, "the value that holds all fields of a point",
                 "choose layout: row, with a column for each field, or keep large values elsewhere");
}

void Checker::CheckValueSize(double bytes, int line, std::string_view what, std::string remedy) {
  if (schema_.layout == Layout::kColumns) {
    if (bytes <= kQualifierBytesMax) return;
    Add(Severity::kError, line,
        fmt::format("{} takes about {}; layout columns writes it as a column's name, of up to {} bytes", what,
                    BytesText(bytes), kQualifierBytesMax),
        "choose another layout");
    return;
  }
  if (bytes <= kValueBytesRecommendedMax) return;
  const bool is_refused = bytes > kValueBytesMax;
  Add(is_refused ? Severity::kError : Severity::kWarning, line,
      fmt::format("{} takes about {}, in one cell; {}", what, BytesText(bytes),
                  is_refused ? "more than 100 MiB can't be written" : "the recommended maximum is 10 MB"),
      std::move(remedy));
}

void Checker::CheckFamilies() {
  const size_t families = schema_.Families().size();
  if (families <= kFamiliesRecommendedMax) return;
  Add(Severity::kWarning, schema_.fields[0].line,
      fmt::format("{} column families; the recommended maximum is {}", families, kFamiliesRecommendedMax),
      "put fields that are read together into one family");
}

void Checker::CheckNames() {
  if (schema_.layout == Layout::kColumns) return;  // a field's name stands in the key, once a row
  const std::optional<SeriesSizes> sizes = EstimateSizes(schema_);
  for (const Field& field : schema_.fields) {
    const size_t bytes = field.qualifier.size() + field.family.size();
    if (field.qualifier.size() <= kNameBytesShort) continue;
    std::string cost;
    if (sizes) {
      const double count = sizes->has_series_count ? sizes->series_count : 1000;
      cost = fmt::format(": {} a day for {}{:.12g} series", BytesText(sizes->points_per_day * bytes * count),
                         sizes->has_series_count ? "" : "each ", count);
    }
    Add(Severity::kNote, field.line,
        fmt::format("the names of field '{}' take {} bytes with each cell that is sent{}", field.name, bytes,
                    cost),
        fmt::format(
            "give it a short column, as in {}: {{ type: ..., as: {} }}; people still see the long name",
            field.name, field.name.substr(0, 2)));
  }
}

// Whether `text` has `word` with no letter, digit or _ beside it.
bool HasWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

// Text says little: only a tag that it names without the one that comes first is taken for a scan.
void Checker::CheckText(const DeclaredQuery& query) {
  const auto first = std::find_if(schema_.key.begin(), schema_.key.end(),
                                  [](const KeyPart& part) { return part.kind != KeyPart::Kind::kConst; });
  if (first == schema_.key.end() || first->kind != KeyPart::Kind::kTag) return;
  const std::string& leading = schema_.tags[first->tag].name;
  if (HasWord(query.text, leading) || schema_.is_indexed) return;
  for (const Tag& tag : schema_.tags) {
    if (!HasWord(query.text, tag.name)) continue;
    Add(Severity::kWarning, query.line,
        fmt::format(
            "query '{}' names '{}' but not '{}', which comes first in the key: it reads the whole table",
            query.text, tag.name, leading),
        fmt::format("put '{}' first in 'key', name '{}' in the query, or declare index: yes", tag.name,
                    leading));
    return;
  }
}

// Whether what the query fixes comes first in the key, so that it does not read the whole table.
bool IsNarrowed(const std::vector<KeyPart>& key, const DeclaredQuery& query) {
  for (const KeyPart& part : key) {
    if (part.kind == KeyPart::Kind::kConst || part.kind == KeyPart::Kind::kSalt) continue;
    if (part.kind == KeyPart::Kind::kField) continue;
    if (part.IsTime()) return query.range == DeclaredQuery::Range::kDuration;
    return std::find(query.tags.begin(), query.tags.end(), part.tag) != query.tags.end();
  }
  return true;
}

void Checker::CheckQueries() {
  for (const DeclaredQuery& query : schema_.queries) {
    if (query.is_text_only) {
      CheckText(query);
      continue;
    }
    const bool is_latest = query.range == DeclaredQuery::Range::kLatest;
    if (is_latest && !schema_.latest.empty()) continue;
    const bool is_by_another =
        std::any_of(schema_.orders.begin(), schema_.orders.end(),
                    [&](const OrderTable& order) { return IsNarrowed(order.key, query); });
    const bool is_by_period = !schema_.periods.empty() && query.range == DeclaredQuery::Range::kDuration;
    if (IsNarrowed(schema_.key, query) || is_by_another || is_by_period) continue;
    const bool asks_for_all = query.tags.empty() && query.range == DeclaredQuery::Range::kAll;
    if (asks_for_all || (schema_.is_indexed && !query.tags.empty())) continue;
    const std::string index = query.tags.empty() ? "" : ", or declare index: yes";
    const std::string remedy = is_latest ? "derive a table of newest values: - latest: TABLE"
                                         : "derive a second order of the points, or a copy of each period: - "
                                           "order: { table, key }, - period: "
                                           "{ table, every }";
    Add(Severity::kWarning, query.line,
        fmt::format("query '{}' fixes nothing that comes first in the key: it reads the whole table",
                    query.text),
        remedy + index);
  }
}

void Checker::CheckRollups() {
  const std::optional<int64_t> age = schema_.retention.max_age_micros;
  if (age && !schema_.rollups.empty()) {
    Add(Severity::kNote, schema_.retention_line,
        fmt::format(
            "the tables keep points for {} longer than max_age {}, for roll-ups that points come late "
            "for; queries do not find them",
            DurationText(schema_.kept_longer_micros), DurationText(*age)),
        "choose a smaller 'every' of the widest roll-up, where the place counts");
  }
  for (const RollupTable& rollup : schema_.rollups) {
    if (age && rollup.retention.max_age_micros && *rollup.retention.max_age_micros < *age) {
      Add(Severity::kNote, rollup.line,
          fmt::format("roll-up '{}' is forgotten before its points are", rollup.table), "keep it longer");
    }
    if (!rollup.retention.is_declared) {
      Add(Severity::kNote, rollup.line,
          fmt::format("roll-up '{}' without 'retention' is kept for ever", rollup.table),
          "declare it, as in retention: 5y");
    }
  }
}

// Their keys have the time last, behind the tag that may go without a width in the series' own key.
void Checker::CheckRollupKeys() {
  if (!schema_.delimiter.empty()) return;
  for (const RollupTable& rollup : schema_.rollups) {
    for (const KeyPart& part : MakeRollupSchema(schema_, rollup).key) {
      if (part.kind != KeyPart::Kind::kTag || schema_.tags[part.tag].width_bytes) continue;
      const std::string& tag = schema_.tags[part.tag].name;
      Add(Severity::kError, rollup.line,
          fmt::format("tag '{}' has no width, so that a key of roll-up '{}', where the time stands behind it "
                      "without a delimiter, can't be decoded",
                      tag, rollup.table),
          fmt::format("give '{}' a width, or declare a delimiter", tag));
    }
  }
}

void Checker::CheckLatest() {
  if (schema_.resolution_micros % kMicrosPerMilli == 0) return;
  for (const LatestTable& latest : schema_.latest) {
    Add(Severity::kError, latest.line,
        fmt::format(
            "'latest' with a resolution of {}: table '{}' tells which value is newer by the timestamps "
            "of cells, which count milliseconds; a point that comes late would hide a newer one of its "
            "millisecond",
            DurationText(schema_.resolution_micros), latest.table),
        "choose a time.resolution of 1ms or a multiple of it; or leave 'latest' out, and the newest points "
        "come "
        "from the series' own table");
  }
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames = {"note", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

std::vector<Finding> CheckSchema(const SeriesSchema& schema) { return Checker(schema).Run(); }

absl::Status RefuseErrors(const SeriesSchema& schema) {
  for (const Finding& finding : CheckSchema(schema)) {
    if (finding.severity != Severity::kError) break;
    return absl::FailedPreconditionError(
        fmt::format("{}:{}: {}; {}", schema.file, finding.line, finding.reason, finding.remedy));
  }
  return absl::OkStatus();
}

std::optional<SeriesSizes> EstimateSizes(const SeriesSchema& schema) {
  std::optional<int64_t> interval = schema.interval_micros;
  if (!interval && schema.resolution_micros >= kMicrosPerSecond) interval = schema.resolution_micros;
  if (!interval) return std::nullopt;
  SeriesSizes sizes;
  sizes.has_series_count = !schema.tags.empty();
  double key_bytes = static_cast<double>(schema.key.size()) * static_cast<double>(schema.delimiter.size());
  for (const KeyPart& part : schema.key) {
    key_bytes += part.IsTime() || part.kind == KeyPart::Kind::kSalt ? part.width_bytes
                 : part.kind == KeyPart::Kind::kTag ? schema.tags[part.tag].width_bytes.value_or(kTagBytes)
                                                    : static_cast<int>(std::max<size_t>(part.text.size(), 1));
  }
  for (const Tag& tag : schema.tags) {
    sizes.has_series_count &= tag.count.has_value();
    sizes.series_count *= static_cast<double>(tag.count.value_or(1));
  }
  const bool is_blob = schema.layout == Layout::kBlob;
  const bool is_row_per_field = schema.FindPart(KeyPart::Kind::kField) != nullptr;
  double point_bytes =
      is_blob ? kTimestampBytes + static_cast<double>(schema.family.size() + schema.blob_column.size()) : 0;
  double name_bytes = key_bytes + point_bytes;
  for (const Field& field : schema.fields) {
    const auto value = static_cast<double>(ValueBytesOf(field));
    const double names =
        static_cast<double>(schema.layout == Layout::kColumns ? field.family.size()
                                                              : field.qualifier.size() + field.family.size());
    point_bytes += names + value + (is_blob ? 0 : kTimestampBytes);
    if (!is_blob) name_bytes += names;
  }
  const auto fields = static_cast<double>(schema.fields.size());
  sizes.points_per_day = static_cast<double>(kMicrosPerDay) / static_cast<double>(*interval);
  sizes.cells_per_day = sizes.points_per_day * (is_blob ? 1 : fields);
  sizes.name_bytes_per_day = sizes.points_per_day * name_bytes;
  const double rows_of_point = is_row_per_field ? fields : 1;
  sizes.rows_written_per_second = rows_of_point * 1e6 / static_cast<double>(*interval);
  if (schema.IsRowPerPoint()) {
    sizes.rows_per_day = sizes.points_per_day;
    sizes.row_bytes = point_bytes;
  } else if (schema.bucket || schema.retention.max_age_micros) {
    const double bucket =
        static_cast<double>(schema.bucket ? schema.bucket->MicrosMax() : *schema.retention.max_age_micros);
    const double points_per_row = std::max(1.0, bucket / static_cast<double>(*interval));
    sizes.rows_per_day = schema.bucket ? rows_of_point * sizes.points_per_day / points_per_row : 0;
    sizes.row_bytes = points_per_row * point_bytes / rows_of_point;
  }
  return sizes;
}

std::string BytesText(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

}  // namespace sonde::series
