// Damages one file of a data directory at a time, of every kind in every way, opens it, and looks whether
// anything is served that was not written, or missing without a word.
//
//   sonde_damage_test [--trials=N] [--seed=S] [--unguarded] [--verbose]
//
// Each trial flips a bit, scribbles over some bytes, zeroes a sector, cuts the file or deletes it.  Allowed:
// the directory is refused; rows are DATA_LOSS and the others right; nothing happens.  With --unguarded a
// plain RocksDB with its default options is damaged instead: the negative control, which must lose something
// silently.  Exit 0: nothing silent (with --unguarded: something).  1: otherwise.  2: wrong arguments.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "engine/rocks/files/inventory.h"
#include "engine/rocks/rocks_engine.h"
#include "lossy_file_system.h"
#include "observed_rows.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr TableId kTable = 1;
constexpr FamilyId kFamily = 1;
constexpr int kRows = 240;  // a half in pages, some in the heads' tables, a third in the log

enum class Outcome { kRefused, kPartlyLost, kNoEffect, kSilent };
constexpr int kOutcomes = 4;

std::string RowKey(int row) { return fmt::format("row{:05}", row); }

std::string Value(int row) {
  SeededRandom random(row);
  std::string value(300 + random.Uniform(300), '\0');
  for (char& c : value) c = static_cast<char>(random.Next());  // does not compress
  return value;
}

// What kind of file it is; nothing for those without meaning.
std::string KindOf(const fs::path& path) {
  const std::string name = path.filename();
  const std::string database = path.parent_path().filename();
  if (name.ends_with(".log")) return database + " log";
  if (name.ends_with(".sst")) return database + " table";
  if (name.starts_with("MANIFEST")) return database + " MANIFEST";
  if (name.starts_with("OPTIONS")) return database + " OPTIONS";
  if (name == "CURRENT" || name == "IDENTITY") return database + " " + name;
  if (name == kInventoryFile || name == kInventoryBeforeFile || name == "FORMAT") return name;
  return "";
}

std::vector<fs::path> FilesOf(const std::string& directory, const std::string& extension) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && (extension.empty() || entry.path().extension() == extension))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Copies a directory that is in use, but not written to.
void CopyDirectory(const std::string& from, const std::string& to) {
  std::error_code error(1, std::generic_category());
  for (int attempt = 0; error && attempt < 20; ++attempt) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive, error);
  }
  fs::remove(to + "/" + kBallastFile);
}

std::string DamageFile(const fs::path& path, SeededRandom* random) {
  const uint64_t bytes = fs::file_size(path);
  const uint64_t how = random->Uniform(bytes == 0 ? 1 : 5);
  if (how == 0) {
    fs::remove(path);
    return "deleted";
  }
  const uint64_t at = random->Uniform(bytes);
  if (how == 1) {
    fs::resize_file(path, at);
    return fmt::format("cut at {} of {}", at, bytes);
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  if (how == 2) {
    const uint64_t bit = random->Uniform(8);
    file.seekg(static_cast<std::streamoff>(at));
    const char flipped = static_cast<char>(file.get() ^ (1 << bit));
    file.seekp(static_cast<std::streamoff>(at));
    file.put(flipped);
    return fmt::format("bit {} of byte {} of {} flipped", bit, at, bytes);
  }
  const bool zeroes = how == 3;
  const uint64_t start = zeroes ? at / 512 * 512 : at;
  const uint64_t length =
      std::min(bytes - start, zeroes ? 512 << (3 * random->Uniform(2)) : 1 + random->Uniform(64));
  file.seekp(static_cast<std::streamoff>(start));
  for (uint64_t i = 0; i < length; ++i) file.put(zeroes ? '\0' : static_cast<char>(random->Next()));
  return fmt::format("{} bytes at {} of {} {}", length, start, bytes, zeroes ? "zeroed" : "scribbled over");
}

// What is damaged and looked at: a data directory, or a plain database.
class Subject {
 public:
  virtual ~Subject() = default;
  // Makes reference directories; each ends in another state.
  virtual void Make(const std::string& directory) = 0;
  // Of a damaged copy; `detail` says what was wrong.
  virtual Outcome Look(const std::string& directory, SeededRandom* random, std::string* detail) = 0;
};

class SondeSubject final : public Subject {
 public:
  void Make(const std::string& directory) override {
    const std::string live = directory + "/closed";
    auto engine = Open(live, nullptr);
    if (!engine.ok()) Fail(engine.status());
    Check((*engine)->CreateTable({.id = kTable}));
    Check((*engine)->WriteRecords({{"record", "of the catalog"}}));
    std::string piece;
    for (int row = 0; row < kRows; ++row) {
      const std::string key = RowKey(row), value = Value(row);
      const std::vector<std::string> pieces = {key};
      RowDelta delta;
      delta.families.push_back({.family = kFamily, .puts = {{"q", 0, value}}});
      delta.log.pieces = pieces;
      Check((*engine)->Apply(kTable, {{key, delta}}));
      if (row == kRows / 3 || row == 2 * kRows / 3) Check((*engine)->CompactAll());
      if (row == kRows / 4 || row == kRows / 2) Check((*engine)->SwitchHeads());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the inventory knows of all
    CopyDirectory(live, directory + "/killed");
    engine->reset();
    fs::remove(live + "/" + kBallastFile);
  }

  Outcome Look(const std::string& directory, SeededRandom* random, std::string* detail) override {
    const std::string data_dir = directory + "/data";
    const auto disk = std::make_shared<LossyFileSystem>(directory, 1, LossyFileSystem::Lies());
    const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
    const std::vector<fs::path> tables = FilesOf(data_dir, ".sst");
    auto engine = Open(data_dir, env.get());
    if (!engine.ok()) {
      *detail = engine.status().ToString();
      if (std::all_of(tables.begin(), tables.end(), [](const fs::path& table) { return fs::exists(table); }))
        return Outcome::kRefused;
      *detail = "refused, but deleted tables: " + *detail;
      return Outcome::kSilent;
    }
    Outcome outcome = Outcome::kNoEffect;
    for (int row = 0; row < kRows; ++row) outcome = Worse(outcome, LookAtRow(engine->get(), row, detail));
    outcome = Worse(outcome, LookAtLog(engine->get(), detail));
    outcome = Worse(outcome, LookAtRecords(engine->get(), detail));
    if (outcome == Outcome::kSilent || random->Uniform(4) != 0) return outcome;
    // What a compaction makes of it.
    if ((*engine)->SwitchHeads().ok() && (*engine)->CompactAll().ok() && outcome == Outcome::kPartlyLost) {
      for (int row = 0; row < kRows; ++row) outcome = Worse(outcome, LookAtRow(engine->get(), row, detail));
    }
    return outcome;
  }

 private:
  [[noreturn]] static void Fail(const absl::Status& status) {
    fmt::print(stderr, "damage: the reference cannot be made: {}\n", status.ToString());
    std::exit(1);
  }
  static void Check(const absl::Status& status) {
    if (!status.ok()) Fail(status);
  }
  static Outcome Worse(Outcome a, Outcome b) {
    if (a == Outcome::kSilent || b == Outcome::kSilent) return Outcome::kSilent;
    return a == Outcome::kPartlyLost ? a : b;
  }

  static absl::StatusOr<std::unique_ptr<RocksEngine>> Open(const std::string& data_dir, rocksdb::Env* env) {
    return RocksEngine::Open({.data_dir = data_dir,
                              .memory_bytes = 8 << 20,
                              .inventory_interval = absl::Milliseconds(10),
                              .env = env,
                              .page = {.cells_max = 20}});
  }

  static Outcome LookAtRow(Engine* engine, int row, std::string* detail) {
    const std::string key = RowKey(row);
    const auto rows = ScanRows(engine, kTable, {RowRange::Single(key)});
    if (!rows.ok()) {
      *detail = rows.status().ToString();
      return absl::IsDataLoss(rows.status()) ? Outcome::kPartlyLost : Outcome::kSilent;
    }
    const ObservedRow expected{.row_key = key, .families = {{kFamily, {{"q", 0, Value(row)}}}}};
    if (rows->size() == 1 && rows->front() == expected) return Outcome::kNoEffect;
    *detail = key + (rows->empty() ? " is missing" : " is wrong");
    return Outcome::kSilent;
  }

  static Outcome LookAtLog(Engine* engine, std::string* detail) {
    int count = 0;
    bool right = true;
    const auto visit = [&](const RowLog::Piece& piece) {
      right &= piece.bytes == RowKey(count++);
      return true;
    };
    const absl::Status status = engine->log()->Read(kTable, RowRange::All(), 0, 0, INT64_MAX, visit);
    if (status.ok() && right && count == kRows) return Outcome::kNoEffect;
    *detail = fmt::format("the change log has {} records: {}", count, status.ToString());
    return absl::IsDataLoss(status) && right ? Outcome::kPartlyLost : Outcome::kSilent;
  }

  static Outcome LookAtRecords(Engine* engine, std::string* detail) {
    const auto records = engine->ReadRecords("rec");
    if (records.ok() && records->size() == 1 && records->front().value == "of the catalog")
      return Outcome::kNoEffect;
    *detail = "the records: " + records.status().ToString();
    return absl::IsDataLoss(records.status()) ? Outcome::kPartlyLost : Outcome::kSilent;
  }
};

// RocksDB as it opens a database when nobody looks before.
class PlainSubject final : public Subject {
 public:
  void Make(const std::string& directory) override {
    const std::string live = directory + "/closed/cells";
    fs::create_directories(directory + "/closed");
    std::unique_ptr<rocksdb::DB> db;
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::Status status = rocksdb::DB::Open(options, live, &db);
    for (int row = 0; row < kRows && status.ok(); ++row) {
      status = db->Put(rocksdb::WriteOptions(), RowKey(row), Value(row));
      if (status.ok() && row == kRows / 2) status = db->Flush(rocksdb::FlushOptions());
    }
    if (!status.ok())
      fmt::print(stderr, "damage: the plain database cannot be made: {}\n", status.ToString());
    CopyDirectory(directory + "/closed", directory + "/killed");
  }

  Outcome Look(const std::string& directory, SeededRandom*, std::string* detail) override {
    std::unique_ptr<rocksdb::DB> db;
    rocksdb::Status status = rocksdb::DB::Open(rocksdb::Options(), directory + "/data/cells", &db);
    if (!status.ok()) return Outcome::kRefused;
    Outcome outcome = Outcome::kNoEffect;
    for (int row = 0; row < kRows; ++row) {
      std::string value;
      status = db->Get(rocksdb::ReadOptions(), RowKey(row), &value);
      if (status.ok() && value == Value(row)) continue;
      *detail = RowKey(row) + ": " + status.ToString();
      if (status.ok() || status.IsNotFound()) return Outcome::kSilent;
      outcome = Outcome::kPartlyLost;
    }
    return outcome;
  }
};

struct Settings {
  uint64_t trials = 300;
  uint64_t seed = 1;
  bool unguarded = false;
  bool verbose = false;
};

int Run(const Settings& settings) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Subject> subject =
      settings.unguarded ? std::unique_ptr<Subject>(new PlainSubject) : std::make_unique<SondeSubject>();
  subject->Make(directory.path());
  // The files of each kind, in both states, without the part of the path that tells the state.
  std::map<std::string, std::vector<std::string>> kinds;
  for (const std::string state : {"closed", "killed"}) {
    for (const fs::path& path : FilesOf(directory.path() + "/" + state, "")) {
      if (const std::string kind = KindOf(path); !kind.empty()) kinds[kind].push_back(path);
    }
  }
  std::map<std::string, std::array<uint64_t, kOutcomes>> table;
  uint64_t silent_count = 0;
  SeededRandom random(settings.seed);
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t trial = 0; trial < settings.trials; ++trial) {
    auto kind = kinds.begin();
    std::advance(kind, trial % kinds.size());
    const fs::path original = kind->second[random.Uniform(kind->second.size())];
    const fs::path state =
        directory.path() + "/" + fs::relative(original, directory.path()).begin()->string();
    const std::string work = directory.path() + "/work";
    fs::remove_all(work);
    fs::create_directories(work);
    CopyDirectory(state, work + "/data");
    const std::string damage = DamageFile(fs::path(work + "/data") / fs::relative(original, state), &random);
    std::string detail;
    const Outcome outcome = subject->Look(work, &random, &detail);
    ++table[kind->first][static_cast<int>(outcome)];
    silent_count += outcome == Outcome::kSilent;
    if (settings.verbose || (outcome == Outcome::kSilent && !settings.unguarded)) {
      fmt::print("trial {}: {} {}: {}: {}\n", trial, fs::relative(original, directory.path()).string(),
                 damage, outcome == Outcome::kSilent ? "SILENT" : "noticed", detail);
    }
  }
  fmt::print("{:22} {:>8} {:>12} {:>10} {:>8}\n", "damaged", "refused", "rows lost", "no effect", "SILENT");
  for (const auto& [kind, outcomes] : table) {
    fmt::print("{:22} {:>8} {:>12} {:>10} {:>8}\n", kind, outcomes[0], outcomes[1], outcomes[2], outcomes[3]);
  }
  fmt::print("damage{}: seed {}, {} trials in {:.0f} s, {} silent\n",
             settings.unguarded ? " of a plain RocksDB" : "", settings.seed, settings.trials,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), silent_count);
  return (silent_count == 0) == settings.unguarded ? 1 : 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  CLI::App app(
      "Damages one file of a data directory at a time, and looks whether anything is wrong or missing "
      "without a word.");
  sonde::Settings settings;
  app.add_option("--trials", settings.trials, "how many")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", settings.seed, "of files and damage")->capture_default_str();
  app.add_flag("--unguarded", settings.unguarded, "a plain RocksDB instead: it must lose something silently");
  app.add_flag("--verbose", settings.verbose, "tell of every trial");
  app.footer("Examples:\n  sonde_damage_test --trials=10000 --seed=7\n  sonde_damage_test --unguarded");
  CLI11_PARSE(app, argc, argv);
  return sonde::Run(settings);
}
