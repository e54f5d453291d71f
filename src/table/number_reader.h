// Reads the numbers of a table's columns, without cells, for readers that calculate: a scan, less the cells
// that garbage collection forgets.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "model/table_access.h"
#include "model/table_schema.h"
#include "table/access_observer.h"

namespace sonde {

// The observer of a read, and the caller's name that it sees.
struct ReadObserver {
  AccessObserver* observer = nullptr;  // null: nobody observes
  const std::function<std::string()>& caller;
};

// As NumberAccess::Read.  NOT_FOUND: there is no such family.  Other errors: those of the engine.
absl::Status ReadNumbersOf(Engine* engine, const TableSchema& schema, int64_t now_micros,
                           const NumberRead& read, const ReadObserver& observed,
                           const std::function<bool(const NumberRow&)>& row);

}  // namespace sonde
