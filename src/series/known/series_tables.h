// The tables of a declared series: made where they are missing, dropped where their period is over.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

// Makes the tables of the declaration, where they are missing, with their families; those of periods are made
// later.  Families that are there get the GC rules of the declaration (table_rules.h).  A declaration that
// was read from a text is compared with the one that is stored (errors of CheckAgainstStored, before anything
// is made), and stored.  `clock`: the machine's when null.
absl::Status EnsureSeriesTables(const SeriesSchema& schema, TableAccess* tables,
                                const Clock* clock = nullptr);

// Drops the tables of periods that are older than their max_age; the writer does it with each table that it
// makes.
absl::Status DropOldPeriods(const SeriesSchema& schema, TableAccess* tables, int64_t now_micros);

}  // namespace sonde::series
