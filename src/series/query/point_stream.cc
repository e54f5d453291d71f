#include "series/query/point_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/varint.h"
#include "series/query/query_header.h"
#include "series/query/scan_choice.h"

namespace sonde::series {
namespace {

constexpr size_t kFirstPieceBytes = 64 << 10;
constexpr size_t kPieceBytesMax = 4 << 20;
// From so many points on, those of another series begin a batch of their own.
constexpr size_t kPointsOfOneSeriesMin = 64;

size_t BytesOf(const rows::Batch& batch, size_t first_column) {
  size_t bytes = 0;
  for (size_t i = first_column; i < batch.columns.size(); ++i) {
    const ColumnView& column = batch.columns[i];
    if (column.type() != ColumnType::kBytes) {
      bytes += column.size() * sizeof(int64_t);
      continue;
    }
    for (size_t row = 0; row < column.size(); ++row) {
      bytes +=
          sizeof(std::string_view) + (column.IsThere(row) ? column.bytes()[column.PlaceOf(row)].size() : 0);
    }
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PointStream>> PointStream::Open(KnownSeriesRef series, Query query,
                                                               TableAccess* tables) {
  std::unique_ptr<PointStream> stream(new PointStream(std::move(series), std::move(query), tables));
  if (absl::Status status = stream->Plan(); !status.ok()) return status;
  return stream;
}

absl::Status PointStream::Plan() {
  DCHECK(!query_.latest && query_.aggregates.empty() && !query_.change && !query_.top &&
         query_.value_conditions.empty());
  const SeriesSchema view = LabelsAsTags(*series_);
  absl::StatusOr<ResultHeader> header = HeaderOf(view, query_);
  if (!header.ok()) return header.status();
  absl::StatusOr<QueryPlan> plan = QueryPlan::Make(view, query_, *std::move(header));
  if (!plan.ok()) return plan.status();
  plan_.emplace(*std::move(plan));
  absl::StatusOr<Scans> scans =
      PlanScans(series_->schema, series_->is_open() ? series_.get() : nullptr, *plan_, tables_);
  if (!scans.ok()) return scans.status();
  scans_ = *std::move(scans);
  tags_count_ = view.tags.size();
  bytes_max_ = kFirstPieceBytes;
  return absl::OkStatus();
}

void PointStream::LimitRows(size_t rows_max) { rows_max_ = std::min(rows_max_, rows_max); }

PointStream::Piece* PointStream::PieceFor(const std::vector<std::string>& tags) {
  const auto begin = [&] {
    Piece& piece = pieces_.emplace_back();
    piece.tags = tags;
    piece.points = rows::HeldBatch(scans_[scan_]->ColumnTypes());
    piece.scan = scan_;
    return &piece;
  };
  if (pieces_.empty()) return begin();
  Piece& last = pieces_.back();
  const bool is_same = !last.tag_columns && last.tags == tags;
  if (last.scan == scan_ && is_same) return &last;
  const bool is_full = last.points.rows() >= (last.tag_columns ? rows::kBatchRowsMax : kPointsOfOneSeriesMin);
  if (last.scan != scan_ || is_full) return begin();
  if (!last.tag_columns) {
    last.tag_columns.emplace(std::vector<ColumnType>(tags.size(), ColumnType::kBytes));
    for (size_t i = 0; i < tags.size(); ++i) {
      last.tag_columns->columns[i].AppendBytes(last.tags[i], last.points.rows());
    }
  }
  return &last;
}

void PointStream::Append(const rows::Batch& batch) {
  const std::vector<std::string>& tags = scans_[scan_]->tags();
  Piece* const piece = PieceFor(tags);
  if (keeps_places_) piece->rows.push_back({piece->points.rows(), scans_[scan_]->row_key()});
  piece->points.Append(batch, tags.size());
  if (!piece->tag_columns) return;
  for (size_t i = 0; i < tags.size(); ++i) piece->tag_columns->columns[i].AppendBytes(tags[i], batch.rows);
}

absl::StatusOr<bool> PointStream::Take(const rows::Batch& batch) {
  const std::string& row_key = scans_[scan_]->row_key();
  if (points_taken_ > 0 && (bytes_taken_ >= bytes_max_ || points_taken_ + points_given_ >= rows_max_)) {
    stopped_ = row_key;
    return false;
  }
  rows::Batch rest = batch;
  if (begin_ && begin_->scan == scan_ && begin_->row_key == row_key) {
    const int64_t* const times = batch.columns[tags_count_].ints();
    const size_t first = std::upper_bound(times, times + batch.rows, begin_->time_micros) - times;
    if (first == batch.rows) return true;
    rest.Cut(first, batch.rows - first);
  }
  const size_t bytes = BytesOf(rest, tags_count_);
  if (absl::Status status = memory_.Add(static_cast<int64_t>(2 * bytes)); !status.ok()) return status;
  Append(rest);
  points_taken_ += rest.rows;
  bytes_taken_ += bytes;
  return true;
}

absl::Status PointStream::Fill() {
  pieces_.clear();
  given_of_piece_ = 0;
  memory_.Clear();
  points_taken_ = bytes_taken_ = 0;
  while (pieces_.empty() && scan_ < scans_.size()) {
    if (!has_begun_) {
      has_begun_ = true;
      rest_ = part_ ? *part_ : scans_[scan_]->ranges();
      if (begin_ && begin_->scan == scan_) rest_ = ClipRanges(rest_, {.start = begin_->row_key});
    }
    stopped_.reset();
    if (!rest_.empty()) {
      const absl::Status status =
          scans_[scan_]->ReadWholeRows(rest_, [this](const rows::Batch& batch) { return Take(batch); });
      if (!status.ok()) return status;
    }
    if (stopped_) {
      rest_ = ClipRanges(rest_, {.start = *stopped_});
    } else {
      ++scan_;
      has_begun_ = false;
    }
  }
  bytes_max_ = std::min(4 * bytes_max_, kPieceBytesMax);
  return absl::OkStatus();
}

bool PointStream::KeepPart(const std::vector<RowRange>& ranges) {
  if (scans_.size() != 1) return false;
  part_ = ranges;
  // A place before the first point of the part is where the part begins.
  if (!ranges.empty() && !begin_)
    begin_ = Position{0, ranges.front().start, std::numeric_limits<int64_t>::min()};
  return true;
}

void PointStream::NoteDivided(int64_t rows) {
  scans_[0]->stats().rows_read = rows;
  scans_[0]->NoteDivided();
}

absl::StatusOr<bool> PointStream::Next(rows::Batch* batch) {
  batch->rows = 0;
  batch->columns.clear();
  rows_of_batch_ = 0;
  if (points_given_ >= rows_max_) return false;
  if (!pieces_.empty() && given_of_piece_ == pieces_.front().points.rows()) {
    if (keeps_places_) begin_ = PositionOf(pieces_.front(), given_of_piece_ - 1);
    pieces_.pop_front();
    given_of_piece_ = 0;
  }
  if (pieces_.empty()) {
    if (absl::Status status = Fill(); !status.ok()) return status;
    if (pieces_.empty()) return false;
  }
  const Piece& piece = pieces_.front();
  const size_t rows =
      std::min({piece.points.rows() - given_of_piece_, rows::kBatchRowsMax, rows_max_ - points_given_});
  if (piece.tag_columns) {
    piece.tag_columns->View(batch);
  } else {
    tag_views_.assign(piece.tags.begin(), piece.tags.end());
    for (const std::string_view& tag : tag_views_) {
      batch->columns.push_back(ColumnView::Constant(&tag, piece.points.rows()));
    }
  }
  piece.points.View(batch);
  batch->Cut(given_of_piece_, rows);
  given_of_piece_ += rows;
  points_given_ += rows;
  rows_of_batch_ = rows;
  return true;
}

PointStream::Position PointStream::PositionOf(const Piece& piece, size_t point) {
  const auto row = std::upper_bound(piece.rows.begin(), piece.rows.end(), point,
                                    [](size_t place, const Piece::Row& of) { return place < of.first; });
  return {piece.scan, std::prev(row)->key, piece.points.columns[0].View().ints()[point]};
}

void PointStream::SavePlace(size_t rows, std::string* place) const {
  DCHECK(keeps_places_ && rows <= rows_of_batch_);
  const size_t points = given_of_piece_ - rows_of_batch_ + rows;
  const bool is_within = !pieces_.empty() && points > 0;
  if (!is_within && !begin_) {
    PutVarint(place, 0);
    return;
  }
  PutVarint(place, 1);
  const Position position = is_within ? PositionOf(pieces_.front(), points - 1) : *begin_;
  PutVarint(place, position.scan);
  PutBytes(place, position.row_key);
  PutVarint(place, ZigZag(position.time_micros));
}

bool PointStream::RestorePlace(std::string_view* place) {
  uint64_t kind = 0;
  uint64_t scan = 0;
  uint64_t time = 0;
  std::string_view key;
  if (!GetVarint(place, &kind) || kind > 1) return false;
  if (kind == 0) return true;
  if (!GetVarint(place, &scan) || scan >= scans_.size() || !GetBytes(place, &key) ||
      !GetVarint(place, &time)) {
    return false;
  }
  begin_ = Position{static_cast<size_t>(scan), std::string(key), UnZigZag(time)};
  scan_ = begin_->scan;
  return true;
}

QueryStats PointStream::stats() const {
  QueryStats stats;
  for (const auto& scan : scans_) {
    const QueryStats& part = scan->stats();
    stats.table = part.table;
    stats.tables.push_back({part.table, part.ranges.size()});
    stats.ranges.insert(stats.ranges.end(), part.ranges.begin(), part.ranges.end());
    stats.is_full_scan |= part.is_full_scan;
    stats.indexed_entities = std::max(stats.indexed_entities, part.indexed_entities);
    stats.requests += part.requests;
    stats.rows_read += part.rows_read;
    stats.cells_read += part.cells_read;
    stats.value_bytes_read += part.value_bytes_read;
  }
  return stats;
}

}  // namespace sonde::series
