#include "table/view_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "filter/byte_range.h"

namespace sonde {
namespace {

bool HasColumn(const AuthorizedView& view, std::string_view family, std::string_view qualifier) {
  const AuthorizedView::FamilySubset* subset = view.FindFamily(family);
  return subset != nullptr && subset->Includes(qualifier);
}

bool HasFamily(const AuthorizedView& view, std::string_view family) {
  const AuthorizedView::FamilySubset* subset = view.FindFamily(family);
  return subset != nullptr && subset->IncludesAll();
}

struct IsInView {
  const AuthorizedView& view;
  const TableSchema& schema;

  bool operator()(const DeleteFromFamily& m) const { return HasFamily(view, m.family); }
  bool operator()(const DeleteFromRow&) const {
    return std::all_of(schema.families.begin(), schema.families.end(),
                       [this](const FamilySchema& family) { return HasFamily(view, family.name); });
  }
  template <typename OfAColumn>
  bool operator()(const OfAColumn& m) const {
    return HasColumn(view, m.family, m.qualifier);
  }
};

absl::Status Outside(const AuthorizedView& view) {
  return absl::PermissionDeniedError(fmt::format(
      "Cannot mutate from {} because the mutation contains cells outside the Authorized View.", view.name));
}

}  // namespace

absl::Status CheckInView(const AuthorizedView& view, const TableSchema& schema, std::string_view row_key,
                         absl::Span<const Mutation> mutations) {
  const IsInView is_in_view{view, schema};
  const bool inside =
      view.IncludesRow(row_key) && std::all_of(mutations.begin(), mutations.end(),
                                               [&](const Mutation& m) { return std::visit(is_in_view, m); });
  return inside ? absl::OkStatus() : Outside(view);
}

absl::Status CheckInView(const AuthorizedView& view, std::string_view row_key,
                         absl::Span<const ReadModifyWriteRule> rules) {
  const bool inside = view.IncludesRow(row_key) &&
                      std::all_of(rules.begin(), rules.end(), [&](const ReadModifyWriteRule& rule) {
                        return HasColumn(view, rule.family, rule.qualifier);
                      });
  return inside ? absl::OkStatus() : Outside(view);
}

void RestrictReadHints(const AuthorizedView& view, const TableSchema& schema, ReadHints* hints) {
  std::vector<FamilyId> families;
  std::vector<ByteRange> columns;
  for (const FamilySchema& family : schema.families) {
    const AuthorizedView::FamilySubset* subset = view.FindFamily(family.name);
    if (subset == nullptr) continue;
    if (hints->families.has_value() &&
        std::find(hints->families->begin(), hints->families->end(), family.id) == hints->families->end()) {
      continue;
    }
    families.push_back(family.id);
    for (const std::string& qualifier : subset->qualifiers) columns.push_back(ByteRange::Single(qualifier));
    for (const std::string& prefix : subset->qualifier_prefixes) columns.push_back(ByteRange::Prefix(prefix));
  }
  hints->families = std::move(families);
  ByteRanges allowed = NormalizeByteRanges(std::move(columns));
  if (hints->columns.has_value()) {
    ByteRanges asked;
    for (const ReadHints::ColumnRange& range : *hints->columns) {
      asked.push_back({range.start, range.end.empty() ? std::nullopt : std::optional(range.end)});
    }
    allowed = IntersectionOf(allowed, asked);
  }
  hints->columns.emplace();
  for (ByteRange& range : allowed) {
    hints->columns->push_back({std::move(range.start), range.end.value_or("")});
  }
}

}  // namespace sonde
