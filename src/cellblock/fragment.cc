#include "cellblock/fragment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr unsigned char kDeletesAll = 1;
constexpr unsigned char kHasDeletes = 2;
constexpr unsigned char kHasPuts = 4;
constexpr unsigned char kHasAdds = 8;
constexpr unsigned char kAllFlags = kDeletesAll | kHasDeletes | kHasPuts | kHasAdds;

constexpr unsigned char kSharedTimestamps = 1;
constexpr unsigned char kMillis = 2;
constexpr int64_t kMicrosPerMillis = 1000;

// More cells in one fragment are damage: a row of 256 MiB cannot hold them.
constexpr uint64_t kFragmentCellsMax = uint64_t{1} << 28;

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(fmt::format("A stored fragment is damaged: {}", what));
}

// Where each column of sorted cells begins, and the end of the last.
struct Columns {
  std::vector<std::string_view> qualifiers;
  std::vector<size_t> starts;
};

void FindColumns(absl::Span<const CellView> cells, Columns* columns) {
  columns->qualifiers.clear();
  columns->starts.clear();
  for (size_t i = 0; i < cells.size(); ++i) {
    const int qualifier_order = i == 0 ? -1 : cells[i - 1].qualifier.compare(cells[i].qualifier);
    // What is out of order would be read as damage, of a write that was acknowledged.
    CHECK(qualifier_order < 0 ||
          (qualifier_order == 0 && cells[i - 1].timestamp_micros > cells[i].timestamp_micros));
    if (qualifier_order != 0) {
      columns->qualifiers.push_back(cells[i].qualifier);
      columns->starts.push_back(i);
    }
  }
  columns->starts.push_back(cells.size());
}

void EncodeColumns(const Columns& columns, const ShapeSource& shapes, std::string* out) {
  ShapeId id = 0;
  if (shapes.Find(columns.qualifiers, &id)) {
    PutVarint(out, uint64_t{id} * 2 + 1);
    return;
  }
  PutVarint(out, columns.qualifiers.size() * 2);
  std::string_view before;
  for (const std::string_view qualifier : columns.qualifiers) {
    const size_t shared =
        std::mismatch(before.begin(), before.end(), qualifier.begin(), qualifier.end()).first -
        before.begin();
    PutVarint(out, shared);
    PutBytes(out, qualifier.substr(shared));
    before = qualifier;
  }
}

void EncodeTimestampList(absl::Span<const CellView> column, int64_t unit, std::string* out) {
  PutVarint(out, column.size());
  int64_t before = column[0].timestamp_micros / unit;
  PutVarint(out, static_cast<uint64_t>(before));
  int64_t step_before = 0;
  for (const CellView& cell : column.subspan(1)) {
    const int64_t now = cell.timestamp_micros / unit;
    const int64_t step = before - now;
    PutVarint(out, ZigZag(step - step_before));
    before = now;
    step_before = step;
  }
}

void EncodeTimestamps(absl::Span<const CellView> cells, const Columns& columns, std::string* out) {
  const size_t count = columns.qualifiers.size();
  const absl::Span<const CellView> first = cells.subspan(0, columns.starts[1]);
  bool shared = true;
  for (size_t i = 1; i < count && shared; ++i) {
    const auto column = cells.subspan(columns.starts[i], columns.starts[i + 1] - columns.starts[i]);
    shared = std::equal(
        first.begin(), first.end(), column.begin(), column.end(),
        [](const CellView& a, const CellView& b) { return a.timestamp_micros == b.timestamp_micros; });
  }
  const bool millis = std::all_of(cells.begin(), cells.end(), [](const CellView& cell) {
    return cell.timestamp_micros % kMicrosPerMillis == 0;
  });
  out->push_back(static_cast<char>((shared ? kSharedTimestamps : 0) | (millis ? kMillis : 0)));
  const int64_t unit = millis ? kMicrosPerMillis : 1;
  for (size_t i = 0; i < (shared ? 1 : count); ++i) {
    EncodeTimestampList(cells.subspan(columns.starts[i], columns.starts[i + 1] - columns.starts[i]), unit,
                        out);
  }
}

void EncodeValues(absl::Span<const CellView> column, std::string* out) {
  const size_t length = column[0].value.size();
  const bool same = std::all_of(column.begin(), column.end(),
                                [length](const CellView& cell) { return cell.value.size() == length; });
  if (same) {
    PutVarint(out, uint64_t{length} + 1);
  } else {
    PutVarint(out, 0);
    for (const CellView& cell : column) PutVarint(out, cell.value.size());
  }
  for (const CellView& cell : column) out->append(cell.value);
}

void EncodeCells(absl::Span<const CellView> cells, const ShapeSource& shapes, std::string* out) {
  static thread_local Columns columns;  // scratch: this runs for every row of every write
  FindColumns(cells, &columns);
  EncodeColumns(columns, shapes, out);
  EncodeTimestamps(cells, columns, out);
  for (size_t i = 0; i < columns.qualifiers.size(); ++i) {
    EncodeValues(cells.subspan(columns.starts[i], columns.starts[i + 1] - columns.starts[i]), out);
  }
}

void Encode(bool delete_all, absl::Span<const FamilyDelta::ColumnDelete> deletes,
            absl::Span<const CellView> puts, AggregateKind kind, absl::Span<const CellView> adds,
            const ShapeSource& shapes, std::string* out) {
  out->push_back(kFragmentFormat);
  out->push_back(static_cast<char>((delete_all ? kDeletesAll : 0) | (deletes.empty() ? 0 : kHasDeletes) |
                                   (puts.empty() ? 0 : kHasPuts) | (adds.empty() ? 0 : kHasAdds)));
  if (!deletes.empty()) {
    PutVarint(out, deletes.size());
    const FamilyDelta::ColumnDelete* before = nullptr;
    for (const FamilyDelta::ColumnDelete& deletion : deletes) {
      CHECK(before == nullptr || before->qualifier <= deletion.qualifier);
      before = &deletion;
      const auto& [qualifier, range] = deletion;
      PutBytes(out, qualifier);
      PutVarint(out, static_cast<uint64_t>(range.start_micros));
      PutVarint(out, static_cast<uint64_t>(range.end_micros));
    }
  }
  if (!puts.empty()) EncodeCells(puts, shapes, out);
  if (!adds.empty()) {
    out->push_back(static_cast<char>(kind));
    EncodeCells(adds, shapes, out);
  }
}

// A stretch of a column's cells, by position.
struct Stretch {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
};

// Which cells of a column are asked for.
class Selection {
 public:
  explicit Selection(const ReadHints& hints)
      : start_(hints.time_range.start_micros),
        end_(hints.time_range.End()),
        newest_(hints.newest_per_column.value_or(std::numeric_limits<int64_t>::max())),
        columns_(hints.columns.has_value() ? &*hints.columns : nullptr),
        with_values_(!hints.keys_only) {}

  // Qualifiers ascend from call to call.
  bool Wants(std::string_view qualifier) {
    if (columns_ == nullptr) return true;
    while (next_ < columns_->size() && !(*columns_)[next_].end.empty() && (*columns_)[next_].end <= qualifier)
      ++next_;
    return next_ < columns_->size() && (*columns_)[next_].start <= qualifier;
  }

  // The stretch of `timestamps`, which must descend.
  Stretch Of(const std::vector<int64_t>& timestamps) const {
    const auto first = std::partition_point(timestamps.begin(), timestamps.end(), [this](int64_t micros) {
      return static_cast<uint64_t>(micros) >= end_;
    });
    auto last =
        std::partition_point(first, timestamps.end(), [this](int64_t micros) { return micros >= start_; });
    if (last - first > newest_) last = first + newest_;
    return {static_cast<size_t>(first - timestamps.begin()), static_cast<size_t>(last - timestamps.begin())};
  }

  bool with_values() const { return with_values_; }

 private:
  const int64_t start_;
  const uint64_t end_;
  const int64_t newest_;
  const std::vector<ReadHints::ColumnRange>* const columns_;
  size_t next_ = 0;
  const bool with_values_;
};

// Reads one `cells` from the front of *in.
class CellsDecoder {
 public:
  // `last`: nothing follows, so that what is not wanted at the end need not be looked at.
  CellsDecoder(std::string_view* in, const ShapeSource& shapes, const ReadHints& hints, bool last,
               Fragment* fragment)
      : in_(*in), shapes_(shapes), selection_(hints), last_(last), fragment_(*fragment) {}

  absl::Status Decode(std::vector<CellView>* cells) {
    if (absl::Status status = DecodeColumns(); !status.ok()) return status;
    if (in_.empty()) return Damaged("no timestamps");
    const auto mode = static_cast<unsigned char>(in_[0]);
    in_.remove_prefix(1);
    if (mode > (kSharedTimestamps | kMillis)) return Damaged("unknown timestamp mode");
    unit_ = (mode & kMillis) ? kMicrosPerMillis : 1;
    return (mode & kSharedTimestamps) ? DecodeShared(cells) : DecodeSeparate(cells);
  }

 private:
  absl::Status DecodeColumns() {
    uint64_t head = 0;
    if (!GetVarint(&in_, &head)) return Damaged("no columns");
    if (head & 1) {
      const uint64_t id = head >> 1;
      const Shape* shape =
          id <= std::numeric_limits<ShapeId>::max() ? shapes_.Get(static_cast<ShapeId>(id)) : nullptr;
      if (shape == nullptr) return Damaged(fmt::format("unknown row shape {}", id));
      qualifiers_.assign(shape->begin(), shape->end());
      return absl::OkStatus();
    }
    const uint64_t count = head >> 1;
    if (count == 0 || count > in_.size()) return Damaged("column count");
    qualifiers_.clear();
    qualifiers_.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t shared = 0;
      std::string_view suffix;
      if (!GetVarint(&in_, &shared) || !GetBytes(&in_, &suffix)) return Damaged("columns cut short");
      const std::string_view before = i == 0 ? std::string_view() : qualifiers_.back();
      if (shared > before.size()) return Damaged("column prefix");
      if (shared == 0) {
        qualifiers_.push_back(suffix);
      } else {
        auto whole = std::make_unique<std::string>(before.substr(0, shared));
        whole->append(suffix);
        qualifiers_.push_back(*whole);
        fragment_.owned.push_back(std::move(whole));
      }
      if (i > 0 && qualifiers_[i] <= qualifiers_[i - 1]) return Damaged("columns out of order");
    }
    return absl::OkStatus();
  }

  // Into timestamps_, newest first.
  absl::Status DecodeTimestampList() {
    timestamps_.clear();
    uint64_t count = 0, newest = 0;
    if (!GetVarint(&in_, &count) || count == 0 || count > in_.size() || !GetVarint(&in_, &newest)) {
      return Damaged("timestamps cut short");
    }
    if (newest > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / unit_))
      return Damaged("timestamp too big");
    timestamps_.reserve(count);
    auto now = static_cast<int64_t>(newest);
    int64_t step = 0;
    timestamps_.push_back(now * unit_);
    for (uint64_t i = 1; i < count; ++i) {
      uint64_t difference = 0;
      if (!GetVarint(&in_, &difference)) return Damaged("timestamps cut short");
      if (__builtin_add_overflow(step, UnZigZag(difference), &step) || step <= 0 || step > now) {
        return Damaged("timestamps out of order");
      }
      now -= step;
      timestamps_.push_back(now * unit_);
    }
    return absl::OkStatus();
  }

  absl::Status DecodeShared(std::vector<CellView>* cells) {
    if (absl::Status status = DecodeTimestampList(); !status.ok()) return status;
    if (timestamps_.size() > kFragmentCellsMax / qualifiers_.size()) return Damaged("too many cells");
    const Stretch wanted = selection_.Of(timestamps_);
    if (wanted.size() == 0 && last_) {
      in_ = {};
      return absl::OkStatus();
    }
    cells->reserve(cells->size() + wanted.size() * qualifiers_.size());
    for (const std::string_view qualifier : qualifiers_) {
      const Stretch of_column = selection_.Wants(qualifier) ? wanted : Stretch();
      const size_t start = cells->size();
      for (size_t i = of_column.begin; i < of_column.end; ++i)
        cells->push_back({qualifier, timestamps_[i], {}});
      absl::Status status =
          DecodeValues(timestamps_.size(), of_column, absl::MakeSpan(*cells).subspan(start));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status DecodeSeparate(std::vector<CellView>* cells) {
    struct List {
      size_t count;
      Stretch wanted;
    };
    const size_t start = cells->size();
    std::vector<List> lists;
    lists.reserve(qualifiers_.size());
    for (const std::string_view qualifier : qualifiers_) {
      if (absl::Status status = DecodeTimestampList(); !status.ok()) return status;
      const Stretch wanted = selection_.Wants(qualifier) ? selection_.Of(timestamps_) : Stretch();
      for (size_t i = wanted.begin; i < wanted.end; ++i) cells->push_back({qualifier, timestamps_[i], {}});
      lists.push_back({timestamps_.size(), wanted});
    }
    size_t at = start;
    for (const List& list : lists) {
      const auto column = absl::MakeSpan(*cells).subspan(at, list.wanted.size());
      if (absl::Status status = DecodeValues(list.count, list.wanted, column); !status.ok()) return status;
      at += list.wanted.size();
    }
    return absl::OkStatus();
  }

  // Gives `column`, the cells at `wanted` among the `count` of the column, their values.
  absl::Status DecodeValues(size_t count, const Stretch& wanted, absl::Span<CellView> column) {
    uint64_t length = 0;
    if (!GetVarint(&in_, &length)) return Damaged("values cut short");
    if (length != 0) {
      --length;
      if (length > in_.size() / count) return Damaged("values cut short");
      if (selection_.with_values()) {
        for (size_t i = 0; i < column.size(); ++i)
          column[i].value = in_.substr((wanted.begin + i) * length, length);
      }
      in_.remove_prefix(count * length);
      return absl::OkStatus();
    }
    lengths_.clear();
    uint64_t before = 0, total = 0;  // bytes of the values before the wanted ones, and of all
    for (size_t i = 0; i < count; ++i) {
      if (!GetVarint(&in_, &length) || length > in_.size()) return Damaged("values cut short");
      if (i == wanted.begin) before = total;
      if (i >= wanted.begin && i < wanted.end) lengths_.push_back(length);
      total += length;
    }
    if (total > in_.size()) return Damaged("values cut short");
    if (selection_.with_values()) {
      std::string_view values = in_.substr(before);
      for (size_t i = 0; i < column.size(); ++i) {
        column[i].value = values.substr(0, lengths_[i]);
        values.remove_prefix(lengths_[i]);
      }
    }
    in_.remove_prefix(total);
    return absl::OkStatus();
  }

  std::string_view& in_;
  const ShapeSource& shapes_;
  Selection selection_;
  const bool last_;
  Fragment& fragment_;
  int64_t unit_ = 1;
  std::vector<std::string_view>& qualifiers_ = fragment_.scratch.qualifiers;
  std::vector<int64_t>& timestamps_ = fragment_.scratch.timestamps;
  std::vector<uint64_t>& lengths_ = fragment_.scratch.lengths;
};

absl::Status DecodeDeletes(std::string_view* in, Fragment* fragment) {
  uint64_t count = 0;
  if (!GetVarint(in, &count) || count == 0 || count > in->size()) return Damaged("delete count");
  fragment->deletes.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    FamilyDelta::ColumnDelete column;
    uint64_t start = 0, end = 0;
    if (!GetBytes(in, &column.qualifier) || !GetVarint(in, &start) || !GetVarint(in, &end)) {
      return Damaged("deletes cut short");
    }
    column.time_range = {static_cast<int64_t>(start), static_cast<int64_t>(end)};
    if (i > 0 && column.qualifier < fragment->deletes.back().qualifier)
      return Damaged("deletes out of order");
    fragment->deletes.push_back(column);
  }
  return absl::OkStatus();
}

}  // namespace

void Fragment::Clear() {
  delete_all = false;
  deletes.clear();
  puts.clear();
  kind = AggregateKind::kNone;
  adds.clear();
  owned.clear();
}

void EncodeFragment(const FamilyDelta& delta, const ShapeSource& shapes, std::string* out) {
  if (delta.adds.empty()) {
    Encode(delta.delete_all, delta.deletes, delta.puts, AggregateKind::kNone, {}, shapes, out);
    return;
  }
  std::string states;
  states.reserve(delta.adds.size() * sizeof(uint64_t));
  for (const FamilyDelta::Add& add : delta.adds) PutFixed64(&states, static_cast<uint64_t>(add.state));
  std::vector<CellView> adds;
  adds.reserve(delta.adds.size());
  for (size_t i = 0; i < delta.adds.size(); ++i) {
    const std::string_view state = std::string_view(states).substr(i * sizeof(uint64_t), sizeof(uint64_t));
    adds.push_back({delta.adds[i].qualifier, delta.adds[i].timestamp_micros,
                    IsHll(delta.aggregate) ? std::string_view(delta.adds[i].sketch) : state});
  }
  Encode(delta.delete_all, delta.deletes, delta.puts, delta.aggregate, adds, shapes, out);
}

void EncodeFragment(const Fragment& fragment, const ShapeSource& shapes, std::string* out) {
  Encode(fragment.delete_all, fragment.deletes, fragment.puts, fragment.kind, fragment.adds, shapes, out);
}

absl::Status DecodeFragment(std::string_view bytes, const ShapeSource& shapes, Fragment* fragment) {
  static const ReadHints everything;
  return DecodeFragment(bytes, shapes, everything, fragment);
}

absl::Status DecodeFragment(std::string_view bytes, const ShapeSource& shapes, const ReadHints& hints,
                            Fragment* fragment) {
  fragment->Clear();
  if (bytes.size() < 2) return Damaged("too short");
  if (bytes[0] != kFragmentFormat)
    return Damaged(fmt::format("unknown format {}", static_cast<unsigned char>(bytes[0])));
  const auto flags = static_cast<unsigned char>(bytes[1]);
  if (flags & ~kAllFlags) return Damaged("unknown flags");
  std::string_view in = bytes.substr(2);
  fragment->delete_all = flags & kDeletesAll;
  if (flags & kHasDeletes) {
    if (absl::Status status = DecodeDeletes(&in, fragment); !status.ok()) return status;
  }
  if (flags & kHasPuts) {
    CellsDecoder decoder(&in, shapes, hints, /*last=*/!(flags & kHasAdds), fragment);
    if (absl::Status status = decoder.Decode(&fragment->puts); !status.ok()) return status;
  }
  if (flags & kHasAdds) {
    const auto kind = in.empty() ? 0 : static_cast<unsigned char>(in[0]);
    if (kind == 0 || kind > static_cast<unsigned char>(kAggregateKindLast))
      return Damaged("unknown aggregate");
    fragment->kind = static_cast<AggregateKind>(kind);
    in.remove_prefix(1);
    CellsDecoder decoder(&in, shapes, hints, /*last=*/true, fragment);
    if (absl::Status status = decoder.Decode(&fragment->adds); !status.ok()) return status;
    for (const CellView& add : fragment->adds) {
      const bool is_damaged = !IsHll(fragment->kind) && add.value.size() != sizeof(uint64_t);
      if (is_damaged && !hints.keys_only) return Damaged("aggregate state");
    }
  }
  if (!in.empty()) return Damaged("bytes left over");
  return absl::OkStatus();
}

void TakeCells(Fragment* fragment, std::vector<CellView>* cells) {
  if (fragment->adds.empty()) {
    cells->swap(fragment->puts);
    return;
  }
  if (fragment->puts.empty()) {
    cells->swap(fragment->adds);
    return;
  }
  cells->clear();
  std::merge(fragment->puts.begin(), fragment->puts.end(), fragment->adds.begin(), fragment->adds.end(),
             std::back_inserter(*cells), [](const CellView& a, const CellView& b) {
               return a.qualifier != b.qualifier ? a.qualifier < b.qualifier
                                                 : a.timestamp_micros > b.timestamp_micros;
             });
}

std::optional<PutsOfShape> PeekPutsOfShape(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != kFragmentFormat || static_cast<unsigned char>(bytes[1]) != kHasPuts) {
    return std::nullopt;
  }
  bytes.remove_prefix(2);
  uint64_t columns = 0, count = 0, newest = 0;
  if (!GetVarint(&bytes, &columns) || (columns & 1) == 0 || bytes.empty()) return std::nullopt;
  const auto mode = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  if ((mode & kSharedTimestamps) == 0 || !GetVarint(&bytes, &count) || !GetVarint(&bytes, &newest)) {
    return std::nullopt;
  }
  const int64_t unit = (mode & kMillis) ? kMicrosPerMillis : 1;
  if (columns >> 1 > std::numeric_limits<ShapeId>::max() ||
      newest > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / unit)) {
    return std::nullopt;
  }
  return PutsOfShape{static_cast<ShapeId>(columns >> 1), static_cast<int64_t>(newest) * unit};
}

bool IsFragmentWithoutAdds(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == kFragmentFormat &&
         (static_cast<unsigned char>(bytes[1]) & kHasAdds) == 0;
}

bool IsFragmentWithoutDeletes(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == kFragmentFormat &&
         (static_cast<unsigned char>(bytes[1]) & (kDeletesAll | kHasDeletes)) == 0;
}

}  // namespace sonde
