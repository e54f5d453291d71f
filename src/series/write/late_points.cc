#include "series/write/late_points.h"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace sonde::series {

std::vector<std::string> TooLateForRollups(const SeriesSchema& schema, int64_t oldest_micros,
                                           int64_t now_micros) {
  std::vector<std::string> texts;
  if (schema.rollups.empty()) return texts;
  std::set<std::string> families;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (schema.fields[i].type != FieldType::kString) families.insert(schema.FamilyOf(i));
  }
  for (const std::string& family : families) {
    const std::optional<int64_t> max_age_micros = schema.RetentionOf(family).max_age_micros;
    if (!max_age_micros || oldest_micros >= now_micros - *max_age_micros) continue;
    texts.push_back(fmt::format(
        "points before {} are not in roll-ups{}: they are forgotten already (max_age {})",
        TimeText(now_micros - *max_age_micros),
        families.size() > 1 ? fmt::format(", with family '{}'", family) : "", DurationText(*max_age_micros)));
  }
  return texts;
}

}  // namespace sonde::series
