#include "series/advise/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "series/schema/check.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

std::string TypeText(const Tag& tag) {
  std::string text = fmt::format("{{ type: {}", tag.type == TagType::kInt ? "int" : "string");
  if (tag.width_bytes) text += fmt::format(", width: {}", *tag.width_bytes);
  if (tag.width_bytes && tag.type == TagType::kString) text += fmt::format(", pad: \"{}\"", tag.pad);
  return text + " }";
}

// The parts of a declaration that candidates have in common.
std::string Head(const SeriesSchema& schema, bool is_blob, std::optional<int64_t> origin_micros) {
  std::string text = "series: candidate\n";
  if (!schema.tags.empty()) text += "tags:\n";
  for (const Tag& tag : schema.tags) text += fmt::format("  {}: {}\n", tag.name, TypeText(tag));
  text += "fields:\n";
  for (const Field& field : schema.fields) {
    const std::string_view type = field.type == FieldType::kInt      ? "int"
                                  : field.type == FieldType::kDouble ? "double"
                                                                     : "string";
    const std::string_view encoding =
        field.encoding == FieldEncoding::kInt64BigEndian     ? ", encoding: int64_be"
        : field.encoding == FieldEncoding::kFloat64BigEndian ? ", encoding: float64_be"
                                                             : "";
    const std::string& column = field.qualifier.empty() ? field.name : field.qualifier;
    text += fmt::format("  {}: {{ type: {}, as: \"{}\"{} }}\n", field.name, type, column,
                        is_blob ? "" : encoding);
  }
  text += fmt::format("time: {{ resolution: {}{} }}\n", DurationText(schema.resolution_micros),
                      origin_micros ? ", origin: " + DayOrMinuteText(*origin_micros) : "");
  return text + "retention: { max_versions: all }\n";
}

std::string PartText(const SeriesSchema& schema, const KeyPart& part) {
  switch (part.kind) {
    case KeyPart::Kind::kTag:
      return schema.tags[part.tag].name;
    case KeyPart::Kind::kConst:
      return fmt::format("{{ const: {} }}", part.text);
    case KeyPart::Kind::kTime:
      return part.reverse ? fmt::format("{{ time: {}, reverse: true }}", TimeFormatName(part.format))
                          : "time";
    case KeyPart::Kind::kBucket:
      return "bucket";
    case KeyPart::Kind::kField:
      return "field";
    case KeyPart::Kind::kSalt:
      break;
  }
  return part.salt_tags.empty() ? fmt::format("{{ salt: {}, of: time }}", part.salts)
                                : fmt::format("{{ salt: {} }}", part.salts);
}

// Empty: CheckSchema does not call the key hot.
std::string HotKeyOf(const SeriesSchema& schema) {
  for (const Finding& finding : CheckSchema(schema)) {
    if (finding.is_hot_key) return finding.reason;
  }
  return "";
}

class Maker {
 public:
  Maker(const SeriesSchema& schema, size_t candidates_max, std::optional<int64_t> origin_micros)
      : declared_(schema), max_(candidates_max), origin_micros_(origin_micros) {}

  std::vector<Candidate> Make();

 private:
  // `key`: the parts with "bucket" or "time" among them.
  void Add(std::string_view layout, const std::optional<BucketWidth>& bucket,
           const std::vector<std::string>& key, const std::string& more = "");
  // Nothing where the declaration can't have such tables.
  std::optional<SeriesSchema> MakeSchema(std::string_view layout, const std::string& yaml) const;
  void AddDeclared();
  void AddIndexed();
  void AddSaltsOfTime(const std::vector<std::string>& tags);
  void AddLayouts(const std::vector<std::string>& tags);
  // Tags in the order of the declaration's key; then those first that each ranked query fixes.
  std::vector<std::vector<std::string>> TagOrders() const;
  std::vector<BucketWidth> Buckets() const;

  const SeriesSchema& declared_;
  const size_t max_;
  const std::optional<int64_t> origin_micros_;
  std::vector<Candidate> candidates_;
};

void Maker::AddDeclared() {
  Candidate& candidate = candidates_.emplace_back();
  std::vector<std::string> parts;
  for (const KeyPart& part : declared_.key) parts.push_back(PartText(declared_, part));
  const std::string by = declared_.bucket ? " by " + declared_.bucket->Name() : "";
  candidate.name = fmt::format("{}{}, [{}]", LayoutName(declared_.layout), by, fmt::join(parts, ", "));
  candidate.schema = declared_;
  candidate.schema.text.clear();
  candidate.schema.table = "candidate";
  candidate.schema.latest.clear();
  candidate.schema.periods.clear();
  candidate.schema.orders.clear();
  candidate.schema.rollups.clear();
  candidate.schema.earlier.clear();
  candidate.schema.retention = Retention{std::nullopt, std::nullopt, true};
  candidate.schema.family_retention.clear();
  candidate.is_declared = true;
  candidate.hot_key = HotKeyOf(declared_);
}

// The declaration with an index, if queries name tags that do not lead its key.
void Maker::AddIndexed() {
  if (declared_.is_indexed || candidates_.size() >= max_) return;
  const KeyPart* const first = declared_.FindPart(KeyPart::Kind::kTag);
  const bool needs_index =
      std::any_of(declared_.queries.begin(), declared_.queries.end(), [&](const DeclaredQuery& query) {
        return !query.tags.empty() && first != nullptr &&
               std::find(query.tags.begin(), query.tags.end(), first->tag) == query.tags.end();
      });
  if (!needs_index) return;
  Candidate candidate = candidates_.front();
  candidate.name += ", index";
  candidate.yaml = "index: yes\n";
  candidate.schema.is_indexed = true;
  candidate.is_declared = false;
  candidates_.push_back(std::move(candidate));
}

std::optional<SeriesSchema> Maker::MakeSchema(std::string_view layout, const std::string& yaml) const {
  absl::StatusOr<SeriesSchema> schema =
      ParseSchema(Head(declared_, layout == "blob", origin_micros_) + yaml, "candidate");
  if (!schema.ok()) return std::nullopt;
  for (size_t i = 0; i < schema->tags.size(); ++i) {
    schema->tags[i].count = declared_.tags[i].count;
    schema->tags[i].busy_count = declared_.tags[i].busy_count;
    schema->tags[i].busy_share = declared_.tags[i].busy_share;
  }
  if (!RefuseErrors(*schema).ok()) return std::nullopt;
  schema->text.clear();
  return *std::move(schema);
}

void Maker::Add(std::string_view layout, const std::optional<BucketWidth>& bucket,
                const std::vector<std::string>& key, const std::string& more) {
  const std::string by = bucket ? " by " + bucket->Name() : "";
  const std::string name = fmt::format("{}{}, [{}]", layout, by, fmt::join(key, ", "));
  const bool is_known = std::any_of(candidates_.begin(), candidates_.end(),
                                    [&](const Candidate& candidate) { return candidate.name == name; });
  if (is_known || candidates_.size() >= max_) return;
  std::string yaml = fmt::format("layout: {}\nkey: [{}]\n", layout, fmt::join(key, ", "));
  if (bucket) yaml += fmt::format("bucket: {}\n", bucket->Name());
  yaml += more;
  std::optional<SeriesSchema> schema = MakeSchema(layout, yaml);
  if (!schema) return;
  std::string hot_key = HotKeyOf(*schema);
  candidates_.push_back({name, yaml, *std::move(schema), false, std::move(hot_key)});
}

std::vector<std::vector<std::string>> Maker::TagOrders() const {
  std::vector<std::string> declared;
  for (const KeyPart& part : declared_.key) {
    if (part.kind == KeyPart::Kind::kTag) declared.push_back(declared_.tags[part.tag].name);
  }
  std::vector<std::vector<std::string>> orders = {declared};
  for (const DeclaredQuery& query : declared_.queries) {
    if (query.is_text_only) continue;
    std::vector<std::string> order = declared;
    std::stable_partition(order.begin(), order.end(), [&](const std::string& name) {
      const size_t tag = declared_.FindTag(name).value();
      return std::find(query.tags.begin(), query.tags.end(), tag) != query.tags.end();
    });
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(order);
  }
  return orders;
}

// A bucket of some hundred points or more; and the one that is declared.
std::vector<BucketWidth> Maker::Buckets() const {
  using Kind = BucketWidth::Kind;
  const int64_t interval =
      std::max(declared_.interval_micros.value_or(kMicrosPerSecond), declared_.resolution_micros);
  std::vector<BucketWidth> buckets;
  for (const BucketWidth& bucket :
       {BucketWidth{Kind::kFixed, kMicrosPerHour}, BucketWidth{Kind::kFixed, kMicrosPerDay},
        BucketWidth{Kind::kWeek, 0}, BucketWidth{Kind::kMonth, 0}}) {
    const int64_t points = bucket.MicrosMax() / interval;
    if (points >= 20 && points <= 100'000) buckets.push_back(bucket);
    if (buckets.size() == 2) break;
  }
  if (declared_.bucket && std::find(buckets.begin(), buckets.end(), *declared_.bucket) == buckets.end()) {
    buckets.push_back(*declared_.bucket);
  }
  return buckets;
}

// The points of a moment lie in several places only if each has a row of its own.
void Maker::AddSaltsOfTime(const std::vector<std::string>& tags) {
  std::vector<std::string> key = tags;
  key.emplace_back("time");
  const std::string plain = fmt::format("layout: row\nkey: [{}]\n", fmt::join(key, ", "));
  const std::optional<SeriesSchema> unsalted = MakeSchema("row", plain);
  if (unsalted && HotKeyOf(*unsalted).empty()) return;
  key.insert(key.end() - 1, "{ salt: 8, of: time }");
  Add("row", std::nullopt, key);
  Add("blob", std::nullopt, key);
}

void Maker::AddLayouts(const std::vector<std::string>& tags) {
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> key = tags;
    key.insert(key.end(), more.begin(), more.end());
    return key;
  };
  const std::vector<BucketWidth> buckets = Buckets();
  for (const BucketWidth& bucket : buckets) Add("cells", bucket, with({"bucket"}));
  Add("row", std::nullopt, with({"time"}));
  if (!buckets.empty()) {
    const BucketWidth& bucket = buckets.back();
    Add("blob", bucket, with({"bucket"}));
    Add("columns", bucket, with({"field", "bucket"}));
    const int64_t interval = declared_.interval_micros.value_or(declared_.resolution_micros);
    if (declared_.resolution_micros >= kMicrosPerSecond || declared_.interval_micros) {
      if (bucket.IsMultipleOf({BucketWidth::Kind::kFixed, interval}) &&
          declared_.resolution_micros % interval == 0) {
        Add("offsets", bucket, with({"bucket"}), fmt::format("slot: {}\n", DurationText(interval)));
      }
    }
  }
  Add("blob", std::nullopt, with({"time"}));
}

std::vector<Candidate> Maker::Make() {
  AddDeclared();
  AddIndexed();
  const std::vector<std::vector<std::string>> orders = TagOrders();
  AddSaltsOfTime(orders[0]);
  AddLayouts(orders[0]);
  const std::vector<BucketWidth> buckets = Buckets();
  for (const std::vector<std::string>& tags : orders) {
    if (!buckets.empty()) {
      std::vector<std::string> key = tags;
      key.emplace_back("bucket");
      Add("cells", buckets.back(), key);
    }
  }
  if (!buckets.empty() && !declared_.tags.empty()) {
    std::vector<std::string> by_time = {"bucket"};
    by_time.insert(by_time.end(), orders[0].begin(), orders[0].end());
    Add("cells", buckets.front(), by_time);
    std::vector<std::string> salted = by_time;
    salted.insert(salted.begin(), "{ salt: 8 }");
    Add("cells", buckets.front(), salted);
  }
  return std::move(candidates_);
}

}  // namespace

std::vector<Candidate> MakeCandidates(const SeriesSchema& schema, size_t candidates_max,
                                      int64_t oldest_micros) {
  std::optional<int64_t> origin_micros = schema.origin_micros;
  if (!origin_micros && oldest_micros < 0) origin_micros = kTimeBeginMicros;
  return Maker(schema, candidates_max, origin_micros).Make();
}

}  // namespace sonde::series
