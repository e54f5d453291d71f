// Backups and restores that are killed, fail or lose power at each of their steps leave nothing that cannot be restored, and the
// next run works.  Planted bugs show that these tests can fail.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "backup/repository/create_backup.h"
#include "backup/repository/prune_repository.h"
#include "backup/repository/repository_test_support.h"
#include "backup/repository/restore_backup.h"
#include "backup/repository/verify_repository.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Kind = WatchedFiles::Step::Kind;
using testing::IsEmpty;

const auto kNoCheck = [](const std::string&) { return absl::OkStatus(); };

class RepositoryFaultsTest : public RepositoryTest {
 protected:
  // Runs `work` in a process of its own, which is killed at a step.  Returns false if the work was done before.
  bool KilledAt(int step, StepFiles* files, const std::function<bool()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      random_ = SeededRandom(1'000'000 + static_cast<uint64_t>(step));  // as another process has others
      files->At(step, [] {
        kill(getpid(), SIGKILL);
        return absl::OkStatus();
      });
      _exit(work() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) return true;
    EXPECT_EQ(WEXITSTATUS(status), 0);
    return false;
  }

  // Says what is wrong with the repository, whose backups must all be one of `versions`; empty: nothing.
  std::string Wrong(const std::vector<std::string>& versions) {
    const auto repository = Repository::Open(tools(), directory_);
    if (absl::IsNotFound(repository.status())) return "";  // none was made yet
    if (!repository.ok()) return repository.status().ToString();
    const auto report = VerifyRepository(**repository, {.reads_data = true});
    if (!report.ok()) return report.status().ToString();
    for (const std::string& line : report->damage) return line;
    const auto ids = (*repository)->BackupIds();
    for (const std::string& id : *ids) {
      const auto restored = Restored(id);
      if (!restored.ok()) return restored.status().ToString();
      if (std::ranges::none_of(versions,
                               [&](const auto& version) { return *restored == SmallStore(version); }))
        return id + " is another store";
    }
    return "";
  }

  bool Backs(FileSystem* files, const CopiedStore& copy) {
    const auto repository = Repository::Open({.files = files, .clock = &clock_, .random = &random_},
                                             directory_, Repository::IfNone::kMake);
    return repository.ok() && CreateBackup(**repository, copy).ok();
  }
};

TEST_F(RepositoryFaultsTest, ABackupThatIsKilledHarmsNothingAndRunsAgain) {
  StepFiles stepped(&unsynced_);
  int step = 0;
  for (;; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    fs::remove_all(directory_);
    clock_.Set(absl::ToUnixMicros(absl::Now()));  // so that no lock is stale
    const CopiedStore first = CopyOf(SmallStore("1")), second = CopyOf(SmallStore("2"));
    const bool is_killed =
        KilledAt(step, &stepped, [&] { return Backs(&stepped, first) && Backs(&stepped, second); });
    ASSERT_EQ(Wrong({"1", "2"}), "");
    clock_.Advance(2'000'000);
    ASSERT_TRUE(Backs(&unsynced_, CopyOf(SmallStore("2"))));
    ASSERT_EQ(*Restored(""), SmallStore("2"));
    if (!is_killed) break;
  }
  EXPECT_GT(step, 40);
}

TEST_F(RepositoryFaultsTest, ARestoreThatIsKilledRunsAgain) {
  const Manifest manifest = CreateOf(SmallStore("1")).manifest;
  StepFiles stepped(&unsynced_);
  int step = 0;
  for (;; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    const std::string to = root_ + "/to";
    fs::remove_all(to);
    const auto restores = [&](FileSystem* files) {
      const auto repository =
          Repository::Open({.files = files, .clock = &clock_, .random = &random_}, directory_);
      return RestoreBackup(**repository, manifest, to, kNoCheck);
    };
    const bool is_killed = KilledAt(step, &stepped, [&] { return restores(&stepped).ok(); });
    if (!fs::exists(to + "/FORMAT")) {
      ASSERT_TRUE(is_killed);
      ASSERT_EQ(restores(&unsynced_), absl::OkStatus());
    }
    ASSERT_EQ(ContentsOf(to), SmallStore("1"));
    if (!is_killed) break;
  }
  EXPECT_GT(step, 25);
}

TEST_F(RepositoryFaultsTest, APruningThatIsKilledHarmsNothingAndRunsAgain) {
  StepFiles stepped(&unsynced_);
  int step = 0;
  for (;; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    fs::remove_all(directory_);
    clock_.Set(absl::ToUnixMicros(absl::Now()));
    for (const char* version : {"1", "2", "3"}) CreateOf(SmallStore(version));
    clock_.Advance(absl::ToInt64Microseconds(absl::Hours(30)));
    const auto prunes = [&](FileSystem* files) {
      const auto repository =
          Repository::Open({.files = files, .clock = &clock_, .random = &random_}, directory_);
      return PruneRepository(**repository, {.keep = {.daily = 1}}).ok();
    };
    const bool is_killed = KilledAt(step, &stepped, [&] { return prunes(&stepped); });
    ASSERT_EQ(Wrong({"1", "2", "3"}), "");
    ASSERT_TRUE(prunes(&unsynced_));
    ASSERT_EQ(*Restored(""), SmallStore("3"));
    ASSERT_EQ(VerifyRepository(*OpenRepository(), {})->unnamed_count, 0u);
    if (!is_killed) break;
  }
  EXPECT_GT(step, 5);
}

TEST_F(RepositoryFaultsTest, ADiskThatIsFullIsToldAndHarmsNothing) {
  for (int step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    fs::remove_all(directory_);
    StepFiles stepped(&unsynced_);
    bool has_failed = false;
    stepped.At(step, [&] {
      has_failed = true;
      return absl::ResourceExhaustedError("No space left on device");
    });
    absl::Status status;
    {
      const auto repository = Repository::Open({.files = &stepped, .clock = &clock_, .random = &random_},
                                               directory_, Repository::IfNone::kMake);
      status = repository.ok() ? CreateBackup(**repository, CopyOf(SmallStore("1"))).status()
                               : repository.status();
    }
    ASSERT_EQ(Wrong({"1"}), "");
    ASSERT_TRUE(Backs(&unsynced_, CopyOf(SmallStore("2"))) || fs::exists(directory_ + "/lock"));
    if (!has_failed) {
      EXPECT_EQ(status, absl::OkStatus());
      break;
    }
    // Giving the lock back comes last, and may fail without harm.
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    }
  }
}

TEST_F(RepositoryFaultsTest, ARepositoryThatVanishesIsTold) {
  const CopiedStore copy = CopyOf(SmallStore("1"));
  const auto repository = OpenRepository();
  const auto created =
      CreateBackup(*repository, copy, {.on_progress = [&](uint64_t) { fs::remove_all(directory_); }});
  EXPECT_FALSE(created.ok());
  for (const CopiedFile& file : copy.files) EXPECT_TRUE(fs::exists(file.from));
}

// -- The loss of power.

class PowerCutTest : public RepositoryFaultsTest {
 protected:
  // Cuts the power after two backups, and after each step of the second.  Says what was wrong; empty: nothing.
  std::string CutPower(const std::function<bool(const WatchedFiles::Step&)>& omits) {
    for (int step = 0;; ++step) {
      fs::remove_all(directory_);
      VolatileFiles memory(&unsynced_);
      memory.Omit(omits);
      StepFiles stepped(&memory);
      if (!Backs(&memory, CopyOf(SmallStore("1")))) return "the first backup failed";
      stepped.At(step, [] { return absl::UnavailableError("the power is gone"); });
      const bool is_done = Backs(&stepped, CopyOf(SmallStore("2")));
      const bool was_cut = stepped.steps() > step;
      memory.CutPower();
      if (std::string wrong = Wrong({"1", "2"}); !wrong.empty())
        return fmt::format("step {}: {}", step, wrong);
      const auto repository = Repository::Open(tools(), directory_);
      const size_t count = repository.ok() ? (*repository)->BackupIds()->size() : 0;
      if (count < (is_done ? 2u : 1u)) return fmt::format("step {}: {} backups are left", step, count);
      if (!was_cut) return "";
    }
  }
};

TEST_F(PowerCutTest, ABackupThatIsDoneIsThere) { EXPECT_EQ(CutPower(nullptr), ""); }

TEST_F(PowerCutTest, FindsFilesThatAreNotSynced) {
  EXPECT_NE(CutPower([](const auto& step) { return step.kind == Kind::kSync; }), "");
  EXPECT_NE(CutPower([](const auto& step) {
              return step.kind == Kind::kSync && step.path.find("/blobs/") != std::string::npos;
            }),
            "");
}

TEST_F(PowerCutTest, FindsDirectoriesThatAreNotSynced) {
  for (const char* ending : {"/backups", "/blobs", "/repository"}) {
    EXPECT_NE(CutPower([&](const auto& step) {
                return step.kind == Kind::kSyncDirectory && step.path.ends_with(ending);
              }),
              "")
        << ending;
  }
  EXPECT_NE(CutPower([](const auto& step) {
              return step.kind == Kind::kSyncDirectory && step.path.find("/blobs/") != std::string::npos;
            }),
            "");
}

TEST_F(PowerCutTest, FindsABlobThatIsLeftOut) {
  int renames = 0;
  EXPECT_NE(CutPower([&](const auto& step) {
              return step.kind == Kind::kRename && step.path.find("/blobs/") != std::string::npos &&
                     ++renames == 3;
            }),
            "");
}

TEST_F(PowerCutTest, ARestoreThatIsDoneIsThere) {
  const Manifest manifest = CreateOf(SmallStore("1")).manifest;
  for (int bug = 0; bug < 3; ++bug) {
    VolatileFiles memory(&unsynced_);
    if (bug != 0) {
      const Kind omitted = bug == 1 ? Kind::kSync : Kind::kSyncDirectory;
      memory.Omit([omitted](const auto& step) { return step.kind == omitted; });
    }
    const auto repository =
        Repository::Open({.files = &memory, .clock = &clock_, .random = &random_}, directory_);
    const std::string to = root_ + "/to";
    fs::remove_all(to);
    ASSERT_EQ(RestoreBackup(**repository, manifest, to, kNoCheck), absl::OkStatus());
    memory.CutPower();
    const bool is_there = fs::exists(to) && ContentsOf(to) == SmallStore("1");
    EXPECT_EQ(is_there, bug == 0);
  }
}

}  // namespace
}  // namespace sonde
