// Fills a disk under a writing engine, and looks what goes on and what comes back.
//
//   sonde_disk_full_test [--runs=N] [--seed=S] [--unguarded] [--lose_row]
//
// A run writes until writes are refused (or, in some runs, until the disk has no byte left: something else
// fills it at that moment), then reads everything, deletes, drops a range, opens the directory again while
// the disk is full, makes room, and waits for writes to be taken.  Exit 0: in all runs every acknowledged row
// was there at every look and none that was refused as UNAVAILABLE (a flush waits for room: nothing was
// applied), other refusals were RESOURCE_EXHAUSTED, restarts and deletes went on while the reserve was there,
// writes came back within 10 s, and the guard stopped writes before the disk did in most runs.  1: otherwise.
// 2: wrong arguments.
//
// The controls must fail, and exit with 0 if they do: with --unguarded the engine is told of a large
// disk that is empty, so that nothing is kept for deletes and restarts; with --lose_row one row that
// was acknowledged is deleted behind the campaign's back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "lossy_file_system.h"
#include "observed_rows.h"
#include "rocksdb/env.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

constexpr TableId kTable = 1;
constexpr FamilyId kFamily = 1;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr double kBackSecondsMax = 10;
// What the engine is told in the control; much more than a disk of a run, as between two looks the guard
// counts what is written by itself.
constexpr uint64_t kUnguardedBytes = uint64_t{1} << 30;
constexpr int kHeldMax = 40;  // writes that waited for a quarter of a second

struct Totals {
  uint64_t rows = 0, refused_by_guard = 0, refused_by_disk = 0, no_space_calls = 0, restarts = 0;
  uint64_t guarded = 0;             // runs in which nobody else filled the disk
  uint64_t guarded_at_the_end = 0;  // of them, those in which a call found no space all the same
  double back_seconds_max = 0, deletes_seconds_max = 0;
};

enum class Control { kNone, kUnguarded, kLoseRow };

absl::Status Wrong(const std::string& what) { return absl::InternalError(what); }

class DiskFullRun {
 public:
  DiskFullRun(uint64_t seed, Control control)
      : control_(control),
        random_(seed),
        disk_(std::make_shared<LossyFileSystem>(directory_.path(), seed, LossyFileSystem::Lies())),
        env_(rocksdb::NewCompositeEnv(disk_)),
        capacity_bytes_((24 + random_.Uniform(40)) * kMiB),
        to_the_last_byte_(random_.Uniform(2) == 0 && control != Control::kUnguarded) {
    disk_->SetCapacity(capacity_bytes_);
  }

  // The last of what the database wrote about itself; for a failure.
  std::string LogTail() const {
    constexpr size_t kTailBytes = 40'000;
    std::ifstream file(data_dir_ + "/cells/LOG");
    const std::string log{std::istreambuf_iterator<char>(file), {}};
    return log.substr(log.size() - std::min(log.size(), kTailBytes));
  }

  absl::Status Run(Totals* totals) {
    if (absl::Status status = Open(); !status.ok()) return status;
    if (absl::Status status = engine_->CreateTable({.id = kTable}); !status.ok()) return status;
    if (absl::Status status = Fill(totals); !status.ok()) return status;
    if (absl::Status status = LoseRow(); !status.ok()) return status;
    if (absl::Status status = Verify("when the disk was full"); !status.ok()) return status;
    if (absl::Status status = Delete(totals); !status.ok()) return status;
    if (absl::Status status = Restart(totals); !status.ok()) return status;
    if (absl::Status status = Verify("after a restart on a full disk"); !status.ok()) return status;
    if (!to_the_last_byte_) {
      ++totals->guarded;
      totals->guarded_at_the_end += disk_->counts().no_space > 0;
    }
    disk_->SetCapacity(capacity_bytes_ * 3);
    size_bytes_ = capacity_bytes_ * 3;
    if (absl::Status status = ComeBack(totals); !status.ok()) return status;
    engine_.reset();
    if (absl::Status status = Open(); !status.ok()) return status;
    totals->rows += rows_.size();
    totals->no_space_calls += disk_->counts().no_space;
    return Verify("in the end");
  }

 private:
  absl::Status Open() {
    auto engine =
        RocksEngine::Open({.data_dir = data_dir_,
                           .memory_bytes = 8 * kMiB,
                           .sync = false,
                           .inventory_interval = absl::Milliseconds(5),  // often, so that it meets recoveries
                           .measure_disk = [this](const std::string&) -> absl::StatusOr<DiskSpace> {
                             if (control_ == Control::kUnguarded)
                               return DiskSpace{.size_bytes = kUnguardedBytes, .free_bytes = kUnguardedBytes};
                             const uint64_t used_bytes = disk_->used_bytes();
                             const uint64_t size_bytes = size_bytes_;
                             return DiskSpace{.size_bytes = size_bytes,
                                              .free_bytes = size_bytes - std::min(used_bytes, size_bytes)};
                           },
                           .env = env_.get()});
    if (!engine.ok()) return Wrong("cannot be opened: " + engine.status().ToString());
    engine_ = *std::move(engine);
    return absl::OkStatus();
  }

  std::string MakeValue() {
    std::string value(20'000 + random_.Uniform(20'000), '\0');
    for (size_t i = 0; i + 8 <= value.size(); i += 8) {
      const uint64_t bits = random_.Next();
      value.replace(i, 8, reinterpret_cast<const char*>(&bits), 8);
    }
    return value;
  }

  absl::Status Put(const std::string& key, const std::string& value) {
    RowDelta delta;
    delta.families.push_back({.family = kFamily, .puts = {{"q", 0, value}}});
    return engine_->Apply(kTable, {{key, delta}});
  }

  absl::Status Fill(Totals* totals) {
    const uint64_t others_after_rows = random_.Uniform(300);
    int held = 0;
    for (int i = 0;; ++i) {
      const std::string key = fmt::format("row{:06}", i);
      std::string value = MakeValue();
      // Something else fills the disk at once, faster than anybody can look.
      if (to_the_last_byte_ && rows_.size() == others_after_rows) {
        disk_->SetCapacity(disk_->used_bytes() + random_.Uniform(100'000));
      }
      const absl::Status status = Put(key, value);
      if (status.ok()) {
        rows_[key] = std::move(value);
        continue;
      }
      if (absl::IsUnavailable(status) && ++held < kHeldMax) continue;
      if (!absl::IsResourceExhausted(status))
        return Wrong("a full disk is answered with " + status.ToString());
      unknown_.insert(key);
      ++(to_the_last_byte_ ? totals->refused_by_disk : totals->refused_by_guard);
      return absl::OkStatus();
    }
  }

  // The control: the engine is asked to, and the campaign is not told.
  absl::Status LoseRow() {
    if (control_ != Control::kLoseRow || rows_.empty()) return absl::OkStatus();
    auto row = rows_.begin();
    std::advance(row, random_.Uniform(rows_.size()));
    RowDelta delta;
    delta.families.push_back({.family = kFamily, .delete_all = true});
    double seconds = 0;
    const absl::Status status =
        Retry([&] { return engine_->Apply(kTable, {{row->first, delta}}); }, &seconds);
    return IsTemporary(status) ? absl::OkStatus() : status;  // with no byte left, the next run loses one
  }

  // Deletes go on while the reserve is there.
  absl::Status Delete(Totals* totals) {
    if (rows_.size() < 10) return absl::OkStatus();
    const std::string first = rows_.begin()->first;
    RowDelta delta;
    delta.families.push_back({.family = kFamily, .delete_all = true});
    absl::Status status =
        Retry([&] { return engine_->Apply(kTable, {{first, delta}}); }, &totals->deletes_seconds_max);
    if (status.ok()) {
      rows_.erase(first);
    } else {
      unknown_.insert(first);
      if (!IsTemporary(status)) return Wrong("a delete is answered with " + status.ToString());
      if (!to_the_last_byte_) return Refused("a delete", status);
    }
    const std::string start = rows_.begin()->first, end = std::next(rows_.begin(), 5)->first;
    status = Retry([&] { return engine_->DropRange(kTable, {start, end}); }, &totals->deletes_seconds_max);
    for (auto row = rows_.begin(); row->first < end;) {
      if (!status.ok()) unknown_.insert(row->first);
      row = status.ok() ? rows_.erase(row) : std::next(row);
    }
    if (IsTemporary(status) && !to_the_last_byte_) return Refused("a drop", status);
    if (status.ok() || IsTemporary(status)) return absl::OkStatus();
    return Wrong("a drop is answered with " + status.ToString());
  }

  static absl::Status Refused(const std::string& what, const absl::Status& status) {
    return Wrong(fmt::format("{} was refused for {:.0f} s though the reserve was there: {}", what,
                             kBackSecondsMax, status.ToString()));
  }

  static bool IsTemporary(const absl::Status& status) {
    return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
  }

  // Until it is not temporary; with no byte left, once.
  template <typename Call>
  absl::Status Retry(const Call& call, double* seconds_max) {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      const absl::Status status = call();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (status.ok()) *seconds_max = std::max(*seconds_max, seconds);
      if (!IsTemporary(status) || to_the_last_byte_ || seconds > kBackSecondsMax) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  absl::Status Restart(Totals* totals) {
    if (random_.Uniform(2) == 0) return absl::OkStatus();
    engine_.reset();
    absl::Status status = Open();
    ++totals->restarts;
    if (status.ok() || !to_the_last_byte_) return status;
    // With no byte left nobody can open it; a little room is enough.
    disk_->SetCapacity(disk_->used_bytes() + 16 * kMiB);
    return Open();
  }

  absl::Status ComeBack(Totals* totals) {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      const std::string value = MakeValue();
      const absl::Status status = Put("back", value);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (status.ok()) {
        rows_["back"] = value;
        totals->back_seconds_max = std::max(totals->back_seconds_max, seconds);
        return absl::OkStatus();
      }
      if (!IsTemporary(status)) return Wrong("with room, writes are answered with " + status.ToString());
      if (seconds > kBackSecondsMax)
        return Wrong(fmt::format("writes did not come back in {:.0f} s: {}", seconds, status.ToString()));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  absl::Status Verify(const std::string& when) {
    const auto rows = ScanRows(engine_.get(), kTable, {RowRange::All()});
    if (!rows.ok()) return Wrong(fmt::format("{}: {}", when, rows.status().ToString()));
    std::map<std::string, std::string> found;
    for (const ObservedRow& row : *rows) found[row.row_key] = row.families.begin()->second[0].value;
    for (const auto& [key, value] : rows_) {
      if (unknown_.contains(key)) continue;
      const auto row = found.find(key);
      if (row == found.end() || row->second != value) return Wrong(fmt::format("{}: {} is lost", when, key));
    }
    for (const auto& [key, value] : found) {
      if (!rows_.contains(key) && !unknown_.contains(key))
        return Wrong(fmt::format("{}: {} is there", when, key));
    }
    return absl::OkStatus();
  }

  const Control control_;
  SeededRandom random_;
  const TemporaryDirectory directory_;
  const std::string data_dir_ = directory_.path() + "/data";
  const std::shared_ptr<LossyFileSystem> disk_;
  const std::unique_ptr<rocksdb::Env> env_;
  const uint64_t capacity_bytes_;
  const bool to_the_last_byte_;
  std::atomic<uint64_t> size_bytes_{capacity_bytes_};
  std::map<std::string, std::string> rows_;  // acknowledged
  std::set<std::string> unknown_;            // refused or not: either way is right
  std::unique_ptr<RocksEngine> engine_;
};

// The guard looks ten times a second, so a flush may be faster than it, but not in most runs.
absl::Status CheckGuard(const Totals& totals) {
  constexpr uint64_t kRunsMin = 3;
  if (totals.guarded_at_the_end < kRunsMin || totals.guarded_at_the_end * 4 <= totals.guarded)
    return absl::OkStatus();
  return Wrong(fmt::format("the guard let calls meet the end of the disk in {} of {} runs",
                           totals.guarded_at_the_end, totals.guarded));
}

// Whether it is what the control breaks that was noticed.
bool IsNoticed(Control control, const absl::Status& status) {
  const std::string message(status.message());
  if (control == Control::kLoseRow) return message.find("is lost") != std::string::npos;
  for (const char* const what : {"though the reserve was there", "cannot be opened", "the guard let"}) {
    if (message.find(what) != std::string::npos) return true;
  }
  return false;
}

int Run(uint64_t runs, uint64_t seed, Control control) {
  Totals totals;
  absl::Status status;
  uint64_t run = 0;
  const auto start = std::chrono::steady_clock::now();
  for (; run < runs && status.ok(); ++run) {
    DiskFullRun one(seed * 100'003 + run, control);
    status = one.Run(&totals);
    status.Update(CheckGuard(totals));
    if (!status.ok()) {
      fmt::print("run {}, seed {}: {}\n{}\n", run, seed * 100'003 + run, std::string(status.message()),
                 control == Control::kNone ? one.LogTail() : "");
    }
  }
  fmt::print(
      "disk full: seed {}, {} runs in {:.0f} s, {} rows acknowledged; refused {} times by the guard and {} "
      "times at the last byte, {} calls without space, in {} of {} runs that the guard should have stopped; "
      "{} restarts on a full disk; writes were back after "
      "{:.1f} s at most, deletes went on after {:.1f} s at most\n",
      seed, run, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), totals.rows,
      totals.refused_by_guard, totals.refused_by_disk, totals.no_space_calls, totals.guarded_at_the_end,
      totals.guarded, totals.restarts, totals.back_seconds_max, totals.deletes_seconds_max);
  if (control == Control::kNone) return status.ok() ? 0 : 1;
  const bool noticed = IsNoticed(control, status);
  fmt::print("the control was {}\n", noticed ? "noticed" : "NOT NOTICED");
  return noticed ? 0 : 1;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  CLI::App app("Fills a disk under a writing engine, and looks what goes on and what comes back.");
  uint64_t runs = 6, seed = 1;
  bool unguarded = false, lose_row = false;
  app.add_option("--runs", runs, "how many")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", seed, "of sizes and moments")->capture_default_str();
  CLI::Option* const unguarded_option =
      app.add_flag("--unguarded", unguarded, "a control: the engine takes the disk for empty, and must fail");
  app.add_flag("--lose_row", lose_row, "a control: an acknowledged row is deleted, and must be missed")
      ->excludes(unguarded_option);
  app.footer("Examples:\n  sonde_disk_full_test --runs=200 --seed=7\n  sonde_disk_full_test --unguarded");
  CLI11_PARSE(app, argc, argv);
  const sonde::Control control = unguarded  ? sonde::Control::kUnguarded
                                 : lose_row ? sonde::Control::kLoseRow
                                            : sonde::Control::kNone;
  return sonde::Run(runs, seed, control);
}
