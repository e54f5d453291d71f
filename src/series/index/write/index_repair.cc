#include "series/index/write/index_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/bytes.h"
#include "base/random.h"
#include "series/index/index_table.h"
#include "series/index/write/entity_hash.h"
#include "series/index/write/seal_and_fold.h"
#include "series/key/key_codec.h"
#include "series/known/declaration_store.h"
#include "series/known/indexed_series.h"
#include "series/known/point_scan.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

constexpr size_t kProblemsMax = 20;
constexpr int64_t kTellRows = 1'000'000;
constexpr size_t kRowsDeletedAtOnce = 1'000;

// All that the index has of a series, to be asked for single rows.
class IndexFacts {
 public:
  struct Place {
    size_t block = 0;
    size_t position = 0;
  };

  // Damaged cells are told to `report`.
  absl::Status Load(const KnownSeries& series, TableAccess* tables, IndexReport* report);

  const std::vector<Place>* Find(std::string_view text) const {
    const auto found = places_.find(hasher_.Of(text));
    return found == places_.end() ? nullptr : &found->second;
  }
  bool HasDay(const Place& place, int32_t day) const { return Has(days_, day, place); }
  bool HasField(const Place& place, size_t field) const { return Has(fields_, field, place); }
  const std::string& block(size_t at) const { return blocks_[at]; }
  size_t entities() const { return places_.size(); }

 private:
  template <typename Key>
  using Sets = std::map<Key, absl::flat_hash_map<size_t, PositionSet>>;

  template <typename Key>
  static bool Has(const Sets<Key>& sets, Key key, const Place& place) {
    const auto of_key = sets.find(key);
    if (of_key == sets.end()) return false;
    const auto positions = of_key->second.find(place.block);
    return positions != of_key->second.end() && positions->second.Contains(place.position);
  }
  size_t PlaceOfBlock(const std::string& block) {
    const auto [at, is_new] = place_of_block_.try_emplace(block, blocks_.size());
    if (is_new) blocks_.push_back(block);
    return at->second;
  }
  void Add(std::string_view text, Place place) {
    std::vector<Place>& places = places_[hasher_.Of(text)];
    const auto is_same = [&](const Place& known) {
      return known.block == place.block && known.position == place.position;
    };
    if (std::none_of(places.begin(), places.end(), is_same)) places.push_back(place);
  }
  absl::Status LoadBlocks(const std::string& name, TableAccess* tables, IndexReport* report);
  template <typename Key>
  absl::Status LoadSets(const std::string& set_key, Key key, TableAccess* tables, IndexReport* report,
                        Sets<Key>* sets);

  const EntityHasher hasher_;
  std::vector<std::string> blocks_;
  absl::flat_hash_map<std::string, size_t> place_of_block_;
  absl::flat_hash_map<EntityHash, std::vector<Place>> places_;
  Sets<int32_t> days_;
  Sets<size_t> fields_;
};

// An error of the tables; a damaged cell is told to `report`.
absl::Status TakeDamage(const absl::Status& status, IndexReport* report) {
  if (!absl::IsDataLoss(status)) return status;
  if (report->problems.size() < kProblemsMax) report->problems.emplace_back(status.message());
  return absl::OkStatus();
}

absl::Status IndexFacts::LoadBlocks(const std::string& name, TableAccess* tables, IndexReport* report) {
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(name, tables);
  if (!directory.ok()) return TakeDamage(directory.status(), report);
  report->is_whole = directory->is_whole;
  report->is_given_up = directory->is_given_up;
  std::string text;
  for (const auto& [block, count] : directory->sealed) {
    const absl::StatusOr<std::shared_ptr<const EntityBlock>> read = ReadBlock(name, block, tables);
    if (!read.ok()) {
      if (absl::Status status = TakeDamage(read.status(), report); !status.ok()) return status;
      continue;
    }
    const size_t place = PlaceOfBlock(block);
    for (size_t position = 0; position < (*read)->end(); ++position) {
      text.clear();
      (*read)->AppendText(position, &text);
      Add(text, {place, position});
    }
    if ((*read)->end() >= count) continue;
    absl::Status status =
        TakeDamage(absl::DataLossError(fmt::format("block {}: {} entities, and its directory says {}", block,
                                                   (*read)->end(), count)),
                   report);
    if (!status.ok()) return status;
  }
  for (const IndexTail& tail : directory->tails) {
    const size_t place = PlaceOfBlock(tail.block);
    for (size_t i = 0; i < tail.texts.size(); ++i) Add(tail.texts[i], {place, tail.first + i});
  }
  return absl::OkStatus();
}

template <typename Key>
absl::Status IndexFacts::LoadSets(const std::string& set_key, Key key, TableAccess* tables,
                                  IndexReport* report, Sets<Key>* sets) {
  const absl::Status status = ReadSetRows(set_key, set_key, tables, [&](IndexSetRow&& row) {
    if (const auto block = place_of_block_.find(row.block); block != place_of_block_.end())
      (*sets)[key][block->second].Or(row.positions);
  });
  return TakeDamage(status, report);
}

absl::Status IndexFacts::Load(const KnownSeries& series, TableAccess* tables, IndexReport* report) {
  const std::string& name = series.schema.name;
  if (absl::Status status = LoadBlocks(name, tables, report); !status.ok()) return status;
  // Which days there are.
  std::set<int32_t> days;
  RowRead read;
  const std::string first_day = DaySetKey(name, 0);
  const size_t prefix_bytes = first_day.rfind("d#") + 2;
  read.ranges = {RowRange::Prefix(first_day.substr(0, prefix_bytes))};
  read.cells_per_column_max = 1;
  const absl::Status listed = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
    const std::string_view rest = std::string_view(row.row_key).substr(prefix_bytes);
    const std::optional<int64_t> start_micros =
        ParseCalendarTime(TimeFormat::kDayCompact, rest.substr(0, rest.find('#')));
    if (start_micros) days.insert(static_cast<int32_t>(*start_micros / kMicrosPerDay));
    return true;
  });
  if (!listed.ok() && !absl::IsNotFound(listed)) return listed;
  for (const int32_t day : days) {
    const absl::Status status = LoadSets(DaySetKey(name, day), day, tables, report, &days_);
    if (!status.ok()) return status;
  }
  for (size_t field = 0; field < series.schema.fields.size(); ++field) {
    const std::string key = FieldSetKey(name, series.schema.fields[field].name);
    const absl::Status status = LoadSets(key, field, tables, report, &fields_);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A row of the series, or a piece of one, as the index is to know it.
struct DataRow {
  std::string text;
  int32_t day = 0;
  std::vector<size_t> fields;
};

using TakeDataRow = std::function<absl::Status(const DataRow& row, int64_t rows)>;

// The points of a declared series: what comes behind each other of one day of an entity is one piece.  Those of an entity may come in many.
absl::Status ReadDeclaredRows(const SeriesSchema& schema, TableAccess* tables, const TakeDataRow& take) {
  const EntityTexts texts(schema);
  ScanStats stats;
  std::vector<std::string> last_tags;
  DataRow data;
  const auto take_point = [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
    const int32_t day = EntityDay(point.time_micros);
    if (last_tags == key.tags && data.day == day) return true;
    if (last_tags != key.tags) {
      last_tags = key.tags;
      data.text.clear();
      texts.Append(std::vector<std::string_view>(last_tags.begin(), last_tags.end()), &data.text);
    }
    data.day = day;
    if (absl::Status taken = take(data, stats.rows); !taken.ok()) return taken;
    return true;
  };
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    SeriesSchema version = *span.schema;
    version.earlier.clear();
    const Selection times{.tags = {}, .from_micros = span.from_micros, .to_micros = span.to_micros};
    const absl::Status status = ScanPoints(version, times, tables, take_point, &stats);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

// `take` gets each row, and how many were read.
absl::Status ReadDataRows(const KnownSeries& series, TableAccess* tables, const TakeDataRow& take) {
  if (!series.is_open()) return ReadDeclaredRows(series.schema, tables, take);
  const KeyCodec codec(series.schema);
  absl::flat_hash_map<std::string, size_t> place_of_field;
  for (size_t i = 0; i < series.schema.fields.size(); ++i) {
    place_of_field.emplace(series.schema.fields[i].qualifier, i);
  }
  RowRead read;
  std::string prefix;
  AppendEscaped(series.schema.name, &prefix);
  read.ranges = {RowRange::Prefix(prefix + "#")};
  read.cells_per_column_max = 1;
  absl::Status problem;
  DecodedKey key;
  DataRow data;
  int64_t rows = 0;
  const absl::Status status = tables->ReadRows(kOpenSeriesTable, read, [&](ReadRow&& row) {
    problem = codec.Decode(row.row_key, &key);
    if (!problem.ok()) return false;
    data.text = key.tags[0];
    data.day = static_cast<int32_t>(key.bucket_start_micros.value_or(0) / kMicrosPerDay);
    data.fields.clear();
    for (const ReadCell& cell : row.cells) {
      // One that the record does not have is no field: nobody can ask for it.
      if (const auto field = place_of_field.find(cell.qualifier); field != place_of_field.end())
        data.fields.push_back(field->second);
    }
    problem = take(data, ++rows);
    return problem.ok();
  });
  if (!problem.ok()) return problem;
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// What a repair writes: sets of places that there are, and blocks of its own.
class Repair {
 public:
  Repair(const KnownSeries& series, TableAccess* tables, const Clock& clock)
      : series_(series.is_open() ? series : IndexedView(series.schema)),
        tables_(tables),
        now_micros_(WholeMillis(clock.NowMicros())),
        writer_(fmt::format("{:016x}", SystemRandom().Next())) {}

  void AddToSets(const std::string& block, size_t position, const DataRow& row) {
    sets_[SetRowKey(DaySetKey(series_.schema.name, row.day), block)].Add(position);
    for (const size_t field : row.fields) {
      sets_[SetRowKey(FieldSetKey(series_.schema.name, series_.schema.fields[field].name), block)].Add(
          position);
    }
  }
  absl::Status AddEntity(const DataRow& row) {
    if (!series_.is_open()) {
      // Its rows may come again behind those of others.
      const auto added = added_.find(hasher_.Of(row.text));
      if (added != added_.end()) {
        AddToSets(added->second.first, added->second.second, row);
        return absl::OkStatus();
      }
    }
    if (texts_.empty() || texts_.back() != row.text) {
      const bool is_full =
          texts_.size() >= kBlockEntitiesMax || text_bytes_ + row.text.size() > kBlockTextBytesMax;
      if (!texts_.empty() && is_full) {
        if (absl::Status status = WriteBlock(); !status.ok()) return status;
      }
      if (texts_.empty()) block_ = fmt::format("{:014x}{}{:x}", now_micros_, writer_.substr(0, 8), blocks_++);
      texts_.push_back(row.text);
      text_bytes_ += row.text.size();
      if (!series_.is_open()) added_.try_emplace(hasher_.Of(row.text), block_, texts_.size() - 1);
    }
    AddToSets(block_, texts_.size() - 1, row);
    return absl::OkStatus();
  }
  absl::Status Finish() {
    if (absl::Status status = WriteBlock(); !status.ok()) return status;
    RowWrite row;
    row.row_key = DirectoryKey(series_.schema.name);
    row.cells = {{kIndexFamily, kWholeColumn, now_micros_, "1"}};
    return WriteIndexRows({row}, tables_);
  }

 private:
  // The sets first: what is listed has its days.
  absl::Status WriteBlock() {
    std::vector<RowWrite> rows;
    for (const auto& [row_key, positions] : sets_) {
      rows.push_back({row_key,
                      {{kIndexSetsFamily, fmt::format("{}.{:x}", writer_, cells_++), now_micros_,
                        EncodePositions(positions)}},
                      {}});
    }
    if (absl::Status status = WriteIndexRows(rows, tables_); !status.ok()) return status;
    sets_.clear();
    if (texts_.empty()) return absl::OkStatus();
    const std::shared_ptr<const EntityBlock> block = EntityBlock::Make(series_.labels, texts_);
    if (block == nullptr) {
      return absl::DataLossError(
          fmt::format("series '{}': labels of its rows are none of its record, or in another order",
                      Printable(series_.schema.name)));
    }
    const absl::Status written =
        WriteIndexRows({BlockRow(series_.schema.name, block_, *block, now_micros_)}, tables_);
    if (!written.ok()) return written;
    RowWrite listed;
    listed.row_key = DirectoryKey(series_.schema.name);
    listed.cells = {{kIndexFamily, kSealedColumnPrefix + block_, now_micros_, EncodeSealed(texts_.size())}};
    texts_.clear();
    text_bytes_ = 0;
    return WriteIndexRows({listed}, tables_);
  }

  const KnownSeries series_;
  TableAccess* const tables_;
  const int64_t now_micros_;
  const std::string writer_;
  int64_t cells_ = 0;
  int64_t blocks_ = 0;
  std::map<std::string, PositionSet> sets_;
  std::string block_;
  std::vector<std::string> texts_;
  size_t text_bytes_ = 0;
  // Of a declared series: where the entities are that were added.
  const EntityHasher hasher_;
  absl::flat_hash_map<EntityHash, std::pair<std::string, size_t>> added_;
};

// Compares each row; `repair` may be null.
absl::Status Compare(const KnownSeries& series, const IndexFacts& facts, TableAccess* tables,
                     const IndexProgress& progress, IndexReport* report, Repair* repair) {
  std::string last_text;
  // Of a declared series, whose rows of an entity do not lie together.
  const EntityHasher hasher;
  absl::flat_hash_set<EntityHash> seen;
  size_t found_entities = 0;
  const auto missing = [&](int64_t* count, std::string_view what, const DataRow& row) {
    ++*count;
    if (report->problems.size() < kProblemsMax) {
      report->problems.push_back(fmt::format("series '{}': {} of {} {} not in the index",
                                             Printable(series.schema.name), what, Printable(row.text),
                                             what == "the entity" ? "is" : "are"));
    }
  };
  int64_t told_rows = 0;
  const auto take = [&](const DataRow& row, int64_t rows) -> absl::Status {
    report->rows = rows;
    if (rows - told_rows >= kTellRows && progress.tell) {
      told_rows = rows;
      progress.tell(*report);
    }
    const bool is_first =
        row.text != last_text && (series.is_open() || seen.insert(hasher.Of(row.text)).second);
    last_text = row.text;
    report->entities += is_first ? 1 : 0;
    const std::vector<IndexFacts::Place>* const places = facts.Find(row.text);
    if (places == nullptr) {
      if (is_first) missing(&report->missing_entities, "the entity", row);
      return repair == nullptr ? absl::OkStatus() : repair->AddEntity(row);
    }
    found_entities += is_first ? 1 : 0;
    const bool has_all = std::any_of(places->begin(), places->end(), [&](const IndexFacts::Place& place) {
      return facts.HasDay(place, row.day) &&
             std::all_of(row.fields.begin(), row.fields.end(),
                         [&](size_t field) { return facts.HasField(place, field); });
    });
    if (has_all) return absl::OkStatus();
    missing(&report->missing_rows, "a day or fields", row);
    if (repair != nullptr)
      repair->AddToSets(facts.block(places->front().block), places->front().position, row);
    return absl::OkStatus();
  };
  const absl::Status status = ReadDataRows(series, tables, take);
  report->idle_entities = static_cast<int64_t>(facts.entities() - found_entities);
  return status;
}

// All rows of the index of the series.
absl::Status DeleteIndex(const KnownSeries& series, TableAccess* tables) {
  const std::string directory = DirectoryKey(series.schema.name);
  RowRead read;
  read.ranges = {RowRange::Prefix(directory.substr(0, directory.size() - 1))};
  while (true) {
    std::vector<RowWrite> deletions;
    const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
      RowWrite& deletion = deletions.emplace_back();
      deletion.row_key = std::move(row.row_key);
      for (ReadCell& cell : row.cells)
        deletion.delete_columns.emplace_back(std::move(cell.family), std::move(cell.qualifier));
      return deletions.size() < kRowsDeletedAtOnce;
    });
    if (!status.ok()) return absl::IsNotFound(status) ? absl::OkStatus() : status;
    if (deletions.empty()) return absl::OkStatus();
    if (absl::Status written = WriteIndexRows(deletions, tables); !written.ok()) return written;
  }
}

// A server that runs may know entities of a table that was dropped.  When it misses the table, it forgets them, and makes it
// anew: nobody else may.
absl::Status PrepareTable(TableAccess* tables, bool is_alone) {
  if (is_alone) return EnsureIndexTable(tables);
  const absl::Status status = tables->ListFamilies(kIndexTable).status();
  if (!absl::IsNotFound(status)) return status;
  return absl::FailedPreconditionError(
      fmt::format("there is no table '{}' yet; the server makes it with the next point of an indexed series "
                  "that it takes: send "
                  "one, or stop the server and run this on its data directory (--data-dir)",
                  kIndexTable));
}

}  // namespace

absl::StatusOr<IndexReport> CheckIndex(const KnownSeries& series, TableAccess* tables,
                                       const IndexProgress& progress) {
  IndexReport report;
  IndexFacts facts;
  if (absl::Status status = facts.Load(series, tables, &report); !status.ok()) return status;
  if (absl::Status status = Compare(series, facts, tables, progress, &report, nullptr); !status.ok())
    return status;
  return report;
}

namespace {

// Tails of a declared series are sealed by their writers alone.  Where nobody else is, those are dead.
absl::Status SealTails(const KnownSeries& view, TableAccess* tables, const Clock& clock) {
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(view.schema.name, tables);
  if (!directory.ok()) return directory.status();
  std::map<std::string, std::vector<const IndexTail*>> tails_of;
  for (const IndexTail& tail : directory->tails) tails_of[tail.block].push_back(&tail);
  for (const auto& [block, tails] : tails_of) {
    const absl::Status status =
        SealBlock(view, *directory, block, tails, WholeMillis(clock.NowMicros()), tables);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Who writes by another declaration than this one may leave entities out.
absl::Status CheckIsStored(const KnownSeries& series, TableAccess* tables) {
  if (series.is_open()) return absl::OkStatus();
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(series.schema.name, tables);
  if (!stored.ok()) return stored.status();
  if (stored->has_value() && (*stored)->yaml == series.yaml) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("series '{}' is declared otherwise now: run this again", Printable(series.schema.name)));
}

}  // namespace

absl::StatusOr<IndexReport> RebuildIndex(const KnownSeries& series, TableAccess* tables, const Clock& clock,
                                         bool is_alone, const IndexProgress& progress) {
  if (absl::Status status = PrepareTable(tables, is_alone); !status.ok()) return status;
  IndexReport report;
  auto facts = std::make_unique<IndexFacts>();
  if (absl::Status status = facts->Load(series, tables, &report); !status.ok()) return status;
  const bool begins_anew = !report.problems.empty() || (report.is_given_up && is_alone && !series.is_open());
  if (begins_anew) {
    if (!is_alone) {
      return absl::FailedPreconditionError(fmt::format(
          "{}; stop the server, and run this on its data directory (--data-dir)", report.problems[0]));
    }
    if (absl::Status status = DeleteIndex(series, tables); !status.ok()) return status;
    report = {};
    facts = std::make_unique<IndexFacts>();
    if (absl::Status status = facts->Load(series, tables, &report); !status.ok()) return status;
  }
  if (report.is_given_up) {
    return absl::FailedPreconditionError(fmt::format(
        "series '{}' has more entities than the server may know, and is not indexed any more; give it more "
        "--memory, start it anew, {}, and run this again",
        Printable(series.schema.name),
        series.is_open() ? "send a point of the series" : "stop it once more for this (--data-dir)"));
  }
  Repair repair(series, tables, clock);
  if (absl::Status status = Compare(series, *facts, tables, progress, &report, &repair); !status.ok())
    return status;
  if (absl::Status status = CheckIsStored(series, tables); !status.ok()) return status;
  if (absl::Status status = repair.Finish(); !status.ok()) return status;
  if (is_alone && !series.is_open()) {
    if (absl::Status status = SealTails(IndexedView(series.schema), tables, clock); !status.ok())
      return status;
  }
  report.is_whole = true;
  return report;
}

}  // namespace sonde::series
