#include "table/read_watch.h"

#include <utility>

namespace sonde {
namespace {

constexpr int64_t kRowsEach = 16;    // each of the first rows is noted
constexpr uint32_t kRowsApart = 16;  // then one in so many
constexpr size_t kNotedMax = 64;

}  // namespace

void ReadWatch::Saw(std::string_view row_key) {
  ++rows_unnoted_;
  last_is_noted_ = ++rows_seen_ <= kRowsEach || rows_unnoted_ >= kRowsApart;
  if (!last_is_noted_) return;
  NoteLatency();
  if (noted_.size() == kNotedMax) Tell(0);
  keys_.append(row_key);
  noted_.push_back({keys_.size(), 0, rows_unnoted_});
  rows_unnoted_ = 0;
}

void ReadWatch::Returned(const std::vector<FilterCell>& cells) {
  cells_untold_ += cells.size();
  if (!last_is_noted_ || noted_.empty()) return;
  uint64_t bytes = 0;
  for (const FilterCell& cell : cells) bytes += cell.cell.qualifier.size() + cell.cell.value.size();
  noted_.back().bytes += bytes;
}

void ReadWatch::Returned(size_t cells, uint64_t bytes) {
  cells_untold_ += cells;
  if (last_is_noted_ && !noted_.empty()) noted_.back().bytes += bytes;
}

void ReadWatch::Fail(std::string_view row_key) {
  NoteLatency();
  keys_.append(row_key);
  noted_.push_back({keys_.size(), 0, 0});
  Tell(1);
}

void ReadWatch::End(bool whole_table, int64_t rows_seen, const std::function<std::string()>& caller) {
  if (ended_) return;
  ended_ = true;
  NoteLatency();
  // The rows after the last that was noted are like it.
  if (!noted_.empty()) noted_.back().rows += std::exchange(rows_unnoted_, 0);
  Tell(0);
  if (whole_table) observer_->OnFullScan(table_, {rows_seen, caller ? caller() : "Somebody unknown"});
}

void ReadWatch::Tell(uint32_t errors) {
  AccessPart part{.kind = AccessKind::kRead, .cells = std::exchange(cells_untold_, 0), .errors = errors};
  if (!latency_told_ && first_row_micros_.has_value()) {
    part.latency_micros = first_row_micros_;
    latency_told_ = true;
  }
  if (noted_.empty() && part.cells == 0 && !part.latency_micros.has_value() && errors == 0) return;
  std::vector<AccessedRow> rows;
  rows.reserve(noted_.size());
  size_t start = 0;
  for (const Noted& noted : noted_) {
    rows.push_back({std::string_view(keys_).substr(start, noted.key_end - start), noted.bytes, noted.rows});
    start = noted.key_end;
  }
  part.rows = rows;
  observer_->OnAccess(table_, part);
  noted_.clear();
  keys_.clear();
}

}  // namespace sonde
