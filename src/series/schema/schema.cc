#include "series/schema/schema.h"

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

GcRule SeriesSchema::MakeGcRule() const {
  GcRule age;
  GcRule versions;
  if (retention.max_age_micros) age.rule = GcRule::MaxAge{*retention.max_age_micros};
  if (retention.max_versions) versions.rule = GcRule::MaxVersions{*retention.max_versions};
  if (!retention.max_versions) return age;
  if (!retention.max_age_micros) return versions;
  GcRule both;
  both.rule = GcRule::Union{{age, versions}};
  return both;
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

SeriesSchema MakeLatestSchema(const SeriesSchema& schema, const LatestTable& latest) {
  SeriesSchema result = schema;
  result.table = latest.table;
  result.layout = Layout::kCells;
  result.bucket.reset();
  result.key.clear();
  for (const KeyPart& part : schema.key) {
    if (!part.IsTime()) result.key.push_back(part);
  }
  result.retention = Retention{std::nullopt, 1, true};
  result.latest.clear();
  return result;
}

}  // namespace sonde::series
