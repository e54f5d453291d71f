#include "sql/exec/explain.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::sql {
namespace {

class Explain final : public Operator {
 public:
  Explain(const QueryScope* scope, const BoundQuery& query, OperatorPtr root)
      : Operator(scope, "Explain"), query_(query) {
    AddInput(std::move(root));
  }

 private:
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (std::exchange(is_given_, true)) return false;
    const bool runs = query_.explain == BoundQuery::Explain::kAnalyze;
    input().Estimate();
    rows::Batch rows;
    while (runs) {
      const absl::StatusOr<bool> more = input().Next(&rows);
      if (!more.ok()) return more.status();
      if (!*more) break;
    }
    input().Describe(0, runs, &text_);
    for (std::string_view rest = text_; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      lines_.push_back(line);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    batch->rows = lines_.size();
    batch->columns.push_back(ColumnView::OfBytes(lines_));
    return true;
  }

  const BoundQuery& query_;
  bool is_given_ = false;
  std::string text_;
  std::vector<std::string_view> lines_;
};

}  // namespace

OperatorPtr MakeExplain(const QueryScope* scope, const BoundQuery& query, OperatorPtr root) {
  return std::make_unique<Explain>(scope, query, std::move(root));
}

}  // namespace sonde::sql
