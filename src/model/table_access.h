// Tables as the series layer uses them: one interface, implemented in process (`table`) and remotely
// (`client`, for any Bigtable endpoint).  Tables are named by their short id; the implementation knows
// project and instance.
//
// Threads: all functions may be called at once. Errors: the codes of the Bigtable API.
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
#include "model/divided_ranges.h"
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
  // Columns (family, qualifier) of which all cells are deleted before cells are set.
  std::vector<std::pair<std::string, std::string>> delete_columns;
  // Cells of a column with timestamps in [start, end), end 0 is infinity, which are deleted before cells are set, too.
  struct ColumnTimes {
    std::string family;
    std::string qualifier;
    int64_t start_micros = 0;
    int64_t end_micros = 0;
  };
  std::vector<ColumnTimes> delete_times;
};

struct RowRead {
  struct Column {
    std::string family;
    std::string qualifier;
  };
  std::vector<RowRange> ranges;              // in any order, may overlap; none: no rows
  std::optional<std::string> row_key_regex;  // RE2, whole key
  std::vector<Column> columns;               // only these; empty: all
  std::optional<std::string> family;         // only this family
  int64_t start_micros = 0;                  // only cells in [start, end); end 0 is infinity
  int64_t end_micros = 0;
  int32_t cells_per_column_max = 0;  // newest first; 0: no limit
  int64_t rows_max = 0;              // 0: no limit
  bool reversed = false;
  // Asked now and then, by the reading thread.  An error (CANCELLED) ends the read, and is its result.
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

// A read of columns of one family, for a reader that calculates.
struct NumberRead {
  struct Column {
    std::string qualifier;
    NumberBytes written = NumberBytes::kDecimalText;
  };
  std::vector<RowRange> ranges;  // as in RowRead
  std::string family;
  std::vector<Column> columns;  // in any order, each once
  int64_t start_micros = 0;     // only cells in [start, end); end 0 is infinity
  int64_t end_micros = 0;
  int32_t cells_per_column_max = 0;  // newest first, among these cells; 0: no limit
  bool reversed = false;             // rows come in reverse, cells do not
  // Rows for which it answers false need not come, and cost little.  Called by the thread that reads; empty: all are wanted.
  std::function<bool(std::string_view row_key)> wants_row;
  bool whole_rows = false;                    // each row comes in one call, whatever memory it takes
  std::function<absl::Status()> interrupted;  // as in RowRead
};

// Cells of a row, in parts.  A part has cells of one column, the newest first.  A column may have several
// parts, those with newer cells first.
struct NumberRow {
  struct Part {
    size_t column = 0;  // index in NumberRead::columns
    absl::Span<const int64_t> timestamps_micros;
    // One a timestamp, none of them missing: numbers (kInt64, kDouble), where all of them are written as the
    // read says and the store keeps them so; else the bytes of the values (kBytes).  Of kTimesOnly: any.  Columns with the same
    // timestamps may share one list of them.
    ColumnView values;
  };
  std::string_view row_key;
  absl::Span<const Part> parts;  // never none
};

// Gives columns as numbers where the store keeps them so, which is several times as fast as reading rows.
// Some tables can do this.  Threads and errors as for TableAccess.
class NumberAccess {
 public:
  virtual ~NumberAccess() = default;

  // Calls `row` with the rows in order.  Rows without cells are left out.  Each row comes once or (unless
  // `whole_rows`) several times, column after column, newer cells first.  The row's views hold until `row`
  // returns.  A `row` that returns false ends the scan early.
  virtual absl::Status Read(const std::string& table, const NumberRead& read,
                            const std::function<bool(const NumberRow&)>& row) = 0;

  // Divides the read's ranges, which must be in normal form (NormalizeRanges), for several reads at once.  One
  // part: it is not worth while.
  virtual absl::StatusOr<DividedRanges> Divide(const std::string& table, const std::string& family,
                                               const std::vector<RowRange>& ranges) = 0;
  // Tells whoever observes the tables that reads of all parts of a table have read it whole, `rows` rows.
  virtual void NoteFullScan(const std::string& table, int64_t rows) = 0;
};

class TableAccess {
 public:
  virtual ~TableAccess() = default;

  // Makes the table and those of the families that are missing.  Existing ones are not changed.
  virtual absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) = 0;
  // Lists the families that exist.  NOT_FOUND: there is no such table.
  virtual absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) = 0;
  // Gives existing families these rules.  NOT_FOUND: the table or one of the families is missing.
  virtual absl::Status UpdateFamilies(const std::string& table,
                                      const std::vector<FamilyRequest>& families) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListTables() = 0;
  // Drops the table and all its rows.  NOT_FOUND: there is no such table.  FAILED_PRECONDITION: it is
  // protected.
  virtual absl::Status DropTable(const std::string& table) = 0;

  // Applies rows in one commit; each row is atomic.  Returns a status a row, in order, or an error of the
  // whole request.
  virtual absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                               const std::vector<RowWrite>& rows) = 0;

  // Calls `row` for each row in order.  A `row` that returns false ends the scan early.
  virtual absl::Status ReadRows(const std::string& table, const RowRead& read,
                                const std::function<bool(ReadRow&&)>& row) = 0;

  // Access to columns as numbers; owned by this.  Null: these tables give no numbers, and rows must be read.
  virtual NumberAccess* numbers() = 0;

  // A mutex for writes that depend on rows that were read.  A writer that reads rows and then writes by them
  // holds it alone; a writer that only writes such rows shares it.  It covers this process and, as the
  // implementation says, this TableAccess or all of one store: other writers do not wait.
  absl::Mutex& merging() { return *merging_; }

 protected:
  TableAccess() = default;
  explicit TableAccess(std::shared_ptr<absl::Mutex> merging) : merging_(std::move(merging)) {}

 private:
  std::shared_ptr<absl::Mutex> merging_ = std::make_shared<absl::Mutex>();  // moves with the rest
};

}  // namespace sonde
