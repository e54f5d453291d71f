#include "backup/journal/journal_upkeep.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "backup/journal/journal_test_support.h"

namespace sonde {
namespace {

class JournalUpkeepTest : public JournalFilesTest {
 protected:
  std::vector<std::string> Damage(bool reads_data = true) {
    VerifyReport report;
    EXPECT_EQ(VerifyJournals(*repository_, {.reads_data = reads_data}, &report), absl::OkStatus());
    EXPECT_EQ(report.damage.size(), report.damage_count);
    return report.damage;
  }
};

TEST_F(JournalUpkeepTest, VerifyNamesEveryFlippedByte) {
  AddBackup(10, 12);
  AddSegment(11, 20, {11, 15}, /*starts=*/true);
  const std::string path = AddSegment(21, 30, {22});
  EXPECT_EQ(Damage(), std::vector<std::string>());
  const std::string whole = *ReadFile(&files_, path, 1 << 20);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    ASSERT_EQ(Overwrite(path, flipped), absl::OkStatus());
    const std::vector<std::string> damage = Damage();
    ASSERT_EQ(damage.size(), 1U) << i;
    EXPECT_TRUE(damage[0].starts_with(path)) << damage[0];
  }
}

TEST_F(JournalUpkeepTest, VerifyNamesAMissingSegment) {
  AddSegment(11, 20, {}, /*starts=*/true);
  const std::string gone = AddSegment(21, 30), after = AddSegment(31, 40);
  ASSERT_EQ(files_.Remove(gone), absl::OkStatus());
  EXPECT_EQ(Damage(/*reads_data=*/false),
            (std::vector<std::string>{
                after + ": the segment before it is missing: changes from "
                        "1970-01-01T00:00:00.000021Z to 1970-01-01T00:00:00.000030Z are not there"}));
  AddSegment(51, 60, {}, /*starts=*/true);
  EXPECT_EQ(Damage().size(), 1U) << "a segment that starts a chain needs none before it";
}

TEST_F(JournalUpkeepTest, VerifyNamesTheFirstSegmentThatABackupNeeds) {
  AddBackup(10, 12);
  const std::string after = AddSegment(21, 30);
  ASSERT_EQ(Damage().size(), 1U);
  EXPECT_TRUE(Damage()[0].starts_with(after + ": the segment before it is missing")) << Damage()[0];
}

TEST_F(JournalUpkeepTest, VerifyNamesASegmentUnderAnotherName) {
  const std::string path = AddSegment(11, 20, {12}, /*starts=*/true);
  const std::string other = JournalPath(*repository_, kJournal) + "/" + SegmentName(11, 25);
  ASSERT_EQ(files_.Rename(path, other), absl::OkStatus());
  EXPECT_EQ(Damage(), (std::vector<std::string>{other + " is damaged: it holds another segment"}));
}

TEST_F(JournalUpkeepTest, PruneKeepsWhatTheOldestKeptBackupNeeds) {
  const std::string gone = AddBackup(10, 12), kept = AddBackup(25, 27);
  AddSegment(11, 20);
  AddSegment(21, 25);
  AddSegment(26, 40);
  const absl::StatusOr<PrunedSegments> dry = PruneJournals(*repository_, {kept}, /*is_dry_run=*/true);
  ASSERT_TRUE(dry.ok()) << dry.status();
  EXPECT_EQ(dry->count, 2U);
  EXPECT_EQ(Places(), "11-20 21-25 26-40");
  const absl::StatusOr<PrunedSegments> pruned = PruneJournals(*repository_, {kept}, /*is_dry_run=*/false);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_EQ(pruned->count, 2U);
  EXPECT_EQ(pruned->bytes, dry->bytes);
  EXPECT_EQ(Places(), "26-40");
  ASSERT_EQ(files_.Remove(repository_->ManifestPath(gone)),
            absl::OkStatus());  // as PruneRepository did before
  EXPECT_EQ(Damage(), std::vector<std::string>());
}

TEST_F(JournalUpkeepTest, PruneKeepsAJournalThatNoBackupHasForADay) {
  AddSegment(11, 20);
  clock_.Advance(absl::ToUnixMicros(absl::Now()) - clock_.NowMicros());
  ASSERT_EQ(PruneJournals(*repository_, {}, /*is_dry_run=*/false)->count, 0U);
  clock_.Advance(absl::ToInt64Microseconds(absl::Hours(25)));
  ASSERT_EQ(PruneJournals(*repository_, {}, /*is_dry_run=*/false)->count, 1U);
  EXPECT_EQ(Places(), "");
}

TEST_F(JournalUpkeepTest, MergesSmallSegmentsWithoutLosingOrRepeatingAny) {
  std::vector<int64_t> written;
  const auto add = [&](int64_t first, int64_t last) {
    AddSegment(first, last, {first, last}, first == 1);
    written.push_back(first);
    written.push_back(last);
  };
  for (int64_t i = 0; i + 1 < static_cast<int64_t>(kMergeCount); ++i) add(10 * i + 1, 10 * i + 10);
  EXPECT_EQ(*MergeSegments(*repository_, kJournal), false) << "too few";
  add(10 * (kMergeCount - 1) + 1, 10 * kMergeCount);
  AddSegment(5, 15, {10, 11});  // of another follower, whose place the others have
  EXPECT_EQ(*MergeSegments(*repository_, kJournal), true);
  EXPECT_EQ(Places(), "1-600");
  std::vector<int64_t> read;
  EXPECT_EQ(ReadWhole(ListSegments(*repository_, kJournal)->front().path, &read), absl::OkStatus());
  EXPECT_EQ(read, written);
  EXPECT_EQ(Damage(), std::vector<std::string>());
}

TEST_F(JournalUpkeepTest, DoesNotMergeOverAHole) {
  for (int64_t i = 0; i < static_cast<int64_t>(kMergeCount); ++i)
    AddSegment(10 * i + (i >= 30 ? 2 : 1), 10 * i + 10);
  EXPECT_EQ(*MergeSegments(*repository_, kJournal), false);
}

TEST_F(JournalUpkeepTest, DoesNotMergeASegmentUnderAnotherName) {
  for (int64_t i = 0; i < static_cast<int64_t>(kMergeCount); ++i) AddSegment(10 * i + 1, 10 * i + 10);
  const std::string last = Segments().back().path;
  const std::string other = JournalPath(*repository_, kJournal) + "/" +
                            SegmentName(10 * (kMergeCount - 1) + 1, 10 * kMergeCount + 5);
  ASSERT_EQ(files_.Rename(last, other), absl::OkStatus());
  EXPECT_EQ(MergeSegments(*repository_, kJournal).status(),
            absl::DataLossError(other + " is damaged: it holds another segment"));
  EXPECT_EQ(Segments().size(), kMergeCount) << "nothing went";
}

}  // namespace
}  // namespace sonde
