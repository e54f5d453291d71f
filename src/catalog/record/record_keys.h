// The keys of the catalog's own records (docs/formats/data-directory.md).
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "model/cell.h"

namespace sonde {

inline constexpr std::string_view kTablePrefix = "table/";  // + name
inline constexpr std::string_view kNextTableId = "next_table_id";
inline constexpr std::string_view kDroppingPrefix = "dropping/";  // + table id [ / family id ]

inline std::string TableKey(std::string_view name) { return fmt::format("{}{}", kTablePrefix, name); }
// Tells that the engine is to drop a table; the record goes when the engine has done so.
inline std::string DroppingKey(TableId table) { return fmt::format("{}{}", kDroppingPrefix, table); }

}  // namespace sonde
