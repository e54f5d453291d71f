#include "wire/operations/operation_waits.h"

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "absl/time/clock.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

class OperationWaitsTest : public testing::Test {
 protected:
  OperationWaitsTest() {
    EXPECT_EQ(operations_->Begin("projects/p/instances/i/tables/t", admin::RestoreTableRequest(),
                                 admin::RestoreTableMetadata(), nullptr, &operation_),
              absl::OkStatus());
  }
  void Add(absl::Duration timeout) {
    waits_->Add({.name = operation_.name(),
                 .timeout = timeout,
                 .is_given_up = [this] { return is_given_up_.load(); },
                 .answer = [this] { ++answers_; }});
  }
  bool AreAnswered(int count) {
    for (int i = 0; i < 10'000 && answers_ != count; ++i) absl::SleepFor(absl::Milliseconds(1));
    return answers_ == count;
  }

  SystemClock clock_;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  google::longrunning::Operation operation_;
  std::atomic<int> answers_ = 0;
  std::atomic<bool> is_given_up_ = false;
  std::optional<OperationWaits> waits_{operations_.get()};
};

TEST_F(OperationWaitsTest, AnswersWhenTheOperationHasEnded) {
  for (int i = 0; i < 100; ++i) Add(absl::InfiniteDuration());
  absl::SleepFor(absl::Milliseconds(120));
  EXPECT_EQ(answers_, 0);
  ASSERT_EQ(operations_->Finish(operation_.name(), {.status = absl::AbortedError("x")}), absl::OkStatus());
  EXPECT_TRUE(AreAnswered(100));
  Add(absl::InfiniteDuration());
  EXPECT_EQ(answers_, 101) << "at once";
}

TEST_F(OperationWaitsTest, AnswersWhenTheTimeHasPassed) {
  const absl::Time began = absl::Now();
  Add(absl::Milliseconds(200));
  EXPECT_TRUE(AreAnswered(1));
  EXPECT_GE(absl::Now() - began, absl::Milliseconds(199));
  Add(absl::ZeroDuration());
  EXPECT_EQ(answers_, 2) << "at once";
}

TEST_F(OperationWaitsTest, AnswersWhenNobodyWaits) {
  Add(absl::InfiniteDuration());
  is_given_up_ = true;
  EXPECT_TRUE(AreAnswered(1));
}

TEST_F(OperationWaitsTest, AnswersAllAtTheEnd) {
  for (int i = 0; i < 10; ++i) Add(absl::InfiniteDuration());
  waits_->End();
  EXPECT_TRUE(AreAnswered(10));
  Add(absl::InfiniteDuration());
  EXPECT_EQ(answers_, 11) << "at once";
}

TEST_F(OperationWaitsTest, AnswersAllWhenItIsDestroyed) {
  for (int i = 0; i < 10; ++i) Add(absl::InfiniteDuration());
  waits_.reset();
  EXPECT_EQ(answers_, 10);
}

}  // namespace
}  // namespace sonde
