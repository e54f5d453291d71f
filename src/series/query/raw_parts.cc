#include "series/query/raw_parts.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rows/batch.h"
#include "rows/held_memory.h"
#include "series/query/divided_fold.h"
#include "series/query/value_conditions.h"

namespace sonde::series {
namespace {

// A part that gives more is read again by the thread that takes the points.
constexpr size_t kPartBytesMax = size_t{8} << 20;

// The points of a part that pass, series by series.
class PartPoints final : public PartFold {
 public:
  PartPoints(const Query& query, const SeriesScan& scan)
      : filter_(query.value_conditions, scan.fields()), tags_(scan.tags_count()), memory_(query.hold) {}

  absl::Status Add(const rows::Batch& batch) override {
    const rows::Batch& given = filter_.Apply(batch, tags_ + 1);
    if (given.rows == 0) return absl::OkStatus();
    size_t before = 0;
    if (pieces_.empty() || !pieces_.back().Fits(given, tags_)) {
      pieces_.emplace_back(given, tags_);
    } else {
      before = pieces_.back().MemoryBytes();
    }
    Piece& piece = pieces_.back();
    piece.points.Append(given, tags_);
    const size_t more = piece.MemoryBytes() - before;
    bytes_ += more;
    if (bytes_ > kPartBytesMax) return absl::ResourceExhaustedError("a part has too many points to wait");
    return memory_.Add(static_cast<int64_t>(more));
  }
  void Clear() override {
    pieces_.clear();
    bytes_ = 0;
    memory_.Clear();
  }

  absl::StatusOr<bool> Give(const SeriesScan::TakeBatch& take) const {
    for (const Piece& piece : pieces_) {
      rows::Batch batch;
      const std::vector<std::string_view> tags(piece.tags.begin(), piece.tags.end());
      for (const std::string_view& tag : tags) {
        batch.columns.push_back(ColumnView::Constant(&tag, piece.points.rows()));
      }
      piece.points.View(&batch);
      absl::StatusOr<bool> goes_on = take(batch);
      if (!goes_on.ok() || !*goes_on) return goes_on;
    }
    return true;
  }

 private:
  // Points of one series, whose columns are of the same types.
  struct Piece {
    Piece(const rows::Batch& batch, size_t tags_count) {
      for (size_t i = 0; i < tags_count; ++i) tags.emplace_back(TagOf(batch.columns[i]));
      for (size_t i = tags_count; i < batch.columns.size(); ++i) {
        points.columns.emplace_back(batch.columns[i].type());
      }
    }
    bool Fits(const rows::Batch& batch, size_t tags_count) const {
      for (size_t i = 0; i < tags_count; ++i) {
        if (tags[i] != TagOf(batch.columns[i])) return false;
      }
      for (size_t i = tags_count; i < batch.columns.size(); ++i) {
        if (points.columns[i - tags_count].type() != batch.columns[i].type()) return false;
      }
      return true;
    }
    size_t MemoryBytes() const {
      size_t bytes = sizeof(Piece);
      for (const std::string& tag : tags) bytes += sizeof(tag) + tag.size();
      for (const rows::Column& column : points.columns) bytes += sizeof(column) + column.MemoryBytes();
      return bytes;
    }

    std::vector<std::string> tags;
    rows::HeldBatch points;  // times and fields
  };

  // A batch of numbers is of one series.
  static std::string_view TagOf(const ColumnView& column) { return column.bytes()[column.PlaceOf(0)]; }

  ValueFilter filter_;
  const size_t tags_;
  std::vector<Piece> pieces_;
  size_t bytes_ = 0;
  rows::HeldMemory memory_;
};

}  // namespace

absl::StatusOr<bool> FoldRawInParts(const Query& query, SeriesScan* scan, const MakeFold& make,
                                    const TakePart& take_part, const SeriesScan::TakeBatch& take) {
  bool is_enough = false;
  const auto noted = [&is_enough](absl::StatusOr<bool> goes_on) {
    is_enough = goes_on.ok() && !*goes_on;
    return goes_on;
  };
  DividedFold parts(query, scan, NumberOrder::kByTime, make);
  const absl::StatusOr<std::vector<RowRange>> left =
      parts.Fold([&](PartFold* part) { return noted(take_part(part)); });
  if (!left.ok()) return left.status();
  if (left->empty() || is_enough) return !is_enough;
  const absl::Status status = scan->ReadRanges(*left, NumberOrder::kByTime,
                                               [&](const rows::Batch& batch) { return noted(take(batch)); });
  if (!status.ok()) return status;
  return !is_enough;
}

absl::StatusOr<bool> ReadRawInParts(const Query& query, SeriesScan* scan, const SeriesScan::TakeBatch& take) {
  const auto make = [&query, scan](const rows::Interrupted& /*interrupted*/) {
    return std::make_unique<PartPoints>(query, *scan);
  };
  ValueFilter filter(query.value_conditions, scan->fields());
  return FoldRawInParts(
      query, scan, make, [&take](PartFold* part) { return static_cast<const PartPoints*>(part)->Give(take); },
      [&](const rows::Batch& batch) -> absl::StatusOr<bool> {
        const rows::Batch& given = filter.Apply(batch, scan->tags_count() + 1);
        if (given.rows == 0) return true;
        return take(given);
      });
}

}  // namespace sonde::series
