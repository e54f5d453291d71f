// How long the tables of a series keep its points: their rules, and from when on they have all of them.
//
// The families of a table have the rules that the declaration says.  A rule that keeps points longer than the
// one before it does not bring back what was forgotten already; so before a table of the series' own points
// gets such a rule, a note says from when on it has all points (StoreNote, kind kKeptFromNote, of
// "TABLE:FAMILY"; the text is the time in microseconds).  Notes only ever move forward; they are gone when
// the table is made anew.
//
// Threads: const functions may be called by several at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr char kKeptFromNote[] = "kept_from";

// The families of a series' own table and their rules.
std::vector<FamilyRequest> FamiliesOf(const SeriesSchema& schema);

// Makes the tables of the declaration where they are missing, and gives the families of all of them their
// rules; tables of periods are not made.  Costs one look at each table when nothing is to be changed.
absl::Status EnsureTablesAndRules(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// Gives the series' own tables, those of earlier versions included, their rules; makes none.
absl::Status UpdateOwnRules(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// From when on the series' own tables have all points, by the rules that they have and the notes.
class KeptPoints {
 public:
  // `schema` must outlive this.
  static absl::StatusOr<KeptPoints> Read(const SeriesSchema& schema, TableAccess* tables, int64_t now_micros);

  // Whether no value of this field in [from, to) is forgotten, nor will be in the next minutes.
  bool HasAll(size_t field, int64_t from_micros, int64_t to_micros) const;

 private:
  explicit KeptPoints(const SeriesSchema& schema) : schema_(&schema) {}

  const SeriesSchema* schema_;
  std::map<std::string, std::vector<int64_t>> kept_from_micros_;  // by table; of each field
};

}  // namespace sonde::series
