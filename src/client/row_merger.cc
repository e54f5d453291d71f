#include "client/row_merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

bool NamesCell(const RowMerger::CellChunk& chunk) {
  return !chunk.row_key().empty() || chunk.has_family_name() || chunk.has_qualifier() ||
         chunk.timestamp_micros() != 0 || chunk.labels_size() != 0;
}

}  // namespace

absl::Status RowMerger::Broken(std::string_view rule) const {
  if (state_ == State::kBetweenRows) {
    return absl::InternalError(fmt::format("broken ReadRows stream: {}", rule));
  }
  return absl::InternalError(
      fmt::format("broken ReadRows stream: {}, in row \"{}\"", rule, Printable(row_.row_key)));
}

bool RowMerger::IsAhead(std::string_view row_key) const {
  return !last_row_key_.has_value() || (reversed_ ? row_key < *last_row_key_ : row_key > *last_row_key_);
}

absl::StatusOr<bool> RowMerger::Add(CellChunk&& chunk, ReadRow* row) {
  if (chunk.reset_row()) {
    if (absl::Status status = Reset(chunk); !status.ok()) return status;
    return false;
  }
  if (chunk.value_size() < 0) return Broken(fmt::format("value_size is negative ({})", chunk.value_size()));
  if (chunk.commit_row() && chunk.value_size() > 0) return Broken("commit_row in the middle of a cell");
  absl::Status status;
  if (state_ == State::kInCell) {
    status = ContinueCell(chunk);
  } else {
    if (state_ == State::kBetweenRows) status = BeginRow(chunk);
    if (status.ok()) status = BeginCell(chunk);
  }
  if (!status.ok()) return status;
  return EndCell(chunk, row);
}

absl::Status RowMerger::BeginRow(const CellChunk& chunk) {
  if (chunk.row_key().empty()) return Broken("a row begins without a row key");
  if (!IsAhead(chunk.row_key())) {
    return Broken(fmt::format("row \"{}\" comes after \"{}\" in a scan that {}", Printable(chunk.row_key()),
                              Printable(*last_row_key_), reversed_ ? "descends" : "ascends"));
  }
  if (!chunk.has_family_name()) {
    return Broken(fmt::format("row \"{}\" begins without a family", Printable(chunk.row_key())));
  }
  if (!chunk.has_qualifier()) {
    return Broken(fmt::format("row \"{}\" begins without a qualifier", Printable(chunk.row_key())));
  }
  row_.row_key = chunk.row_key();
  row_.cells.clear();
  state_ = State::kBetweenCells;
  return absl::OkStatus();
}

absl::Status RowMerger::BeginCell(CellChunk& chunk) {
  if (!chunk.row_key().empty() && chunk.row_key() != row_.row_key) {
    return Broken(fmt::format("row \"{}\" begins before commit_row", Printable(chunk.row_key())));
  }
  if (chunk.has_family_name()) {
    if (!chunk.has_qualifier()) return Broken("a chunk names a family without a qualifier");
    family_ = std::move(*chunk.mutable_family_name()->mutable_value());
  }
  if (chunk.has_qualifier()) qualifier_ = std::move(*chunk.mutable_qualifier()->mutable_value());
  ReadCell& cell = row_.cells.emplace_back();
  cell.family = family_;
  cell.qualifier = qualifier_;
  cell.timestamp_micros = chunk.timestamp_micros();
  cell.value = std::move(*chunk.mutable_value());
  value_bytes_ = chunk.value_size();
  if (value_bytes_ > 0) {
    // A size that the server claims reserves no more memory than the server has sent, at least at first.
    constexpr size_t kReserveBytesMax = 1 << 20;
    cell.value.reserve(std::min<size_t>(value_bytes_, kReserveBytesMax));
  }
  return absl::OkStatus();
}

absl::Status RowMerger::ContinueCell(CellChunk& chunk) {
  if (NamesCell(chunk)) return Broken("a chunk in the middle of a cell names a cell");
  if (chunk.value_size() > 0 && chunk.value_size() != value_bytes_) {
    return Broken(
        fmt::format("value_size changes from {} to {} within a cell", value_bytes_, chunk.value_size()));
  }
  row_.cells.back().value.append(chunk.value());
  return absl::OkStatus();
}

absl::StatusOr<bool> RowMerger::EndCell(const CellChunk& chunk, ReadRow* row) {
  const size_t bytes = row_.cells.back().value.size();
  if (value_bytes_ > 0 && bytes > static_cast<size_t>(value_bytes_)) {
    return Broken(fmt::format("a cell has {} bytes, more than its value_size {}", bytes, value_bytes_));
  }
  if (chunk.value_size() > 0) {
    state_ = State::kInCell;
    return false;
  }
  if (value_bytes_ > 0 && bytes != static_cast<size_t>(value_bytes_)) {
    return Broken(fmt::format("a cell ends after {} bytes, its value_size is {}", bytes, value_bytes_));
  }
  value_bytes_ = 0;
  state_ = State::kBetweenCells;
  if (!chunk.commit_row()) return false;
  last_row_key_ = row_.row_key;
  *row = std::move(row_);
  DropUnfinishedRow();
  return true;
}

absl::Status RowMerger::Reset(const CellChunk& chunk) {
  if (state_ == State::kBetweenRows) return Broken("reset_row outside a row");
  if (NamesCell(chunk) || !chunk.value().empty() || chunk.value_size() != 0) {
    return Broken("reset_row with data");
  }
  DropUnfinishedRow();
  return absl::OkStatus();
}

absl::Status RowMerger::SetLastScanned(std::string_view row_key) {
  if (state_ != State::kBetweenRows) return Broken("last_scanned_row_key in the middle of a row");
  if (last_row_key_ == row_key) return absl::OkStatus();
  if (!IsAhead(row_key)) {
    return Broken(fmt::format("last_scanned_row_key \"{}\" comes after \"{}\" in a scan that {}",
                              Printable(row_key), Printable(*last_row_key_),
                              reversed_ ? "descends" : "ascends"));
  }
  last_row_key_ = row_key;
  return absl::OkStatus();
}

absl::Status RowMerger::Finish() const {
  return state_ == State::kBetweenRows ? absl::OkStatus() : Broken("it ends before commit_row");
}

void RowMerger::DropUnfinishedRow() {
  state_ = State::kBetweenRows;
  row_ = ReadRow();
  family_.clear();
  qualifier_.clear();
  value_bytes_ = 0;
}

}  // namespace sonde
