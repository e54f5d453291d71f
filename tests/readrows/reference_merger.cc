#include "reference_merger.h"

#include "base/bytes.h"

namespace sonde {

using google::bigtable::v2::ReadRowsResponse;

std::ostream& operator<<(std::ostream& out, const MergedCell& cell) {
  out << Printable(cell.row_key) << ' ' << Printable(cell.family) << ':' << Printable(cell.qualifier) << '@'
      << cell.timestamp_micros << '=' << Printable(cell.value);
  if (!cell.label.empty()) out << " label " << Printable(cell.label);
  return out;
}

// The first chunk of a cell: takes what it says of row, family and qualifier.
bool ReferenceMerger::StartsWell(const ReadRowsResponse::CellChunk& chunk) {
  if (!row_key_.has_value()) {
    if (chunk.row_key().empty() || !chunk.has_family_name() || !chunk.has_qualifier()) return false;
    if (last_row_key_.has_value()) {
      if (reversed_ ? chunk.row_key() >= *last_row_key_ : chunk.row_key() <= *last_row_key_) return false;
    }
    row_key_ = chunk.row_key();
  } else if (!chunk.row_key().empty() && chunk.row_key() != *row_key_) {
    return false;
  }
  if (chunk.has_family_name() && !chunk.has_qualifier()) return false;
  if (chunk.has_family_name()) family_ = chunk.family_name().value();
  if (chunk.has_qualifier()) qualifier_ = chunk.qualifier().value();
  return true;
}

bool ReferenceMerger::Add(const ReadRowsResponse::CellChunk& chunk) {
  if (chunk.reset_row()) {
    ReadRowsResponse::CellChunk bare;
    bare.set_reset_row(true);
    if (!row_key_.has_value() || chunk.SerializeAsString() != bare.SerializeAsString()) return false;
    row_.clear();
    row_key_.reset();
    split_bytes_ = 0;
    return true;
  }
  if (chunk.value_size() < 0 || (chunk.value_size() > 0 && chunk.commit_row())) return false;
  if (split_bytes_ == 0) {
    if (!StartsWell(chunk)) return false;
    row_.push_back({*row_key_, *family_, *qualifier_, chunk.timestamp_micros(), chunk.value(),
                    chunk.labels_size() > 0 ? chunk.labels(0) : ""});
    split_bytes_ = static_cast<size_t>(chunk.value_size());
  } else {
    const bool names_a_cell = !chunk.row_key().empty() || chunk.has_family_name() || chunk.has_qualifier() ||
                              chunk.timestamp_micros() != 0 || chunk.labels_size() > 0;
    if (names_a_cell) return false;
    row_.back().value += chunk.value();
  }
  if (chunk.value_size() > 0) {
    return static_cast<size_t>(chunk.value_size()) == split_bytes_ &&
           row_.back().value.size() <= split_bytes_;
  }
  if (split_bytes_ > 0 && row_.back().value.size() != split_bytes_) return false;
  split_bytes_ = 0;
  if (!chunk.commit_row()) return true;
  cells_.insert(cells_.end(), row_.begin(), row_.end());
  row_.clear();
  last_row_key_ = row_key_;
  row_key_.reset();
  return true;
}

}  // namespace sonde
