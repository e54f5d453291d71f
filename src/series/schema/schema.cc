#include "series/schema/schema.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace sonde::series {

std::optional<size_t> SeriesSchema::FindTag(std::string_view tag) const {
  for (size_t i = 0; i < tags.size(); ++i) {
    if (tags[i].name == tag) return i;
  }
  return std::nullopt;
}

std::optional<size_t> SeriesSchema::FindField(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field) return i;
  }
  return std::nullopt;
}

const Retention& SeriesSchema::RetentionOf(const std::string& of_family) const {
  const auto own = family_retention.find(of_family);
  return own == family_retention.end() ? retention : own->second;
}

GcRule SeriesSchema::MakeGcRule(const std::string& of_family) const {
  const Retention& rule = RetentionOf(of_family);
  GcRule age;
  GcRule versions;
  if (rule.max_age_micros)
    age.rule = GcRule::MaxAge{*rule.max_age_micros + kept_longer_micros + TimestampOrigin()};
  if (rule.max_versions) versions.rule = GcRule::MaxVersions{*rule.max_versions};
  if (!rule.max_versions) return age;
  if (!rule.max_age_micros) return versions;
  GcRule both;
  both.rule = GcRule::Union{{age, versions}};
  return both;
}

std::vector<std::string> SeriesSchema::Families() const {
  std::set<std::string> families;
  for (const Field& field : fields) families.insert(field.family);
  const bool has_copies =
      std::any_of(tags.begin(), tags.end(), [](const Tag& tag) { return !tag.column.empty(); });
  if (has_copies || !time_column.empty() || layout == Layout::kBlob) families.insert(family);
  return {families.begin(), families.end()};
}

const KeyPart* SeriesSchema::FinestTimePart() const {
  const KeyPart* finest = nullptr;
  for (const KeyPart& part : key) {
    if (part.kind != KeyPart::Kind::kTime) continue;
    if (finest == nullptr ||
        TimeFormatUnit(part.format).MicrosMax() < TimeFormatUnit(finest->format).MicrosMax()) {
      finest = &part;
    }
  }
  return finest;
}

const KeyPart* SeriesSchema::FindPart(KeyPart::Kind kind) const {
  const auto part = std::find_if(key.begin(), key.end(), [&](const KeyPart& p) { return p.kind == kind; });
  return part == key.end() ? nullptr : &*part;
}

bool SeriesSchema::IsRowPerPoint() const {
  return layout == Layout::kRow || (layout == Layout::kBlob && FindPart(KeyPart::Kind::kTime) != nullptr);
}

int SeriesSchema::EpochWidthBytes(TimeFormat format) const {
  const int width_bytes = TimeFormatWidthBytes(format);
  if (!origin_micros) return width_bytes;
  int digits = 1;
  int64_t number = (kTimeEndMicros - 1 - *origin_micros) / TimeFormatUnit(format).micros;
  for (; number >= 10; number /= 10) ++digits;
  return std::max(digits, width_bytes);
}

int64_t SeriesSchema::RowStart(int64_t time_micros) const {
  if (IsRowPerPoint()) return time_micros;
  return bucket ? bucket->Start(time_micros) : kTimeBeginMicros;
}

int64_t SeriesSchema::RowEnd(int64_t time_micros) const {
  if (IsRowPerPoint()) return time_micros + 1;
  return bucket ? std::min(bucket->End(time_micros), kTimeEndMicros) : kTimeEndMicros;
}

bool SeriesSchema::CountsAsDoes(const SeriesSchema& other) const {
  if (TimestampOrigin() != other.TimestampOrigin()) return false;
  const bool has_numbers = std::any_of(key.begin(), key.end(), [](const KeyPart& part) {
    return part.IsTime() && IsEpochFormat(part.format);
  });
  return !has_numbers || origin_micros == other.origin_micros;
}

std::vector<VersionSpan> SeriesSchema::VersionsIn(int64_t from_micros, int64_t to_micros) const {
  std::vector<VersionSpan> spans;
  int64_t since_micros = kTimeBeginMicros;
  const auto add = [&](const SeriesSchema& version, int64_t until_micros) {
    const int64_t from = std::max(from_micros, since_micros);
    const int64_t to = std::min(to_micros, until_micros);
    if (from < to) spans.push_back({&version, from, to});
    since_micros = until_micros;
  };
  for (const SeriesSchema& version : earlier) add(version, version.until_micros);
  add(*this, kTimeEndMicros);
  return spans;
}

std::string PeriodTable::TableAt(int64_t time_micros) const {
  std::string table = prefix;
  AppendCalendarTime(format, every.Start(time_micros), &table);
  return table + suffix;
}

std::string PeriodTable::Pattern() const {
  return prefix + "{" + std::string(TimeFormatName(format)) + "}" + suffix;
}

std::optional<int64_t> PeriodTable::PeriodOf(std::string_view table) const {
  if (table.size() < prefix.size() + suffix.size() || !table.starts_with(prefix) ||
      !table.ends_with(suffix)) {
    return std::nullopt;
  }
  table.remove_prefix(prefix.size());
  table.remove_suffix(suffix.size());
  const std::optional<int64_t> time = ParseCalendarTime(format, table);
  return time && every.Start(*time) == *time ? time : std::nullopt;
}

namespace {

SeriesSchema MakeDerived(const SeriesSchema& schema, std::string table) {
  SeriesSchema result = schema;
  result.table = std::move(table);
  result.text.clear();
  result.is_indexed = false;
  result.latest.clear();
  result.periods.clear();
  result.orders.clear();
  result.rollups.clear();
  result.queries.clear();
  result.kept_longer_micros = 0;
  result.earlier.clear();
  result.until_micros = kTimeEndMicros;
  return result;
}

}  // namespace

SeriesSchema MakeLatestSchema(const SeriesSchema& schema, const LatestTable& latest) {
  SeriesSchema result = MakeDerived(schema, latest.table);
  result.layout = Layout::kCells;
  result.keeps_corrections = false;
  result.bucket.reset();
  result.key.clear();
  for (const KeyPart& part : schema.key) {
    if (part.kind == KeyPart::Kind::kTag || part.kind == KeyPart::Kind::kConst) result.key.push_back(part);
  }
  // In columns and offsets, a field's column may have no name of its own.
  if (schema.layout == Layout::kOffsets) {
    for (Field& field : result.fields) {
      if (field.qualifier.empty()) field.qualifier = field.name;
    }
  }
  result.retention = Retention{std::nullopt, 1, true};
  result.family_retention.clear();
  return result;
}

SeriesSchema MakePeriodSchema(const SeriesSchema& schema, const PeriodTable& period, int64_t time_micros) {
  SeriesSchema result = MakeDerived(schema, period.TableAt(time_micros));
  result.retention.max_age_micros.reset();
  for (auto& [family, retention] : result.family_retention) retention.max_age_micros.reset();
  return result;
}

SeriesSchema MakeOrderSchema(const SeriesSchema& schema, const OrderTable& order) {
  SeriesSchema result = MakeDerived(schema, order.table);
  result.key = order.key;
  result.bucket = order.bucket;
  result.layout = order.layout;
  if (order.retention) {
    result.retention = *order.retention;
    result.family_retention.clear();
  }
  return result;
}

SeriesSchema MakeRollupSchema(const SeriesSchema& schema, const RollupTable& rollup) {
  SeriesSchema result = MakeDerived(schema, rollup.table);
  result.layout = Layout::kRow;
  result.keeps_corrections = true;
  result.bucket.reset();
  result.resolution_micros =
      rollup.every.kind == BucketWidth::Kind::kFixed ? rollup.every.micros : kMicrosPerDay;
  result.interval_micros = rollup.every.MicrosMax();
  result.retention = rollup.retention;
  result.retention.max_versions = 1;
  result.family_retention.clear();
  result.time_column.clear();
  for (Tag& tag : result.tags) tag.column.clear();
  std::erase_if(result.key, [](const KeyPart& part) {
    return part.kind != KeyPart::Kind::kTag && part.kind != KeyPart::Kind::kConst;
  });
  KeyPart time;
  time.kind = KeyPart::Kind::kTime;
  time.format = TimeFormat::kEpochMillis;
  time.width_bytes = schema.EpochWidthBytes(time.format);
  time.line = rollup.line;
  result.key.push_back(time);
  result.fields.clear();
  for (const Field& field : schema.fields) {
    if (field.type == FieldType::kString) continue;
    for (const RollupAggregate aggregate : rollup.aggregates) {
      Field derived = field;
      const std::string suffix = "_" + std::string(RollupAggregateName(aggregate));
      derived.name = field.name + suffix;
      derived.qualifier = (field.qualifier.empty() ? field.name : field.qualifier) + suffix;
      derived.family = schema.family;
      if (aggregate == RollupAggregate::kCount) {
        derived.type = FieldType::kInt;
        derived.unit.clear();
      }
      derived.encoding = FieldEncoding::kText;
      result.fields.push_back(std::move(derived));
    }
  }
  return result;
}

std::vector<SeriesSchema> MakeDerivedSchemas(const SeriesSchema& schema) {
  std::vector<SeriesSchema> derived;
  for (const OrderTable& order : schema.orders) derived.push_back(MakeOrderSchema(schema, order));
  for (const RollupTable& rollup : schema.rollups) derived.push_back(MakeRollupSchema(schema, rollup));
  for (const LatestTable& latest : schema.latest) derived.push_back(MakeLatestSchema(schema, latest));
  return derived;
}

std::optional<SeriesSchema> SchemaOfTable(const SeriesSchema& schema, std::string_view table) {
  if (schema.table == table) return schema;
  for (const LatestTable& latest : schema.latest) {
    if (latest.table == table) return MakeLatestSchema(schema, latest);
  }
  for (const OrderTable& order : schema.orders) {
    if (order.table == table) return MakeOrderSchema(schema, order);
  }
  for (const RollupTable& rollup : schema.rollups) {
    if (rollup.table == table) return MakeRollupSchema(schema, rollup);
  }
  for (const PeriodTable& period : schema.periods) {
    if (const auto start = period.PeriodOf(table)) return MakePeriodSchema(schema, period, *start);
  }
  for (const SeriesSchema& version : schema.earlier) {
    if (version.table == table) return version;
  }
  return std::nullopt;
}

std::string_view RollupAggregateName(RollupAggregate aggregate) {
  constexpr std::array<std::string_view, 6> kNames = {"count", "sum", "min", "max", "first", "last"};
  return kNames[static_cast<size_t>(aggregate)];
}

namespace {
constexpr std::array<std::string_view, 5> kLayoutNames = {"cells", "columns", "offsets", "row", "blob"};
}  // namespace

std::string_view LayoutName(Layout layout) { return kLayoutNames[static_cast<size_t>(layout)]; }

std::optional<Layout> LayoutOfName(std::string_view name) {
  const auto found = std::find(kLayoutNames.begin(), kLayoutNames.end(), name);
  if (found == kLayoutNames.end()) return std::nullopt;
  return static_cast<Layout>(found - kLayoutNames.begin());
}

}  // namespace sonde::series
