#include "journal/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "journal/segment_cut.h"

namespace sonde {
namespace {

constexpr std::string_view kStateKey = "journal/state";
// A log is trimmed while a segment is cut.
constexpr int64_t kTrimMarginMicros = 60'000'000;

struct JournalState {
  std::string id;
  int64_t begin_micros = 0;
  bool is_ready = false;  // all tables are in step with it
};

RecordChange RecordOf(const JournalState& state) {
  const nlohmann::json json = {
      {"version", 1}, {"id", state.id}, {"begin_micros", state.begin_micros}, {"is_ready", state.is_ready}};
  return {std::string(kStateKey), json.dump()};
}

absl::StatusOr<std::optional<JournalState>> ReadState(Engine* engine) {
  const absl::StatusOr<std::vector<Record>> records = engine->ReadRecords(kStateKey);
  if (!records.ok()) return records.status();
  if (records->empty()) return std::nullopt;
  try {
    const nlohmann::json json = nlohmann::json::parse(records->front().value);
    if (json.at("version").get<int>() != 1) throw std::invalid_argument("unknown version");
    return JournalState{.id = json.at("id").get<std::string>(),
                        .begin_micros = json.at("begin_micros").get<int64_t>(),
                        .is_ready = json.at("is_ready").get<bool>()};
  } catch (const std::exception& e) {
    return absl::DataLossError(fmt::format("The record of the journal is damaged: {}", e.what()));
  }
}

// Whether `text` is `pattern`, in which '*' stands for any letters.
bool FitsPattern(std::string_view pattern, std::string_view text) {
  size_t at = 0, in_text = 0;
  std::optional<size_t> star;  // the last one, and where what it stands for ends
  size_t star_end = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_end = in_text;
    } else if (at < pattern.size() && pattern[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (star.has_value()) {
      at = *star + 1;
      in_text = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.substr(at).find_first_not_of('*') == std::string_view::npos;
}

std::vector<LogUse> UsesWithout(const std::vector<LogUse>& uses) {
  std::vector<LogUse> others;
  for (const LogUse& use : uses) {
    if (use.name != kJournalUse) others.push_back(use);
  }
  return others;
}

// Replaces the journal's use of a table's log; nullopt: there is none any more.
absl::Status SetUse(Catalog* catalog, const std::string& table, const std::optional<LogUse>& use) {
  const absl::Status status = catalog
                                  ->Update(table,
                                           [&](TableSchema* schema) {
                                             schema->log_uses = UsesWithout(schema->log_uses);
                                             if (use.has_value()) schema->log_uses.push_back(*use);
                                             std::ranges::sort(schema->log_uses, {}, &LogUse::name);
                                             return absl::OkStatus();
                                           })
                                  .status();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace

bool FitsPatterns(std::string_view patterns, std::string_view table_name) {
  while (!patterns.empty()) {
    const size_t comma = std::min(patterns.find(','), patterns.size());
    std::string_view pattern = patterns.substr(0, comma);
    patterns.remove_prefix(std::min(comma + 1, patterns.size()));
    pattern.remove_prefix(std::min(pattern.find_first_not_of(' '), pattern.size()));
    pattern = pattern.substr(0, pattern.find_last_not_of(' ') + 1);
    if (pattern.empty()) continue;
    const bool is_whole = pattern.find('/') != std::string_view::npos;
    if (FitsPattern(pattern, is_whole ? table_name : table_name.substr(table_name.rfind('/') + 1)))
      return true;
  }
  return false;
}

absl::Status Journal::Forget(Engine* engine) {
  const absl::StatusOr<std::vector<Record>> records = engine->ReadRecords(kJournalRecords);
  if (!records.ok()) return records.status();
  std::vector<RecordChange> changes;
  for (const Record& record : *records) changes.push_back({record.key, std::nullopt});
  return changes.empty() ? absl::OkStatus() : engine->WriteRecords(changes);
}

absl::Status Journal::TurnOff(Engine* engine, Catalog* catalog) {
  if (engine->traits().is_shared) return absl::OkStatus();
  for (const TableSchemaRef& schema : catalog->ListAll()) {
    if (schema->FindLogUse(kJournalUse) == nullptr) continue;
    if (absl::Status status = SetUse(catalog, schema->name, std::nullopt); !status.ok()) return status;
  }
  return Forget(engine);
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(Engine* engine, Catalog* catalog, const Clock* clock,
                                                       RandomSource* random, Options options) {
  if (engine->traits().is_shared || engine->log() == nullptr) {
    return absl::FailedPreconditionError("A journal needs a store of its own, which has change logs");
  }
  std::unique_ptr<Journal> journal(new Journal(engine, catalog, clock, std::move(options)));
  if (absl::Status status = journal->Begin(random); !status.ok()) return status;
  return journal;
}

Journal::~Journal() {
  if (schema_ != nullptr) catalog_->LogChanges(nullptr);
}

absl::Status Journal::Begin(RandomSource* random) {
  absl::StatusOr<std::optional<JournalState>> found = ReadState(engine_);
  if (!found.ok()) return found.status();
  bool changed = false;
  if (absl::Status status = Adopt(/*is_dry_run=*/true, &changed); !status.ok()) return status;
  const bool is_new = !found->has_value() || !(*found)->is_ready || changed;
  JournalState state;
  if (is_new) {
    if (absl::Status status = Forget(engine_); !status.ok()) return status;
    state.id = fmt::format("{:016x}", random->Next());
    if (absl::Status status = engine_->WriteRecords({RecordOf(state)}); !status.ok()) return status;
  } else {
    state = **found;
  }
  if (absl::Status status = Adopt(/*is_dry_run=*/false, &changed); !status.ok()) return status;
  const std::string tables = options_.tables;
  absl::StatusOr<std::unique_ptr<SchemaJournal>> schema =
      SchemaJournal::Open(engine_, clock_,
                          {.keep_micros = absl::ToInt64Microseconds(options_.keep),
                           .wants = [tables](std::string_view name) { return FitsPatterns(tables, name); }});
  if (!schema.ok()) return schema.status();
  schema_ = *std::move(schema);
  // A clock that was set back while nobody was there: rows come after the events all the same.
  const int64_t schema_frontier = schema_->FindFrontier(clock_->NowMicros());
  const absl::StatusOr<int64_t> frontier = FindFrontier(schema_frontier, ListTables());
  if (!frontier.ok()) return frontier.status();
  if (is_new) {
    state.begin_micros = *frontier;
    state.is_ready = true;
    if (absl::Status status = engine_->WriteRecords({RecordOf(state)}); !status.ok()) return status;
  }
  id_ = state.id;
  begin_micros_ = state.begin_micros;
  taken_through_ = *frontier;
  catalog_->LogChanges(schema_.get());
  return absl::OkStatus();
}

absl::Status Journal::Adopt(bool is_dry_run, bool* changed) {
  *changed = false;
  const int64_t keep_micros = absl::ToInt64Microseconds(options_.keep);
  for (const TableSchemaRef& schema : catalog_->ListAll()) {
    const LogUse* const use = schema->FindLogUse(kJournalUse);
    const bool wants = FitsPatterns(options_.tables, schema->name);
    if (wants != (use != nullptr)) *changed = true;
    if (is_dry_run || (wants && use != nullptr && use->retention_micros == keep_micros) ||
        (!wants && use == nullptr)) {
      continue;
    }
    std::optional<LogUse> made;
    if (wants) {
      made = {.name = kJournalUse,
              .retention_micros = keep_micros,
              .start_micros = use == nullptr ? clock_->NowMicros() : use->start_micros};
    }
    if (absl::Status status = SetUse(catalog_, schema->name, made); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<TableSchema> Journal::ListTables() const {
  std::vector<TableSchema> tables;
  for (const TableSchemaRef& schema : catalog_->ListAll()) {
    if (schema->FindLogUse(kJournalUse) != nullptr) tables.push_back(*schema);
  }
  for (const DeletedTableRef& deleted : catalog_->ListDeleted()) {
    if (deleted->record.schema.FindLogUse(kJournalUse) != nullptr) tables.push_back(deleted->record.schema);
  }
  return tables;
}

absl::StatusOr<int64_t> Journal::FindFrontier(int64_t schema_frontier,
                                              const std::vector<TableSchema>& tables) {
  int64_t frontier = schema_frontier;
  for (const TableSchema& table : tables) {
    const absl::StatusOr<RowLog::End> end =
        engine_->log()->FindEnd(table.id, RowRange::All(), schema_frontier);
    if (absl::IsNotFound(end.status())) {
      return absl::UnavailableError(fmt::format("Table {} is being dropped: try again", table.name));
    }
    if (!end.ok()) return end.status();
    frontier = std::min(frontier, end->frontier);
  }
  return frontier;
}

absl::StatusOr<JournalPlace> Journal::Surround(absl::FunctionRef<absl::Status()> copy) {
  JournalPlace place{.id = id_};
  const absl::Status status = catalog_->WithoutChanges([&]() -> absl::Status {
    const std::vector<TableSchema> tables = ListTables();
    const absl::StatusOr<int64_t> from = FindFrontier(schema_->FindFrontier(clock_->NowMicros()), tables);
    if (!from.ok()) return from.status();
    place.from_micros = *from;
    if (absl::Status copied = copy(); !copied.ok()) return copied;
    place.through_micros = schema_->FindFrontier(clock_->NowMicros());
    for (const TableSchema& table : tables) {
      const absl::StatusOr<RowLog::End> end = engine_->log()->FindEnd(table.id, RowRange::All(), 0);
      if (absl::IsNotFound(end.status())) continue;  // it was dropped by what had begun before
      if (!end.ok()) return end.status();
      place.through_micros = std::max(place.through_micros, end->last_record);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return place;
}

absl::Status Journal::CheckIsKept(std::string_view journal, int64_t after) const {
  if (journal != id_) {
    return absl::FailedPreconditionError(
        fmt::format("The store's journal is {} now, not {}: a new backup is needed", id_, journal));
  }
  const int64_t kept = clock_->NowMicros() - absl::ToInt64Microseconds(options_.keep) + kTrimMarginMicros;
  const int64_t oldest = std::max({begin_micros_, schema_->forgotten_through(), kept});
  if (after >= oldest) return absl::OkStatus();
  return absl::OutOfRangeError(fmt::format(
      "Changes behind {} us are asked for, and the store keeps those behind {} us", after, oldest));
}

absl::StatusOr<CutSegment> Journal::Cut(FileSystem* files, const std::string& path, std::string_view journal,
                                        int64_t after, bool starts) {
  if (absl::Status status = CheckIsKept(journal, after); !status.ok()) return status;
  int64_t taken = taken_through_.load();
  while (taken < after && !taken_through_.compare_exchange_weak(taken, after)) {
  }
  // In this order: a table that is made later has no change up to the events' frontier.
  const int64_t schema_frontier = schema_->FindFrontier(clock_->NowMicros());
  const std::vector<TableSchema> tables = ListTables();
  const absl::StatusOr<int64_t> through = FindFrontier(schema_frontier, tables);
  if (!through.ok()) return through.status();
  const absl::StatusOr<std::vector<SchemaEvent>> events = schema_->Read(after, *through);
  if (!events.ok()) return events.status();
  std::vector<TableId> ids;
  for (const TableSchema& table : tables) ids.push_back(table.id);
  return CutSegmentOf({.log = engine_->log(),
                       .events = *events,
                       .tables = ids,
                       .journal = id_,
                       .after = after,
                       .through = *through,
                       .starts = starts,
                       .bytes_max = options_.cut_bytes_max},
                      files, path);
}

std::vector<Figure> Journal::Figures() const {
  const int64_t taken = taken_through_.load();
  const std::vector<TableSchema> tables = ListTables();
  bool is_behind = false;
  for (const TableSchema& table : tables) {
    const absl::StatusOr<RowLog::End> end = engine_->log()->FindEnd(table.id, RowRange::All(), 0);
    is_behind |= end.ok() && end->last_record > taken;
  }
  const int64_t lag_micros = is_behind ? std::max<int64_t>(clock_->NowMicros() - taken, 0) : 0;
  return {Figure::Gauge("sonde_journal_tables", "Tables whose changes are journaled.")
              .Add(static_cast<double>(tables.size())),
          Figure::Gauge("sonde_journal_lag_seconds",
                        "For how long changes have not been fetched by `sonde backup create --follow`; 0: "
                        "all of them were.")
              .Add(static_cast<double>(lag_micros) / 1e6)};
}

}  // namespace sonde
