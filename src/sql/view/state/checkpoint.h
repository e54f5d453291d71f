// How far a view has come: a value in its hidden state.
//
// Format (docs/formats/view-state.md): 1 byte of format; the position; the number of the source's families, and of each its id and its rule
//   (bytes); 1 if rows are being populated, and the key from which on they are (bytes), else 0; 1 once all rows have been populated, else 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/table_schema.h"

namespace sonde::sql {

using FamilyRules = std::map<FamilyId, std::string>;

struct ViewCheckpoint {
  // The view has what changed up to here, in the log of the source.
  int64_t position = 0;
  // The families of the source, as they were, and their rules, which say which cells count.
  FamilyRules families;
  // Rows from this key on are still to be computed; nothing: all have been.
  std::optional<std::string> populating_from;
  bool was_populated = false;  // once

  bool operator==(const ViewCheckpoint&) const = default;
};

std::string EncodeCheckpoint(const ViewCheckpoint& checkpoint);
// Nothing: the bytes are no checkpoint.
std::optional<ViewCheckpoint> DecodeCheckpoint(std::string_view bytes);

FamilyRules RulesOf(const TableSchema& source);
// Whether a source whose families were `before` and are `now` may show other cells, though none has changed: a family is gone, or
// its rule is another one.
bool ShowsOtherCells(const FamilyRules& before, const FamilyRules& now);

}  // namespace sonde::sql
