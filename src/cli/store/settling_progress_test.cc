#include "cli/store/settling_progress.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SettlingProgress::Time kStart{seconds{100}};

TEST(SettlingProgressTest, WritesOneLineOverAndOverOnATerminal) {
  SettlingProgress progress(true, 1'000'000, kStart);
  EXPECT_EQ(progress.AfterStep(1'000, kStart + milliseconds{499}), "");
  EXPECT_EQ(progress.AfterStep(250'000, kStart + milliseconds{500}),
            "\rsettling: 250000 of about 1000000 cells, 25%\x1b[K");
  EXPECT_EQ(progress.AfterStep(260'000, kStart + milliseconds{900}), "");
  EXPECT_EQ(progress.Begin("compacting files"), "\rcompacting files\x1b[K");
  EXPECT_EQ(progress.End(), "\n");
}

TEST(SettlingProgressTest, WritesALineNowAndThenElsewhere) {
  SettlingProgress progress(false, 1'000'000, kStart);
  EXPECT_EQ(progress.AfterStep(1'000, kStart + milliseconds{4'999}), "");
  EXPECT_EQ(progress.AfterStep(333'333, kStart + seconds{5}),
            "settling: 333333 of about 1000000 cells, 33%\n");
  EXPECT_EQ(progress.AfterStep(400'000, kStart + seconds{9}), "");
  EXPECT_EQ(progress.AfterStep(500'000, kStart + seconds{10}),
            "settling: 500000 of about 1000000 cells, 50%\n");
  EXPECT_EQ(progress.Begin("compacting files"), "compacting files\n");
  EXPECT_EQ(progress.End(), "");
}

TEST(SettlingProgressTest, IsSilentElsewhereWhenThereIsLittleToDo) {
  SettlingProgress progress(false, 1'000'000, kStart);
  EXPECT_EQ(progress.AfterStep(1'000'000, kStart + seconds{1}), "");
  EXPECT_EQ(progress.Begin("compacting files"), "");
  EXPECT_EQ(progress.End(), "");
}

TEST(SettlingProgressTest, ClaimsNoShareOfWhatItDoesNotKnow) {
  SettlingProgress unknown(false, std::nullopt, kStart);
  EXPECT_EQ(unknown.AfterStep(7, kStart + seconds{5}), "settling: 7 cells\n");
  SettlingProgress none(false, 0, kStart);
  EXPECT_EQ(none.AfterStep(7, kStart + seconds{5}), "settling: 7 cells\n");
  SettlingProgress passed(false, 1'000, kStart);
  EXPECT_EQ(passed.AfterStep(1'000, kStart + seconds{5}), "settling: 1000 of about 1000 cells, 99%\n");
  EXPECT_EQ(passed.AfterStep(1'001, kStart + seconds{10}), "settling: 1001 cells\n");
}

}  // namespace
}  // namespace sonde
