#include "sql/relation/unnest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/varint.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/node.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

class Unnest final : public Operator {
 public:
  Unnest(const QueryScope* scope, const Plan& plan, OperatorPtr from)
      : Operator(scope, "Unnest"),
        plan_(plan),
        element_type_(plan.expressions[0]->type.element()),
        array_(*plan.expressions[0], evaluation()) {
    AddInput(std::move(from));
  }

  void Restart() override {
    Operator::Restart();
    in_.rows = row_ = item_ = 0;
    resumed_.reset();
  }

  bool HasPlaces() const override { return input().HasPlaces(); }
  void SavePlace(size_t rows, std::string* place) const override;
  bool RestorePlace(std::string_view* place) override;
  std::string_view SourceKey(size_t row) const override { return input().SourceKey(rows_[row]); }

 private:
  // A place within a row.
  struct Within {
    std::string key;     // of the row
    uint64_t items = 0;  // of the row, which were given
  };

  // How long arrays are is not known.
  std::optional<double> EstimateRows() const override { return std::nullopt; }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  // Makes the next batch of the input the one at hand.
  absl::StatusOr<bool> NextInput();
  void SkipResumed();
  // How many rows an array gives, one that is empty or NULL too.
  size_t RowsOf(const Datum& array) const {
    const size_t items = array.is_there ? array.size : 0;
    return items == 0 && plan_.is_outer ? 1 : items;
  }
  void TakeItems();
  void Give(rows::Batch* batch);

  const Plan& plan_;
  const Type element_type_;
  Evaluator array_;
  std::optional<Within> resumed_;

  rows::Batch in_;
  ColumnView arrays_;
  Arena in_arena_;   // what arrays_ views
  size_t row_ = 0;   // of in_, whose items come next
  size_t item_ = 0;  // of the row, which comes next

  // The last batch that was given.
  size_t first_row_ = 0;
  size_t first_item_ = 0;
  std::vector<size_t> rows_;  // of in_
  std::vector<Datum> items_;
  std::vector<Datum> offsets_;
  Arena arena_;
};

void Unnest::SavePlace(size_t rows, std::string* place) const {
  size_t row = first_row_;
  uint64_t items = first_item_;
  if (rows > 0) {
    row = rows_[rows - 1];
    const auto first =
        std::lower_bound(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(rows), row);
    const auto of_row = static_cast<uint64_t>(rows_.begin() + static_cast<std::ptrdiff_t>(rows) - first);
    items = of_row + (row == first_row_ ? first_item_ : 0);
    if (items == RowsOf(DatumAt(arrays_, row))) {
      ++row;
      items = 0;
    }
  }
  PutVarint(place, items);
  if (items > 0) PutBytes(place, input().SourceKey(row));
  input().SavePlace(row, place);
}

bool Unnest::RestorePlace(std::string_view* place) {
  Within within;
  std::string_view key;
  if (!GetVarint(place, &within.items)) return false;
  if (within.items > 0) {
    if (!GetBytes(place, &key)) return false;
    within.key = key;
    resumed_ = std::move(within);
  }
  return input().RestorePlace(place);
}

absl::StatusOr<bool> Unnest::NextInput() {
  in_arena_.Clear();
  row_ = item_ = 0;
  const absl::StatusOr<bool> more = input().Next(&in_);
  if (!more.ok() || !*more) {
    in_.rows = 0;
    return more;
  }
  const absl::StatusOr<ColumnView> arrays = array_.Evaluate(in_, &in_arena_, outer());
  if (!arrays.ok()) return arrays.status();
  arrays_ = *arrays;
  SkipResumed();
  return true;
}

// What was given of the first row of a resumed execution, if the row is still there.
void Unnest::SkipResumed() {
  if (!resumed_.has_value()) return;
  if (input().SourceKey(0) == resumed_->key) {
    item_ = std::min<uint64_t>(resumed_->items, RowsOf(DatumAt(arrays_, 0)));
  }
  resumed_.reset();
}

void Unnest::TakeItems() {
  rows_.clear();
  items_.clear();
  offsets_.clear();
  for (; row_ < in_.rows && rows_.size() < rows::kBatchRowsMax; ++row_, item_ = 0) {
    const Datum array = DatumAt(arrays_, row_);
    const size_t all = RowsOf(array);
    const size_t count = std::min(all - item_, rows::kBatchRowsMax - rows_.size());
    rows_.insert(rows_.end(), count, row_);
    const bool is_empty = !array.is_there || array.size == 0;
    for (size_t i = 0; i < count; ++i) {
      items_.push_back(is_empty ? Datum::Missing() : array.items[item_ + i]);
      if (!plan_.with_offset) continue;
      offsets_.push_back(is_empty ? Datum::Missing() : Datum::Int(static_cast<int64_t>(item_ + i)));
    }
    item_ += count;
    if (item_ < all) break;
  }
}

void Unnest::Give(rows::Batch* batch) {
  batch->rows = rows_.size();
  if (rows_.empty()) return;
  const bool is_one_row = rows_.front() == rows_.back();
  for (const ColumnView& column : in_.columns) {
    batch->columns.push_back(is_one_row ? ColumnView::Constant(column.Part(rows_[0], 1), rows_.size())
                                        : Gather(column, rows_, &arena_));
  }
  batch->columns.push_back(ColumnOfData(element_type_, items_, &arena_));
  if (plan_.with_offset) batch->columns.push_back(ColumnOfData(TypeKind::kInt64, offsets_, &arena_));
}

absl::StatusOr<bool> Unnest::Produce(rows::Batch* batch) {
  arena_.Clear();
  if (row_ >= in_.rows) {
    absl::StatusOr<bool> more = NextInput();
    if (!more.ok() || !*more) return more;
  }
  first_row_ = row_;
  first_item_ = item_;
  TakeItems();
  Give(batch);
  return true;
}

}  // namespace

OperatorPtr MakeUnnest(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  return std::make_unique<Unnest>(scope, plan, std::move(input));
}

}  // namespace sonde::sql
