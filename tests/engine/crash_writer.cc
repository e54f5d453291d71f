// The process that the crash test kills: writes batches from several threads, and says so on standard output.
//
//   sonde_crash_writer DATA_DIR FIRST_SEQUENCE sync|nosync honest|lie|tear
//
// Each 8 bytes on standard output, in the machine's order, are the sequence number of a batch that the engine
// has acknowledged.  `lie` says so before the engine is asked, `tear` writes the families of a row one by
// one: a verifier that does not notice is broken.  Other words are about drops (crash_ledger.h) and about
// what it is at (crash_phases.h).  Never ends by itself, but for errors: 1.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crash_ledger.h"
#include "crash_phases.h"
#include "engine/rocks/rocks_engine.h"
#include "fmt/format.h"
#include "older_format.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace sonde {
namespace {

enum class Honesty { kHonest, kLie, kTear };

[[noreturn]] void Fail(const std::string& what) {
  fmt::print(stderr, "crash_writer: {}\n", what);
  std::_Exit(1);
}

void Require(const absl::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

// One write of 8 bytes to a pipe is never torn.
void Say(uint64_t sequence) {
  if (write(STDOUT_FILENO, &sequence, sizeof(sequence)) != sizeof(sequence))
    Fail("standard output is closed");
}

// Says what is done while it lives.
class Phase {
 public:
  explicit Phase(CrashPhase phase) : phase_(phase) { Say(PhaseWord(phase_, true)); }
  ~Phase() { Say(PhaseWord(phase_, false)); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  const CrashPhase phase_;
};

// Says when tables are written.  RocksDB flushes and compacts in the background, in threads of two pools:
// their names tell which it is.  A table that another thread writes is one of a recovery, which flushes.
class TellingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  TellingFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "TellingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok() && name.ends_with(".sst")) *file = std::make_unique<Table>(std::move(*file));
    return status;
  }

 private:
  class Table final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    explicit Table(std::unique_ptr<rocksdb::FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)) {}

   private:
    static CrashPhase PhaseOfThread() {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof(name));
      return std::string(name).starts_with("rocksdb:low") ? CrashPhase::kCompaction : CrashPhase::kFlush;
    }
    const Phase phase_{PhaseOfThread()};
  };
};

// What a crash is likely to fall into.
void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

void WriteTorn(Engine* engine, const CrashBatch& batch) {
  for (const RowChange& change : batch.changes) {
    for (const FamilyDelta& family : change.delta.families) {
      RowDelta part{.families = {family}};
      if (&family == &change.delta.families.back()) part.log = change.delta.log;
      Require(engine->Apply(kCrashTable, {{change.row_key, part}}));
      Pause();
    }
  }
}

// All rows by one Apply; in every seventh batch, the first row by Update.
void Write(Engine* engine, uint64_t sequence, const CrashBatch& batch) {
  absl::Span<const RowChange> changes = batch.changes;
  if (sequence % 7 == 0) {
    const RowChange& first = changes.front();
    Require(engine->Update(kCrashTable, first.row_key, {},
                           [&](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
                             return first.delta;
                           }));
    changes.remove_prefix(1);
  }
  Require(engine->Apply(kCrashTable, changes));
}

void WriteForever(Engine* engine, uint64_t sequence, Honesty honesty) {
  while (true) {
    const CrashBatch batch = MakeCrashBatch(sequence);
    if (honesty == Honesty::kLie) {
      Say(sequence);
      Pause();
    }
    if (honesty == Honesty::kTear) {
      WriteTorn(engine, batch);
    } else {
      Write(engine, sequence, batch);
    }
    if (honesty != Honesty::kLie) Say(sequence);
    sequence += kCrashThreads;
  }
}

// A table that comes and goes.
void DropATable(Engine* engine, TableId table) {
  Require(engine->CreateTable({.id = table}));
  RowDelta delta;
  for (const FamilyId family : {FamilyId{1}, FamilyId{2}}) {
    delta.families.push_back({.family = family, .puts = {{"q", 0, "value"}}});
  }
  for (const char* const row : {"a", "b", "c"}) Require(engine->Apply(table, {{row, delta}}));
  {
    const Phase phase(CrashPhase::kDrop);
    Require(engine->DropFamily(table, 1));
    Require(engine->DropTable(table));
  }
  Say(kCrashDropped | table);
}

// Rows of a number that is never used again, of which some are dropped.
void DropARange(Engine* engine, uint64_t number) {
  RowDelta delta;
  delta.families.push_back({.family = 1, .puts = {{"q", 0, "value"}}});
  for (int row = 0; row < kCrashRangeRows; ++row) {
    const std::string row_key = CrashRangeRowKey(number, row);
    Require(engine->Apply(kCrashRangeTable, {{row_key, delta}}));
  }
  {
    const Phase phase(CrashPhase::kDrop);
    Require(engine->DropRange(kCrashRangeTable, {CrashRangeRowKey(number, kCrashRangeStart),
                                                 CrashRangeRowKey(number, kCrashRangeEnd)}));
  }
  Say(kCrashRangeDropped | number);
}

absl::StatusOr<std::unique_ptr<RocksEngine>> Open(const RocksOptions& options) {
  const int format = FormatOf(options.data_dir);
  const Phase phase(format == 1 || format == 2 ? CrashPhase::kUpgrade : CrashPhase::kOpen);
  return RocksEngine::Open(options);
}

void Run(const std::string& data_dir, uint64_t first_sequence, bool sync, Honesty honesty) {
  // Little memory, so that write buffers are flushed often; small pages and steps, so that rows settle again
  // and again.
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(std::make_shared<TellingFileSystem>());
  auto opened = Open({.data_dir = data_dir,
                      .memory_bytes = 8 << 20,
                      .sync = sync,
                      .env = env.get(),
                      .page = {.cells_max = 100},
                      .settling_step_cells_max = 50,
                      .settling_step_bytes_max = 200,
                      .combined_bytes_max = 200});
  Require(opened.status());
  RocksEngine* const engine = opened->get();
  for (const TableId table : {kCrashTable, kCrashRangeTable}) Require(engine->CreateTable({.id = table}));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kCrashThreads; ++thread) {
    uint64_t sequence = first_sequence;
    while (ThreadOfSequence(sequence) != thread) ++sequence;
    threads.emplace_back([=] { WriteForever(engine, sequence, honesty); });
  }
  threads.emplace_back([=] {
    while (true) {
      const Phase phase(CrashPhase::kSettling);
      Require(engine->SwitchHeads());
    }
  });
  // Ids are never used twice: writers are at least a million sequence numbers apart.
  for (auto table = static_cast<TableId>(first_sequence / 1'000'000);; ++table) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    DropATable(engine, table + kCrashRangeTable + 1);
    DropARange(engine, table);
    Require(engine->CompactAll());
  }
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 4) {
    Fail("arguments: DATA_DIR FIRST_SEQUENCE sync|nosync honest|lie|tear");
  }
  if (arguments[2] != "sync" && arguments[2] != "nosync") Fail("neither sync nor nosync: " + arguments[2]);
  Honesty honesty = Honesty::kHonest;
  if (arguments[3] == "lie") {
    honesty = Honesty::kLie;
  } else if (arguments[3] == "tear") {
    honesty = Honesty::kTear;
  } else if (arguments[3] != "honest") {
    Fail("not honest, lie or tear: " + arguments[3]);
  }
  Run(arguments[0], std::strtoull(arguments[1].c_str(), nullptr, 10), arguments[2] == "sync", honesty);
  return 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) { return sonde::Main(argc, argv); }
