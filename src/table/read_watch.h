// Tells an observer which rows a read looks at, at a cost that a long scan does not feel.  It tells each of
// the first rows, and then one row in several, which stands for those between.
//
// It belongs to one read.  Not for several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/filter_cell.h"
#include "table/access_observer.h"

namespace sonde {

class ReadWatch {
 public:
  // `observer` must outlive it.
  ReadWatch(AccessObserver* observer, TableId table) : observer_(observer), table_(table) {}
  // Tells the rows that it has not told yet, as a read may be given up at any time.
  ~ReadWatch() { Tell(0); }
  ReadWatch(const ReadWatch&) = delete;
  ReadWatch& operator=(const ReadWatch&) = delete;

  // The read looks at a stored row.
  void Saw(std::string_view row_key);
  // The row of the last Saw goes out, with these cells.  May be called several times a row.
  void Returned(const std::vector<FilterCell>& cells);
  // As above, for cells that are counted already.
  void Returned(size_t cells, uint64_t bytes);
  void Fail(std::string_view row_key);
  // `whole_table`: the table was read from the first key to the last.
  void End(bool whole_table, int64_t rows_seen, const std::function<std::string()>& caller);

 private:
  struct Noted {
    size_t key_end = 0;  // in keys_; the key starts where the one before ends
    uint64_t bytes = 0;
    uint32_t rows = 0;
  };
  void Tell(uint32_t errors);
  void NoteLatency() {
    if (!first_row_micros_.has_value()) first_row_micros_ = timer_.Micros();
  }

  AccessObserver* const observer_;
  const TableId table_;
  const AccessTimer timer_;
  std::optional<int64_t> first_row_micros_;
  bool latency_told_ = false;
  bool ended_ = false;
  int64_t rows_seen_ = 0;
  uint64_t cells_untold_ = 0;
  uint32_t rows_unnoted_ = 0;  // rows that were seen since the last noted one
  bool last_is_noted_ = false;
  std::string keys_;
  std::vector<Noted> noted_;
};

}  // namespace sonde
