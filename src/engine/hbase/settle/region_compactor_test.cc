// When regions are compacted, on an HBase in this process that notes what it is asked.
#include "engine/hbase/settle/region_compactor.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

using hbase::FakeAnswer;
using hbase::FakeCall;
using hbase::FakeHBase;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kBytesMin = 1'000;
constexpr absl::Duration kPause = absl::Minutes(10);

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

class RegionCompactorTest : public testing::Test {
 protected:
  RegionCompactorTest()
      : client_(*hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(1)})) {
    hbase_.Split("m", 1);
    hbase_.SetInterceptor([this](const FakeCall& call) { return Answer(call); });
    const auto all = client_->regions()->All(FakeHBase::kTableName, Soon());
    if (!all.ok() || all->size() != 2) ADD_FAILURE() << all.status();
    for (const auto& place : *all) regions_.push_back(*place);
  }

  std::optional<FakeAnswer> Answer(const FakeCall& call) {
    const absl::MutexLock lock(&mutex_);
    if (call.method == "FlushRegion") {
      asked_.push_back(call.server == 0 ? "flush 0" : "flush 1");
      return is_refusing_ ? FakeAnswer{.exception = "org.apache.hadoop.hbase.DoNotRetryIOException"}
                          : FakeAnswer{};
    }
    if (call.method == "CompactRegion") {
      hbase::pb::CompactRegionRequest request;
      request.ParseFromString(call.parameter);
      asked_.push_back((request.major() ? "major " : "minor ") + request.family() +
                       (call.server == 0 ? " 0" : " 1"));
      return FakeAnswer{};
    }
    if (call.method == "GetRegionInfo") {
      hbase::pb::GetRegionInfoResponse response;
      response.set_compaction_state(is_compacting_ ? 2 : 0);
      return FakeAnswer{.parameter = response.SerializeAsString()};
    }
    return std::nullopt;
  }
  void SetCompacting(bool is_compacting) {
    const absl::MutexLock lock(&mutex_);
    is_compacting_ = is_compacting;
  }
  void SetRefusing(bool is_refusing) {
    const absl::MutexLock lock(&mutex_);
    is_refusing_ = is_refusing;
  }
  // What HBase was asked for since the last call.
  std::vector<std::string> Asked() {
    const absl::MutexLock lock(&mutex_);
    return std::exchange(asked_, {});
  }
  absl::Status Run(RegionCompactor* compactor, absl::Duration after) {
    return compactor->Run(start_ + after, Soon());
  }

  const absl::Time start_ = absl::Now();
  absl::Mutex mutex_;
  bool is_compacting_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_refusing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  FakeHBase hbase_;
  const std::unique_ptr<hbase::Client> client_;
  std::vector<hbase::Region> regions_;
};

TEST_F(RegionCompactorTest, ARegionIsCompactedThatWasSettledWholeAndHasMuchToDrop) {
  RegionCompactor compactor(client_.get(), {kBytesMin, kPause});
  const auto note = [&](uint64_t packed, uint64_t left, bool is_whole) {
    compactor.Note(regions_[0], CellStorage::kPacked, {packed, left}, is_whole);
  };
  ASSERT_TRUE(Run(&compactor, {}).ok());
  note(kBytesMin - 1, 0, true);
  ASSERT_TRUE(Run(&compactor, {}).ok());
  EXPECT_THAT(Asked(), IsEmpty()) << "there is little to drop";
  note(1, 0, true);
  ASSERT_TRUE(Run(&compactor, {}).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 0", "major d 0"));
  EXPECT_EQ(compactor.begun(), 1u);

  note(kBytesMin, 0, true);
  ASSERT_TRUE(Run(&compactor, kPause - absl::Seconds(1)).ok());
  EXPECT_THAT(Asked(), IsEmpty()) << "it was compacted a moment ago";
  ASSERT_TRUE(Run(&compactor, kPause).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 0", "major d 0"));

  note(kBytesMin, 600, false);
  note(kBytesMin, 600, false);
  ASSERT_TRUE(Run(&compactor, 2 * kPause).ok());
  EXPECT_THAT(Asked(), IsEmpty()) << "it was not settled whole";
  note(0, 2 * kBytesMin, true);
  ASSERT_TRUE(Run(&compactor, 2 * kPause).ok());
  EXPECT_THAT(Asked(), IsEmpty()) << "more would be written again than dropped";
  note(0, 2 * kBytesMin, true);  // the next pass finds the region so
  ASSERT_TRUE(Run(&compactor, 2 * kPause).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 0", "major d 0"));
}

TEST_F(RegionCompactorTest, OneRegionAtATimeThatWithTheMostFirst) {
  RegionCompactor compactor(client_.get(), {kBytesMin, kPause});
  compactor.Note(regions_[0], CellStorage::kPacked, {kBytesMin, 0}, true);
  compactor.Note(regions_[1], CellStorage::kPackedAtOnce, {2 * kBytesMin, 0}, true);
  SetCompacting(true);
  ASSERT_TRUE(Run(&compactor, {}).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 1", "major c 1", "major d 1"));
  ASSERT_TRUE(Run(&compactor, absl::Minutes(1)).ok());
  EXPECT_THAT(Asked(), IsEmpty());
  SetCompacting(false);
  ASSERT_TRUE(Run(&compactor, absl::Minutes(2)).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 0", "major d 0"));
}

TEST_F(RegionCompactorTest, ARegionThatRefusesKeepsNoOtherFromItsTurn) {
  RegionCompactor compactor(client_.get(), {kBytesMin, kPause});
  compactor.Note(regions_[0], CellStorage::kPacked, {2 * kBytesMin, 0}, true);
  compactor.Note(regions_[1], CellStorage::kPacked, {kBytesMin, 0}, true);
  SetRefusing(true);
  EXPECT_FALSE(Run(&compactor, {}).ok());
  SetRefusing(false);
  ASSERT_TRUE(Run(&compactor, absl::Minutes(1)).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 0", "flush 1", "major d 1"));
  ASSERT_TRUE(Run(&compactor, kPause).ok());
  EXPECT_THAT(Asked(), ElementsAre("flush 0", "major d 0"));
}

}  // namespace
}  // namespace sonde
