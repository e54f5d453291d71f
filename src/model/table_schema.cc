#include "model/table_schema.h"

#include <algorithm>

namespace sonde {

const FamilySchema* TableSchema::FindFamily(std::string_view family) const {
  const auto at = std::lower_bound(families.begin(), families.end(), family,
                                   [](const FamilySchema& a, std::string_view b) { return a.name < b; });
  return at != families.end() && at->name == family ? &*at : nullptr;
}

const FamilySchema* TableSchema::FindFamily(FamilyId family) const {
  for (const FamilySchema& candidate : families) {
    if (candidate.id == family) return &candidate;
  }
  return nullptr;
}

}  // namespace sonde
