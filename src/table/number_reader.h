// Reads the numbers of a table's columns, without cells, for readers that calculate: a scan, less the cells
// that garbage collection forgets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "model/table_access.h"
#include "table/access_observer.h"

namespace sonde {

// The observer of a read, and the caller's name that it sees.
struct ReadObserver {
  AccessObserver* observer = nullptr;  // null: nobody observes
  const std::function<std::string()>& caller;
};

// Rows of numbers, as NumberAccess::Read gives them, that are pulled.  Not for several threads.
class NumberStream {
 public:
  // Nothing is owned but `read` and `schema`.  NOT_FOUND: there is no such family.  Other errors: those of the engine.
  static absl::StatusOr<std::unique_ptr<NumberStream>> Open(Engine* engine, TableSchemaRef schema,
                                                            int64_t now_micros, NumberRead read,
                                                            AccessObserver* observer,
                                                            std::function<std::string()> caller);
  ~NumberStream();

  // Replaces *row by the next row, or part of a row; false: there are no more.  The views hold until the next call.
  absl::StatusOr<bool> Next(NumberRow* row);

 private:
  class Reader;

  NumberStream();

  std::unique_ptr<Reader> reader_;  // null: there are no rows
};

// As NumberAccess::Read.  NOT_FOUND: there is no such family.  Other errors: those of the engine.
absl::Status ReadNumbersOf(Engine* engine, const TableSchemaRef& schema, int64_t now_micros,
                           const NumberRead& read, const ReadObserver& observed,
                           const std::function<bool(const NumberRow&)>& row);

}  // namespace sonde
