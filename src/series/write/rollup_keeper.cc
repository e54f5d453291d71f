#include "series/write/rollup_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "absl/numeric/int128.h"
#include "base/random.h"
#include "model/limits.h"
#include "series/key/field_codec.h"
#include "series/known/declaration_store.h"
#include "series/known/known_series.h"
#include "series/known/point_scan.h"
#include "series/known/rollup_marks.h"
#include "series/known/row_match.h"
#include "series/known/table_rules.h"
#include "series/schema/status_text.h"
#include "series/schema/time_range.h"
#include "series/write/row_batch.h"

namespace sonde::series {
namespace {

constexpr size_t kPiecesPendingMax = 10'000;
constexpr int64_t kPendingMicrosMax = 60 * kMicrosPerSecond;
// A writer that lives has refreshed its pieces long before: kPendingMicrosMax.
constexpr int64_t kMarkMicrosMax = 10 * kMicrosPerMinute;
constexpr size_t kRowsPerRequestMax = 1'000;

// The sum of a field's numbers.
class DoubleSum {
 public:
  void Add(double value) {
    const double total = sum_ + value;
    error_ += std::abs(sum_) >= std::abs(value) ? (sum_ - total) + value : (value - total) + sum_;
    sum_ = total;
  }
  std::string Text() const { return fmt::format("{}", sum_ + error_); }

 private:
  double sum_ = 0;
  double error_ = 0;  // what sum_ has lost to rounding (Neumaier)
};

// Never leaves 128 bits.
class IntSum {
 public:
  void Add(int64_t value) { sum_ += value; }
  std::string Text() const { return IntText(sum_); }

 private:
  absl::int128 sum_ = 0;
};

// Aggregates the numbers of one field in one piece.  They may come in any order.
template <typename Number, typename Sum>
struct TotalsOf {
  int64_t count = 0;
  Sum sum;
  Number min = 0;
  Number max = 0;
  Number first = 0;
  Number last = 0;
  int64_t first_micros = 0;
  int64_t last_micros = 0;

  void Add(int64_t time_micros, Number value) {
    if (count == 0 || value < min) min = value;
    if (count == 0 || value > max) max = value;
    if (count == 0 || time_micros < first_micros) {
      first = value;
      first_micros = time_micros;
    }
    if (count == 0 || time_micros >= last_micros) {
      last = value;
      last_micros = time_micros;
    }
    sum.Add(value);
    ++count;
  }

  std::string Text(RollupAggregate aggregate) const {
    switch (aggregate) {
      case RollupAggregate::kCount:
        return fmt::format("{}", count);
      case RollupAggregate::kSum:
        return sum.Text();
      case RollupAggregate::kMin:
        return fmt::format("{}", min);
      case RollupAggregate::kMax:
        return fmt::format("{}", max);
      case RollupAggregate::kFirst:
        return fmt::format("{}", first);
      case RollupAggregate::kLast:
        break;
    }
    return fmt::format("{}", last);
  }
};

class Totals {
 public:
  // False: `bytes` are no number of the field.
  [[nodiscard]] bool Add(int64_t time_micros, const Field& field, std::string_view bytes) {
    if (field.type == FieldType::kInt) {
      int64_t number = 0;
      if (!DecodeInt(field, bytes, &number)) return false;
      AddTo<TotalsOf<int64_t, IntSum>>(time_micros, number);
    } else {
      double number = 0;
      if (!DecodeDouble(field, bytes, &number)) return false;
      AddTo<TotalsOf<double, DoubleSum>>(time_micros, number);
    }
    return true;
  }
  bool IsEmpty() const { return totals_.index() == 0; }
  // Not of an empty one.
  std::string Text(RollupAggregate aggregate) const {
    if (const auto* of_ints = std::get_if<TotalsOf<int64_t, IntSum>>(&totals_))
      return of_ints->Text(aggregate);
    return std::get<TotalsOf<double, DoubleSum>>(totals_).Text(aggregate);
  }

 private:
  template <typename Of, typename Number>
  void AddTo(int64_t time_micros, Number number) {
    if (IsEmpty()) totals_.emplace<Of>();
    std::get<Of>(totals_).Add(time_micros, number);
  }

  std::variant<std::monostate, TotalsOf<int64_t, IntSum>, TotalsOf<double, DoubleSum>> totals_;
};

absl::Status FirstError(const absl::StatusOr<std::vector<absl::Status>>& statuses) {
  if (!statuses.ok()) return statuses.status();
  for (const absl::Status& status : *statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

struct RollupKeeper::Rollup {
  // `of_series` must outlive this.
  Rollup(const SeriesSchema& of_series, const RollupTable& table)
      : series(of_series), declared(table), codec(MakeRollupSchema(of_series, table)) {
    for (size_t i = 0; i < series.fields.size(); ++i) {
      if (series.fields[i].type != FieldType::kString) fields.push_back(i);
    }
  }

  // The start of the piece that holds the time.  A piece that began before the first time that keys can say
  // begins there.
  int64_t StartOf(int64_t time_micros) const {
    return std::max(declared.every.Start(time_micros), times.from_micros);
  }

  const SeriesSchema& series;
  RollupTable declared;
  KeyCodec codec;
  TimeRange times = TimesOfTable(codec.schema());
  std::vector<size_t> fields;             // of the series, that are numbers
  std::optional<int64_t> checked_micros;  // the start of the piece that was checked last, of checked_tags_
};

RollupKeeper::RollupKeeper(const SeriesSchema& schema, TableAccess* tables, const Clock* clock)
    : schema_(schema), tables_(tables), clock_(clock) {
  marked_.writer_id = fmt::format("{:016x}", SystemRandom().Next());
  for (const RollupTable& rollup : schema.rollups)
    rollups_.push_back(std::make_unique<Rollup>(schema, rollup));
  touched_.resize(rollups_.size());
  marked_.pieces.resize(rollups_.size());
}

RollupKeeper::~RollupKeeper() = default;

absl::Status RollupKeeper::Check(absl::Span<const std::string_view> tags, int64_t time_micros) {
  // Points mostly come series by series, and in order.
  if (!std::equal(tags.begin(), tags.end(), checked_tags_.begin(), checked_tags_.end())) {
    checked_tags_.assign(tags.begin(), tags.end());
    for (const auto& rollup : rollups_) rollup->checked_micros.reset();
  }
  for (const auto& rollup : rollups_) {
    const std::string& table = rollup->declared.table;
    const int64_t start = rollup->StartOf(time_micros);
    if (rollup->checked_micros == start) continue;
    if (absl::Status status = rollup->codec.Encode(tags, start, &key_); !status.ok()) {
      return absl::InvalidArgumentError(fmt::format("roll-up '{}': {}", table, TextOfStatus(status)));
    }
    if (const size_t bytes = MarkKey(table, key_).size(); bytes > kRowKeyBytesMax) {
      return absl::InvalidArgumentError(
          fmt::format("roll-up '{}': the mark of its piece has a key of {} bytes; allowed: up to {}", table,
                      bytes, kRowKeyBytesMax));
    }
    rollup->checked_micros = start;
  }
  return absl::OkStatus();
}

void RollupKeeper::Touch(absl::Span<const std::string_view> tags, int64_t time_micros) {
  Tags key(tags.begin(), tags.end());
  for (size_t i = 0; i < rollups_.size(); ++i) {
    touched_[i][key].insert(rollups_[i]->StartOf(time_micros));
  }
}

void RollupKeeper::Forget() {
  for (auto& series : touched_) series.clear();
}

std::string RollupKeeper::MarkKey(const std::string& table, std::string_view row_key) const {
  return MarkKeyOf(schema_.name, table, row_key);
}

absl::Status RollupKeeper::WriteRows(const std::string& table, std::vector<RowWrite>* rows, bool is_last) {
  if (rows->empty() || (!is_last && rows->size() < kRowsPerRequestMax)) return absl::OkStatus();
  const absl::Status status = FirstError(tables_->MutateRows(table, *rows));
  rows->clear();
  return status;
}

absl::Status RollupKeeper::WriteMarks(const Pieces& pieces, const std::string& writer_id, bool is_deleted) {
  const int64_t now_micros = WholeMillis(clock_->NowMicros());
  std::vector<RowWrite> rows;
  std::string key;
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (const auto& [tags, starts] : pieces[i]) {
      const std::vector<std::string_view> views(tags.begin(), tags.end());
      for (const int64_t start : starts) {
        if (absl::Status status = rollups_[i]->codec.Encode(views, start, &key); !status.ok()) return status;
        RowWrite& row = rows.emplace_back();
        row.row_key = MarkKey(rollups_[i]->declared.table, key);
        if (is_deleted) {
          row.delete_columns.emplace_back(kMarkFamily, writer_id);
        } else {
          row.cells.push_back({kMarkFamily, writer_id, now_micros, ""});
        }
        if (absl::Status status = WriteRows(kMarksTable, &rows, false); !status.ok()) return status;
      }
    }
  }
  return WriteRows(kMarksTable, &rows, true);
}

absl::Status RollupKeeper::Recover() {
  if (has_recovered_) return absl::OkStatus();
  if (absl::Status status = RefreshStale(); !status.ok()) return status;
  has_recovered_ = true;
  return absl::OkStatus();
}

absl::Status RollupKeeper::BeforeWrite() {
  if (absl::Status status = Recover(); !status.ok()) return status;
  for (size_t i = 0; i < touched_.size(); ++i) {
    for (auto& [tags, starts] : touched_[i]) {
      const auto marked = marked_.pieces[i].find(tags);
      if (marked == marked_.pieces[i].end()) continue;
      std::erase_if(starts, [&](int64_t start) { return marked->second.contains(start); });
    }
    std::erase_if(touched_[i], [](const auto& entry) { return entry.second.empty(); });
  }
  if (absl::Status status = WriteMarks(touched_, marked_.writer_id, false); !status.ok()) return status;
  if (marked_.count == 0) oldest_mark_micros_ = clock_->NowMicros();
  for (size_t i = 0; i < touched_.size(); ++i) {
    for (auto& [tags, starts] : touched_[i]) {
      marked_.count += starts.size();
      marked_.pieces[i][tags].merge(starts);
    }
    touched_[i].clear();
  }
  return absl::OkStatus();
}

bool RollupKeeper::IsFull() const {
  return marked_.count >= kPiecesPendingMax ||
         (marked_.count > 0 && clock_->NowMicros() - oldest_mark_micros_ >= kPendingMicrosMax);
}

absl::Status RollupKeeper::Refresh() {
  if (absl::Status status = Recover(); !status.ok()) return status;
  if (marked_.count == 0) return absl::OkStatus();
  if (absl::Status status = RefreshPieces(marked_.pieces); !status.ok()) return status;
  if (absl::Status status = WriteMarks(marked_.pieces, marked_.writer_id, true); !status.ok()) return status;
  (void)TakeMarked();
  return absl::OkStatus();
}

RollupKeeper::Marked RollupKeeper::TakeMarked() {
  Marked taken{marked_.writer_id, Pieces(rollups_.size()), std::exchange(marked_.count, 0)};
  taken.pieces.swap(marked_.pieces);
  return taken;
}

absl::Status RollupKeeper::RefreshTaken(const std::vector<Marked>& taken) {
  Pieces all(rollups_.size());
  for (const Marked& marked : taken) {
    for (size_t i = 0; i < marked.pieces.size(); ++i) {
      for (const auto& [tags, starts] : marked.pieces[i]) all[i][tags].insert(starts.begin(), starts.end());
    }
  }
  if (absl::Status status = RefreshPieces(all); !status.ok()) return status;
  for (const Marked& marked : taken) {
    if (absl::Status status = WriteMarks(marked.pieces, marked.writer_id, true); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RollupKeeper::RefreshPieces(const Pieces& pieces) {
  if (std::all_of(pieces.begin(), pieces.end(), [](const auto& series) { return series.empty(); }))
    return absl::OkStatus();
  // Before the declaration and the points: what is written behind these stamps has not seen less.
  std::vector<std::optional<Stamps>> stamps(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    absl::StatusOr<Stamps> found = ReadStamps(*rollups_[i], pieces[i]);
    if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
    if (found.ok()) stamps[i] = *std::move(found);
  }
  const absl::StatusOr<std::optional<SeriesSchema>> changed = FindChangedDeclaration();
  if (!changed.ok()) return changed.status();
  const SeriesSchema& series = changed->has_value() ? **changed : schema_;
  const absl::StatusOr<KeptPoints> kept = KeptPoints::Read(series, tables_, clock_->NowMicros());
  if (!kept.ok()) return kept.status();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!stamps[i]) continue;
    const std::unique_ptr<Rollup> now = changed->has_value() ? FindSame(series, *rollups_[i]) : nullptr;
    if (changed->has_value() && now == nullptr) continue;
    const Rollup& rollup = now == nullptr ? *rollups_[i] : *now;
    if (absl::Status status = RefreshRollup(rollup, *kept, *stamps[i], pieces[i]); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SeriesSchema>> RollupKeeper::FindChangedDeclaration() {
  if (schema_.text.empty()) return std::optional<SeriesSchema>();
  absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(schema_.name, tables_);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value() || (*stored)->is_open() || (*stored)->yaml == schema_.text)
    return std::optional<SeriesSchema>();
  return std::optional((**std::move(stored)).schema);
}

std::unique_ptr<RollupKeeper::Rollup> RollupKeeper::FindSame(const SeriesSchema& series,
                                                             const Rollup& rollup) {
  const auto found = std::ranges::find(series.rollups, rollup.declared.table, &RollupTable::table);
  if (found == series.rollups.end() || found->every != rollup.declared.every) return nullptr;
  auto same = std::make_unique<Rollup>(series, *found);
  return HowRowsDiffer(rollup.codec.schema(), same->codec.schema()).what.empty() ? std::move(same) : nullptr;
}

absl::Status RollupKeeper::RefreshRollup(const Rollup& rollup, const KeptPoints& kept, const Stamps& stamps,
                                         const Pieces::value_type& pieces) {
  std::vector<RowWrite> rows;
  for (const auto& [tags, starts] : pieces) {
    if (absl::Status status = RefreshSeries(rollup, kept, stamps, tags, starts, &rows); !status.ok())
      return status;
    if (absl::Status status = WriteRows(rollup.declared.table, &rows, false); !status.ok()) return status;
  }
  return WriteRows(rollup.declared.table, &rows, true);
}

absl::StatusOr<RollupKeeper::Stamps> RollupKeeper::ReadStamps(const Rollup& rollup,
                                                              const Pieces::value_type& pieces) {
  Stamps stamps;
  RowRead read;
  read.cells_per_column_max = 1;
  const auto read_all = [&]() -> absl::Status {
    const absl::Status status = tables_->ReadRows(rollup.declared.table, read, [&](ReadRow&& row) {
      int64_t& newest = stamps[row.row_key];
      for (const ReadCell& cell : row.cells) newest = std::max(newest, cell.timestamp_micros);
      return true;
    });
    read.ranges.clear();
    return status;
  };
  std::string key;
  for (const auto& [tags, starts] : pieces) {
    const std::vector<std::string_view> views(tags.begin(), tags.end());
    for (const int64_t start : starts) {
      if (absl::Status status = rollup.codec.Encode(views, start, &key); !status.ok()) return status;
      read.ranges.push_back(RowRange::Single(key));
      if (read.ranges.size() < kRowsPerRequestMax) continue;
      if (absl::Status status = read_all(); !status.ok()) return status;
    }
  }
  if (!read.ranges.empty()) {
    if (absl::Status status = read_all(); !status.ok()) return status;
  }
  return stamps;
}

void RollupKeeper::AddEmptied(const Rollup& rollup, const std::vector<size_t>& fields, int64_t end_micros,
                              RowWrite* row) {
  const size_t aggregates = rollup.declared.aggregates.size();
  for (const size_t field : fields) {
    for (size_t i = field * aggregates; i < (field + 1) * aggregates; ++i) {
      const Field& column = rollup.codec.schema().fields[i];
      row->delete_times.push_back({column.family, column.qualifier, 0, end_micros});
    }
  }
}

absl::Status RollupKeeper::RefreshSeries(const Rollup& rollup, const KeptPoints& kept, const Stamps& stamps,
                                         const Tags& tags, const std::set<int64_t>& starts,
                                         std::vector<RowWrite>* rows) {
  const BucketWidth& every = rollup.declared.every;
  const int64_t now_micros = clock_->NowMicros();
  const auto has_all = [&](int64_t start, size_t field) {
    return kept.HasAll(field, start, every.End(start));
  };
  const auto has_any = [&](int64_t start) {
    return std::any_of(rollup.fields.begin(), rollup.fields.end(),
                       [&](size_t field) { return has_all(start, field); });
  };
  Selection selection;
  for (const std::string& tag : tags) selection.tags.push_back({{tag}, {}});
  selection.fields = rollup.fields;
  RowBatch batch(rollup.codec.schema());
  const std::vector<RollupAggregate>& aggregates = rollup.declared.aggregates;
  for (auto start = starts.begin(); start != starts.end();) {
    if (!has_any(*start)) {
      ++pieces_too_old_;
      ++start;
      continue;
    }
    // Pieces that touch each other are one read.
    selection.from_micros = *start;
    selection.to_micros = every.End(*start);
    for (++start; start != starts.end() && *start == selection.to_micros && has_any(*start); ++start) {
      selection.to_micros = every.End(*start);
    }
    std::map<int64_t, std::vector<Totals>> pieces;
    const absl::Status status =
        ScanPoints(rollup.series, selection, tables_,
                   [&](const DecodedKey&, const RowPoint& point) -> absl::StatusOr<bool> {
                     std::vector<Totals>& piece = pieces[rollup.StartOf(point.time_micros)];
                     piece.resize(rollup.fields.size());
                     for (size_t i = 0; i < rollup.fields.size(); ++i) {
                       if (point.values[i].data() == nullptr) continue;
                       const Field& field = rollup.series.fields[rollup.fields[i]];
                       if (!piece[i].Add(point.time_micros, field, point.values[i])) {
                         return NoNumber(field, point.values[i]);
                       }
                     }
                     return true;
                   });
    if (!status.ok()) return status;
    const std::vector<std::string_view> views(tags.begin(), tags.end());
    for (int64_t piece = selection.from_micros; piece < selection.to_micros; piece = every.End(piece)) {
      std::vector<size_t> emptied;
      const auto found = pieces.find(piece);
      for (size_t i = 0; i < rollup.fields.size(); ++i) {
        const bool is_empty = found == pieces.end() || found->second[i].IsEmpty();
        if (is_empty && has_all(piece, rollup.fields[i])) emptied.push_back(i);
      }
      if (emptied.empty()) continue;
      if (absl::Status encoded = rollup.codec.Encode(views, piece, &key_); !encoded.ok()) return encoded;
      const auto before = stamps.find(key_);
      if (before == stamps.end()) continue;
      // What somebody writes who has begun to read later stays.
      AddEmptied(rollup, emptied, std::max(WholeMillis(now_micros), before->second + kMicrosPerMilli),
                 &rows->emplace_back(RowWrite{.row_key = key_}));
    }
    for (const auto& [piece_start, totals] : pieces) {
      std::vector<std::string> texts(totals.size() * aggregates.size());
      std::vector<std::string_view> values(texts.size());
      for (size_t i = 0; i < texts.size(); ++i) {
        const Totals& field = totals[i / aggregates.size()];
        if (field.IsEmpty() || !has_all(piece_start, rollup.fields[i / aggregates.size()])) continue;
        texts[i] = field.Text(aggregates[i % aggregates.size()]);
        values[i] = texts[i];
      }
      if (std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return text.empty(); }))
        continue;
      if (absl::Status encoded = rollup.codec.Encode(views, piece_start, &key_); !encoded.ok())
        return encoded;
      const auto before = stamps.find(key_);
      const int64_t later_micros = before == stamps.end() ? 0 : before->second + kMicrosPerMilli;
      const EncodedPoint point{views, piece_start, values, std::max(now_micros, later_micros)};
      if (absl::Status prepared = batch.Prepare(point); !prepared.ok()) return prepared;
      batch.Commit(point);
      ++pieces_refreshed_;
    }
  }
  rows->insert(rows->end(), batch.rows().begin(), batch.rows().end());
  return absl::OkStatus();
}

absl::Status RollupKeeper::RefreshStale() {
  RowRead read;
  read.ranges = {RowRange::Prefix(schema_.name + "#")};
  Pieces pieces(rollups_.size());
  std::vector<RowWrite> dead_marks;
  const int64_t dead_before_micros = clock_->NowMicros() - kMarkMicrosMax;
  const absl::Status status = tables_->ReadRows(kMarksTable, read, [&](ReadRow&& row) {
    for (size_t i = 0; i < rollups_.size(); ++i) {
      const std::string prefix = MarkKey(rollups_[i]->declared.table, "");
      DecodedKey key;
      if (!row.row_key.starts_with(prefix) ||
          !rollups_[i]->codec.Decode(std::string_view(row.row_key).substr(prefix.size()), &key).ok()) {
        continue;
      }
      // The mark may be of pieces of another width, which the roll-up had before.
      pieces[i][key.tags].insert(rollups_[i]->StartOf(*key.time_micros));
      RowWrite dead{row.row_key, {}, {}};
      for (const ReadCell& cell : row.cells) {
        if (cell.timestamp_micros < dead_before_micros)
          dead.delete_columns.emplace_back(kMarkFamily, cell.qualifier);
      }
      if (!dead.delete_columns.empty()) dead_marks.push_back(std::move(dead));
    }
    return true;
  });
  if (!status.ok()) return status;
  if (absl::Status refreshed = RefreshPieces(pieces); !refreshed.ok()) return refreshed;
  return WriteRows(kMarksTable, &dead_marks, true);
}

}  // namespace sonde::series
