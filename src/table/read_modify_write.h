// Calculates a ReadModifyWriteRow: rules act in order on the newest visible cells of a row.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "filter/filter_cell.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/table_schema.h"

namespace sonde {

struct ReadModifyWriteRule {
  struct Append {
    std::string_view value;
  };
  struct Increment {
    int64_t amount = 0;  // wraps around
  };
  std::string_view family;
  std::string_view qualifier;
  std::variant<Append, Increment> change;
};

// A cell that ReadModifyWriteRow wrote.
struct WrittenCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
};

// Belongs to one thread.
class ReadModifyWriter {
 public:
  // `schema`, and the bytes that the rules and the row key view, must outlive this.
  ReadModifyWriter(const TableSchema& schema, std::string_view row_key,
                   absl::Span<const ReadModifyWriteRule> rules, int64_t now_micros);

  // Hints for all cells that the rules have to see.
  ReadHints Hints() const;

  // Applies the rules.  `row` has the visible cells, ordered by family of the schema and qualifier, the
  // newest first.  May be called again, with a later state of the row.  NOT_FOUND, INVALID_ARGUMENT: a rule
  // does not fit its family. FAILED_PRECONDITION: an increment of a value that is not 8 bytes.
  absl::Status Run(const std::vector<FilterCell>& row);

  // The result of Run: as a delta for the engine; as mutations, with names, for the log; as cells for the
  // client, by family and qualifier.  Views point into this.
  RowDelta Delta() const;
  std::vector<Mutation> Mutations() const;
  std::vector<WrittenCell> Written() const;

 private:
  struct Cell {
    int64_t timestamp_micros = 0;
    std::string value;
    bool is_set = false;
  };
  absl::Status Error(absl::StatusCode code, std::string_view what) const;
  Cell Newest(const std::vector<FilterCell>& row, uint32_t family, std::string_view qualifier) const;
  absl::Status Change(const ReadModifyWriteRule& rule, Cell* cell) const;

  const TableSchema& schema_;
  const std::string_view row_key_;
  const absl::Span<const ReadModifyWriteRule> rules_;
  const int64_t now_micros_;
  std::map<std::pair<uint32_t, std::string>, Cell> columns_;  // by family name, in the schema's order
};

}  // namespace sonde
