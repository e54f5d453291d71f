#include "series/schema/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace sonde::series {
namespace {

constexpr double kRowBytesRecommendedMax = 100e6;
constexpr double kRowBytesMax = 256.0 * 1024 * 1024;
constexpr size_t kNameBytesShort = 8;
constexpr int kTimestampBytes = 8;
constexpr int kTextValueBytes = 6;  // what a measurement takes as text, about
constexpr int kBinaryValueBytes = 8;

class Checker {
 public:
  explicit Checker(const SeriesSchema& schema) : schema_(schema) {}

  std::vector<Finding> Run() {
    CheckPrefix();
    CheckUnique();
    CheckReversed();
    CheckVersions();
    CheckRowSize();
    CheckNames();
    CheckQueries();
    std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
      return a.severity != b.severity ? a.severity > b.severity : a.line < b.line;
    });
    return std::move(findings_);
  }

 private:
  void Add(Severity severity, int line, std::string reason, std::string remedy) {
    findings_.push_back({severity, line, std::move(reason), std::move(remedy)});
  }

  void CheckPrefix();
  void CheckUnique();
  void CheckReversed();
  void CheckVersions();
  void CheckRowSize();
  void CheckNames();
  void CheckQueries();

  const SeriesSchema& schema_;
  std::vector<Finding> findings_;
};

// A time behind nothing but constants: all writes of a moment go to one place, which moves on as time does.
void Checker::CheckPrefix() {
  for (size_t i = 0; i < schema_.key.size(); ++i) {
    const KeyPart& part = schema_.key[i];
    if (part.kind == KeyPart::Kind::kTag) return;
    if (part.kind == KeyPart::Kind::kConst) continue;
    const std::string_view where = i == 0 ? "starts with" : "has nothing but constants before";
    const std::string remedy =
        schema_.tags.empty() ? "declare a tag that tells the sources apart and put it in front"
                             : fmt::format("put a tag in front of it, as in [{}, ...]", schema_.tags[0].name);
    if (part.kind == KeyPart::Kind::kTime) {
      Add(schema_.tags.empty() ? Severity::kWarning : Severity::kError, part.line,
          fmt::format("the key {} a timestamp: keys only ever grow, so that one node takes all writes",
                      where),
          remedy);
    } else {
      Add(Severity::kWarning, part.line,
          fmt::format("the key {} the bucket: all writes of one {} go to neighbouring rows, on one node",
                      where, schema_.bucket->Name()),
          remedy + "; or keep it, when reading all series of one bucket is the query that counts");
    }
    return;
  }
}

void Checker::CheckUnique() {
  const KeyPart* time = schema_.FinestTimePart();
  if (schema_.layout != Layout::kRow || time == nullptr) return;
  const BucketWidth unit = TimeFormatUnit(time->format);
  const BucketWidth resolution{BucketWidth::Kind::kFixed, schema_.resolution_micros};
  if (resolution.IsMultipleOf(unit)) return;
  Add(Severity::kError, time->line,
      fmt::format(
          "the key is not unique: {} tells times of one {} apart, but points come every {}, and two events "
          "of one {} would be one row",
          TimeFormatName(time->format), unit.Name(), DurationText(schema_.resolution_micros), unit.Name()),
      "choose a finer format (epoch_ms), or a coarser time.resolution, or layout: cells");
}

void Checker::CheckReversed() {
  for (const KeyPart& part : schema_.key) {
    if (!part.IsTime() || !part.reverse) continue;
    const auto asks_for_latest = [](const DeclaredQuery& query) {
      if (!query.is_text_only) return query.range == DeclaredQuery::Range::kLatest;
      return query.text.find("latest") != std::string::npos ||
             query.text.find("newest") != std::string::npos || query.text.find("last") != std::string::npos;
    };
    if (std::any_of(schema_.queries.begin(), schema_.queries.end(), asks_for_latest)) return;
    Add(Severity::kWarning, part.line,
        "time is reversed, but no query asks for the latest: reversed keys help only those, and are hard to "
        "read",
        "remove 'reverse: true', or say under 'queries' that the latest points are what is asked for");
  }
}

void Checker::CheckVersions() {
  if (schema_.layout != Layout::kCells) return;
  if (!schema_.retention.is_declared) {
    Add(Severity::kWarning, schema_.layout_line,
        "layout cells without 'retention': each event is a version of a cell, and nothing ever forgets one",
        "declare it: retention: { max_age: 90d }, or { max_versions: all } to keep everything");
  }
  if (schema_.retention.max_versions) {
    Add(Severity::kWarning, schema_.layout_line,
        fmt::format("max_versions: {} keeps only that many events of each field and row; the others are lost",
                    *schema_.retention.max_versions),
        "use max_age, or max_versions: all");
  }
  if (!schema_.bucket) {
    Add(Severity::kWarning, schema_.key_line,
        "layout cells without a bucket: the row of a series grows as long as points come",
        "declare a 'bucket' (minute, hour, day, week, month) and put it behind the tags in 'key'");
  }
}

void Checker::CheckRowSize() {
  const std::optional<SeriesSizes> sizes = EstimateSizes(schema_);
  if (!sizes || sizes->row_bytes <= kRowBytesRecommendedMax) return;
  const bool is_refused = sizes->row_bytes > kRowBytesMax;
  Add(is_refused ? Severity::kError : Severity::kWarning, schema_.layout_line,
      fmt::format("a row of one {} will hold about {}; {}", schema_.bucket->Name(),
                  BytesText(sizes->row_bytes),
                  is_refused ? "more than 256 MiB can't be read" : "the recommended maximum is 100 MB"),
      "choose a smaller bucket, or fewer fields");
}

void Checker::CheckNames() {
  const std::optional<SeriesSizes> sizes = EstimateSizes(schema_);
  for (const Field& field : schema_.fields) {
    const size_t bytes = field.qualifier.size() + schema_.family.size();
    if (field.qualifier.size() <= kNameBytesShort) continue;
    std::string cost;
    if (sizes) {
      cost = fmt::format(": {} a day for each 1,000 series", BytesText(sizes->points_per_day * bytes * 1000));
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

void Checker::CheckQueries() {
  const auto first = std::find_if(schema_.key.begin(), schema_.key.end(),
                                  [](const KeyPart& part) { return part.kind != KeyPart::Kind::kConst; });
  if (first == schema_.key.end() || first->kind != KeyPart::Kind::kTag) return;
  const std::string& leading = schema_.tags[first->tag].name;
  for (const DeclaredQuery& query : schema_.queries) {
    if (HasWord(query.text, leading)) continue;
    for (const Tag& tag : schema_.tags) {
      if (!HasWord(query.text, tag.name)) continue;
      Add(Severity::kWarning, query.line,
          fmt::format(
              "query '{}' names '{}' but not '{}', which comes first in the key: it reads the whole table",
              query.text, tag.name, leading),
          fmt::format("put '{}' first in 'key', or name '{}' in the query", tag.name, leading));
      break;
    }
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
  double point_bytes = 0;
  double name_bytes = 0;
  for (const Field& field : schema.fields) {
    const double names = static_cast<double>(field.qualifier.size() + schema.family.size());
    name_bytes += names;
    point_bytes += names + kTimestampBytes +
                   (field.encoding == FieldEncoding::kText ? kTextValueBytes : kBinaryValueBytes);
  }
  SeriesSizes sizes;
  sizes.points_per_day = static_cast<double>(kMicrosPerDay) / static_cast<double>(*interval);
  sizes.cells_per_day = sizes.points_per_day * static_cast<double>(schema.fields.size());
  sizes.name_bytes_per_day = sizes.points_per_day * name_bytes;
  if (schema.layout == Layout::kRow) {
    sizes.rows_per_day = sizes.points_per_day;
    sizes.row_bytes = point_bytes;
  } else if (schema.bucket) {
    const double bucket = static_cast<double>(schema.bucket->MicrosMax());
    const double points_per_row = std::max(1.0, bucket / static_cast<double>(*interval));
    sizes.rows_per_day = sizes.points_per_day / points_per_row;
    sizes.row_bytes = points_per_row * point_bytes;
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
