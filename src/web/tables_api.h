// Tables as JSON, for the web page: what there is, and rows to browse.  Reads only.  docs/http-api.md
// describes it.
//
//   GET /api/v1/tables                                             every table
//   GET /api/v1/tables/{project}/{instance}/{table}                one
//   GET /api/v1/tables/{project}/{instance}/{table}/rows           rows by prefix, range, pattern
//   GET /api/v1/tables/{project}/{instance}/{table}/heatmap        accesses by keys and time; sizes by keys
//   GET /api/v1/tables/{project}/{instance}/{table}/findings       what that shows, in words
//   GET /api/v1/findings                                           of all tables
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/large_room.h"
#include "keyviz/key_visualizer.h"
#include "table/tables.h"
#include "web/http/router.h"
#include "web/row_meaning.h"

namespace sonde {

// Finds the series that a table (projects/P/instances/I/tables/T) holds, if one is declared.
using FindDeclaredSeries = std::function<std::optional<DeclaredSeries>(std::string_view table_name)>;

// Whether Sonde keeps its own records in it: nothing is found about such a table.
using IsOwnTable = std::function<bool(std::string_view table_name)>;

// What is known of tables beside their schemas; each may be null.
struct TableKnowledge {
  FindDeclaredSeries find_series;
  FindRowMeaning find_meaning;
  IsOwnTable is_own;
};

// Nothing is owned.  `key_visualizer`: null when nobody watches; then there are no maps (UNIMPLEMENTED).
// `large_room`: where rows with large values take their place; null: they need none.
void AddTablesApi(Tables* tables, KeyVisualizer* key_visualizer, LargeRoom* large_room,
                  TableKnowledge knowledge, Router* router);

}  // namespace sonde
