#include "table/number_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gc/gc_rule_evaluator.h"
#include "model/row_range.h"
#include "table/read_watch.h"

namespace sonde {
namespace {

class NumberReader {
 public:
  NumberReader(const NumberRead& read, const GcRuleEvaluator& rule, ReadWatch* watch)
      : read_(read), rule_(rule), watch_(watch) {}

  // False: `row` wants no more.
  bool Take(const RowPiece& piece, const std::function<bool(const NumberRow&)>& row) {
    if (piece.row_key != row_key_) {
      row_key_ = piece.row_key;
      seen_ = 0;
      ++rows_seen_;
      if (watch_ != nullptr) watch_->Saw(row_key_);
    }
    NumberRow found{.row_key = row_key_};
    uint64_t bytes = 0;
    if (piece.cells.empty()) {
      const auto [begin, end] = Keep(piece.numbers.timestamps_micros);
      found.timestamps_micros = piece.numbers.timestamps_micros.subspan(begin, end - begin);
      found.numbers = piece.numbers.numbers.subspan(begin, end - begin);
      bytes = found.numbers.size() * sizeof(double);
    } else {
      TakeCells(piece.cells);
      const auto [begin, end] = Keep(timestamps_);
      found.timestamps_micros = absl::MakeSpan(timestamps_).subspan(begin, end - begin);
      found.texts = absl::MakeSpan(texts_).subspan(begin, end - begin);
      for (const std::string_view text : found.texts) bytes += text.size();
    }
    if (found.timestamps_micros.empty()) return true;
    if (watch_ != nullptr) watch_->Returned(found.timestamps_micros.size(), bytes);
    return row(found);
  }

  int64_t rows_seen() const { return rows_seen_; }

 private:
  // The hints are advice: other columns may be among them.
  void TakeCells(const std::vector<CellView>& cells) {
    timestamps_.clear();
    texts_.clear();
    for (const CellView& cell : cells) {
      if (cell.qualifier != read_.column.qualifier) continue;
      timestamps_.push_back(cell.timestamp_micros);
      texts_.push_back(cell.value);
    }
  }

  // Of descending timestamps, those that are to be seen: [first, second).
  std::pair<size_t, size_t> Keep(absl::Span<const int64_t> timestamps) {
    size_t end = timestamps.size();
    if (!rule_.KeepsEverything()) {
      for (end = 0; end < timestamps.size() && rule_.Keeps(seen_, timestamps[end]);) {
        ++end;
        ++seen_;
      }
    }
    const auto newer = [](int64_t a, int64_t b) { return a > b; };
    const int64_t* const first = timestamps.data();
    const int64_t* from = first;
    if (read_.end_micros != 0) from = std::lower_bound(first, first + end, read_.end_micros - 1, newer);
    const int64_t* const to = std::upper_bound(from, first + end, read_.start_micros, newer);
    return {from - first, to - first};
  }

  const NumberRead& read_;
  const GcRuleEvaluator& rule_;
  ReadWatch* const watch_;
  std::string row_key_;
  int64_t seen_ = 0;  // cells of the row that the rule keeps
  int64_t rows_seen_ = 0;
  std::vector<int64_t> timestamps_;
  std::vector<std::string_view> texts_;
};

}  // namespace

absl::Status ReadNumbersOf(Engine* engine, const TableSchema& schema, int64_t now_micros,
                           const NumberRead& read, AccessObserver* observer,
                           const std::function<bool(const NumberRow&)>& row) {
  const FamilySchema* const family = schema.FindFamily(read.column.family);
  if (family == nullptr) {
    return absl::NotFoundError(fmt::format("{}: no family '{}'", schema.name, read.column.family));
  }
  std::vector<RowRange> ranges = NormalizeRanges(read.ranges);
  if (ranges.empty()) return absl::OkStatus();
  const bool whole_table = ranges.size() == 1 && ranges[0].start.empty() && ranges[0].end.empty();
  const std::vector<GcRuleEvaluator> rules = {GcRuleEvaluator(family->gc_rule, now_micros)};
  Engine::ScanOptions options;
  options.hints.families = std::vector<FamilyId>{family->id};
  options.hints.columns = std::vector<ReadHints::ColumnRange>{
      {read.column.qualifier, read.column.qualifier + std::string(1, '\0')}};
  options.hints.time_range = {read.start_micros, read.end_micros};
  options.hints.numbers = read.written;
  RefineReadHints(rules, &options.hints);
  absl::StatusOr<std::unique_ptr<RowStream>> stream =
      engine->Scan(schema.id, std::move(ranges), std::move(options));
  if (!stream.ok()) return stream.status();

  std::optional<ReadWatch> watch;
  if (observer != nullptr) watch.emplace(observer, schema.id);
  NumberReader reader(read, rules[0], watch.has_value() ? &*watch : nullptr);
  RowPiece piece;
  while (true) {
    absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) {
      if (watch.has_value()) watch->Fail(piece.row_key);
      return more.status();
    }
    if (!*more) break;
    if (piece.family == family->id && !reader.Take(piece, row)) return absl::OkStatus();
  }
  if (watch.has_value()) watch->End(whole_table, reader.rows_seen(), {});
  return absl::OkStatus();
}

}  // namespace sonde
