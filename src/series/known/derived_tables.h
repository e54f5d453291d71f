// The derived tables of a declaration, whatever their kind: what names them, and what their rows are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "series/schema/schema.h"

namespace sonde::series {

struct DerivedTable {
  enum class Kind : uint8_t { kLatest, kOrder, kPeriod, kRollup };
  Kind kind = Kind::kLatest;
  std::string name;                         // the table; of periods, their pattern, as SENSOR_{yyyymmdd}
  SeriesSchema schema;                      // of its rows; of periods, of the first
  std::optional<BucketWidth> every;         // kPeriod, kRollup
  std::optional<PeriodTable> period;        // kPeriod
  std::vector<RollupAggregate> aggregates;  // kRollup
  int line = 0;
};

std::vector<DerivedTable> DerivedTablesOf(const SeriesSchema& schema);

// Says how the rows of two tables of one name differ, so that rows of both cannot be in one table, as "the
// key is another"; empty: they do not.  Other aggregates of a roll-up are other columns, and do not count.
std::string DifferenceOf(const DerivedTable& before, const DerivedTable& now);

// Whether table `now` of `schema` has all that it should when table `before` of the declaration
// `schema_before` had: points, fields, aggregates, and what the one declaration forgets and the other does
// not.
bool HasWhatItShould(const SeriesSchema& schema_before, const DerivedTable& before,
                     const SeriesSchema& schema, const DerivedTable& now);

}  // namespace sonde::series
