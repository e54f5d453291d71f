// Any bytes as a RowFilter: what compiles must do to a row what the naive evaluator does.
//   byte 0 chooses the row; the rest is the filter's message.
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <optional>

#include "base/random.h"
#include "filter/compiled_filter.h"
#include "filter/filter_evaluator.h"
#include "naive_filter.h"
#include "random_filter.h"
#include "target.h"
#include "wire/data/filter_request.h"

namespace sonde {
namespace {

using google::bigtable::v2::RowFilter;

constexpr char kRowKey[] = "row#1";
constexpr int64_t kNowMicros = 1'700'000'000'000'000;
// Beyond this the naive evaluator would take too long.
constexpr FilterLimits kLimits = {.row_cpu_ms = 50, .copied_cells_max = 1024};

const std::vector<std::string>& Families() {
  static const std::vector<std::string> families = {"a", "b", "c", "cc"};
  return families;
}

const TableSchema& Schema() {
  static const TableSchema schema = [] {
    TableSchema made;
    FamilyId id = 1;
    for (const std::string& family : Families()) made.families.push_back({.name = family, .id = id++});
    return made;
  }();
  return schema;
}

NaiveRow RowOf(uint8_t seed) {
  static const Words words = Words::Make(kNowMicros);
  SeededRandom random(seed);
  NaiveRow row;
  for (const std::string& family : Families()) {
    for (const std::string& qualifier : words.qualifiers) {
      if (OneIn(2, &random)) continue;
      for (auto micros = words.timestamps_micros.rbegin(); micros != words.timestamps_micros.rend();
           ++micros) {
        if (OneIn(5, &random)) row.push_back({family, qualifier, *micros, AnyOf(words.values, &random), ""});
      }
    }
  }
  return row;
}

bool UsesChance(const RowFilter& filter) {
  const auto any = [](const auto& filters) {
    return std::any_of(filters.begin(), filters.end(), UsesChance);
  };
  switch (filter.filter_case()) {
    case RowFilter::kRowSampleFilter:
      return true;
    case RowFilter::kChain:
      return any(filter.chain().filters());
    case RowFilter::kInterleave:
      return any(filter.interleave().filters());
    case RowFilter::kCondition:
      return UsesChance(filter.condition().predicate_filter()) ||
             UsesChance(filter.condition().true_filter()) || UsesChance(filter.condition().false_filter());
    default:
      return false;
  }
}

// The evaluator's output; none when the budget refused.
std::optional<NaiveRow> Evaluate(const CompiledFilter& filter, const NaiveRow& row) {
  std::vector<FilterCell> cells;
  for (const NaiveCell& cell : row) {
    const auto family = std::find(Families().begin(), Families().end(), cell.family) - Families().begin();
    cells.push_back(
        {static_cast<uint32_t>(family), kNoLabel, {cell.qualifier, cell.timestamp_micros, cell.value}});
  }
  FilterBudget budget(kLimits);
  SeededRandom random(1);
  FilterEvaluator evaluator(filter, Schema(), &budget, &random);
  const bool may_pass = filter.RowKeyMayPass(kRowKey, &budget);
  if (!evaluator.Run(kRowKey, &cells).ok()) return std::nullopt;
  Require(may_pass || cells.empty(), "RowKeyMayPass is not true of a row that passes");
  NaiveRow output;
  for (const FilterCell& cell : cells) {
    output.push_back({Families()[cell.family], std::string(cell.cell.qualifier), cell.cell.timestamp_micros,
                      std::string(cell.cell.value), std::string(filter.Label(cell.label))});
  }
  return output;
}

void Check(uint8_t seed, const RowFilter& message) {
  const auto compiled = CompileFilter(message);
  const std::set<std::string> families(Families().begin(), Families().end());
  const absl::StatusCode naive = CheckNaively(message, families);
  if (!compiled.ok()) {
    const bool is_limit = absl::IsResourceExhausted(compiled.status());
    Require(is_limit || naive == absl::StatusCode::kInvalidArgument, "a good filter is refused");
    return;
  }
  Require(naive != absl::StatusCode::kInvalidArgument, "a bad filter is accepted");
  const CompiledFilter& filter = **compiled;
  Require(filter.CheckFamilies(Schema()).code() == naive, "CheckFamilies");
  if (naive != absl::StatusCode::kOk) return;
  FilterBudget budget;
  const FilterNeeds needs = filter.Needs(Schema(), &budget);
  const std::vector<RowRange> possible_rows = filter.PossibleRows();
  Require(NormalizeRanges(possible_rows) == possible_rows, "PossibleRows are not in normal form");
  const NaiveRow row = RowOf(seed);
  const std::optional<NaiveRow> output = Evaluate(filter, row);
  if (!output.has_value() || UsesChance(message)) return;
  Require(*output == FilterNaively(message, kRowKey, row), "the output");
  if (output->empty()) return;
  Require(!needs.nothing, "Needs say that nothing passes");
  Require(std::any_of(possible_rows.begin(), possible_rows.end(),
                      [](const RowRange& range) { return range.Contains(kRowKey); }),
          "PossibleRows leave out a row that passes");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Else a line for each field that is not UTF-8.
  static auto* const unused = google::protobuf::SetLogHandler(nullptr);
  (void)unused;
  sonde::InputReader input(data, size);
  const uint8_t seed = input.Byte();
  const std::string_view bytes = input.Rest();
  google::bigtable::v2::RowFilter message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) sonde::Check(seed, message);
  return 0;
}
