// The rows of a declared series, or of a table that is derived from one, as its declaration writes them.
#pragma once

#include <memory>

#include "series/schema/schema.h"
#include "web/row_meaning.h"

namespace sonde {

// `schema`: of the table itself (series::SchemaOfTable).
std::unique_ptr<RowMeaning> MakeDeclaredRows(std::string series_name, const series::SeriesSchema& schema);

}  // namespace sonde
