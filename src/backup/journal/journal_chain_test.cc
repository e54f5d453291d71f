#include "backup/journal/journal_chain.h"

#include <gtest/gtest.h>

#include "backup/journal/journal_test_support.h"

namespace sonde {
namespace {

class JournalChainTest : public JournalFilesTest {
 protected:
  // "first-last ... through N [then N]"
  std::string Chain(int64_t after) {
    const SegmentChain chain = ChainFrom(*ListSegments(*repository_, kJournal), after);
    std::string text;
    for (const SegmentFile& segment : chain.segments) {
      text += std::to_string(segment.place.first) + "-" + std::to_string(segment.place.last) + " ";
    }
    text += "through " + std::to_string(chain.through);
    if (chain.next_first.has_value()) text += " then " + std::to_string(*chain.next_first);
    return text;
  }
  absl::Status FindAt(int64_t micros, const std::string& only = "") {
    return FindBase(*repository_, absl::FromUnixMicros(micros), only).status();
  }
  std::string BaseAt(int64_t micros) {
    const absl::StatusOr<RestorableRange> base = FindBase(*repository_, absl::FromUnixMicros(micros), "");
    EXPECT_TRUE(base.ok()) << base.status();
    return base.ok() ? base->manifest.id : "";
  }
};

TEST_F(JournalChainTest, SegmentsFollowEachOther) {
  EXPECT_EQ(Chain(10), "through 10");
  AddSegment(11, 20);
  AddSegment(21, 30);
  EXPECT_EQ(Chain(10), "11-20 21-30 through 30");
  EXPECT_EQ(Chain(15), "11-20 21-30 through 30") << "a copy in the middle of a segment";
  EXPECT_EQ(Chain(20), "21-30 through 30");
  EXPECT_EQ(Chain(30), "through 30");
  EXPECT_EQ(Chain(9), "through 9 then 11") << "the change at 10 is missing";
}

TEST_F(JournalChainTest, TakesMergedSegmentsInPlaceOfSmallOnes) {
  AddSegment(11, 20);
  AddSegment(21, 30);
  AddSegment(11, 40);
  AddSegment(41, 50);
  EXPECT_EQ(Chain(10), "11-40 41-50 through 50");
  AddSegment(35, 60);
  EXPECT_EQ(Chain(10), "11-40 35-60 through 60");
}

TEST_F(JournalChainTest, EndsBeforeAHole) {
  AddSegment(11, 20);
  AddSegment(22, 30);
  EXPECT_EQ(Chain(10), "11-20 through 20 then 22");
  EXPECT_EQ(Chain(21), "22-30 through 30");
}

TEST_F(JournalChainTest, FindsTheNewestBackupThatReachesAMoment) {
  const std::string first = AddBackup(10, 12), second = AddBackup(20, 25);
  AddSegment(11, 40);
  EXPECT_EQ(BaseAt(12), first);
  EXPECT_EQ(BaseAt(24), first) << "the second may have changes behind it";
  EXPECT_EQ(BaseAt(25), second);
  EXPECT_EQ(BaseAt(40), second);
  EXPECT_EQ(FindAt(11),
            absl::OutOfRangeError("1970-01-01T00:00:00.000011Z is before the earliest moment that can be "
                                  "restored, 1970-01-01T00:00:00.000012Z"));
  EXPECT_EQ(FindAt(41),
            absl::OutOfRangeError("1970-01-01T00:00:00.000041Z is after the latest moment that can be "
                                  "restored, 1970-01-01T00:00:00.000040Z"));
  EXPECT_EQ(FindAt(24, first), absl::OkStatus());
  EXPECT_EQ(FindAt(24, second).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(JournalChainTest, NamesTheMomentsAroundAGap) {
  AddBackup(10, 12);
  AddSegment(11, 20);
  AddBackup(30, 32);
  AddSegment(31, 40);
  EXPECT_EQ(FindAt(25),
            absl::OutOfRangeError(
                "The journal has a gap at 1970-01-01T00:00:00.000025Z: moments that can be restored are "
                "1970-01-01T00:00:00.000012Z to 1970-01-01T00:00:00.000020Z, "
                "1970-01-01T00:00:00.000032Z to 1970-01-01T00:00:00.000040Z"));
}

TEST_F(JournalChainTest, ABackupReachesNothingUntilItsJournalHasPassedIt) {
  AddBackup(10, 12);
  EXPECT_EQ(FindAt(12).code(), absl::StatusCode::kNotFound);
  AddSegment(11, 11);
  EXPECT_EQ(FindAt(12).code(), absl::StatusCode::kNotFound);
  AddSegment(12, 12);
  EXPECT_EQ(FindAt(12), absl::OkStatus());
}

}  // namespace
}  // namespace sonde
