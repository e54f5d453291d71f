#include "work/idle_workers.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

// Takes all parts, and returns their numbers; *end is how they ended.
std::vector<size_t> TakeAll(PartsInOrder* parts, absl::Status* end) {
  std::vector<size_t> taken;
  while (true) {
    const absl::StatusOr<std::optional<size_t>> part = parts->Next();
    *end = part.status();
    if (!part.ok() || !part->has_value()) return taken;
    taken.push_back(**part);
  }
}

std::vector<size_t> Numbers(size_t count) {
  std::vector<size_t> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

void UseProcessor(absl::Duration duration) {
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return absl::DurationFromTimespec(time);
  };
  for (const absl::Duration end = used() + duration; used() < end;) {
  }
}

TEST(IdleWorkers, GivesPartsInOrderAndDoesEachOnce) {
  IdleWorkers workers(4);
  for (size_t count : {0, 1, 2, 1'000}) {
    std::vector<int> results(count);
    PartsInOrder parts(&workers, count, 5, [&](const PartsInOrder&, size_t part) {
      if (part % 7 == 0) absl::SleepFor(absl::Microseconds(part % 50));
      results[part] += static_cast<int>(part) + 1;
      return absl::OkStatus();
    });
    absl::Status end;
    EXPECT_EQ(TakeAll(&parts, &end), Numbers(count));
    EXPECT_TRUE(end.ok()) << end;
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(results[i], static_cast<int>(i) + 1);
  }
}

TEST(IdleWorkers, OneProcessorHasNoHelpers) {
  for (const double processors : {0.5, 1.0, 1.9}) {
    IdleWorkers workers(processors);
    EXPECT_EQ(workers.helpers(), 0);
    const std::thread::id here = std::this_thread::get_id();
    PartsInOrder parts(&workers, 3, 1, [&](const PartsInOrder&, size_t) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      return absl::OkStatus();
    });
    absl::Status end;
    EXPECT_EQ(TakeAll(&parts, &end), Numbers(3));
  }
}

TEST(IdleWorkers, HelpersDoPartsWhileTheQuestionDoesNone) {
  IdleWorkers workers(2);
  absl::Notification helped;
  const std::thread::id here = std::this_thread::get_id();
  PartsInOrder parts(&workers, 2, 2, [&](const PartsInOrder&, size_t part) {
    if (part == 1) helped.Notify();
    EXPECT_NE(std::this_thread::get_id(), here);
    return absl::OkStatus();
  });
  helped.WaitForNotification();
  absl::Status end;
  EXPECT_EQ(TakeAll(&parts, &end), Numbers(2));
}

TEST(IdleWorkers, AnErrorComesAfterThePartsBeforeIt) {
  IdleWorkers workers(3);
  std::atomic<size_t> last_begun = 0;
  PartsInOrder parts(&workers, 100, 10, [&](const PartsInOrder&, size_t part) -> absl::Status {
    last_begun = std::max<size_t>(last_begun, part);
    if (part == 42) absl::SleepFor(absl::Milliseconds(5));
    return part == 42 || part == 44 ? absl::DataLossError(absl::StrCat("part ", part)) : absl::OkStatus();
  });
  absl::Status end;
  EXPECT_EQ(TakeAll(&parts, &end), Numbers(42));
  EXPECT_EQ(end, absl::DataLossError("part 42"));
  EXPECT_EQ(parts.Next().status(), end);
  EXPECT_LT(last_begun, 42 + 10);
  EXPECT_FALSE(parts.IsInVain(42));
  EXPECT_TRUE(parts.IsInVain(43));
}

TEST(IdleWorkers, NoPartIsBegunFarAhead) {
  IdleWorkers workers(4);
  std::atomic<size_t> taken = 0;
  std::atomic<size_t> ahead = 0;
  PartsInOrder parts(&workers, 200, 3, [&](const PartsInOrder&, size_t part) {
    ahead = std::max<size_t>(ahead, part - std::min<size_t>(taken, part));
    return absl::OkStatus();
  });
  for (size_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(parts.Next().ok());
    taken = i + 1;
    if (i % 16 == 0) absl::SleepFor(absl::Milliseconds(1));
  }
  // `taken` may be one behind.
  EXPECT_LE(ahead, 3);
}

TEST(IdleWorkers, GoesAwayFromAQuestionThatEndsEarly) {
  IdleWorkers workers(2);
  absl::Notification begun;
  std::atomic<bool> was_in_vain = false;
  {
    PartsInOrder parts(&workers, 10, 10, [&](const PartsInOrder& all, size_t part) {
      if (part > 0) return absl::OkStatus();
      begun.Notify();
      while (!all.IsInVain(part)) absl::SleepFor(absl::Microseconds(100));
      was_in_vain = true;
      return absl::CancelledError();
    });
    begun.WaitForNotification();
  }
  EXPECT_TRUE(was_in_vain);
}

// The thread of the second question takes the processor of the helper of the first.
TEST(IdleWorkers, QuestionsAndHelpersAreNoMoreThanProcessors) {
  IdleWorkers workers(2);
  absl::Notification helped, second_is_there;
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> by_helper = 0;
  const auto count = [&] {
    if (std::this_thread::get_id() != here) ++by_helper;
  };
  PartsInOrder first(&workers, 50, 50, [&](const PartsInOrder&, size_t part) {
    count();
    if (part == 0) {
      helped.Notify();
      second_is_there.WaitForNotification();
    }
    return absl::OkStatus();
  });
  helped.WaitForNotification();
  {
    PartsInOrder second(&workers, 50, 50, [&](const PartsInOrder&, size_t) {
      count();
      return absl::OkStatus();
    });
    second_is_there.Notify();
    absl::Status end;
    EXPECT_EQ(TakeAll(&second, &end), Numbers(50));
    EXPECT_EQ(TakeAll(&first, &end), Numbers(50));
  }
  EXPECT_EQ(by_helper, 1);
}

TEST(IdleWorkers, ManyQuestionsAtOnce) {
  IdleWorkers workers(3);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        std::vector<size_t> results(20);
        PartsInOrder parts(
            &workers, results.size(), 1 + i, [&](const PartsInOrder&, size_t part) -> absl::Status {
              results[part] = part + round;
              return part == 15 && round % 5 == 0 ? absl::AbortedError("15") : absl::OkStatus();
            });
        for (size_t part = 0; part < results.size(); ++part) {
          const auto next = parts.Next();
          if (!next.ok()) break;
          ASSERT_EQ(*next, part);
          ASSERT_EQ(results[part], part + round);
          if (part == 10 && round % 7 == 0) break;
          ++done;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(done, 6 * 50 * 10);
}

// Its threads, and those that are made by them, share one processor.
TEST(IdleWorkers, GivesTheProcessorBackToOthers) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    IdleWorkers workers(2);
    const std::thread::id here = std::this_thread::get_id();
    std::atomic<int> by_helper = 0;
    PartsInOrder parts(&workers, 120, 10, [&](const PartsInOrder&, size_t) {
      UseProcessor(absl::Milliseconds(1));
      if (std::this_thread::get_id() != here) ++by_helper;
      return absl::OkStatus();
    });
    absl::Status end;
    EXPECT_EQ(TakeAll(&parts, &end), Numbers(120));
    // Half of them if it stayed.
    EXPECT_LT(by_helper, 45);
  }).join();
}

}  // namespace
}  // namespace sonde
