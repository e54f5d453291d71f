#include "table/number_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gc/gc_rule_evaluator.h"
#include "model/held_numbers.h"
#include "model/row_range.h"
#include "table/read_watch.h"

namespace sonde {
namespace {

// The columns by qualifier.
std::vector<size_t> OrderOf(const NumberRead& read) {
  std::vector<size_t> order(read.columns.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return read.columns[a].qualifier < read.columns[b].qualifier; });
  return order;
}

class NumberReader {
 public:
  NumberReader(const NumberRead& read, std::vector<size_t> order, const GcRuleEvaluator& rule,
               ReadWatch* watch, const std::function<bool(const NumberRow&)>& row)
      : read_(read),
        order_(std::move(order)),
        rule_(rule),
        watch_(watch),
        row_(row),
        counts_cells_(!rule.KeepsEverything() || read.cells_per_column_max > 0),
        columns_(read.columns.size()) {}

  // False: `row` wants no more.
  bool Take(const RowPiece& piece) {
    if (rows_seen_ == 0 || piece.row_key != row_key_) {
      if (!Emit()) return false;
      row_key_ = piece.row_key;
      if (counts_cells_) columns_.assign(columns_.size(), {});
      ++rows_seen_;
      if (watch_ != nullptr) watch_->Saw(row_key_);
    }
    parts_.clear();
    TakeNumbers(piece.numbers);
    if (!piece.cells.empty()) TakeCells(piece.cells);
    if (parts_.empty()) return true;
    if (!read_.whole_rows || (piece.last_of_row && held_.IsEmpty())) return row_({row_key_, parts_});
    held_.Add({row_key_, parts_});
    return true;
  }

  // Gives out what was held of the last row.
  bool Emit() {
    if (held_.IsEmpty()) return true;
    const bool goes_on = row_(held_.View());
    held_.Clear();
    return goes_on;
  }

  int64_t rows_seen() const { return rows_seen_; }

 private:
  // The columns of the row at hand.
  struct Column {
    int64_t kept = 0;      // cells that the rule keeps
    int64_t returned = 0;  // and that were asked for
  };

  // The column of a qualifier, if it is asked for: the hints are advice, and other columns may be among the
  // cells.  *at is its place in order_, or goes behind those before it.
  std::optional<size_t> Find(std::string_view qualifier, size_t* at) const {
    while (*at < order_.size()) {
      const int order = read_.columns[order_[*at]].qualifier.compare(qualifier);
      if (order == 0) return order_[*at];
      if (order > 0) break;
      ++*at;
    }
    return std::nullopt;
  }

  void TakeNumbers(const std::vector<NumberColumn>& numbers) {
    for (const NumberColumn& found : numbers) {
      const size_t column = order_[found.range];
      size_t cells = found.timestamps_micros.size();
      // Member by member: of tall rows there are many small ones.
      if (IsWhole(found.timestamps_micros)) {
        NumberRow::Part& part = parts_.emplace_back();
        part.column = column;
        part.timestamps_micros = found.timestamps_micros;
        part.values = found.numbers;
      } else {
        const auto [begin, end] = Keep(&columns_[column], found.timestamps_micros);
        cells = end - begin;
        if (cells == 0) continue;
        parts_.push_back({.column = column,
                          .timestamps_micros = found.timestamps_micros.subspan(begin, cells),
                          .values = found.numbers.Part(begin, cells)});
      }
      if (watch_ != nullptr) watch_->Returned(cells, cells * sizeof(int64_t));
    }
  }

  void TakeCells(const std::vector<CellView>& cells) {
    timestamps_.resize(cells.size());
    texts_.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      timestamps_[i] = cells[i].timestamp_micros;
      texts_[i] = cells[i].value;
    }
    size_t at = 0;
    for (size_t first = 0; first < cells.size();) {
      size_t last = first + 1;
      while (last < cells.size() && cells[last].qualifier == cells[first].qualifier) ++last;
      if (const std::optional<size_t> column = Find(cells[first].qualifier, &at)) {
        const auto times = absl::MakeConstSpan(timestamps_).subspan(first, last - first);
        const auto [begin, end] = Keep(&columns_[*column], times);
        const auto texts = absl::MakeConstSpan(texts_).subspan(first + begin, end - begin);
        if (begin < end) {
          parts_.push_back({.column = *column,
                            .timestamps_micros = times.subspan(begin, end - begin),
                            .values = ColumnView::OfBytes(texts)});
        }
        uint64_t bytes = 0;
        for (const std::string_view text : texts) bytes += text.size();
        if (watch_ != nullptr && begin < end) watch_->Returned(end - begin, bytes);
      }
      first = last;
    }
  }

  // Whether all are to be seen, without counting.
  bool IsWhole(absl::Span<const int64_t> timestamps) const {
    return !counts_cells_ && timestamps.back() >= read_.start_micros &&
           (read_.end_micros == 0 || timestamps.front() < read_.end_micros);
  }

  // Returns [first, second): the visible ones of `timestamps`, which descend.
  std::pair<size_t, size_t> Keep(Column* column, absl::Span<const int64_t> timestamps) {
    size_t end = timestamps.size();
    if (!rule_.KeepsEverything()) {
      for (end = 0; end < timestamps.size() && rule_.Keeps(column->kept, timestamps[end]);) {
        ++end;
        ++column->kept;
      }
    }
    const auto newer = [](int64_t a, int64_t b) { return a > b; };
    const int64_t* const first = timestamps.data();
    const int64_t* from = first;
    const int64_t* to = first + end;
    if (read_.end_micros != 0) from = std::lower_bound(first, to, read_.end_micros - 1, newer);
    to = std::upper_bound(from, to, read_.start_micros, newer);
    if (read_.cells_per_column_max > 0) {
      to = from + std::min<int64_t>(to - from, read_.cells_per_column_max - column->returned);
      column->returned += to - from;
    }
    return {from - first, to - first};
  }

  const NumberRead& read_;
  const std::vector<size_t> order_;  // as the hints' columns
  const GcRuleEvaluator& rule_;
  ReadWatch* const watch_;
  const std::function<bool(const NumberRow&)>& row_;
  const bool counts_cells_;  // what is to be seen depends on what came before of the row
  std::string row_key_;
  std::vector<Column> columns_;  // as in read_
  int64_t rows_seen_ = 0;
  std::vector<NumberRow::Part> parts_;
  HeldNumbers held_;  // of whole rows that come in pieces
  std::vector<int64_t> timestamps_;
  std::vector<std::string_view> texts_;
};

ReadHints HintsOf(const NumberRead& read, const std::vector<size_t>& order) {
  ReadHints hints;
  hints.columns.emplace();
  for (const size_t index : order) {
    const NumberRead::Column& column = read.columns[index];
    hints.columns->push_back({column.qualifier, column.qualifier + std::string(1, '\0')});
    hints.numbers.push_back(column.written);
  }
  hints.time_range = {read.start_micros, read.end_micros};
  if (read.cells_per_column_max > 0 && read.end_micros == 0) {
    hints.newest_per_column = read.cells_per_column_max;
  }
  return hints;
}

}  // namespace

absl::Status ReadNumbersOf(Engine* engine, const TableSchema& schema, int64_t now_micros,
                           const NumberRead& read, const ReadObserver& observed,
                           const std::function<bool(const NumberRow&)>& row) {
  const FamilySchema* const family = schema.FindFamily(read.family);
  if (family == nullptr) {
    return absl::NotFoundError(fmt::format("{}: no family '{}'", schema.name, read.family));
  }
  std::vector<RowRange> ranges = NormalizeRanges(read.ranges);
  if (ranges.empty()) return absl::OkStatus();
  const bool whole_table = ranges.size() == 1 && ranges[0].start.empty() && ranges[0].end.empty();
  const std::vector<GcRuleEvaluator> rules = {GcRuleEvaluator(family->gc_rule, now_micros)};
  const std::vector<size_t> order = OrderOf(read);
  Engine::ScanOptions options;
  options.reverse = read.reversed;
  options.interrupted = read.interrupted;
  options.hints = HintsOf(read, order);
  options.hints.families = std::vector<FamilyId>{family->id};
  RefineReadHints(rules, &options.hints);
  absl::StatusOr<std::unique_ptr<RowStream>> stream =
      engine->Scan(schema.id, std::move(ranges), std::move(options));
  if (!stream.ok()) return stream.status();

  std::optional<ReadWatch> watch;
  if (observed.observer != nullptr) watch.emplace(observed.observer, schema.id);
  NumberReader reader(read, order, rules[0], watch.has_value() ? &*watch : nullptr, row);
  RowPiece piece;
  while (true) {
    absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) {
      if (watch.has_value()) watch->Fail(piece.row_key);
      return more.status();
    }
    if (!*more) break;
    if (piece.family == family->id && !reader.Take(piece)) return absl::OkStatus();
  }
  if (!reader.Emit()) return absl::OkStatus();
  if (watch.has_value()) watch->End(whole_table, reader.rows_seen(), observed.caller);
  return absl::OkStatus();
}

}  // namespace sonde
