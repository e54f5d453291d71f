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

class NumberStream::Reader {
 public:
  Reader(TableSchemaRef schema, NumberRead read, int64_t now_micros, AccessObserver* observer,
         std::function<std::string()> caller)
      : schema_(std::move(schema)),
        read_(std::move(read)),
        caller_(std::move(caller)),
        family_(*schema_->FindFamily(read_.family)),
        order_(OrderOf(read_)),
        rule_(family_.gc_rule, now_micros),
        counts_cells_(!rule_.KeepsEverything() || read_.cells_per_column_max > 0),
        columns_(read_.columns.size()) {
    if (observer != nullptr) watch_.emplace(observer, schema_->id);
  }

  absl::Status Start(Engine* engine, std::vector<RowRange> ranges) {
    reads_all_ = ranges.size() == 1 && ranges[0].start.empty() && ranges[0].end.empty();
    Engine::ScanOptions options;
    options.reverse = read_.reversed;
    options.interrupted = read_.interrupted;
    options.hints = HintsOf(read_, order_);
    if (read_.wants_row) {
      options.hints.wants_row = [this](std::string_view row_key) {
        const bool is_wanted = read_.wants_row(row_key);
        if (!is_wanted) ++rows_passed_;
        return is_wanted;
      };
    }
    options.hints.families = std::vector<FamilyId>{family_.id};
    RefineReadHints({rule_}, &options.hints);
    absl::StatusOr<std::unique_ptr<RowStream>> stream =
        engine->Scan(schema_->id, std::move(ranges), std::move(options));
    if (stream.ok()) stream_ = *std::move(stream);
    return stream.status();
  }

  absl::StatusOr<bool> Next(NumberRow* row) {
    if (std::exchange(gives_held_, false)) held_.Clear();
    while (true) {
      if (!has_piece_) {
        const absl::StatusOr<bool> more = NextPiece();
        if (!more.ok()) return more;
        if (!*more) return GiveHeld(row);
      }
      const bool is_new = rows_seen_ == 0 || piece_.row_key != row_key_;
      if (is_new && GiveHeld(row)) return true;
      has_piece_ = false;
      if (is_new) BeginRow();
      parts_.clear();
      TakeNumbers(piece_.numbers);
      if (!piece_.cells.empty()) TakeCells(piece_.cells);
      if (parts_.empty()) continue;
      if (!read_.whole_rows || (piece_.last_of_row && held_.IsEmpty())) {
        *row = {row_key_, parts_};
        return true;
      }
      held_.Add({row_key_, parts_});
    }
  }

 private:
  absl::StatusOr<bool> NextPiece() {
    while (!is_over_) {
      const absl::StatusOr<bool> more = stream_->Next(&piece_);
      if (!more.ok()) {
        if (watch_.has_value()) watch_->Fail(piece_.row_key);
        return more;
      }
      if (*more && piece_.family != family_.id) continue;
      has_piece_ = *more;
      if (*more) return true;
      is_over_ = true;
      if (watch_.has_value()) watch_->End(reads_all_, rows_seen_ + rows_passed_, caller_);
    }
    return false;
  }

  // Gives out what is held of the last row; false: nothing is.
  bool GiveHeld(NumberRow* row) {
    if (held_.IsEmpty()) return false;
    *row = held_.View();
    gives_held_ = true;
    return true;
  }

  void BeginRow() {
    row_key_ = piece_.row_key;
    if (counts_cells_) columns_.assign(columns_.size(), {});
    ++rows_seen_;
    if (watch_.has_value()) watch_->Saw(row_key_);
  }

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
      if (watch_.has_value()) watch_->Returned(cells, cells * sizeof(int64_t));
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
        if (watch_.has_value() && begin < end) watch_->Returned(end - begin, bytes);
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

  const TableSchemaRef schema_;
  const NumberRead read_;
  const std::function<std::string()> caller_;
  const FamilySchema& family_;
  const std::vector<size_t> order_;  // as the hints' columns
  const GcRuleEvaluator rule_;
  const bool counts_cells_;         // what is to be seen depends on what came before of the row
  std::optional<ReadWatch> watch_;  // nothing: nobody watches
  std::unique_ptr<RowStream> stream_;
  bool reads_all_ = false;  // the whole table
  RowPiece piece_;
  bool has_piece_ = false;   // piece_ is yet to be taken
  bool gives_held_ = false;  // held_ was given out, and is of no more use
  bool is_over_ = false;
  std::string row_key_;
  std::vector<Column> columns_;  // as in read_
  int64_t rows_seen_ = 0;
  int64_t rows_passed_ = 0;  // that were not wanted
  std::vector<NumberRow::Part> parts_;
  HeldNumbers held_;  // of whole rows that come in pieces
  std::vector<int64_t> timestamps_;
  std::vector<std::string_view> texts_;
};

NumberStream::NumberStream() = default;
NumberStream::~NumberStream() = default;

absl::StatusOr<std::unique_ptr<NumberStream>> NumberStream::Open(Engine* engine, TableSchemaRef schema,
                                                                 int64_t now_micros, NumberRead read,
                                                                 AccessObserver* observer,
                                                                 std::function<std::string()> caller) {
  if (schema->FindFamily(read.family) == nullptr) {
    return absl::NotFoundError(fmt::format("{}: no family '{}'", schema->name, read.family));
  }
  std::unique_ptr<NumberStream> stream(new NumberStream);
  std::vector<RowRange> ranges = NormalizeRanges(read.ranges);
  if (ranges.empty()) return stream;
  stream->reader_ =
      std::make_unique<Reader>(std::move(schema), std::move(read), now_micros, observer, std::move(caller));
  if (absl::Status status = stream->reader_->Start(engine, std::move(ranges)); !status.ok()) return status;
  return stream;
}

absl::StatusOr<bool> NumberStream::Next(NumberRow* row) {
  if (reader_ == nullptr) return false;
  return reader_->Next(row);
}

absl::Status ReadNumbersOf(Engine* engine, const TableSchemaRef& schema, int64_t now_micros,
                           const NumberRead& read, const ReadObserver& observed,
                           const std::function<bool(const NumberRow&)>& row) {
  const absl::StatusOr<std::unique_ptr<NumberStream>> stream =
      NumberStream::Open(engine, schema, now_micros, read, observed.observer, observed.caller);
  if (!stream.ok()) return stream.status();
  NumberRow next;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&next);
    if (!more.ok()) return more.status();
    if (!*more || !row(next)) return absl::OkStatus();
  }
}

}  // namespace sonde
