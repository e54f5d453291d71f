#include "sql/function/lambda_over_lists.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/bounds.h"
#include "sql/function/column_of_datums.h"
#include "sql/value/type.h"

namespace sonde::sql {
namespace {

// Elements that are evaluated together, if several rows have them.
constexpr size_t kElementsTogether = 16'384;

class Evaluation {
 public:
  Evaluation(Call& call, const ColumnView& lists, size_t argument, LambdaShape shape,
             absl::FunctionRef<void(const LambdaResults&)> take)
      : call_(call), lists_(lists), argument_(argument), shape_(shape), take_(take) {}

  void Run() {
    std::vector<size_t> rows;
    size_t elements = 0;
    for (size_t row = 0; row < call_.rows(); ++row) {
      if (!lists_.IsThere(row)) continue;
      const size_t count = CountOf(row);
      if (elements + count > kElementsTogether && !rows.empty()) {
        if (!RunRows(rows)) return;
        rows.clear();
        elements = 0;
      }
      rows.push_back(row);
      elements += count;
    }
    RunRows(rows);
  }

 private:
  absl::Span<const Datum> ListOf(size_t row) const { return lists_.lists()[lists_.PlaceOf(row)].list(); }
  size_t CountOf(size_t row) const {
    return shape_ == LambdaShape::kKeyAndValue ? ListOf(row).size() / 2 : ListOf(row).size();
  }

  // False: there is no use in going on.
  bool RunRows(absl::Span<const size_t> rows) {
    const absl::Status status = Evaluate(rows);
    if (status.ok()) return true;
    if (rows.size() == 1) {
      call_.Fail(rows[0], status);
      return call_.status().ok();
    }
    for (const size_t& row : rows) {
      if (!RunRows({&row, 1})) return false;
    }
    return true;
  }

  absl::Status Evaluate(absl::Span<const size_t> rows) {
    size_t count = 0;
    for (const size_t row : rows) count += CountOf(row);
    ColumnView results;
    if (count > 0) {
      const absl::StatusOr<ColumnView> evaluated = Results(rows, count);
      if (!evaluated.ok()) return evaluated.status();
      results = *evaluated;
    }
    size_t first = 0;
    for (const size_t row : rows) {
      take_({.row = row, .items = ListOf(row), .results = &results, .first = first});
      first += CountOf(row);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(absl::Span<const size_t> rows, size_t count) {
    constexpr size_t kColumnsPerElement = 6;  // the elements, their column, what stands beside it
    if (absl::Status status = AskForRoom(call_, count * sizeof(int64_t) * kColumnsPerElement); !status.ok()) {
      return status;
    }
    std::vector<size_t> outer_rows;
    outer_rows.reserve(count);
    auto* const items = call_.arena()->New<Datum>(count);
    auto* const others = shape_ == LambdaShape::kElement ? nullptr : call_.arena()->New<Datum>(count);
    for (const size_t row : rows) {
      const absl::Span<const Datum> list = ListOf(row);
      for (size_t i = 0; i < CountOf(row); ++i) {
        const size_t place = outer_rows.size();
        items[place] = shape_ == LambdaShape::kKeyAndValue ? list[2 * i] : list[i];
        if (shape_ == LambdaShape::kKeyAndValue) others[place] = list[2 * i + 1];
        if (shape_ == LambdaShape::kElementAndOffset) others[place] = Datum::Int(static_cast<int64_t>(i));
        outer_rows.push_back(row);
      }
    }
    const Type& type = call_.argument_type(0);
    const bool is_map = type.Is(TypeKind::kMap);
    std::vector<ColumnView> columns = {
        ColumnOfDatums(is_map ? type.key() : type.element(), {items, count}, call_.arena())};
    if (others != nullptr) {
      columns.push_back(
          ColumnOfDatums(is_map ? type.value() : TypeKind::kInt64, {others, count}, call_.arena()));
    }
    return call_.lambda(argument_)->Evaluate(columns, outer_rows);
  }

  Call& call_;
  const ColumnView& lists_;
  const size_t argument_;
  const LambdaShape shape_;
  const absl::FunctionRef<void(const LambdaResults&)> take_;
};

}  // namespace

void ForEachList(Call& call, const ColumnView& lists, size_t argument, LambdaShape shape,
                 absl::FunctionRef<void(const LambdaResults&)> take) {
  Evaluation(call, lists, argument, shape, take).Run();
}

}  // namespace sonde::sql
