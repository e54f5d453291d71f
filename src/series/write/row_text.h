// Rows drawn as the documents' tables: a line for the row key, the cells below the names of their columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/table_access.h"

namespace sonde::series {

// In each column the newest cell is first; a cell is its value and, in parentheses, its timestamp, counted
// from `origin_micros`.  Not meant for more than some hundred rows: all of them are held.
std::string DrawRows(const std::vector<ReadRow>& rows, int64_t origin_micros = 0);

}  // namespace sonde::series
