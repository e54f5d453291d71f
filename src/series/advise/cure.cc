#include "series/advise/cure.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "series/schema/check.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

constexpr int kSalts = 8;
constexpr double kRowBytesWanted = 20e6;

// A declaration's text by its top-level keys; what lies between stays as it is.
class Text {
 public:
  explicit Text(std::string_view text) {
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      lines_.emplace_back(text.substr(start, end - start));
      start = end + 1;
    }
    while (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
  }

  // Returns a key's first line and the line after its last; nothing: the key does not stand at the beginning
  // of a line.
  std::optional<std::pair<size_t, size_t>> Find(std::string_view key) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (!lines_[i].starts_with(std::string(key) + ":")) continue;
      size_t end = i + 1;
      while (end < lines_.size() && !lines_[end].empty() &&
             std::string_view(" -\t").find(lines_[end][0]) != std::string_view::npos) {
        ++end;
      }
      return std::pair(i, end);
    }
    return std::nullopt;
  }

  void Remove(std::string_view key) {
    if (const auto at = Find(key)) lines_.erase(Line(at->first), Line(at->second));
  }

  // In the place of what it was, or at the end.
  void Set(std::string_view key, std::string_view value) {
    std::string line = fmt::format("{}: {}", key, value);
    const auto at = Find(key);
    if (!at) {
      lines_.push_back(std::move(line));
      return;
    }
    lines_.erase(Line(at->first), Line(at->second));
    lines_.insert(Line(at->first), std::move(line));
  }

  // To a list that is written with dashes, or that is not there.  False: it is written otherwise.
  bool Append(std::string_view key, std::string_view item) {
    const auto at = Find(key);
    if (!at) {
      lines_.push_back(fmt::format("{}:", key));
      lines_.push_back(fmt::format("  - {}", item));
      return true;
    }
    if (at->second == at->first + 1) return false;
    const size_t dash = lines_[at->first + 1].find_first_not_of(' ');
    if (dash == std::string::npos || lines_[at->first + 1][dash] != '-') return false;
    lines_.insert(Line(at->second), fmt::format("{}- {}", std::string(dash, ' '), item));
    return true;
  }

  std::string Join() const { return fmt::format("{}\n", fmt::join(lines_, "\n")); }

 private:
  std::vector<std::string>::iterator Line(size_t index) {
    return lines_.begin() + static_cast<std::ptrdiff_t>(index);
  }
  std::vector<std::string> lines_;
};

std::string List(const std::vector<std::string>& parts) {
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// The parts of a key as they are written.
std::vector<std::string> PartsOfKey(const std::string& text) {
  std::vector<std::string> parts;
  for (const YAML::Node& part : YAML::Load(text)["key"]) {
    YAML::Emitter emitter;
    emitter << YAML::Flow << part;
    parts.emplace_back(emitter.c_str());
  }
  return parts;
}

// METRIC, METRIC_2, METRIC_3, ...
std::string NextTable(const std::string& table) {
  const size_t mark = table.rfind('_');
  int number = 1;
  if (mark != std::string::npos) {
    const char* const end = table.data() + table.size();
    const auto [stop, error] = std::from_chars(table.data() + mark + 1, end, number);
    if (error == std::errc() && stop == end && number > 1 && number < 1'000'000) {
      return fmt::format("{}_{}", table.substr(0, mark), number + 1);
    }
  }
  return table + "_2";
}

class CureMaker {
 public:
  CureMaker(const SeriesSchema& declared, int64_t now_micros)
      : declared_(declared),
        now_micros_(now_micros),
        text_(declared.text),
        parts_(PartsOfKey(declared.text)) {}

  std::optional<CuredDeclaration> Make(DeclarationChange change) {
    if (parts_.size() != declared_.key.size()) return std::nullopt;
    switch (change) {
      case DeclarationChange::kPromoteTags:
        return PromoteTags();
      case DeclarationChange::kSalt:
        return declared_.tags.empty() ? std::nullopt : Salt(fmt::format("{{ salt: {} }}", kSalts));
      case DeclarationChange::kSaltByTime:
        return Salt(fmt::format("{{ salt: {}, of: time }}", kSalts));
      case DeclarationChange::kShorterBucket:
        return ShorterBucket();
      case DeclarationChange::kRowPerPoint:
        return RowPerPoint();
      case DeclarationChange::kLatestTable:
        return LatestTable();
      case DeclarationChange::kSecondTable:
        return SecondTable();
    }
    return std::nullopt;
  }

 private:
  // Constants that stand in front stay there.
  std::optional<CuredDeclaration> PromoteTags() {
    std::vector<std::string> key, times;
    bool is_changed = false;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const bool is_time = declared_.key[i].IsTime();
      is_changed |= !is_time && declared_.key[i].kind == KeyPart::Kind::kTag && !times.empty();
      (is_time ? times : key).push_back(parts_[i]);
    }
    if (!is_changed) return std::nullopt;
    key.insert(key.end(), times.begin(), times.end());
    return NewKey(key, "");
  }

  std::optional<CuredDeclaration> Salt(const std::string& salt) {
    if (declared_.FindPart(KeyPart::Kind::kSalt) != nullptr) return std::nullopt;
    std::vector<std::string> key = parts_;
    key.insert(key.begin(), salt);
    return NewKey(key, "");
  }

  std::optional<CuredDeclaration> ShorterBucket() {
    if (!declared_.bucket) return std::nullopt;
    const std::optional<SeriesSizes> sizes = EstimateSizes(declared_);
    const double now = static_cast<double>(declared_.bucket->MicrosMax());
    // At least a fourth of it; as much less as its rows are too large.
    double wanted = now / 4;
    if (sizes && sizes->row_bytes > 0) wanted = std::min(wanted, now * kRowBytesWanted / sizes->row_bytes);
    static constexpr std::array<std::string_view, 9> kBuckets = {"week", "day",    "6h",  "hour", "15m",
                                                                 "5m",   "minute", "10s", "1s"};
    for (const std::string_view name : kBuckets) {
      const absl::StatusOr<BucketWidth> bucket = ParseBucketWidth(name);
      if (!bucket.ok() || static_cast<double>(bucket->MicrosMax()) > wanted) continue;
      const Text before = text_;
      text_.Set("bucket", name);
      std::optional<CuredDeclaration> cured = NewKey(parts_, "");
      if (cured) {
        cured->change = fmt::format("bucket: {}", name);
        return cured;
      }
      text_ = before;  // the key's format cannot say it, or slots do not fit
    }
    return std::nullopt;
  }

  std::optional<CuredDeclaration> RowPerPoint() {
    if (declared_.layout != Layout::kCells || !declared_.bucket) return std::nullopt;
    std::vector<std::string> key = {fmt::format("{{ salt: {}, of: time }}", kSalts)};
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (declared_.key[i].kind == KeyPart::Kind::kSalt) continue;
      if (!declared_.key[i].IsTime()) key.push_back(parts_[i]);
    }
    key.emplace_back("time");
    text_.Remove("bucket");
    text_.Set("layout", "row");
    std::optional<CuredDeclaration> cured = NewKey(key, ", layout: cells");
    if (cured) cured->change = fmt::format("layout: row, key: {}", List(key));
    return cured;
  }

  std::optional<CuredDeclaration> LatestTable() {
    if (!declared_.latest.empty()) return std::nullopt;
    const std::string item = fmt::format("latest: {}_latest", declared_.table);
    if (!text_.Append("derive", item)) return std::nullopt;
    return Parse(fmt::format("derive: [{{ {} }}]", item));
  }

  std::optional<CuredDeclaration> SecondTable() {
    const std::optional<size_t> first = AskedBy();
    if (!first) return std::nullopt;
    std::vector<std::string> key = {declared_.tags[*first].name};
    for (size_t i = 0; i < parts_.size(); ++i) {
      const KeyPart& part = declared_.key[i];
      if (part.kind == KeyPart::Kind::kSalt || (part.kind == KeyPart::Kind::kTag && part.tag == *first))
        continue;
      key.push_back(parts_[i]);
    }
    const std::string item = fmt::format("order: {{ table: {}_by_{}, key: {}{} }}", declared_.table,
                                         declared_.tags[*first].name, List(key), Bucket());
    if (!text_.Append("derive", item)) return std::nullopt;
    return Parse(fmt::format("derive: [{{ {} }}]", item));
  }

  // As a key with a bucket in it wants it.
  std::string Bucket() const {
    return declared_.bucket ? fmt::format(", bucket: {}", declared_.bucket->Name()) : "";
  }

  // A tag that declared queries name and that the key does not begin with; without such queries, the last.
  std::optional<size_t> AskedBy() const {
    std::vector<size_t> tags;
    for (const KeyPart& part : declared_.key) {
      if (part.kind == KeyPart::Kind::kTag) tags.push_back(part.tag);
    }
    if (tags.size() < 2 || !declared_.orders.empty()) return std::nullopt;
    for (const DeclaredQuery& query : declared_.queries) {
      for (const size_t tag : query.tags) {
        const auto asks_first = std::find(query.tags.begin(), query.tags.end(), tags.front());
        if (tag != tags.front() && asks_first == query.tags.end()) return tag;
      }
    }
    return tags.back();
  }

  // Another key, in another table, from a time on that both buckets begin at.  `before`: what else the
  // declaration said until then.
  std::optional<CuredDeclaration> NewKey(const std::vector<std::string>& key, const std::string& before) {
    const BucketWidth day{BucketWidth::Kind::kFixed, kMicrosPerDay};
    const bool has_long_bucket = declared_.bucket && declared_.bucket->MicrosMax() > kMicrosPerDay;
    const int64_t until = (has_long_bucket ? *declared_.bucket : day).End(now_micros_);
    const Text unchanged = text_;
    text_.Set("table", NextTable(declared_.table));
    text_.Set("key", List(key));
    const std::string version = fmt::format("{{ until: {}, table: {}, key: {}{} }}", DayOrMinuteText(until),
                                            declared_.table, List(parts_), before + Bucket());
    std::optional<CuredDeclaration> cured;
    if (text_.Append("versions", version)) cured = Parse("key: " + List(key));
    if (!cured) text_ = unchanged;
    return cured;
  }

  std::optional<CuredDeclaration> Parse(std::string change) const {
    absl::StatusOr<SeriesSchema> schema = ParseSchema(text_.Join(), declared_.name);
    if (!schema.ok() || !RefuseErrors(*schema).ok()) return std::nullopt;
    return CuredDeclaration{std::move(change), *std::move(schema)};
  }

  const SeriesSchema& declared_;
  const int64_t now_micros_;
  Text text_;
  const std::vector<std::string> parts_;
};

}  // namespace

std::optional<CuredDeclaration> CureDeclaration(const SeriesSchema& declared, DeclarationChange change,
                                                int64_t now_micros) {
  // A declaration that was made otherwise offers nothing to change.
  if (declared.text.empty()) return std::nullopt;
  return CureMaker(declared, now_micros).Make(change);
}

}  // namespace sonde::series
