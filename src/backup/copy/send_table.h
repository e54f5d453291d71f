// Sends a table of a store that nobody writes to another store, through the table interface of that: a running server, by `client`.
//
// The new table has the families and their rules, the row keys, columns, timestamps and values; it has neither protection nor a
// change stream, nor views and bundles.  Cells that the rules forget now are left out.  Then the new table is read and compared.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "table/tables.h"

namespace sonde {

struct SendOptions {
  // Goes on with a table that is there: each cell is written again, which changes nothing, as it is the same.
  bool resumes = false;
  // Told how many bytes of cells are sent, now and then.  May be null.
  std::function<void(uint64_t bytes_sent)> on_progress = nullptr;
};

struct SentTable {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of row keys, qualifiers and values, once a cell
};

// Memory: a request, and a row as it is read back.  Errors:
//  NOT_FOUND       the store has no table `source`
//  ALREADY_EXISTS  there is a table `as`, and nobody resumes
//  UNIMPLEMENTED   the table has families of aggregates, or microseconds: the API gives no way to write these
//  DATA_LOSS       the new table is not what was sent
//  others          those of `to`
// After an error the table is dropped, if this call has made it; the message says so, or that it could not be dropped.
absl::StatusOr<SentTable> SendTable(Tables* from, const std::string& source, TableAccess* to,
                                    const std::string& as, const SendOptions& options = {});

}  // namespace sonde
