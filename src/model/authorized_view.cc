#include "model/authorized_view.h"

#include <algorithm>

namespace sonde {
namespace {

bool HasPrefixOf(const std::vector<std::string>& prefixes, std::string_view bytes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [bytes](const std::string& prefix) { return bytes.starts_with(prefix); });
}

}  // namespace

bool AuthorizedView::FamilySubset::Includes(std::string_view qualifier) const {
  return std::find(qualifiers.begin(), qualifiers.end(), qualifier) != qualifiers.end() ||
         HasPrefixOf(qualifier_prefixes, qualifier);
}

bool AuthorizedView::FamilySubset::IncludesAll() const { return HasPrefixOf(qualifier_prefixes, ""); }

bool AuthorizedView::IncludesRow(std::string_view row_key) const {
  return HasPrefixOf(row_prefixes, row_key);
}

const AuthorizedView::FamilySubset* AuthorizedView::FindFamily(std::string_view family) const {
  const auto at = families.find(family);
  return at == families.end() ? nullptr : &at->second;
}

std::vector<RowRange> AuthorizedView::Rows() const {
  std::vector<RowRange> rows;
  for (const std::string& prefix : row_prefixes) rows.push_back(RowRange::Prefix(prefix));
  return NormalizeRanges(std::move(rows));
}

}  // namespace sonde
