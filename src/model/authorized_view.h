// A subset of a table that is read and written like a table of its own
// (google.bigtable.admin.v2.AuthorizedView): the cells that are in one of its rows and in one of its columns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/row_range.h"

namespace sonde {

struct AuthorizedView {
  // Columns of a family; a prefix that is empty is all of them.
  struct FamilySubset {
    std::vector<std::string> qualifiers;
    std::vector<std::string> qualifier_prefixes;

    bool Includes(std::string_view qualifier) const;
    bool IncludesAll() const;
    bool operator==(const FamilySubset&) const = default;
  };

  std::string name;                       // projects/P/instances/I/tables/T/authorizedViews/V
  std::vector<std::string> row_prefixes;  // an empty one is all rows; none are no rows
  std::map<std::string, FamilySubset, std::less<>> families;  // by name, of the table's or not
  bool deletion_protection = false;

  bool IncludesRow(std::string_view row_key) const;
  // Null: nothing of it.
  const FamilySubset* FindFamily(std::string_view family) const;
  // In normal form.
  std::vector<RowRange> Rows() const;

  bool operator==(const AuthorizedView&) const = default;
};

}  // namespace sonde
