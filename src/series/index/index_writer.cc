#include "series/index/index_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/random.h"
#include "series/index/index_upkeep.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

// A known entity: 24 bytes and a control byte, in a table that is between half and seven eighths full.
constexpr size_t kEntityBytes = 36;
// A tail is sealed when it has so many entities, and a share of its block.
constexpr size_t kSealEntities = 4'096;
constexpr size_t kSealShare = 3;
// Or so many rows, and one more for each so many entities.
constexpr size_t kSealRows = 64;
constexpr size_t kSealEntitiesOfRow = 64;
constexpr int kFoldCells = 16;
constexpr size_t kSetsCountedMax = 100'000;
constexpr size_t kTailTextBytesMax = 1 << 20;
constexpr int kPositionBits = 16;
constexpr size_t kBlocksMax = 1U << (32 - kPositionBits);

size_t BlockOf(uint32_t place) { return place >> kPositionBits; }
size_t PositionOf(uint32_t place) { return place & ((1U << kPositionBits) - 1); }
uint32_t PlaceOf(size_t block, size_t position) {
  return static_cast<uint32_t>(block << kPositionBits | position);
}

bool Contains(const std::vector<PositionSet>& sets, uint32_t place) {
  const size_t block = BlockOf(place);
  return block < sets.size() && sets[block].Contains(PositionOf(place));
}

void Add(size_t block, const PositionSet& positions, std::vector<PositionSet>* sets) {
  if (sets->size() <= block) sets->resize(block + 1);
  (*sets)[block].Or(positions);
}

size_t BytesOf(const std::vector<PositionSet>& sets) {
  size_t bytes = sets.capacity() * sizeof(PositionSet);
  for (const PositionSet& set : sets) bytes += set.bytes();
  return bytes;
}

}  // namespace

struct IndexWriter::SeriesState {
  struct FieldSets {
    std::string name;
    std::vector<PositionSet> sets;  // by block
  };

  KnownSeriesRef series;  // as it was seen last
  bool is_given_up = false;
  bool marks_whole = false;  // once its first entity is registered
  bool has_no_sets = false;  // in the table: what is not here is nowhere
  absl::flat_hash_map<EntityHash, uint32_t> known;
  std::vector<std::string> blocks;
  std::optional<size_t> open;  // the block that gets the next entity
  size_t open_end = 0;
  size_t open_text_bytes = 0;
  size_t tail_rows = 0;
  size_t tail_entities = 0;
  absl::flat_hash_map<int32_t, std::vector<PositionSet>> days;
  std::vector<std::optional<FieldSets>> fields;  // by place in the series
  size_t counted_bytes = 0;

  const FieldSets* FindField(size_t place, const std::string& name) const {
    if (place >= fields.size() || !fields[place] || fields[place]->name != name) return nullptr;
    return &*fields[place];
  }
  size_t bytes() const {
    size_t bytes = sizeof(SeriesState) + known.size() * kEntityBytes;
    for (const auto& [day, sets] : days) bytes += BytesOf(sets);
    for (const std::optional<FieldSets>& field : fields) {
      if (field) bytes += sizeof(FieldSets) + BytesOf(field->sets);
    }
    return bytes;
  }
};

struct IndexWriter::Request {
  std::vector<const EntityUse*> uses;
  bool is_done = false;
  absl::Status status;
};

// What is to be written, and known once it is.
struct IndexWriter::Staged {
  struct Tail {
    size_t block = 0;
    size_t first = 0;
    std::vector<std::string> texts;
    size_t bytes = 0;
  };
  struct Series {
    bool gives_up = false;
    absl::flat_hash_map<EntityHash, uint32_t> known;
    std::vector<std::string> new_blocks;  // behind those of the state
    std::vector<Tail> tails;
    std::optional<size_t> open;
    size_t open_end = 0;
    size_t open_text_bytes = 0;
    std::map<std::pair<int32_t, size_t>, PositionSet> days;        // by day and block
    std::map<std::pair<std::string, size_t>, PositionSet> fields;  // by field and block
  };
  std::map<SeriesState*, Series> series;
};

IndexWriter::IndexWriter(TableAccess* tables, const Clock* clock, IndexWriterSettings settings)
    : tables_(tables),
      clock_(clock),
      settings_(settings),
      writer_(fmt::format("{:016x}", SystemRandom().Next())) {}

IndexWriter::~IndexWriter() = default;

size_t IndexWriter::entities_max() const { return settings_.known_bytes_max / kEntityBytes; }

int64_t IndexWriter::Now() const { return WholeMillis(clock_->NowMicros()); }

std::string IndexWriter::NewColumn() { return fmt::format("{}.{:x}", writer_, next_column_++); }

std::string IndexWriter::NewBlock() {
  last_block_micros_ = std::max(clock_->NowMicros(), last_block_micros_ + 1);
  std::string block = fmt::format("{:014x}{}", last_block_micros_, writer_.substr(0, 8));
  const absl::MutexLock lock(&upkeep_mutex_);
  own_blocks_.insert(block);
  return block;
}

bool IndexWriter::IsKnown(const SeriesState& state, const EntityUse& use, EntityHash hash) {
  if (state.is_given_up) return true;
  const auto found = state.known.find(hash);
  if (found == state.known.end()) return false;
  for (const int32_t day : use.days) {
    const auto sets = state.days.find(day);
    if (sets == state.days.end() || !Contains(sets->second, found->second)) return false;
  }
  for (size_t word = 0; word < use.fields.size(); ++word) {
    for (uint64_t bits = use.fields[word]; bits != 0; bits &= bits - 1) {
      const size_t place = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      const SeriesState::FieldSets* field = state.FindField(place, (*use.series)->schema.fields[place].name);
      if (field == nullptr || !Contains(field->sets, found->second)) return false;
    }
  }
  return true;
}

absl::Status IndexWriter::Register(absl::Span<const EntityUse> uses) {
  Request request;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    const SeriesState* state = nullptr;
    const KnownSeries* series = nullptr;  // of the state
    for (const EntityUse& use : uses) {
      if (series == nullptr || series->schema.name != (*use.series)->schema.name) {
        const auto found = states_.find((*use.series)->schema.name);
        state = found == states_.end() ? nullptr : found->second.get();
      }
      series = use.series->get();
      if (state == nullptr || !IsKnown(*state, use, hasher_.Of(use.text))) request.uses.push_back(&use);
    }
  }
  if (request.uses.empty()) return absl::OkStatus();
  {
    const absl::MutexLock lock(&queue_mutex_);
    queue_.push_back(&request);
  }
  const absl::MutexLock registering(&registering_);
  if (request.is_done) return request.status;
  std::vector<Request*> requests;
  {
    const absl::MutexLock lock(&queue_mutex_);
    requests.swap(queue_);
  }
  const absl::Status status = Process(requests);
  for (Request* done : requests) {
    done->status = status;
    done->is_done = true;
  }
  return status;
}

absl::Status IndexWriter::Process(const std::vector<Request*>& requests) {
  absl::Status status;
  // Twice: somebody may have dropped the table.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!has_table_) {
      if (status = EnsureIndexTable(tables_); !status.ok()) return status;
      has_table_ = true;
    }
    Staged staged;
    if (status = StageAll(requests, &staged); !status.ok()) return status;
    if (status = Commit(staged); status.ok()) {
      Take(&staged);
      ForgetSome(staged);
      return status;
    }
    if (!absl::IsNotFound(status)) {
      // Nobody knows what became of the positions that were to be written.
      Forget(staged);
      return status;
    }
    ForgetAll();
    has_table_ = false;
  }
  return absl::UnavailableError(
      fmt::format("table '{}' is dropped again and again; it has the index of series", kIndexTable));
}

absl::Status IndexWriter::StageAll(const std::vector<Request*>& requests, Staged* staged) {
  for (const Request* request : requests) {
    for (const EntityUse* use : request->uses) {
      if (absl::Status status = Stage(*use, staged); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status IndexWriter::Stage(const EntityUse& use, Staged* staged) {
  absl::StatusOr<SeriesState*> found = FindOrLoad(*use.series);
  if (!found.ok()) return found.status();
  SeriesState* const state = *found;
  if (state->is_given_up) return absl::OkStatus();
  const auto [entry, is_new] = staged->series.try_emplace(state);
  Staged::Series& series = entry->second;
  if (is_new) {
    series.open = state->open;
    series.open_end = state->open_end;
    series.open_text_bytes = state->open_text_bytes;
  }
  if (series.gives_up) return absl::OkStatus();
  const EntityHash hash = hasher_.Of(use.text);
  if (const auto known = state->known.find(hash); known != state->known.end())
    return StageSets(use, known->second, staged);
  const auto [place, is_first] = series.known.try_emplace(hash, 0);
  if (!is_first) return StageSets(use, place->second, staged);
  if (state->known.size() + series.known.size() > entities_max() ||
      state->blocks.size() + series.new_blocks.size() >= kBlocksMax) {
    series = {};
    series.gives_up = true;
    return absl::OkStatus();
  }
  if (!series.open || series.open_end >= kBlockEntitiesMax ||
      (series.open_end > 0 && series.open_text_bytes + use.text.size() > kBlockTextBytesMax)) {
    series.open = state->blocks.size() + series.new_blocks.size();
    series.open_end = series.open_text_bytes = 0;
    series.new_blocks.push_back(NewBlock());
  }
  if (series.tails.empty() || series.tails.back().block != *series.open ||
      series.tails.back().bytes + use.text.size() > kTailTextBytesMax) {
    series.tails.push_back({*series.open, series.open_end, {}, 0});
  }
  series.tails.back().texts.emplace_back(use.text);
  series.tails.back().bytes += use.text.size();
  place->second = PlaceOf(*series.open, series.open_end);
  ++series.open_end;
  series.open_text_bytes += use.text.size();
  return StageSets(use, place->second, staged);
}

absl::Status IndexWriter::StageSets(const EntityUse& use, uint32_t place, Staged* staged) {
  SeriesState* const state = *FindOrLoad(*use.series);
  Staged::Series& series = staged->series[state];
  const std::string& name = (*use.series)->schema.name;
  for (const int32_t day : use.days) {
    auto sets = state->days.find(day);
    if (sets == state->days.end()) {
      absl::StatusOr<std::vector<PositionSet>> loaded = LoadSets(*state, DaySetKey(name, day));
      if (!loaded.ok()) return loaded.status();
      const absl::MutexLock lock(&mutex_);
      sets = state->days.emplace(day, *std::move(loaded)).first;
    }
    if (!Contains(sets->second, place)) series.days[{day, BlockOf(place)}].Add(PositionOf(place));
  }
  for (size_t word = 0; word < use.fields.size(); ++word) {
    for (uint64_t bits = use.fields[word]; bits != 0; bits &= bits - 1) {
      const size_t at = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      const std::string& field_name = (*use.series)->schema.fields[at].name;
      const SeriesState::FieldSets* field = state->FindField(at, field_name);
      if (field == nullptr) {
        absl::StatusOr<std::vector<PositionSet>> loaded = LoadSets(*state, FieldSetKey(name, field_name));
        if (!loaded.ok()) return loaded.status();
        const absl::MutexLock lock(&mutex_);
        if (state->fields.size() <= at) state->fields.resize(at + 1);
        state->fields[at] = SeriesState::FieldSets{field_name, *std::move(loaded)};
        field = &*state->fields[at];
      }
      if (!Contains(field->sets, place)) series.fields[{field_name, BlockOf(place)}].Add(PositionOf(place));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<IndexWriter::SeriesState*> IndexWriter::FindOrLoad(const KnownSeriesRef& series) {
  const std::string& name = series->schema.name;
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = states_.find(name); found != states_.end()) {
      SeriesState* const state = found->second.get();
      // Labels and fields are only added, so that more of them are newer.
      if (series->labels.size() > state->series->labels.size() ||
          series->schema.fields.size() > state->series->schema.fields.size()) {
        state->series = series;
      }
      return state;
    }
  }
  auto loaded = std::make_unique<SeriesState>();
  loaded->series = series;
  if (absl::Status status = Load(loaded.get()); !status.ok()) return status;
  loaded_before_.insert(name);
  loaded->counted_bytes = loaded->bytes();
  known_bytes_ += loaded->counted_bytes;
  const absl::MutexLock lock(&mutex_);
  return states_.emplace(name, std::move(loaded)).first->second.get();
}

absl::Status IndexWriter::Load(SeriesState* state) {
  const std::string& name = state->series->schema.name;
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(name, tables_);
  // What is damaged stays so, and readers see it; new entities go to a new block.
  if (absl::IsDataLoss(directory.status())) return absl::OkStatus();
  if (!directory.ok()) return directory.status();
  size_t entities = 0;
  for (const auto& [block, count] : directory->sealed) entities += count;
  for (const IndexTail& tail : directory->tails) entities += tail.texts.size();
  if (directory->is_given_up) {
    // Only much more room than it needs is a reason to begin again.
    state->is_given_up = entities > entities_max() / 2;
    if (state->is_given_up) return absl::OkStatus();
    RowWrite row;
    row.row_key = DirectoryKey(name);
    // A rebuild may have noted that it is whole just when it was given up.
    row.delete_columns = {{kIndexFamily, kGivenUpColumn}, {kIndexFamily, kWholeColumn}};
    if (absl::Status status = WriteIndexRows({row}, tables_); !status.ok()) return status;
  }
  if (entities > entities_max()) {
    // There was more room when it was written.
    state->is_given_up = true;
    RowWrite row;
    row.row_key = DirectoryKey(name);
    row.cells = {{kIndexFamily, kGivenUpColumn, Now(), "1"}};
    row.delete_columns = {{kIndexFamily, kWholeColumn}};
    return WriteIndexRows({row}, tables_);
  }
  if (directory->IsEmpty() && !directory->is_whole) {
    // The index has all of a series that has nothing yet.
    RowRead read;
    std::string prefix;
    AppendEscaped(name, &prefix);
    read.ranges = {RowRange::Prefix(prefix + "#")};
    read.rows_max = 1;
    read.cells_per_column_max = 1;
    bool has_rows = false;
    const absl::Status status = tables_->ReadRows(kOpenSeriesTable, read, [&](ReadRow&&) {
      has_rows = true;
      return false;
    });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    state->marks_whole = !has_rows;
  }
  state->has_no_sets = directory->IsEmpty();
  const absl::Status status = LoadEntities(*directory, state);
  return absl::IsDataLoss(status) ? absl::OkStatus() : status;
}

absl::Status IndexWriter::LoadEntities(const IndexDirectory& directory, SeriesState* state) {
  const std::string& name = state->series->schema.name;
  absl::flat_hash_map<std::string, size_t> place_of_block;
  std::vector<size_t> ends;
  std::vector<size_t> text_bytes;
  absl::flat_hash_set<size_t>
      with_gaps;  // blocks of which a write failed: what is behind a gap is never sealed
  const auto place_of = [&](const std::string& block) {
    const auto [at, is_new] = place_of_block.try_emplace(block, state->blocks.size());
    if (is_new) {
      state->blocks.push_back(block);
      ends.push_back(0);
      text_bytes.push_back(0);
    }
    return at->second;
  };
  const auto take = [&](size_t block, size_t position, std::string_view text) {
    state->known.try_emplace(hasher_.Of(text), PlaceOf(block, position));
    ends[block] = std::max(ends[block], position + 1);
    text_bytes[block] += text.size();
  };
  std::string text;
  for (const auto& [block, count] : directory.sealed) {
    const absl::StatusOr<std::shared_ptr<const EntityBlock>> read = ReadBlock(name, block, tables_);
    if (absl::IsDataLoss(read.status())) continue;  // its entities are registered again
    if (!read.ok()) return read.status();
    const size_t place = place_of(block);
    for (size_t position = 0; position < (*read)->end(); ++position) {
      text.clear();
      (*read)->AppendText(position, &text);
      take(place, position, text);
    }
  }
  for (const IndexTail& tail : directory.tails) {
    const size_t place = place_of(tail.block);
    if (tail.first > ends[place]) with_gaps.insert(place);
    ++state->tail_rows;
    state->tail_entities += tail.texts.size();
    for (size_t i = 0; i < tail.texts.size(); ++i) take(place, tail.first + i, tail.texts[i]);
  }
  const auto last = std::max_element(state->blocks.begin(), state->blocks.end());
  if (settings_.is_shared || loaded_before_.contains(name) || last == state->blocks.end()) {
    return absl::OkStatus();
  }
  // The writer that had it is dead.
  const auto open = static_cast<size_t>(last - state->blocks.begin());
  if (with_gaps.contains(open)) return absl::OkStatus();
  state->open = open;
  state->open_end = ends[*state->open];
  state->open_text_bytes = text_bytes[*state->open];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PositionSet>> IndexWriter::LoadSets(const SeriesState& state,
                                                               const std::string& set_key) {
  std::vector<PositionSet> sets;
  if (state.has_no_sets) return sets;
  const absl::Status status = ReadSetRows(set_key, set_key, tables_, [&](IndexSetRow&& row) {
    if (row.columns.size() > kFoldCells) {
      const absl::MutexLock lock(&upkeep_mutex_);
      to_fold_.insert(row.row_key);
    }
    const auto block = std::find(state.blocks.begin(), state.blocks.end(), row.block);
    if (block != state.blocks.end())
      Add(static_cast<size_t>(block - state.blocks.begin()), row.positions, &sets);
  });
  if (!status.ok() && !absl::IsDataLoss(status)) return status;
  return sets;
}

absl::Status IndexWriter::Commit(const Staged& staged) {
  std::vector<RowWrite> rows;
  const int64_t now_micros = Now();
  const auto add = [&](std::string row_key, const char* family, std::string column, std::string value) {
    rows.push_back({std::move(row_key), {{family, std::move(column), now_micros, std::move(value)}}, {}});
  };
  for (const auto& [state, series] : staged.series) {
    const std::string& name = state->series->schema.name;
    if (series.gives_up) {
      add(DirectoryKey(name), kIndexFamily, kGivenUpColumn, "1");
      rows.back().delete_columns = {{kIndexFamily, kWholeColumn}};
      continue;
    }
    const auto block_of = [&state = *state, &series = series](size_t place) {
      return place < state.blocks.size() ? state.blocks[place]
                                         : series.new_blocks[place - state.blocks.size()];
    };
    for (const Staged::Tail& tail : series.tails) {
      add(TailKey(name, block_of(tail.block), tail.first), kIndexFamily, kListColumn,
          EncodeTexts(tail.texts));
    }
    for (const auto& [at, positions] : series.days) {
      add(SetRowKey(DaySetKey(name, at.first), block_of(at.second)), kIndexSetsFamily, NewColumn(),
          EncodePositions(positions));
      NoteSetCell(rows.back().row_key);
    }
    for (const auto& [at, positions] : series.fields) {
      add(SetRowKey(FieldSetKey(name, at.first), block_of(at.second)), kIndexSetsFamily, NewColumn(),
          EncodePositions(positions));
      NoteSetCell(rows.back().row_key);
    }
    if (state->marks_whole) add(DirectoryKey(name), kIndexFamily, kWholeColumn, "1");
  }
  return WriteIndexRows(rows, tables_);
}

void IndexWriter::NoteSetCell(const std::string& row_key) {
  if (cells_of_set_.size() >= kSetsCountedMax) cells_of_set_.clear();
  int& cells = cells_of_set_[row_key];
  if (++cells < kFoldCells) return;
  cells = 0;
  const absl::MutexLock lock(&upkeep_mutex_);
  if (to_fold_.size() < kSetsCountedMax) to_fold_.insert(row_key);
}

void IndexWriter::Take(Staged* staged) {
  const absl::MutexLock lock(&mutex_);
  for (auto& [state, series] : staged->series) {
    if (series.gives_up) {
      SeriesState given_up;
      given_up.series = state->series;
      given_up.is_given_up = true;
      given_up.counted_bytes = state->counted_bytes;
      *state = std::move(given_up);
      continue;
    }
    state->marks_whole = false;
    state->known.insert(series.known.begin(), series.known.end());
    for (std::string& block : series.new_blocks) state->blocks.push_back(std::move(block));
    state->open = series.open;
    state->open_end = series.open_end;
    state->open_text_bytes = series.open_text_bytes;
    for (const auto& [at, positions] : series.days) Add(at.second, positions, &state->days[at.first]);
    for (const auto& [at, positions] : series.fields) {
      for (std::optional<SeriesState::FieldSets>& field : state->fields) {
        if (field && field->name == at.first) Add(at.second, positions, &field->sets);
      }
    }
    state->tail_rows += series.tails.size();
    for (const Staged::Tail& tail : series.tails) state->tail_entities += tail.texts.size();
    const bool has_many =
        state->tail_entities >= kSealEntities && state->tail_entities * kSealShare >= state->open_end;
    if (has_many || state->tail_rows >= kSealRows + state->known.size() / kSealEntitiesOfRow) {
      state->tail_rows = state->tail_entities = 0;
      const absl::MutexLock upkeep(&upkeep_mutex_);
      to_seal_[state->series->schema.name] = state->series;
    }
  }
}

void IndexWriter::ForgetAll() {
  const absl::MutexLock lock(&mutex_);
  states_.clear();
  known_bytes_ = 0;
}

void IndexWriter::Forget(const Staged& staged) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [state, series] : staged.series) {
    const std::string name = state->series->schema.name;
    known_bytes_ -= state->counted_bytes;
    states_.erase(name);
  }
}

void IndexWriter::ForgetSome(const Staged& staged) {
  for (const auto& [state, series] : staged.series) {
    known_bytes_ += state->bytes() - state->counted_bytes;
    state->counted_bytes = state->bytes();
  }
  if (known_bytes_ <= settings_.known_bytes_max) return;
  const absl::MutexLock lock(&mutex_);
  for (auto at = states_.begin(); at != states_.end();) {
    const auto now = at++;
    SeriesState& state = *now->second;
    known_bytes_ -= state.counted_bytes;
    if (!staged.series.contains(&state)) {
      states_.erase(now);
    } else {
      // They are read again when they are asked for.
      state.days.clear();
      state.has_no_sets = false;
      state.counted_bytes = state.bytes();
      known_bytes_ += state.counted_bytes;
    }
    if (known_bytes_ <= settings_.known_bytes_max / 2) return;
  }
}

absl::Status IndexWriter::KeepUp() {
  const absl::MutexLock sealing(&sealing_);
  absl::flat_hash_map<std::string, KnownSeriesRef> to_seal;
  absl::flat_hash_set<std::string> to_fold;
  {
    const absl::MutexLock lock(&upkeep_mutex_);
    to_seal.swap(to_seal_);
    to_fold.swap(to_fold_);
  }
  absl::Status result;
  for (const auto& [name, series] : to_seal) {
    const absl::Status status = SealSeries(series);
    if (status.ok() || absl::IsDataLoss(status)) continue;
    result = status;
    const absl::MutexLock lock(&upkeep_mutex_);
    to_seal_.try_emplace(name, series);
  }
  for (const std::string& row_key : to_fold) {
    const absl::Status status = FoldSet(row_key);
    if (status.ok() || absl::IsDataLoss(status)) continue;
    result = status;
    const absl::MutexLock lock(&upkeep_mutex_);
    to_fold_.insert(row_key);
  }
  return result;
}

absl::Status IndexWriter::SealSeries(const KnownSeriesRef& series) {
  const std::string& name = series->schema.name;
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(name, tables_);
  if (!directory.ok()) return directory.status();
  std::map<std::string, std::vector<const IndexTail*>> tails_of;
  for (const IndexTail& tail : directory->tails) tails_of[tail.block].push_back(&tail);
  for (const auto& [block, tails] : tails_of) {
    if (settings_.is_shared) {
      // Another server may be about to seal it, with more.
      const absl::MutexLock lock(&upkeep_mutex_);
      if (!own_blocks_.contains(block)) continue;
    }
    const absl::Status status = SealBlock(*series, *directory, block, tails, Now(), tables_);
    if (!status.ok() && !absl::IsDataLoss(status)) return status;
  }
  return absl::OkStatus();
}

absl::Status IndexWriter::FoldSet(const std::string& row_key) {
  return FoldSetRow(row_key, NewColumn(), Now(), tables_);
}

}  // namespace sonde::series
