#include "schema_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "table/tables.h"

namespace sonde {
namespace {

constexpr int kTables = 3;
constexpr int kFamilies = 4;
constexpr size_t kFaultsMax = 10;
constexpr int64_t kCellMicros = 1'000;
constexpr absl::Duration kBetweenWrites = absl::Milliseconds(2);

using FamilyKey = std::pair<TableId, FamilyId>;

std::string TableName(uint64_t number) { return fmt::format("projects/p/instances/i/tables/t{}", number); }
std::string FamilyName(uint64_t number) { return fmt::format("f{}", number); }

template <typename Call>
auto Insist(const Call& call) -> decltype(call()) {
  auto answer = call();
  while (absl::IsUnavailable(answer.status()) || absl::IsUnknown(answer.status()) ||
         absl::IsDeadlineExceeded(answer.status())) {
    absl::SleepFor(absl::Milliseconds(10));
    answer = call();
  }
  return answer;
}

struct Server {
  Server(Engine* over, absl::Duration seen_within)
      : engine(over),
        catalog(*Insist([&] { return Catalog::Open(engine, {.seen_within = seen_within}); })),
        tables(engine, catalog.get(), &clock, /*seed=*/1) {}

  Engine* const engine;
  const SystemClock clock;
  const std::unique_ptr<Catalog> catalog;
  Tables tables;
};

// What was answered, in an order in which later events have greater numbers.
class Answers {
 public:
  uint64_t Now() { return events_.fetch_add(1) + 1; }

  // Servers that make the same change at the same moment may all be told that they made it: it is one family, with one id.  `begun`: the call.
  void OnTable(TableId table, const std::string& name, uint64_t begun) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    ++result_.tables_made;
    const auto [given, is_new] = tables_.try_emplace(table, name);
    if (is_new) return;
    ++result_.shared;
    if (given->second != name || IsDropped({table, 0}, begun))
      Fault(fmt::format("Table id {} was given twice", table));
  }
  void OnFamily(FamilyKey family, const std::string& name, uint64_t begun) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    ++result_.families_made;
    const auto [given, is_new] = families_.try_emplace(family, name);
    if (is_new) return;
    ++result_.shared;
    if (given->second != name || IsDropped(family, begun))
      Fault(fmt::format("Family id {} of table {} was given twice", family.second, family.first));
  }
  void OnDropped(TableId table, std::optional<FamilyId> family) ABSL_LOCKS_EXCLUDED(mutex_) {
    const uint64_t at = Now();
    const absl::MutexLock lock(&mutex_);
    family.has_value() ? dropped_families_.try_emplace({table, *family}, at)
                       : dropped_tables_.try_emplace({table, 0}, at);
  }
  void OnChange(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    const bool is_refused = absl::IsNotFound(status) || absl::IsAlreadyExists(status);
    ++(status.ok() ? result_.changes_made : is_refused ? result_.changes_refused : result_.changes_unknown);
    const bool is_expected = status.ok() || is_refused || absl::IsUnknown(status) ||
                             absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
    if (!is_expected) Fault(fmt::format("A change was answered {}", status.ToString()));
  }
  void OnWrite(const absl::Status& status, FamilyKey family, const std::string& row, uint64_t begun)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    if (!status.ok()) {
      ++(absl::IsNotFound(status) ? result_.refused : result_.unknown);
      return;
    }
    ++result_.acknowledged;
    written_.push_back({family, row, begun});
  }
  // Whether it was dropped, by an answer before the event `at`.
  bool IsDropped(FamilyKey family, uint64_t at) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    const auto dropped = dropped_families_.find(family);
    const auto table = dropped_tables_.find({family.first, 0});
    return (dropped != dropped_families_.end() && dropped->second < at) ||
           (table != dropped_tables_.end() && table->second < at);
  }
  // `seen`: the rows of each family that is there at the end.
  SchemaRaceResult Judge(const std::map<FamilyKey, std::set<std::string>>& seen) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [family, row, begun] : written_) {
      if (IsDropped(family, begun))
        Fault(fmt::format("Row {} was written into family {} of table {} after its drop", row, family.second,
                          family.first));
      const auto there = seen.find(family);
      if (there != seen.end() && !there->second.contains(row))
        Fault(fmt::format("Row {} of family {} of table {} was acknowledged, and is not there", row,
                          family.second, family.first));
    }
    for (const auto& [family, rows] : seen) {
      if (IsDropped(family, UINT64_MAX))
        Fault(fmt::format("Family {} of table {} was dropped, and is there", family.second, family.first));
    }
    return result_;
  }
  void OnFault(std::string fault) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    Fault(std::move(fault));
  }

 private:
  void Fault(std::string fault) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (result_.faults.size() < kFaultsMax) result_.faults.push_back(std::move(fault));
  }

  std::atomic<uint64_t> events_ = 0;
  absl::Mutex mutex_;
  SchemaRaceResult result_ ABSL_GUARDED_BY(mutex_);
  std::map<TableId, std::string> tables_ ABSL_GUARDED_BY(mutex_);
  std::map<FamilyKey, std::string> families_ ABSL_GUARDED_BY(mutex_);
  std::map<FamilyKey, uint64_t> dropped_families_ ABSL_GUARDED_BY(mutex_);
  std::map<FamilyKey, uint64_t> dropped_tables_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::tuple<FamilyKey, std::string, uint64_t>> written_ ABSL_GUARDED_BY(mutex_);
};

// One random change.  Mostly families are made and dropped.
void Change(Server* server, RandomSource* random, Answers* answers) {
  const std::string table = TableName(random->Uniform(kTables));
  const std::string family = FamilyName(random->Uniform(kFamilies));
  const uint64_t begun = answers->Now();
  const absl::StatusOr<TableSchemaRef> before = server->catalog->Find(table);
  absl::Status status;
  const uint64_t kind = random->Uniform(12);
  if (!before.ok() || kind == 0) {
    TableSchema schema;
    schema.name = table;
    schema.families = {{.name = family}};
    const absl::StatusOr<TableSchemaRef> made = server->catalog->Create(std::move(schema));
    status = made.status();
    if (made.ok()) answers->OnTable((*made)->id, table, begun);
    if (made.ok()) answers->OnFamily({(*made)->id, (*made)->FindFamily(family)->id}, family, begun);
  } else if (kind == 1) {
    status = server->catalog->Delete(table);
    if (status.ok()) answers->OnDropped((*before)->id, std::nullopt);
  } else if (const FamilySchema* const there = (*before)->FindFamily(family); there != nullptr) {
    std::vector<FamilyModification> changes = {DropFamily{family}};
    const bool makes_again = random->Uniform(2) == 0;
    if (makes_again) changes.push_back(CreateFamily{{.name = family}});
    const absl::StatusOr<TableSchemaRef> made = server->catalog->Modify(table, changes);
    status = made.status();
    // The one that was seen is gone by now, whoever dropped it.
    if (made.ok()) answers->OnDropped((*before)->id, there->id);
    if (made.ok() && makes_again)
      answers->OnFamily({(*made)->id, (*made)->FindFamily(family)->id}, family, begun);
  } else {
    const absl::StatusOr<TableSchemaRef> made =
        server->catalog->Modify(table, {CreateFamily{{.name = family}}});
    status = made.status();
    if (made.ok()) answers->OnFamily({(*made)->id, (*made)->FindFamily(family)->id}, family, begun);
  }
  answers->OnChange(status);
}

void Write(Server* server, RandomSource* random, const std::string& row, Answers* answers) {
  const uint64_t begun = answers->Now();
  const absl::StatusOr<TableSchemaRef> schema = server->catalog->Find(TableName(random->Uniform(kTables)));
  if (!schema.ok() || (*schema)->families.empty()) return;
  const FamilySchema& family = (*schema)->families[random->Uniform((*schema)->families.size())];
  const std::string value = fmt::format("{}/{}", (*schema)->id, family.id);
  // Of the server's time the change depends on its row; of its own it does not.
  const int64_t micros = random->Uniform(2) == 0 ? kServerTimestamp : kCellMicros;
  const std::vector<Mutation> mutations = {SetCell{family.name, "q", micros, value}};
  const RowMutations write{row, mutations, std::nullopt};
  answers->OnWrite(server->tables.MutateRows(**schema, {&write, 1}).front(), {(*schema)->id, family.id}, row,
                   begun);
}

using RowsSeen = std::map<FamilyKey, std::set<std::string>>;

// Adds the rows of each family of a table, by what their cells say.
absl::StatusOr<RowsSeen> ReadTable(Server* server, const TableSchemaRef& schema, Answers* answers) {
  RowsSeen seen;
  for (const FamilySchema& family : schema->families) seen[{schema->id, family.id}];
  ReadRequest request;
  request.ranges = {RowRange::All()};
  const absl::StatusOr<std::unique_ptr<RowReader>> reader = server->tables.Read(schema, std::move(request));
  if (!reader.ok()) return reader.status();
  while (true) {
    const absl::StatusOr<RowReader::Step> step = (*reader)->Next(1'000'000);
    if (!step.ok()) return step.status();
    if (*step == RowReader::Step::kEnd) return seen;
    for (const FilterCell& cell : (*reader)->cells()) {
      const std::string name = std::string((*reader)->family_name(cell));
      const FamilyKey family{schema->id, schema->FindFamily(name)->id};
      if (cell.cell.value != fmt::format("{}/{}", family.first, family.second))
        answers->OnFault(fmt::format("Family {} of table {} shows a cell of {}", family.second, family.first,
                                     cell.cell.value));
      seen[family].insert(std::string((*reader)->row_key()));
    }
  }
}

RowsSeen ReadAll(Server* server, Answers* answers) {
  RowsSeen seen;
  for (const TableSchemaRef& schema : server->catalog->ListAll()) {
    absl::StatusOr<RowsSeen> rows = Insist([&] { return ReadTable(server, schema, answers); });
    if (rows.ok()) {
      seen.merge(*rows);
    } else {
      answers->OnFault(fmt::format("A read was answered {}", rows.status().ToString()));
    }
  }
  return seen;
}

}  // namespace

std::string SchemaRaceResult::Text() const {
  return fmt::format(
      "{} changes made, {} refused, {} unknown; {} tables and {} families given, {} of them to two at once; "
      "{} writes acknowledged, {} "
      "refused, {} unknown",
      changes_made, changes_refused, changes_unknown, tables_made, families_made, shared, acknowledged,
      refused, unknown);
}

SchemaRaceResult RaceSchemas(const std::vector<Engine*>& servers, const SchemaRaceOptions& options) {
  std::vector<std::unique_ptr<Server>> opened;
  for (Engine* const engine : servers)
    opened.push_back(std::make_unique<Server>(engine, options.seen_within));
  Answers answers;
  std::atomic<int> changes_left = options.changes;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> changers, writers;
  uint64_t seed = options.seed * 1'000;
  for (size_t i = 0; i < opened.size() * static_cast<size_t>(options.changers_per_server); ++i) {
    Server* const server = opened[i % opened.size()].get();
    changers.emplace_back([&, server, own_seed = ++seed] {
      SeededRandom random(own_seed);
      while (changes_left.fetch_sub(1) > 0) Change(server, &random, &answers);
    });
    writers.emplace_back([&, server, i, own_seed = ++seed] {
      SeededRandom random(own_seed);
      for (int n = 0; !is_over; ++n) {
        Write(server, &random, fmt::format("row-{}-{:06}", i, n), &answers);
        absl::SleepFor(kBetweenWrites);
      }
    });
  }
  for (std::thread& changer : changers) changer.join();
  is_over = true;
  for (std::thread& writer : writers) writer.join();
  return answers.Judge(ReadAll(opened.front().get(), &answers));
}

}  // namespace sonde
