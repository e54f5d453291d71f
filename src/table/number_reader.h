// The numbers of columns of a table, without cells, for readers that calculate: a scan, and what garbage
// collection leaves of it.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "model/table_access.h"
#include "model/table_schema.h"
#include "table/access_observer.h"

namespace sonde {

// Who is told of a read, and in whose name.
struct ReadObserver {
  AccessObserver* observer = nullptr;  // null: nobody
  const std::function<std::string()>& caller;
};

// As TableAccess::ReadNumbers.  Errors: NOT_FOUND, no such family; those of the
// engine.
absl::Status ReadNumbersOf(Engine* engine, const TableSchema& schema, int64_t now_micros,
                           const NumberRead& read, const ReadObserver& observed,
                           const std::function<bool(const NumberRow&)>& row);

}  // namespace sonde
