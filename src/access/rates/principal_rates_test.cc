#include "access/rates/principal_rates.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/admission.h"

namespace sonde {
namespace {

class PrincipalRatesTest : public ::testing::Test {
 protected:
  static Principal Named(const std::string& member, std::vector<std::string> groups = {}) {
    return {.member = member, .groups = std::move(groups), .proof = Proof::kKey};
  }
  // How many of `calls` begin; each ends at once.
  int Begin(const Principal& principal, RateKind kind, int calls) {
    int begun = 0;
    for (int i = 0; i < calls; ++i) begun += rates_.Admit(principal, kind, now_).ok() ? 1 : 0;
    return begun;
  }
  std::string Refusal(const Principal& principal, RateKind kind) {
    const auto place = rates_.Admit(principal, kind, now_);
    EXPECT_TRUE(absl::IsResourceExhausted(place.status()));
    EXPECT_TRUE(place.status().GetPayload(kTryAgainPayload).has_value());
    return std::string(place.status().message());
  }

  PrincipalRates rates_;
  absl::Time now_ = absl::FromUnixSeconds(1'795'593'600);
  const Principal a_ = Named("user:a"), b_ = Named("user:b");
};

TEST_F(PrincipalRatesTest, LimitsNobodyWithoutEntries) {
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1'000), 1'000);
  EXPECT_FALSE(rates_.Admit(a_, RateKind::kRead, now_)->IsCounted());
}

TEST_F(PrincipalRatesTest, LetsTheCallsOfASecondComeAtOnceAndThenAtTheirRate) {
  rates_.Configure({{{"user:a"}, {.reads_per_second = 10, .writes_per_second = 4}}});
  EXPECT_EQ(Begin(a_, RateKind::kRead, 100), 10);
  EXPECT_EQ(Begin(a_, RateKind::kWrite, 100), 4);
  EXPECT_EQ(Refusal(a_, RateKind::kRead),
            "The quota of 10 reads a second that user:a has is used up; nothing was done, try again");
  EXPECT_EQ(Refusal(a_, RateKind::kWrite),
            "The quota of 4 writes a second that user:a has is used up; nothing was done, try again");
  EXPECT_EQ(Begin(a_, RateKind::kOther, 100), 100);
  EXPECT_EQ(Begin(b_, RateKind::kRead, 100), 100);
  now_ += absl::Milliseconds(350);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 100), 3);
  now_ += absl::Seconds(10);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 100), 10);
  EXPECT_EQ(rates_.refused_calls(), 90 + 96 + 2 + 97 + 90);
}

TEST_F(PrincipalRatesTest, AReadThatWritesIsCountedAsAWriteToo) {
  rates_.Configure({{{"user:a"}, {.reads_per_second = 10, .writes_per_second = 2}}});
  const auto place = rates_.Admit(a_, RateKind::kRead, now_);
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE(rates_.CountWrite(*place, now_).ok());
  EXPECT_EQ(Begin(a_, RateKind::kWrite, 10), 1) << "one of two is gone";
  EXPECT_EQ(rates_.CountWrite(*place, now_).message(),
            "The quota of 2 writes a second that user:a has is used up; nothing was done, try again");
  EXPECT_EQ(rates_.refused_calls(), 9 + 1);
  EXPECT_TRUE(rates_.CountWrite(PrincipalRates::Place(), now_).ok()) << "whoever has no limits";
}

TEST_F(PrincipalRatesTest, FindsTheRateAsItIsWhenCallsComeOutOfTheirOrder) {
  rates_.Configure({{{"user:a"}, {.reads_per_second = 1'000}}});
  EXPECT_EQ(Begin(a_, RateKind::kRead, 2'000), 1'000);
  now_ -= absl::Milliseconds(10);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 100), 0);
  now_ += absl::Milliseconds(10);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 100), 0);
}

TEST_F(PrincipalRatesTest, CountsCallsWhileTheyRun) {
  rates_.Configure({{{"user:a"}, {.running_calls = 2}}});
  auto first = rates_.Admit(a_, RateKind::kOther, now_);
  std::optional<PrincipalRates::Place> second = *rates_.Admit(a_, RateKind::kRead, now_);
  EXPECT_EQ(Refusal(a_, RateKind::kRead),
            "user:a has 2 calls under way and the limit is 2; nothing was done, try again");
  second.reset();
  EXPECT_EQ(Begin(a_, RateKind::kRead, 5), 5);
}

TEST_F(PrincipalRatesTest, CountsBytesAgainstTheNextCalls) {
  rates_.Configure({{{"user:a"}, {.bytes_per_second = 1'000}}});
  {
    const auto place = rates_.Admit(a_, RateKind::kRead, now_);
    place->Charge(1'000, now_);
    EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 1) << "the bytes of a second may come at once";
    place->Charge(2'000, now_);
  }
  EXPECT_EQ(Refusal(a_, RateKind::kRead),
            "The quota of 1000 bytes a second that user:a has is used up; nothing was done, try again");
  now_ += absl::Milliseconds(1'999);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 0);
  now_ += absl::Milliseconds(1);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 1);
}

TEST_F(PrincipalRatesTest, LetsNobodyPayForMoreThanTheLongestDebt) {
  rates_.Configure({{{"user:a"}, {.bytes_per_second = 1}}});
  rates_.Admit(a_, RateKind::kRead, now_)->Charge(1'000'000'000, now_);
  now_ += PrincipalRates::kDebtMax - absl::Seconds(1) - absl::Milliseconds(1);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 0);
  now_ += absl::Milliseconds(1);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 1);
}

TEST_F(PrincipalRatesTest, AsksTheFirstEntryThatNamesTheMemberOrItsGroup) {
  rates_.Configure({{{"user:a"}, {.reads_per_second = 1}},
                    {{"group:g"}, {.reads_per_second = 2}},
                    {{}, {.reads_per_second = 3}}});
  const Principal c = Named("user:c", {"group:f", "group:g"}), d = Named("user:d", {"group:g"});
  EXPECT_EQ(Begin(Named("user:a", {"group:g"}), RateKind::kRead, 9), 1);
  EXPECT_EQ(Begin(c, RateKind::kRead, 9), 2);
  EXPECT_EQ(Begin(d, RateKind::kRead, 9), 2) << "members of a group do not share";
  EXPECT_EQ(Begin(b_, RateKind::kRead, 9), 3);
}

TEST_F(PrincipalRatesTest, GoesByTheNewEntriesAtOnceAndKeepsWhatRuns) {
  rates_.Configure({{{"user:a"}, {.running_calls = 5}}});
  const auto first = rates_.Admit(a_, RateKind::kRead, now_),
             second = rates_.Admit(a_, RateKind::kRead, now_);
  rates_.Configure({{{"user:a"}, {.running_calls = 2}}});
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 0);
  rates_.Configure({});
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 1);
}

TEST_F(PrincipalRatesTest, LeavesNobodyWaitingForAClockThatWasSetBack) {
  rates_.Configure({{{"user:a"}, {.reads_per_second = 10, .bytes_per_second = 10}}});
  rates_.Admit(a_, RateKind::kRead, now_)->Charge(10, now_);
  EXPECT_EQ(Begin(a_, RateKind::kRead, 100), 9);
  now_ -= absl::Hours(1);
  now_ += PrincipalRates::kDebtMax;
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 0);
  now_ += PrincipalRates::kDebtMax;
  EXPECT_EQ(Begin(a_, RateKind::kRead, 1), 1);
}

TEST_F(PrincipalRatesTest, RemembersSoManyMembersAndGivesTheOthersOneShare) {
  rates_.Configure({{{}, {.running_calls = 1}}});
  std::vector<PrincipalRates::Place> running;
  for (size_t i = 0; i < PrincipalRates::kMembersMax; ++i)
    running.push_back(*rates_.Admit(Named("user:" + std::to_string(i)), RateKind::kRead, now_));
  const auto first = rates_.Admit(Named("user:x"), RateKind::kRead, now_);
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(Refusal(Named("user:y"), RateKind::kRead),
            "* has 1 calls under way and the limit is 1; nothing was done, try again");
  running.clear();
  now_ += absl::Seconds(1);
  EXPECT_TRUE(rates_.Admit(Named("user:y"), RateKind::kRead, now_).ok());
}

}  // namespace
}  // namespace sonde
