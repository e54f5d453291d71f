// A follower whose files fail, or whose machine loses power, at each of its steps loses no change that it said to be stored, and the next
// one goes on.  Planted bugs show that these tests can fail.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "backup/journal/journal_test_support.h"
#include "backup/journal/journal_upkeep.h"
#include "backup/repository/watched_files_test_support.h"

namespace sonde {
namespace {

using Kind = WatchedFiles::Step::Kind;

constexpr int kSteps = 5;
constexpr int kSegmentsBefore = static_cast<int>(kMergeCount) - 3;  // so that the third step merges
constexpr int64_t kFrom = 100;

class JournalFaultsTest : public FollowedChangesTest {
 protected:
  // A repository with so many segments, each with a change.
  void Begin(int segments = kSegmentsBefore) {
    std::filesystem::remove_all(repository_->directory());
    repository_ = *Repository::Open({.files = &unsynced_, .clock = &clock_, .random = &random_},
                                    root_ + "/repository", Repository::IfNone::kMake);
    changes_.clear();
    now_ = kFrom;
    for (int i = 0; i < segments; ++i) {
      changes_.insert(now_ + 7);
      AddSegment(now_ + 1, now_ + 10, {now_ + 7}, /*starts=*/i == 0);
      now_ += 10;
    }
  }

  // Follows until a step fails, or kSteps are done.  Returns the last status, and through what position the follower said it stored.
  absl::Status Follow(FileSystem* files, int64_t* stored) {
    const auto repository =
        Repository::Open({.files = files, .clock = &clock_, .random = &random_}, root_ + "/repository");
    if (!repository.ok()) return repository.status();
    absl::StatusOr<Follower> follower =
        Follower::Open(**repository, this, JournalPlace{kJournal, kFrom, kFrom});
    if (!follower.ok()) return follower.status();
    *stored = follower->stored_through();
    for (int i = 0; i < kSteps; ++i) {
      now_ += 10;
      changes_.insert(now_ - 3);
      if (const absl::StatusOr<bool> more = follower->Step(); !more.ok()) return more.status();
      *stored = follower->stored_through();
    }
    return absl::OkStatus();
  }

  // Says what is wrong with the repository; empty: nothing.
  std::string Wrong(int64_t stored) {
    VerifyReport report;
    if (absl::Status status = VerifyJournals(*repository_, {.reads_data = true}, &report); !status.ok())
      return status.ToString();
    for (const std::string& line : report.damage) return line;
    const std::vector<int64_t> found = Stored();
    const std::set<int64_t> there(found.begin(), found.end());
    for (const int64_t change : changes_) {
      if (change <= stored && !there.contains(change)) return fmt::format("{} is lost", change);
    }
    for (const int64_t change : found) {
      if (!changes_.contains(change)) return fmt::format("{} was never made", change);
    }
    return "";
  }

  // Another follower goes on, and all changes are there.
  std::string GoOn() {
    int64_t stored = 0;
    if (absl::Status status = Follow(&unsynced_, &stored); !status.ok()) return status.ToString();
    if (stored != now_) return fmt::format("stored through {} of {}", stored, now_);
    return Wrong(stored);
  }

  // Cuts the power at each step of a follower.  Says what was wrong; empty: nothing.
  std::string CutPower(const std::function<bool(const WatchedFiles::Step&)>& omits,
                       int segments = kSegmentsBefore) {
    for (int step = 0;; ++step) {
      Begin(segments);
      VolatileFiles memory(&unsynced_);
      memory.Omit(omits);
      StepFiles stepped(&memory);
      stepped.At(step, [] { return absl::UnavailableError("the power is gone"); });
      int64_t stored = now_;
      Follow(&stepped, &stored).IgnoreError();
      const bool was_cut = stepped.steps() > step;
      memory.CutPower();
      std::string wrong = Wrong(stored);
      if (wrong.empty()) wrong = GoOn();
      if (!wrong.empty()) return fmt::format("step {}: {}", step, wrong);
      if (!was_cut) return "";
    }
  }

  UnsyncedFiles unsynced_{&files_};
};

TEST_F(JournalFaultsTest, AFollowerThatLosesPowerHasWhatItSaid) {
  EXPECT_EQ(CutPower(nullptr), "");
  EXPECT_EQ(CutPower(nullptr, /*segments=*/0), "");
}

TEST_F(JournalFaultsTest, FindsSegmentsThatAreNotSynced) {
  EXPECT_NE(CutPower([](const auto& step) { return step.kind == Kind::kSync; }), "");
}

TEST_F(JournalFaultsTest, FindsDirectoriesThatAreNotSynced) {
  for (const std::string& ending : {std::string("/changes"), "/" + std::string(kJournal)}) {
    EXPECT_NE(CutPower(
                  [&](const auto& step) {
                    return step.kind == Kind::kSyncDirectory && step.path.ends_with(ending);
                  },
                  /*segments=*/0),
              "")
        << ending;
  }
}

TEST_F(JournalFaultsTest, FindsAMergeThatRemovesBeforeItIsThere) {
  std::string renamed;
  const auto is_of_merge = [&](const WatchedFiles::Step& step) {
    if (step.kind == Kind::kRename) renamed = step.path;
    std::error_code is_gone;
    const auto bytes = std::filesystem::file_size(renamed, is_gone);
    return step.kind == Kind::kSyncDirectory && !is_gone && bytes > 1'000;
  };
  EXPECT_NE(CutPower(is_of_merge), "");
}

TEST_F(JournalFaultsTest, AFullDiskIsToldAndHarmsNothing) {
  for (int step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    Begin();
    StepFiles stepped(&unsynced_);
    bool has_failed = false;
    stepped.At(step, [&] {
      has_failed = true;
      return absl::ResourceExhaustedError("No space left on device");
    });
    int64_t stored = now_;
    const absl::Status status = Follow(&stepped, &stored);
    ASSERT_EQ(Wrong(stored), "");
    ASSERT_EQ(GoOn(), "");
    if (!has_failed) {
      EXPECT_EQ(status, absl::OkStatus());
      break;
    }
    ASSERT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  }
}

// The one before was killed behind the rename, and before the directory was synced.
TEST_F(JournalFaultsTest, WhatIsFoundIsMadeToLast) {
  Begin(0);
  VolatileFiles memory(&unsynced_);
  StepFiles stepped(&memory);
  int64_t stored = now_;
  for (int step = 0; Segments().empty(); ++step) {
    Begin(0);
    stepped.At(step, [] { return absl::AbortedError("killed"); });
    Follow(&stepped, &stored).IgnoreError();
  }
  const auto repository =
      Repository::Open({.files = &memory, .clock = &clock_, .random = &random_}, root_ + "/repository");
  const absl::StatusOr<Follower> next =
      Follower::Open(**repository, this, JournalPlace{kJournal, kFrom, kFrom});
  ASSERT_TRUE(next.ok()) << next.status();
  ASSERT_GT(next->stored_through(), kFrom);
  memory.CutPower();
  EXPECT_EQ(Wrong(next->stored_through()), "");
}

}  // namespace
}  // namespace sonde
