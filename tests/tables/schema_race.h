// Random changes of schemas, made through several servers of one store at once, raced with writes.
//
// A row that was written says in its value by which ids of table and family.  From what was answered it follows:
//   no id is given to two tables, or to two families of one;
//   nobody writes into a family, or a table, whose drop was answered before the write began;
//   a family shows what was written into it, and nothing of another one of the same name;
//   what was acknowledged, and not dropped since, is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/engine.h"

namespace sonde {

struct SchemaRaceOptions {
  absl::Duration seen_within = absl::Seconds(2);  // CatalogOptions
  int changes = 1'000;                            // of all servers together
  int changers_per_server = 4;                    // threads; as many write
  uint64_t seed = 1;
};

struct SchemaRaceResult {
  int changes_made = 0;
  int changes_refused = 0;  // there was no such family any more, or one of the name already
  int changes_unknown = 0;
  int tables_made = 0;
  int families_made = 0;
  int shared = 0;        // of both: given to two servers, which made the same change at the same moment
  int acknowledged = 0;  // writes
  int refused = 0;
  int unknown = 0;
  std::vector<std::string> faults;  // a sentence each, the first ones

  std::string Text() const;  // the numbers, a line
};

// `servers`: their engines, all over one store that has no tables.
SchemaRaceResult RaceSchemas(const std::vector<Engine*>& servers, const SchemaRaceOptions& options);

}  // namespace sonde
