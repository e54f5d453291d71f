// Tables as the series layer uses them: one interface, in process (`table`) and remote (`client`, any
// Bigtable endpoint).  Tables are named by their short id; project and instance belong to the implementation.
// All functions may be called by several threads at once.  Errors carry the codes of the Bigtable API.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/number_bytes.h"
#include "model/column.h"
#include "model/gc_rule.h"
#include "model/row_range.h"

namespace sonde {

struct FamilyRequest {
  std::string name;
  GcRule gc_rule;
};

struct CellWrite {
  std::string family;
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
};

struct RowWrite {
  std::string row_key;
  std::vector<CellWrite> cells;
  // Deletes all cells of these columns (family, qualifier) first.
  std::vector<std::pair<std::string, std::string>> delete_columns;
};

struct RowRead {
  struct Column {
    std::string family;
    std::string qualifier;
  };
  std::vector<RowRange> ranges;              // in any order, may overlap; none: no rows
  std::optional<std::string> row_key_regex;  // RE2, whole key
  std::vector<Column> columns;               // only these; all when empty
  std::optional<std::string> family;         // only this
  int64_t start_micros = 0;                  // cells in [start, end); end 0 is infinity
  int64_t end_micros = 0;
  int32_t cells_per_column_max = 0;  // newest first; 0: no limit
  int64_t rows_max = 0;              // 0: no limit
  bool reversed = false;
  // Asked now and then, by the thread that reads; not OK (CANCELLED) ends the read with that.
  std::function<absl::Status()> interrupted;
};

struct ReadCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
};

struct ReadRow {
  std::string row_key;
  std::vector<ReadCell> cells;  // family, qualifier ascending; timestamp descending
};

// Columns of one family, by a reader that calculates.
struct NumberRead {
  struct Column {
    std::string qualifier;
    NumberBytes written = NumberBytes::kDecimalText;
  };
  std::vector<RowRange> ranges;  // as in RowRead
  std::string family;
  std::vector<Column> columns;  // in any order, each once
  int64_t start_micros = 0;     // cells in [start, end); end 0 is infinity
  int64_t end_micros = 0;
  int32_t cells_per_column_max = 0;           // of these, newest first; 0: no limit
  bool reversed = false;                      // rows, not cells
  bool whole_rows = false;                    // each row comes at once, whatever memory it takes
  std::function<absl::Status()> interrupted;  // as in RowRead
};

// Cells of a row, in parts: of one column each, the newest cell first.  A column may have several parts, the
// newer ones first.
struct NumberRow {
  struct Part {
    size_t column = 0;  // in NumberRead::columns
    absl::Span<const int64_t> timestamps_micros;
    // One a timestamp, none of them missing: numbers (kInt64, kDouble), where all of them are written as the
    // read says and the store keeps them so; else the bytes of the values (kBytes).  Columns with the same
    // timestamps may share one list of them.
    ColumnView values;
  };
  std::string_view row_key;
  absl::Span<const Part> parts;  // never none
};

// What some tables can do besides: give columns as numbers where the store keeps them so, which is several
// times as fast as their rows.  Threads and errors as TableAccess.
class NumberAccess {
 public:
  virtual ~NumberAccess() = default;

  // Calls `row` with the rows in order, those without cells left out, each once or (unless `whole_rows`)
  // several times, column after column, the newer cells first; its views hold until it returns.  False ends
  // the scan early.
  virtual absl::Status Read(const std::string& table, const NumberRead& read,
                            const std::function<bool(const NumberRow&)>& row) = 0;
};

class TableAccess {
 public:
  virtual ~TableAccess() = default;

  // Makes the table and its missing families; what is there already stays as it is.
  virtual absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) = 0;
  // The families that are there.  NOT_FOUND: there is no such table.
  virtual absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) = 0;
  // Gives families that are there these rules.  NOT_FOUND: the table or one of them is missing.
  virtual absl::Status UpdateFamilies(const std::string& table,
                                      const std::vector<FamilyRequest>& families) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListTables() = 0;
  // With all its rows.  NOT_FOUND; FAILED_PRECONDITION: it is protected.
  virtual absl::Status DropTable(const std::string& table) = 0;

  // One commit; each row is atomic.  Either one status a row, in order, or an error of the whole request.
  virtual absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                               const std::vector<RowWrite>& rows) = 0;

  // Calls `row` for each row in order; false ends the scan early.
  virtual absl::Status ReadRows(const std::string& table, const RowRead& read,
                                const std::function<bool(ReadRow&&)>& row) = 0;

  // The tables' columns as numbers; owned by this.  Null: these tables give none, and rows are to be read.
  virtual NumberAccess* numbers() = 0;

  // Of this process, between a look at rows and a write that goes by it: held alone by who does both, and
  // shared by who only writes such rows.  Who writes by another process, or another TableAccess, does not
  // wait.
  absl::Mutex& merging() { return *merging_; }

 private:
  std::shared_ptr<absl::Mutex> merging_ = std::make_shared<absl::Mutex>();  // moves with the rest
};

}  // namespace sonde
