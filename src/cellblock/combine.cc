// Combine: several fragments into one.
//
// Fragments are walked from the newest to the oldest.  Each column gathers its cells in that order, less
// those that a newer fragment deletes; then it is sorted by time where it is not already (it is when points
// came in order), and of the entries at one timestamp the newest put wins, with the newer adds folded into
// it.

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/varint.h"
#include "cellblock/fragment.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"

namespace sonde {
namespace {

// A set of timestamps: disjoint ranges [start, end), ascending.
class TimeSet {
 public:
  void Add(const TimeRange& range) {
    auto start = static_cast<uint64_t>(std::max<int64_t>(range.start_micros, 0));
    uint64_t end = range.End();
    if (start >= end) return;
    const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), start,
                                        [](const Range& a, uint64_t micros) { return a.end < micros; });
    auto last = first;
    for (; last != ranges_.end() && last->start <= end; ++last) {
      start = std::min(start, last->start);
      end = std::max(end, last->end);
    }
    ranges_.insert(ranges_.erase(first, last), Range{start, end});
  }

  bool Contains(int64_t micros) const {
    const auto value = static_cast<uint64_t>(micros);
    const auto at = std::upper_bound(ranges_.begin(), ranges_.end(), value,
                                     [](uint64_t time, const Range& a) { return time < a.end; });
    return at != ranges_.end() && at->start <= value;
  }

  bool IsEmpty() const { return ranges_.empty(); }

  void AppendTo(std::string_view qualifier, std::vector<FamilyDelta::ColumnDelete>* deletes) const {
    for (const auto& [start, end] : ranges_) deletes->push_back({qualifier, TimeRange::Of(start, end)});
  }

 private:
  struct Range {
    uint64_t start;
    uint64_t end;
  };
  std::vector<Range> ranges_;
};

struct Entry {
  int64_t timestamp_micros;
  std::string_view value;
  AggregateKind kind;  // kNone: a put
};

// Adds of a kind, the newest first, perhaps with a put as the oldest.
std::string FoldIntegers(AggregateKind kind, absl::Span<const Entry> entries) {
  int64_t state = DecodeAggregateState(entries[0].value);
  for (const Entry& older : entries.subspan(1)) {
    state = FoldAggregate(kind, DecodeAggregateState(older.value), state);
  }
  std::string bytes;
  PutFixed64(&bytes, static_cast<uint64_t>(state));
  return bytes;
}

// DATA_LOSS: a sketch is damaged.
absl::Status FoldStates(AggregateKind kind, absl::Span<const Entry> entries, std::string* state) {
  if (!IsHll(kind)) {
    *state = FoldIntegers(kind, entries);
    return absl::OkStatus();
  }
  HllSketch sum(kind);
  for (const Entry& entry : entries) {
    const absl::StatusOr<HllSketch> sketch = HllSketch::Parse(kind, entry.value);
    if (!sketch.ok()) return absl::DataLossError(sketch.status().message());
    sum.Merge(*sketch);
  }
  *state = sum.Serialize();
  return absl::OkStatus();
}

// The order of cells in a row and family.
bool ComesBefore(const CellView& a, const CellView& b) {
  const int order = a.qualifier.data() == b.qualifier.data() && a.qualifier.size() == b.qualifier.size()
                        ? 0
                        : a.qualifier.compare(b.qualifier);
  return order != 0 ? order < 0 : a.timestamp_micros > b.timestamp_micros;
}

// Whether the deletes of a fragment reach cells that come in order.
class DeletedCells {
 public:
  explicit DeletedCells(const FragmentEdits& edits) : all_(edits.delete_all), rest_(edits.deletes) {}

  bool Contains(const CellView& cell) {
    if (all_) return true;
    while (!rest_.empty() && rest_.front().qualifier < cell.qualifier) rest_.remove_prefix(1);
    for (const FamilyDelta::ColumnDelete& deletion : rest_) {
      if (deletion.qualifier != cell.qualifier) break;
      if (deletion.time_range.Contains(cell.timestamp_micros)) return true;
    }
    return false;
  }

 private:
  const bool all_;
  absl::Span<const FamilyDelta::ColumnDelete> rest_;
};

struct Column {
  std::string_view qualifier;
  std::vector<Entry> entries;  // as gathered: from the newest fragment to the oldest
  TimeSet deleted;             // by the fragments walked so far
};

class Combiner {
 public:
  // `states` holds the folded values, and must live as long as the result.
  explicit Combiner(std::deque<std::string>* states) : states_(*states) {}

  // Fragments come newest first; what their views point into must live as long as the result.
  void AddOlder(const Fragment& fragment) {
    Gather(fragment.puts, AggregateKind::kNone);
    Gather(fragment.adds, fragment.kind);
    for (const auto& [qualifier, range] : fragment.deletes) columns_[Find(qualifier)].deleted.Add(range);
  }

  // DATA_LOSS: a sketch is damaged.
  absl::Status Finish(Fragment* result) {
    std::sort(columns_.begin(), columns_.end(),
              [](const Column& a, const Column& b) { return a.qualifier < b.qualifier; });
    for (Column& column : columns_) {
      column.deleted.AppendTo(column.qualifier, &result->deletes);
      FinishColumn(&column, result);
    }
    return status_;
  }

 private:
  size_t Find(std::string_view qualifier) {
    const auto [at, is_new] = index_.try_emplace(qualifier, columns_.size());
    if (is_new) columns_.push_back({qualifier, {}, {}});
    return at->second;
  }

  void Gather(const std::vector<CellView>& cells, AggregateKind kind) {
    size_t position = 0;  // of the column within this fragment
    size_t column = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i == 0 || cells[i].qualifier != cells[i - 1].qualifier) {
        column = FindAt(position++, cells[i].qualifier);
      }
      Column& to = columns_[column];
      if (!to.deleted.IsEmpty() && to.deleted.Contains(cells[i].timestamp_micros)) continue;
      to.entries.push_back({cells[i].timestamp_micros, cells[i].value, kind});
    }
  }

  // Fragments of one shape name the same columns in the same places.
  size_t FindAt(size_t position, std::string_view qualifier) {
    if (position < places_.size() && columns_[places_[position]].qualifier == qualifier)
      return places_[position];
    const size_t column = Find(qualifier);
    if (position >= places_.size()) places_.resize(position + 1);
    places_[position] = column;
    return column;
  }

  void FinishColumn(Column* column, Fragment* result) {
    std::vector<Entry>& entries = column->entries;
    const auto newer_first = [](const Entry& a, const Entry& b) {
      return a.timestamp_micros > b.timestamp_micros;
    };
    const bool strictly_sorted =
        std::adjacent_find(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
          return a.timestamp_micros <= b.timestamp_micros;
        }) == entries.end();
    if (!strictly_sorted) std::stable_sort(entries.begin(), entries.end(), newer_first);
    for (size_t i = 0; i < entries.size();) {
      size_t end = i + 1;
      while (end < entries.size() && entries[end].timestamp_micros == entries[i].timestamp_micros) ++end;
      const Entry entry = end == i + 1 ? entries[i] : Fold(absl::MakeSpan(entries).subspan(i, end - i));
      if (entry.kind == AggregateKind::kNone) {
        result->puts.push_back({column->qualifier, entry.timestamp_micros, entry.value});
      } else {
        result->kind = entry.kind;
        result->adds.push_back({column->qualifier, entry.timestamp_micros, entry.value});
      }
      i = end;
    }
  }

  // Entries of one timestamp, the newest first.
  Entry Fold(absl::Span<const Entry> entries) {
    Entry result = entries[0];
    if (result.kind == AggregateKind::kNone) return result;
    // Down to the first put.  An aggregate never changes its kind; were it to, the newer edits would stand
    // alone.
    size_t count = 1;
    while (count < entries.size() && entries[count].kind == result.kind) ++count;
    if (count < entries.size() && entries[count].kind == AggregateKind::kNone) {
      ++count;
      result.kind = AggregateKind::kNone;
    }
    const absl::Span<const Entry> folded = entries.subspan(0, count);
    status_.Update(FoldStates(entries[0].kind, folded, &states_.emplace_back()));
    result.value = states_.back();
    return result;
  }

  absl::Status status_;
  std::vector<Column> columns_;
  absl::flat_hash_map<std::string_view, size_t> index_;
  std::vector<size_t> places_;
  std::deque<std::string>& states_;
};

// If a row is written step by step, only its last fragments have the newest cells.  This knows which other
// fragments need not be decoded, as each of their columns has `count` newer cells.  For fragments that delete
// and add nothing.
class NewestOfShape {
 public:
  explicit NewestOfShape(std::optional<int64_t> count)
      : count_(count.has_value() && *count > 0 && *count <= kCountMax ? static_cast<size_t>(*count) : 0) {}

  bool Covers(const PutsOfShape& puts) const {
    return newest_.size() == count_ && puts.shape == shape_ && puts.newest_micros < newest_.back();
  }

  // `cells`: what such a fragment puts, of what is asked for.
  void Add(ShapeId shape, absl::Span<const CellView> cells) {
    if (newest_.empty()) shape_ = shape;
    if (shape != shape_) return;
    for (const CellView& cell : cells) {
      if (cell.qualifier != cells[0].qualifier) break;  // its other columns have the same times
      const auto at =
          std::lower_bound(newest_.begin(), newest_.end(), cell.timestamp_micros, std::greater<>());
      if (at != newest_.end() && *at == cell.timestamp_micros) continue;
      newest_.insert(at, cell.timestamp_micros);
      if (newest_.size() > count_) newest_.pop_back();
    }
  }

  bool is_useful() const { return count_ > 0; }

 private:
  static constexpr int64_t kCountMax = 64;

  const size_t count_;
  ShapeId shape_ = 0;
  std::vector<int64_t> newest_;  // times, descending, at most count_
};

}  // namespace

absl::Status Combine(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                     CombineOptions options, std::string* out) {
  std::vector<Fragment> decoded(fragments.size());
  std::deque<std::string> states;
  Combiner combiner(&states);
  Fragment result;
  for (size_t i = fragments.size(); i-- > 0;) {
    if (absl::Status status = DecodeFragment(fragments[i], shapes, &decoded[i]); !status.ok()) return status;
    combiner.AddOlder(decoded[i]);
    if (decoded[i].delete_all) {
      result.delete_all = true;
      break;
    }
  }
  if (absl::Status status = combiner.Finish(&result); !status.ok()) return status;
  if (options.nothing_older) result.delete_all = false;
  if (options.nothing_older || result.delete_all) result.deletes.clear();
  EncodeFragment(result, shapes, out);
  return absl::OkStatus();
}

FragmentEdits FragmentEdits::TakeBefore(std::string_view qualifier, int64_t timestamp_micros) {
  const CellView place{qualifier, timestamp_micros, {}};
  const auto take = [&](absl::Span<const CellView>* cells) {
    const auto end = std::lower_bound(cells->begin(), cells->end(), place, ComesBefore);
    const absl::Span<const CellView> taken = cells->subspan(0, end - cells->begin());
    cells->remove_prefix(taken.size());
    return taken;
  };
  FragmentEdits taken = *this;
  taken.puts = take(&puts);
  taken.adds = take(&adds);
  return taken;
}

absl::Status Overlay(const FragmentEdits& newer, absl::Span<const CellView> older,
                     std::deque<std::string>* states, std::vector<CellView>* cells) {
  cells->clear();
  DeletedCells deleted(newer);
  absl::Span<const CellView> puts = newer.puts, adds = newer.adds;
  if (newer.delete_all) older = {};
  while (!puts.empty() || !adds.empty()) {
    const bool is_put = adds.empty() || (!puts.empty() && ComesBefore(puts.front(), adds.front()));
    absl::Span<const CellView>& from = is_put ? puts : adds;
    const CellView& edit = from.front();
    for (; !older.empty() && ComesBefore(older.front(), edit); older.remove_prefix(1)) {
      if (!deleted.Contains(older.front())) cells->push_back(older.front());
    }
    cells->push_back(edit);
    if (!older.empty() && !ComesBefore(edit, older.front())) {  // the same place
      if (!is_put && !deleted.Contains(older.front())) {
        const Entry entries[] = {{edit.timestamp_micros, edit.value, newer.kind},
                                 {edit.timestamp_micros, older.front().value, AggregateKind::kNone}};
        absl::Status status = FoldStates(newer.kind, entries, &states->emplace_back());
        if (!status.ok()) return status;
        cells->back().value = states->back();
      }
      older.remove_prefix(1);
    }
    from.remove_prefix(1);
  }
  for (const CellView& cell : older) {
    if (!deleted.Contains(cell)) cells->push_back(cell);
  }
  return absl::OkStatus();
}

absl::Status FragmentsReader::Read(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                   const ReadHints& hints, std::vector<CellView>* cells) {
  absl::Status status = fragments.size() == 1 ? DecodeFragment(fragments[0], shapes, hints, &fragment_)
                                              : CombineAll(fragments, shapes, hints);
  if (status.ok()) TakeCells(&fragment_, cells);
  return status;
}

absl::StatusOr<const Fragment*> FragmentsReader::ReadEdits(absl::Span<const std::string_view> fragments,
                                                           const ShapeSource& shapes,
                                                           const ReadHints& hints) {
  if (absl::Status status = CombineAll(fragments, shapes, hints); !status.ok()) return status;
  return &fragment_;
}

absl::Status FragmentsReader::ReadOver(absl::Span<const CellView> older,
                                       absl::Span<const std::string_view> fragments,
                                       const ShapeSource& shapes, const ReadHints& hints,
                                       std::vector<CellView>* cells) {
  if (absl::Status status = CombineAll(fragments, shapes, hints); !status.ok()) return status;
  return Overlay(FragmentEdits(fragment_), older, &states_, cells);
}

absl::Status FragmentsReader::CombineAll(absl::Span<const std::string_view> fragments,
                                         const ShapeSource& shapes, const ReadHints& hints) {
  owned_.clear();
  states_.clear();
  ReadHints of_each = hints;
  // The newest of all are among the newest of each, unless one deletes or adds to cells of another.
  if (!std::all_of(fragments.begin(), fragments.end(), [](std::string_view fragment) {
        return IsFragmentWithoutDeletes(fragment) && IsFragmentWithoutAdds(fragment);
      })) {
    of_each.newest_per_column.reset();
  }
  of_each.keys_only = false;  // adds are folded
  if (fragments.size() == 1) return DecodeFragment(fragments[0], shapes, of_each, &fragment_);
  Combiner combiner(&states_);
  NewestOfShape newest(of_each.newest_per_column);
  bool delete_all = false;
  for (size_t i = fragments.size(); i-- > 0 && !delete_all;) {
    std::optional<PutsOfShape> puts;
    if (newest.is_useful()) puts = PeekPutsOfShape(fragments[i]);
    if (puts.has_value() && newest.Covers(*puts)) continue;
    if (absl::Status status = DecodeFragment(fragments[i], shapes, of_each, &fragment_); !status.ok())
      return status;
    if (puts.has_value()) newest.Add(puts->shape, fragment_.puts);
    combiner.AddOlder(fragment_);
    std::move(fragment_.owned.begin(), fragment_.owned.end(), std::back_inserter(owned_));
    delete_all = fragment_.delete_all;
  }
  fragment_.Clear();
  fragment_.delete_all = delete_all;
  return combiner.Finish(&fragment_);
}

}  // namespace sonde
