// A subset of a table that is read and written like a table of its own (source:
// google.bigtable.admin.v2.AuthorizedView).  A cell belongs to it if it is in one of the view's rows and in
// one of its columns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/row_range.h"

namespace sonde {

struct AuthorizedView {
  // Columns of a family.  An empty prefix means all columns.
  struct FamilySubset {
    std::vector<std::string> qualifiers;
    std::vector<std::string> qualifier_prefixes;

    bool Includes(std::string_view qualifier) const;
    bool IncludesAll() const;
    bool operator==(const FamilySubset&) const = default;
  };

  std::string name;                       // projects/P/instances/I/tables/T/authorizedViews/V
  std::vector<std::string> row_prefixes;  // an empty prefix means all rows; no prefixes mean no rows
  std::map<std::string, FamilySubset, std::less<>> families;  // by name; the table may lack some
  bool deletion_protection = false;

  bool IncludesRow(std::string_view row_key) const;
  // Returns null if the view has no column of the family.
  const FamilySubset* FindFamily(std::string_view family) const;
  // The view's rows, in normal form.
  std::vector<RowRange> Rows() const;

  bool operator==(const AuthorizedView&) const = default;
};

}  // namespace sonde
