#include "catalog/records_lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/time/clock.h"

namespace sonde {
namespace {

constexpr absl::Duration kLease = absl::Milliseconds(300);

// A store that takes all the time that it is given, and then says that there is none left, until it is back.
class AwayStore final : public RecordStore {
 public:
  absl::Status WriteRecords(const std::vector<RecordChange>& /*changes*/, absl::Time /*deadline*/) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view /*prefix*/,
                                                  absl::Time /*deadline*/) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline) override {
    if (is_back_) return 1;
    ++looks_;
    absl::SleepFor(deadline - absl::Now());
    return absl::DeadlineExceededError("no answer");
  }
  void ComeBack() { is_back_ = true; }
  int looks() const { return looks_; }

 private:
  std::atomic<bool> is_back_ = false;
  std::atomic<int> looks_ = 0;
};

absl::Status Reload() { return absl::OkStatus(); }

TEST(RecordsLease, AStoreThatIsAwayIsUnavailable) {
  AwayStore store;
  RecordsLease lease(&store, kLease, Reload);
  EXPECT_EQ(lease.Ensure(), absl::UnavailableError(
                                "The store does not say in time whether the catalog has changed: no answer"));
  store.ComeBack();
  EXPECT_EQ(lease.Refresh(), absl::OkStatus());
  EXPECT_EQ(lease.Ensure(), absl::OkStatus());
}

TEST(RecordsLease, ManyThatWaitDoNotLookOneAfterTheOther) {
  AwayStore store;
  RecordsLease lease(&store, kLease, Reload);
  constexpr int kThreads = 40;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(absl::IsUnavailable(lease.Ensure())); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(store.looks(), kThreads / 2);
}

}  // namespace
}  // namespace sonde
