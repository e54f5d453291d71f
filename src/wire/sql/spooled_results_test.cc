// Results on disk come back as they were, are bounded, and go.
#include "wire/sql/spooled_results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/time/clock.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

class SpooledResultsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "spooled-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    space_.emplace(directory_, sql::SpillSpace::Limits{.free_percent_min = 0});
  }
  void TearDown() override {
    EXPECT_EQ(space_->bytes(), 0);
    EXPECT_EQ(::rmdir(directory_.c_str()), 0);
  }
  static SpooledBatch BatchOf(size_t number) {
    return {std::string(1 + number * 37, static_cast<char>('a' + number % 26)), number};
  }
  static std::shared_ptr<SpooledResult> Make(SpooledResults* results, size_t batches) {
    std::shared_ptr<SpooledResult> result = *results->Begin();
    for (size_t i = 0; i < batches; ++i) EXPECT_TRUE(result->Append(BatchOf(i)).ok());
    return result;
  }
  // Changes a byte of a file of this process that lies in the directory.
  void Damage(int64_t place) const {
    constexpr int kDescriptorsMax = 256;
    for (int descriptor = 3; descriptor < kDescriptorsMax; ++descriptor) {
      char name[4096];
      const ssize_t size =
          ::readlink(fmt::format("/proc/self/fd/{}", descriptor).c_str(), name, sizeof(name));
      if (size <= 0 || !std::string_view(name, static_cast<size_t>(size)).starts_with(directory_)) continue;
      char byte = 0;
      ASSERT_EQ(::pread(descriptor, &byte, 1, place), 1);
      byte = static_cast<char>(byte ^ 1);
      ASSERT_EQ(::pwrite(descriptor, &byte, 1, place), 1);
      return;
    }
    FAIL() << "no file is open in " << directory_;
  }
  static bool Soon(const std::function<bool()>& condition) {
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (!condition()) {
      if (absl::Now() > deadline) return false;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return true;
  }

  std::string directory_;
  std::optional<sql::SpillSpace> space_;
};

TEST_F(SpooledResultsTest, GivesItsBatchesFromAnyPlace) {
  SpooledResults results(&*space_, {});
  constexpr size_t kBatches = 20;
  const std::shared_ptr<SpooledResult> made = Make(&results, kBatches);
  ASSERT_TRUE(results.Publish(made));
  const SpooledResultRef found = *results.Find(made->id());
  std::vector<int64_t> places = {0};
  SpooledBatch batch;
  for (int64_t place = 0; *found->Read(&place, &batch);) places.push_back(place);
  ASSERT_EQ(places.size(), kBatches + 1);
  for (size_t from = 0; from <= kBatches; ++from) {
    int64_t place = places[from];
    for (size_t i = from; i < kBatches; ++i) {
      EXPECT_FALSE(found->IsEnd(place));
      ASSERT_TRUE(*found->Read(&place, &batch));
      EXPECT_EQ(batch.bytes, BatchOf(i).bytes);
      EXPECT_EQ(batch.rows, BatchOf(i).rows);
    }
    EXPECT_TRUE(found->IsEnd(place));
    EXPECT_FALSE(*found->Read(&place, &batch));
  }
}

TEST_F(SpooledResultsTest, TellsOfEachChangedByte) {
  SpooledResults results(&*space_, {});
  const std::shared_ptr<SpooledResult> made = Make(&results, 2);
  SpooledBatch batch;
  int64_t end = 0;
  while (*made->Read(&end, &batch)) continue;
  for (int64_t byte = 0; byte < end; ++byte) {
    Damage(byte);
    int64_t place = 0;
    absl::StatusOr<bool> read = made->Read(&place, &batch);
    if (read.ok()) read = made->Read(&place, &batch);
    EXPECT_EQ(read.status(), absl::DataLossError("The result finds rows damaged that it put on disk"))
        << byte;
    Damage(byte);
  }
}

TEST_F(SpooledResultsTest, GoWhenNobodyHasHeldThemForAWhile) {
  SpooledResults results(&*space_, {.kept = absl::Milliseconds(80)});
  std::shared_ptr<SpooledResult> made = Make(&results, 3);
  const std::string id = made->id();
  ASSERT_TRUE(results.Publish(made));
  absl::SleepFor(absl::Milliseconds(300));
  EXPECT_TRUE(results.Find(id).ok()) << "it is held";
  made.reset();
  EXPECT_TRUE(results.Find(id).ok()) << "it is held no more, but was";
  ASSERT_TRUE(Soon([&] { return space_->bytes() == 0; }));
  EXPECT_EQ(results.Find(id).status(),
            absl::AbortedError(
                "The rows behind the resume token are gone: results of more than 8388608 bytes are kept for "
                "80ms behind their streams' end, and not beyond a restart of the server; execute the query "
                "again from its beginning"));
}

TEST_F(SpooledResultsTest, AreGoneWithTheServer) {
  std::string id;
  {
    SpooledResults results(&*space_, {});
    const std::shared_ptr<SpooledResult> made = Make(&results, 3);
    id = made->id();
    ASSERT_TRUE(results.Publish(made));
    EXPECT_GT(space_->bytes(), 0);
  }
  EXPECT_EQ(space_->bytes(), 0);
  SpooledResults others(&*space_, {});
  EXPECT_EQ(others.Find(id).status().code(), absl::StatusCode::kAborted);
}

TEST_F(SpooledResultsTest, AreBoundedInNumberAndBytes) {
  SpooledResults results(&*space_, {.results_max = 2, .bytes_max = 5'000, .result_bytes_max = 3'000});
  const SpooledBatch thousand{std::string(1'000, 'x'), 1};
  const std::shared_ptr<SpooledResult> first = *results.Begin();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(first->Append(thousand).ok());
  EXPECT_EQ(first->Append(thousand),
            absl::ResourceExhaustedError(
                "The result needs 1000 more bytes on disk: it has 3000; 3000 is the limit of a result that "
                "can be resumed"));
  // The batches before stay whole.
  SpooledBatch batch;
  int64_t place = 0;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(*first->Read(&place, &batch));
  EXPECT_FALSE(*first->Read(&place, &batch));

  std::shared_ptr<SpooledResult> second = *results.Begin();
  const std::shared_ptr<SpooledResult> third = *results.Begin();
  ASSERT_TRUE(second->Append(thousand).ok());
  ASSERT_TRUE(second->Append(thousand).ok());
  EXPECT_EQ(third->Append(thousand),
            absl::ResourceExhaustedError("The result needs 1000 more bytes on disk: all results have 5000; "
                                         "5000 is the limit of all results"));
  EXPECT_TRUE(results.Publish(first));
  EXPECT_TRUE(results.Publish(second));
  EXPECT_FALSE(results.Publish(third));
  EXPECT_EQ(
      results.Begin().status(),
      absl::ResourceExhaustedError("The result cannot be kept for resumption: 2 others are; 2 is the limit"));
}

TEST_F(SpooledResultsTest, OneThatWasGivenWholeMakesRoomForAnother) {
  SpooledResults results(&*space_, {.results_max = 2});
  std::shared_ptr<SpooledResult> given = Make(&results, 3), broken = Make(&results, 3);
  const std::string given_id = given->id(), broken_id = broken->id();
  ASSERT_TRUE(results.Publish(given));
  ASSERT_TRUE(results.Publish(broken));
  given->NoteGivenWhole();
  EXPECT_FALSE(results.Begin().ok()) << "somebody reads it";
  given.reset();
  broken.reset();
  EXPECT_TRUE(results.Find(given_id).ok()) << "it is kept while nobody wants its place";
  EXPECT_FALSE(results.Begin().ok()) << "whoever asked for it has not got all of it";
  (*results.Find(given_id))->NoteGivenWhole();
  const auto next = results.Begin();
  ASSERT_TRUE(next.ok()) << next.status();
  ASSERT_TRUE((*next)->Append(BatchOf(1)).ok());
  EXPECT_TRUE(results.Publish(*next));
  EXPECT_EQ(results.Find(given_id).status().code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(results.Find(broken_id).ok()) << "its client may come back";
}

TEST_F(SpooledResultsTest, AFullDiskIsAnError) {
  sql::SpillSpace full(directory_, {.free_percent_min = 100, .free_bytes_max = int64_t{1} << 60});
  SpooledResults results(&full, {});
  const std::shared_ptr<SpooledResult> result = *results.Begin();
  const absl::Status status = result->Append(BatchOf(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("must stay free"));
  EXPECT_TRUE(result->IsEnd(0));
}

TEST_F(SpooledResultsTest, NeedADirectory) {
  SpooledResults results(nullptr, {});
  EXPECT_EQ(
      results.Begin().status(),
      absl::ResourceExhaustedError("The result cannot be kept for resumption: there is no directory for it"));
}

}  // namespace
}  // namespace sonde
