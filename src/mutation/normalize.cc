#include "mutation/normalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/varint.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr std::string_view kTypeMismatch = "Column family type mismatch";

// An edit of one family, with its place in the request.
struct Edit {
  std::string_view qualifier;
  int64_t timestamp_micros = 0;
  std::string_view value;  // of an add in an HLL family: its sketch
  int64_t state = 0;       // of another add
  uint32_t order = 0;
};

struct OrderedDelete {
  std::string_view qualifier;
  TimeRange range;
  uint32_t order = 0;
};

// The mutations of one family.  Kept from row to row for its memory.
struct FamilyEdits {
  const FamilySchema* schema = nullptr;
  std::vector<Edit> edits;
  std::vector<OrderedDelete> deletes;
  bool delete_all = false;  // before the edits and deletes that are here
};

absl::Status MutateError(const TableSchema& schema, std::string_view row_key, absl::StatusCode code,
                         std::string_view what) {
  return absl::Status(code, fmt::format("Error while mutating the row '{}' ({}) : {}", Printable(row_key),
                                        schema.name, what));
}

// Answers, for timestamps of one column, which delete that covers it was asked for last.
class DeleteCover {
 public:
  explicit DeleteCover(absl::Span<const OrderedDelete> deletes) {
    struct Event {
      uint64_t at;
      bool starts;
      uint32_t order;
    };
    std::vector<Event> events;
    for (const OrderedDelete& del : deletes) {
      events.push_back({static_cast<uint64_t>(del.range.start_micros), true, del.order});
      events.push_back({del.range.End(), false, del.order});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
    std::set<uint32_t> open;
    for (size_t i = 0; i < events.size(); ++i) {
      events[i].starts ? static_cast<void>(open.insert(events[i].order))
                       : static_cast<void>(open.erase(events[i].order));
      if (i + 1 < events.size() && events[i + 1].at == events[i].at) continue;
      steps_.push_back({events[i].at, open.empty() ? std::optional<uint32_t>() : *open.rbegin()});
    }
  }

  std::optional<uint32_t> LastOrderAt(int64_t micros) const {
    const auto at = std::upper_bound(steps_.begin(), steps_.end(), static_cast<uint64_t>(micros),
                                     [](uint64_t value, const Step& step) { return value < step.from; });
    return at == steps_.begin() ? std::nullopt : std::prev(at)->last_order;
  }

  // The covered times as disjoint ranges, ascending.
  void AppendRanges(std::string_view qualifier, std::vector<FamilyDelta::ColumnDelete>* deletes) const {
    for (size_t i = 0; i < steps_.size();) {
      if (!steps_[i].last_order.has_value()) {
        ++i;
        continue;
      }
      const uint64_t start = steps_[i].from;
      while (i < steps_.size() && steps_[i].last_order.has_value()) ++i;
      const uint64_t end = i < steps_.size() ? steps_[i].from : TimeRange::kInfiniteEnd;
      deletes->push_back({qualifier, TimeRange::Of(start, end)});
    }
  }

 private:
  struct Step {
    uint64_t from;
    std::optional<uint32_t> last_order;
  };
  std::vector<Step> steps_;
};

// Compares Edit or CellView: by column, the newest first.
template <typename Cell>
bool Before(const Cell& a, const Cell& b) {
  if (const int c = a.qualifier.compare(b.qualifier); c != 0) return c < 0;
  return a.timestamp_micros > b.timestamp_micros;
}

class Normalizer {
 public:
  absl::Status Run(const TableSchema& schema, std::string_view row_key, absl::Span<const Mutation> mutations,
                   int64_t now_micros, RowDelta* delta) {
    schema_ = &schema;
    row_key_ = row_key;
    now_micros_ = TruncateToGranularity(schema, now_micros);
    if (PutInKnownOrder(mutations, delta)) return absl::OkStatus();
    families_used_ = 0;
    last_family_ = nullptr;
    is_row_deleted_ = false;
    order_ = 0;
    if (++run_ == 0 || places_.size() < schema.families.size()) {
      run_ = 1;
      places_.assign(schema.families.size(), {});
    }
    absl::Status status;
    for (const Mutation& mutation : mutations) {
      status = std::visit([this](const auto& m) { return Take(m); }, mutation);
      if (!status.ok()) break;
      ++order_;
    }
    if (status.ok()) {
      Emit(delta);
      LearnOrder(*delta, mutations.size());
    }
    sketches_.clear();  // up to a message's size: not kept
    return status;
  }

 private:
  // Rows of a request mostly put the same columns in the same order.  False: this one does not, or has
  // something to be refused; *delta is undefined then.
  bool PutInKnownOrder(absl::Span<const Mutation> mutations, RowDelta* delta) {
    if (mutations.size() != known_order_.size()) return false;
    const FamilySchema* schema = nullptr;
    FamilyDelta* to = nullptr;
    size_t families_count = 0;
    for (const uint32_t index : known_order_) {
      const auto* const m = std::get_if<SetCell>(&mutations[index]);
      if (m == nullptr) return false;
      if (schema == nullptr || schema->name != m->family) {
        const FamilySchema* const next = schema_->FindFamily(m->family);
        if (next == nullptr || next->aggregate != AggregateKind::kNone) return false;
        if (schema != nullptr && next->id <= schema->id) return false;
        schema = next;
        if (families_count == delta->families.size()) delta->families.emplace_back();
        to = &delta->families[families_count++];
        Start(*schema, to);
        if (families_count == 1) to->puts.reserve(mutations.size());
      }
      CellView cell{m->qualifier, m->timestamp_micros, m->value};
      if (cell.timestamp_micros == kServerTimestamp) {
        cell.timestamp_micros = now_micros_;
      } else if (TruncateToGranularity(*schema_, cell.timestamp_micros) != cell.timestamp_micros) {
        return false;
      }
      if (!to->puts.empty() && !Before(to->puts.back(), cell)) return false;
      to->puts.push_back(cell);
    }
    delta->families.resize(families_count);
    delta->log = {};
    return families_count > 0;
  }

  // After Emit, of a row whose mutations each put a cell of their own.
  void LearnOrder(const RowDelta& delta, size_t mutations_count) {
    size_t puts_count = 0;
    for (const FamilyDelta& family : delta.families) puts_count += family.puts.size();
    if (puts_count != mutations_count) return;
    known_order_.clear();
    for (const FamilyEdits* family : emitted_) {
      for (const Edit& edit : family->edits) known_order_.push_back(edit.order);
    }
  }

  static void Start(const FamilySchema& schema, FamilyDelta* to) {
    to->family = schema.id;
    to->aggregate = schema.aggregate;
    to->delete_all = false;
    to->deletes.clear();
    to->puts.clear();
    to->adds.clear();
  }

  absl::StatusOr<const FamilySchema*> FindSchema(std::string_view family) {
    if (last_family_ != nullptr && last_family_->schema->name == family) return last_family_->schema;
    const FamilySchema* schema = schema_->FindFamily(family);
    if (schema != nullptr) return schema;
    return FamilyNotFound();
  }

  absl::Status FamilyNotFound() {
    return MutateError(*schema_, row_key_, absl::StatusCode::kNotFound, "Requested column family not found.");
  }

  absl::StatusOr<FamilyEdits*> Find(std::string_view family) {
    if (last_family_ != nullptr && last_family_->schema->name == family) return last_family_;
    absl::StatusOr<const FamilySchema*> schema = FindSchema(family);
    if (!schema.ok()) return schema.status();
    return last_family_ = EditsOf(*schema);
  }

  FamilyEdits* EditsOf(const FamilySchema* schema) {
    Place& place = places_[schema - schema_->families.data()];
    if (place.run == run_) return &families_[place.index];
    place = {run_, families_used_};
    if (families_used_ == families_.size()) families_.emplace_back();
    FamilyEdits* edits = &families_[families_used_++];
    last_family_ = nullptr;  // the vector may have moved
    edits->schema = schema;
    edits->edits.clear();
    edits->deletes.clear();
    edits->delete_all = false;
    return edits;
  }

  absl::Status TypeMismatch() {
    return MutateError(*schema_, row_key_, absl::StatusCode::kInvalidArgument, kTypeMismatch);
  }

  absl::StatusOr<int64_t> Time(int64_t micros, bool truncate) {
    if (micros == kServerTimestamp) return now_micros_;
    if (truncate) return TruncateToGranularity(*schema_, micros);
    if (absl::Status status = CheckGranularity(micros); !status.ok()) return status;
    return micros;
  }

  absl::Status CheckGranularity(int64_t micros) {
    if (TruncateToGranularity(*schema_, micros) == micros) return absl::OkStatus();
    return MutateError(*schema_, row_key_, absl::StatusCode::kInvalidArgument,
                       fmt::format("Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond "
                                   "granularity), but got {}.",
                                   micros));
  }

  absl::Status Take(const SetCell& m) {
    absl::StatusOr<FamilyEdits*> family = Find(m.family);
    if (!family.ok()) return family.status();
    if ((*family)->schema->aggregate != AggregateKind::kNone) return TypeMismatch();
    absl::StatusOr<int64_t> micros = Time(m.timestamp_micros, m.client_generated_timestamp);
    if (!micros.ok()) return micros.status();
    PushEdit(*family, {m.qualifier, *micros, m.value, 0, order_});
    return absl::OkStatus();
  }

  // The common part of AddToCell and MergeToCell.
  template <typename Message>
  absl::Status TakeAdd(const Message& m, bool is_no_op) {
    absl::StatusOr<const FamilySchema*> schema = FindSchema(m.family);
    if (!schema.ok()) return schema.status();
    const AggregateKind kind = (*schema)->aggregate;
    if (kind == AggregateKind::kNone) return TypeMismatch();
    absl::StatusOr<int64_t> micros = Time(m.timestamp_micros, m.client_generated_timestamp);
    if (!micros.ok() || is_no_op) return micros.status();
    Edit edit{m.qualifier, *micros, {}, 0, order_};
    absl::Status status = IsHll(kind) ? FindSketch(kind, m, &edit.value) : FindState(m, &edit.state);
    if (!status.ok()) return status;
    absl::StatusOr<FamilyEdits*> family = Find(m.family);
    if (family.ok()) PushEdit(*family, edit);
    return family.status();
  }

  absl::Status Take(const AddToCell& m) { return TakeAdd(m, /*is_no_op=*/false); }
  absl::Status Take(const MergeToCell& m) { return TakeAdd(m, /*is_no_op=*/!m.state.has_value()); }

  absl::Status InputMismatch(std::string_view field) {
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'Mutation list' : Error in element #{} : Error in field 'input' : must use `{}`",
        order_, field));
  }

  absl::Status FindState(const AddToCell& m, int64_t* state) {
    if (std::holds_alternative<std::string_view>(m.input)) return InputMismatch("int_value");
    const int64_t* number = std::get_if<int64_t>(&m.input);
    *state = number == nullptr ? 0 : *number;
    return absl::OkStatus();
  }

  absl::Status FindState(const MergeToCell& m, int64_t* state) {
    std::string_view bytes = *m.state;
    uint64_t value = 0;
    if (bytes.size() != sizeof(value) || !GetFixed64(&bytes, &value)) {
      return MutateError(*schema_, row_key_, absl::StatusCode::kInvalidArgument,
                         fmt::format("The state of an Int64 aggregate is 8 bytes, big-endian; got {} bytes",
                                     m.state->size()));
    }
    *state = static_cast<int64_t>(value);
    return absl::OkStatus();
  }

  absl::Status FindSketch(AggregateKind kind, const AddToCell& m, std::string_view* state) {
    HllSketch sketch(kind);
    if (const int64_t* number = std::get_if<int64_t>(&m.input)) {
      if (kind != AggregateKind::kHllInt64) return InputMismatch("bytes_value");
      sketch = HllSketch::Of(*number);
    } else if (const std::string_view* bytes = std::get_if<std::string_view>(&m.input)) {
      if (kind != AggregateKind::kHllBytes) return InputMismatch("int_value");
      sketch = HllSketch::Of(*bytes);
    }
    *state = sketches_.emplace_back(sketch.Serialize());
    return absl::OkStatus();
  }

  absl::Status FindSketch(AggregateKind kind, const MergeToCell& m, std::string_view* state) {
    absl::StatusOr<HllSketch> sketch = HllSketch::Parse(kind, *m.state);
    if (!sketch.ok()) {
      return MutateError(*schema_, row_key_, absl::StatusCode::kInvalidArgument,
                         std::string(sketch.status().message()));
    }
    *state = sketches_.emplace_back(sketch->Serialize());
    return absl::OkStatus();
  }

  absl::Status Take(const DeleteFromColumn& m) {
    absl::StatusOr<FamilyEdits*> family = Find(m.family);
    if (!family.ok()) return family.status();
    for (const int64_t micros : {m.time_range.start_micros, m.time_range.end_micros}) {
      if (absl::Status status = CheckGranularity(micros); !status.ok()) return status;
    }
    std::vector<OrderedDelete>& deletes = (*family)->deletes;
    if (!deletes.empty() && deletes.back().qualifier == m.qualifier && deletes.back().range == m.time_range) {
      deletes.back().order = order_;  // it covers what the one before did, and what came since
      return absl::OkStatus();
    }
    Touch(*family);
    deletes.push_back({m.qualifier, m.time_range, order_});
    return absl::OkStatus();
  }

  absl::Status Take(const DeleteFromFamily& m) {
    absl::StatusOr<FamilyEdits*> family = Find(m.family);
    if (!family.ok()) return family.status();
    DeleteAll(*family);
    return absl::OkStatus();
  }

  // After the first one, only what was touched since has anything to delete: else many of them, in a table of
  // many families, would cost the product of both.
  absl::Status Take(const DeleteFromRow&) {
    if (schema_->families.empty()) return FamilyNotFound();
    if (is_row_deleted_) {
      for (const size_t index : touched_) DeleteAll(&families_[index]);
    } else {
      for (const FamilySchema& family : schema_->families) DeleteAll(EditsOf(&family));
      is_row_deleted_ = true;
    }
    touched_.clear();
    return absl::OkStatus();
  }

  void DeleteAll(FamilyEdits* family) {
    family->delete_all = true;
    family->edits.clear();
    family->deletes.clear();
  }

  void PushEdit(FamilyEdits* family, const Edit& edit) {
    Touch(family);
    family->edits.push_back(edit);
  }

  // To be called before an edit or a delete is added.
  void Touch(FamilyEdits* family) {
    if (!is_row_deleted_ || !family->edits.empty() || !family->deletes.empty()) return;
    touched_.push_back(static_cast<size_t>(family - families_.data()));
  }

  void Emit(RowDelta* delta) {
    delta->log = {};
    delta->families.resize(families_used_);
    emitted_.clear();
    for (size_t i = 0; i < families_used_; ++i) emitted_.push_back(&families_[i]);
    std::sort(emitted_.begin(), emitted_.end(),
              [](const FamilyEdits* a, const FamilyEdits* b) { return a->schema->id < b->schema->id; });
    for (size_t i = 0; i < families_used_; ++i) EmitFamily(emitted_[i], &delta->families[i]);
  }

  void EmitFamily(FamilyEdits* from, FamilyDelta* to) {
    Start(*from->schema, to);
    to->delete_all = from->delete_all;
    if (!from->deletes.empty()) EmitDeletes(from, to);
    std::vector<Edit>& edits = from->edits;
    if (!std::is_sorted(edits.begin(), edits.end(), Before<Edit>)) {
      std::stable_sort(edits.begin(), edits.end(), Before<Edit>);
    }
    if (IsHll(to->aggregate)) return EmitSketches(edits, to);
    if (to->aggregate == AggregateKind::kNone) to->puts.reserve(edits.size());
    for (const Edit& edit : edits) {
      to->aggregate == AggregateKind::kNone ? EmitPut(edit, to) : EmitAdd(edit, to);
    }
  }

  void EmitSketches(const std::vector<Edit>& edits, FamilyDelta* to) {
    for (size_t i = 0; i < edits.size();) {
      HllSketch sketch(to->aggregate);
      const Edit& first = edits[i];
      for (; i < edits.size() && edits[i].qualifier == first.qualifier &&
             edits[i].timestamp_micros == first.timestamp_micros;
           ++i) {
        sketch.Merge(*HllSketch::Parse(to->aggregate, edits[i].value));  // it was written here
      }
      to->adds.push_back({first.qualifier, first.timestamp_micros, 0, sketch.Serialize()});
    }
  }

  // Edits come sorted, those of one cell in the order of the request.
  void EmitPut(const Edit& edit, FamilyDelta* to) {
    const CellView cell{edit.qualifier, edit.timestamp_micros, edit.value};
    if (!to->puts.empty() && to->puts.back().timestamp_micros == cell.timestamp_micros &&
        to->puts.back().qualifier == cell.qualifier) {
      to->puts.back() = cell;
    } else {
      to->puts.push_back(cell);
    }
  }

  void EmitAdd(const Edit& edit, FamilyDelta* to) {
    if (!to->adds.empty() && to->adds.back().timestamp_micros == edit.timestamp_micros &&
        to->adds.back().qualifier == edit.qualifier) {
      int64_t& state = to->adds.back().state;
      state = FoldAggregate(to->aggregate, state, edit.state);
    } else {
      to->adds.push_back({edit.qualifier, edit.timestamp_micros, edit.state});
    }
  }

  // Drops the edits that a later delete undoes, and joins the deletes of each column.
  void EmitDeletes(FamilyEdits* from, FamilyDelta* to) {
    std::vector<OrderedDelete>& deletes = from->deletes;
    std::stable_sort(deletes.begin(), deletes.end(), [](const OrderedDelete& a, const OrderedDelete& b) {
      return a.qualifier < b.qualifier;
    });
    std::stable_sort(from->edits.begin(), from->edits.end(), Before<Edit>);
    size_t edit = 0, kept = 0;
    const auto keep_until = [&](std::string_view qualifier) {
      while (edit < from->edits.size() && from->edits[edit].qualifier < qualifier)
        from->edits[kept++] = from->edits[edit++];
    };
    for (size_t i = 0; i < deletes.size();) {
      size_t end = i + 1;
      while (end < deletes.size() && deletes[end].qualifier == deletes[i].qualifier) ++end;
      const DeleteCover cover(absl::MakeSpan(deletes).subspan(i, end - i));
      // With the whole family deleted, what its columns delete is gone already.
      if (!to->delete_all) cover.AppendRanges(deletes[i].qualifier, &to->deletes);
      keep_until(deletes[i].qualifier);
      for (; edit < from->edits.size() && from->edits[edit].qualifier == deletes[i].qualifier; ++edit) {
        const std::optional<uint32_t> undone = cover.LastOrderAt(from->edits[edit].timestamp_micros);
        if (!undone.has_value() || *undone < from->edits[edit].order) from->edits[kept++] = from->edits[edit];
      }
      i = end;
    }
    while (edit < from->edits.size()) from->edits[kept++] = from->edits[edit++];
    from->edits.resize(kept);
  }

  const TableSchema* schema_ = nullptr;
  std::string_view row_key_;
  int64_t now_micros_ = 0;
  uint32_t order_ = 0;
  std::vector<FamilyEdits> families_;
  size_t families_used_ = 0;
  std::vector<FamilyEdits*> emitted_;  // those used, by id
  // For each family of the schema: its place in families_, if this run has put it there.
  struct Place {
    uint32_t run = 0;
    size_t index = 0;
  };
  std::vector<Place> places_;
  uint32_t run_ = 0;
  bool is_row_deleted_ = false;
  std::vector<size_t> touched_;  // since the row was deleted: indexes into families_
  FamilyEdits* last_family_ = nullptr;
  std::deque<std::string> sketches_;  // what edits point into
  // Indexes of an earlier row's mutations, in the order in which its delta has their cells.
  std::vector<uint32_t> known_order_;
};

}  // namespace

bool IsTypeMismatch(const absl::Status& status) {
  return absl::IsInvalidArgument(status) && std::string(status.message()).ends_with(kTypeMismatch);
}

int64_t TruncateToGranularity(const TableSchema& schema, int64_t now_micros) {
  return schema.granularity == TimestampGranularity::kMicros ? now_micros
                                                             : now_micros - now_micros % kMicrosPerMilli;
}

absl::Status Normalize(const TableSchema& schema, std::string_view row_key,
                       absl::Span<const Mutation> mutations, int64_t now_micros, RowDelta* delta) {
  static thread_local Normalizer normalizer;  // scratch: this runs for every row of every write
  return normalizer.Run(schema, row_key, mutations, now_micros, delta);
}

}  // namespace sonde
