#include "series/index/write/index_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include "base/random.h"
#include "series/index/index_table.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

constexpr size_t kTailTextBytesMax = 1 << 20;
// So many uses are looked for at once, so that their waits for memory go together.
constexpr size_t kAhead = 16;

}  // namespace

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
    absl::flat_hash_map<EntityHash, uint32_t> places;
    std::vector<std::string> new_blocks;  // behind those that are known
    std::vector<Tail> tails;
    std::optional<size_t> open;
    size_t open_end = 0;
    size_t open_text_bytes = 0;
    std::map<std::pair<int32_t, size_t>, PositionSet> days;        // by day and block
    std::map<std::pair<std::string, size_t>, PositionSet> fields;  // by field and block
  };
  std::map<KnownEntities*, Series> series;
};

IndexWriter::IndexWriter(TableAccess* tables, const Clock* clock, IndexWriterSettings settings)
    : tables_(tables),
      clock_(clock),
      settings_(settings),
      writer_(fmt::format("{:016x}", SystemRandom().Next())),
      upkeep_(tables, clock, settings.is_shared) {}

IndexWriter::~IndexWriter() = default;

IndexWriterCounts IndexWriter::counts() const {
  return {.registered = registered_.load(std::memory_order_relaxed),
          .commits = commits_.load(std::memory_order_relaxed),
          .known_bytes = known_bytes_.load(std::memory_order_relaxed)};
}

int64_t IndexWriter::Now() const { return WholeMillis(clock_->NowMicros()); }

std::string IndexWriter::NewColumn() { return fmt::format("{}.{:x}", writer_, next_column_++); }

std::string IndexWriter::NewBlock() {
  last_block_micros_ = std::max(clock_->NowMicros(), last_block_micros_ + 1);
  std::string block = fmt::format("{:014x}{}", last_block_micros_, writer_.substr(0, 8));
  upkeep_.NoteOwnBlock(block);
  return block;
}

std::vector<const EntityUse*> IndexWriter::FindNew(absl::Span<const EntityUse> uses) {
  std::vector<const EntityUse*> found;
  absl::flat_hash_map<const KnownSeriesRef*, const KnownEntities*> known_of;  // null: nothing is known
  std::array<const KnownEntities*, kAhead> known;
  const KnownSeriesRef* series = nullptr;
  const KnownEntities* of_series = nullptr;
  for (size_t begin = 0; begin < uses.size(); begin += kAhead) {
    const size_t count = std::min(kAhead, uses.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      const EntityUse& use = uses[begin + i];
      if (series != use.series) {
        series = use.series;
        const auto [entry, is_new] = known_of.try_emplace(series, nullptr);
        if (is_new) {
          const auto at = known_.find((*series)->schema.name);
          if (at != known_.end()) entry->second = at->second.get();
        }
        of_series = entry->second;
      }
      known[i] = of_series;
      if (of_series != nullptr) of_series->places.prefetch(use.hash);
    }
    for (size_t i = 0; i < count; ++i) {
      if (known[i] == nullptr || !known[i]->Has(uses[begin + i])) found.push_back(&uses[begin + i]);
    }
  }
  return found;
}

absl::Status IndexWriter::Register(absl::Span<const EntityUse> uses) {
  Request request;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    request.uses = FindNew(uses);
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
  absl::StatusOr<KnownEntities*> found = FindOrLoad(*use.series);
  if (!found.ok()) return found.status();
  KnownEntities* const known = *found;
  if (known->is_given_up) return absl::OkStatus();
  const auto [entry, is_new] = staged->series.try_emplace(known);
  Staged::Series& series = entry->second;
  if (is_new) {
    series.open = known->open;
    series.open_end = known->open_end;
    series.open_text_bytes = known->open_text_bytes;
  }
  if (series.gives_up) return absl::OkStatus();
  if (const auto at = known->places.find(use.hash); at != known->places.end())
    return StageSets(use, at->second, staged);
  const auto [place, is_first] = series.places.try_emplace(use.hash, 0);
  if (!is_first) return StageSets(use, place->second, staged);
  if (known->places.size() + series.places.size() > entities_max() ||
      known->blocks.size() + series.new_blocks.size() >= kBlocksMax) {
    series = {};
    series.gives_up = true;
    return absl::OkStatus();
  }
  if (!series.open || series.open_end >= kBlockEntitiesMax ||
      (series.open_end > 0 && series.open_text_bytes + use.text.size() > kBlockTextBytesMax)) {
    series.open = known->blocks.size() + series.new_blocks.size();
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
  KnownEntities* const known = *FindOrLoad(*use.series);
  Staged::Series& series = staged->series[known];
  const std::string& name = (*use.series)->schema.name;
  for (const int32_t day : use.days) {
    auto sets = known->days.find(day);
    if (sets == known->days.end()) {
      absl::StatusOr<BlockSets> loaded = LoadSets(*known, DaySetKey(name, day));
      if (!loaded.ok()) return loaded.status();
      const absl::MutexLock lock(&mutex_);
      sets = known->days.emplace(day, *std::move(loaded)).first;
    }
    if (!Contains(sets->second, place)) series.days[{day, BlockOf(place)}].Add(PositionOf(place));
  }
  for (size_t word = 0; word < use.fields.size(); ++word) {
    for (uint64_t bits = use.fields[word]; bits != 0; bits &= bits - 1) {
      const size_t at = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      const std::string& field_name = (*use.series)->schema.fields[at].name;
      const KnownEntities::FieldSets* field = known->FindField(at, field_name);
      if (field == nullptr) {
        absl::StatusOr<BlockSets> loaded = LoadSets(*known, FieldSetKey(name, field_name));
        if (!loaded.ok()) return loaded.status();
        const absl::MutexLock lock(&mutex_);
        if (known->fields.size() <= at) known->fields.resize(at + 1);
        known->fields[at] = KnownEntities::FieldSets{field_name, *std::move(loaded)};
        field = &*known->fields[at];
      }
      if (!Contains(field->sets, place)) series.fields[{field_name, BlockOf(place)}].Add(PositionOf(place));
    }
  }
  return absl::OkStatus();
}

KnownEntities* IndexWriter::Find(const std::string& series) {
  const absl::ReaderMutexLock lock(&mutex_);
  const auto found = known_.find(series);
  return found == known_.end() ? nullptr : found->second.get();
}

absl::StatusOr<KnownEntities*> IndexWriter::FindOrLoad(const KnownSeriesRef& series) {
  const std::string& name = series->schema.name;
  if (KnownEntities* const known = Find(name); known != nullptr) {
    // Labels and fields are only added, so that more of them are newer.
    if (series->labels.size() > known->series->labels.size() ||
        series->schema.fields.size() > known->series->schema.fields.size()) {
      const absl::MutexLock lock(&mutex_);
      known->SetSeries(series);
    }
    return known;
  }
  auto loaded = std::make_unique<KnownEntities>();
  loaded->series = series;
  const EntityLoad load = {
      .hasher = &hasher_,
      .entities_max = entities_max(),
      .continues_blocks = !settings_.is_shared && series->is_open() && !loaded_before_.contains(name),
      .now_micros = Now()};
  const absl::StatusOr<TailCounts> tails = LoadEntities(load, tables_, loaded.get());
  if (!tails.ok()) return tails.status();
  upkeep_.NoteTails(series, *tails, loaded->open_end, loaded->places.size());
  loaded_before_.insert(name);
  loaded->counted_bytes = loaded->bytes();
  known_bytes_ += loaded->counted_bytes;
  const absl::MutexLock lock(&mutex_);
  return known_.emplace(name, std::move(loaded)).first->second.get();
}

absl::StatusOr<BlockSets> IndexWriter::LoadSets(const KnownEntities& known, const std::string& set_key) {
  return sonde::series::LoadSets(known, set_key, tables_, [this](const std::string& row_key, size_t cells) {
    upkeep_.NoteSetRow(row_key, cells);
  });
}

absl::Status IndexWriter::Commit(const Staged& staged) {
  std::vector<RowWrite> rows;
  const int64_t now_micros = Now();
  const auto add = [&](std::string row_key, const char* family, std::string column, std::string value) {
    rows.push_back({std::move(row_key), {{family, std::move(column), now_micros, std::move(value)}}, {}});
  };
  for (const auto& [known, series] : staged.series) {
    const std::string& name = known->series->schema.name;
    if (series.gives_up) {
      add(DirectoryKey(name), kIndexFamily, kGivenUpColumn, "1");
      rows.back().delete_columns = {{kIndexFamily, kWholeColumn}};
      continue;
    }
    const auto block_of = [&known = *known, &series = series](size_t place) {
      return place < known.blocks.size() ? known.blocks[place]
                                         : series.new_blocks[place - known.blocks.size()];
    };
    for (const Staged::Tail& tail : series.tails) {
      add(TailKey(name, block_of(tail.block), tail.first), kIndexFamily, kListColumn,
          EncodeTexts(tail.texts));
    }
    for (const auto& [at, positions] : series.days) {
      add(SetRowKey(DaySetKey(name, at.first), block_of(at.second)), kIndexSetsFamily, NewColumn(),
          EncodePositions(positions));
      upkeep_.NoteSetCell(rows.back().row_key);
    }
    for (const auto& [at, positions] : series.fields) {
      add(SetRowKey(FieldSetKey(name, at.first), block_of(at.second)), kIndexSetsFamily, NewColumn(),
          EncodePositions(positions));
      upkeep_.NoteSetCell(rows.back().row_key);
    }
    if (known->marks_whole) add(DirectoryKey(name), kIndexFamily, kWholeColumn, "1");
  }
  if (rows.empty()) return absl::OkStatus();
  ++commits_;
  return WriteIndexRows(rows, tables_);
}

void IndexWriter::Take(Staged* staged) {
  const absl::MutexLock lock(&mutex_);
  for (auto& [known, series] : staged->series) {
    if (series.gives_up) {
      KnownEntities given_up;
      given_up.series = known->series;
      given_up.is_given_up = true;
      given_up.counted_bytes = known->counted_bytes;
      *known = std::move(given_up);
      continue;
    }
    known->marks_whole = false;
    registered_ += series.places.size();
    known->places.insert(series.places.begin(), series.places.end());
    for (std::string& block : series.new_blocks) known->blocks.push_back(std::move(block));
    known->open = series.open;
    known->open_end = series.open_end;
    known->open_text_bytes = series.open_text_bytes;
    for (const auto& [at, positions] : series.days) AddTo(at.second, positions, &known->days[at.first]);
    for (const auto& [at, positions] : series.fields) {
      for (std::optional<KnownEntities::FieldSets>& field : known->fields) {
        if (field && field->name == at.first) AddTo(at.second, positions, &field->sets);
      }
    }
    TailCounts tails{.rows = series.tails.size()};
    for (const Staged::Tail& tail : series.tails) tails.entities += tail.texts.size();
    upkeep_.NoteTails(known->series, tails, known->open_end, known->places.size());
  }
}

void IndexWriter::ForgetAll() {
  const absl::MutexLock lock(&mutex_);
  known_.clear();
  known_bytes_ = 0;
}

void IndexWriter::Forget(const Staged& staged) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [known, series] : staged.series) {
    const std::string name = known->series->schema.name;
    known_bytes_ -= known->counted_bytes;
    known_.erase(name);
  }
}

void IndexWriter::ForgetSome(const Staged& staged) {
  for (const auto& [known, series] : staged.series) {
    const size_t bytes = known->bytes();
    known_bytes_ += bytes - known->counted_bytes;
    known->counted_bytes = bytes;
  }
  if (known_bytes_ <= settings_.known_bytes_max) return;
  const absl::MutexLock lock(&mutex_);
  for (auto at = known_.begin(); at != known_.end();) {
    const auto now = at++;
    KnownEntities& known = *now->second;
    known_bytes_ -= known.counted_bytes;
    if (!staged.series.contains(&known)) {
      known_.erase(now);
    } else {
      // They are read again when they are asked for.
      known.days.clear();
      known.has_no_sets = false;
      known.counted_bytes = known.bytes();
      known_bytes_ += known.counted_bytes;
    }
    if (known_bytes_ <= settings_.known_bytes_max / 2) return;
  }
}

}  // namespace sonde::series
