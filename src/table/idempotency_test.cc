#include "table/idempotency.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <future>

#include "engine/forwarding_engine.h"
#include "model/aggregate.h"
#include "table/mutate_row_test_support.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

class IdempotencyTest : public TablesTest {
 protected:
  absl::Status Add(std::string_view token, std::string_view row = "r",
                   std::optional<int64_t> start_micros = std::nullopt) {
    const std::vector<Mutation> mutations = {AddToCell{"sum", "q", 0, 1}};
    return MutateRow(tables_, *schema_, {row, mutations, Idempotency{token, start_micros}});
  }
  int64_t Sum(std::string_view row = "r") {
    const auto reader = *tables_.Read(schema_, {.ranges = {RowRange::Single(row)}});
    if (*reader->Next(1) != RowReader::Step::kRow) return 0;
    EXPECT_EQ(reader->cells().size(), 1u);
    return DecodeAggregateState(reader->cells()[0].cell.value);
  }
};

TEST_F(IdempotencyTest, ARepetitionIsNotApplied) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 1);
  EXPECT_EQ(Add("token 02"), absl::OkStatus());
  EXPECT_EQ(Sum(), 2);
  EXPECT_EQ(Add("token 01", "another row"), absl::OkStatus());
  EXPECT_EQ(Sum("another row"), 1);
}

TEST_F(IdempotencyTest, TokensProtectForAQuarterOfAnHour) {
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  for (int minutes = 1; minutes <= 15; ++minutes) {
    clock_.Advance(60 * kSecond);
    EXPECT_EQ(Add("token 01"), absl::OkStatus());
    EXPECT_EQ(Sum(), 1) << minutes << " minutes later";
  }
  clock_.Advance(1);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 2);
}

TEST_F(IdempotencyTest, TokensProtectWhenAClockGoesBack) {
  clock_.Set(kNow / kExpiryPeriodMicros * kExpiryPeriodMicros);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  clock_.Advance(-1);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 1);
}

TEST_F(IdempotencyTest, AFirstAttemptOfLongAgoIsRefused) {
  EXPECT_EQ(Add("token 01", "r", kNow - 900 * kSecond), absl::OkStatus());
  const absl::Status late = Add("token 02", "r", kNow - 900 * kSecond - 1);
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(late.message()), testing::HasSubstr("token 02"));
  EXPECT_EQ(Add("token 03", "r", kNow + 3600 * kSecond), absl::OkStatus()) << "a client's clock may be ahead";
  EXPECT_EQ(Sum(), 2);
}

TEST_F(IdempotencyTest, WhatWasRefusedMayComeAgain) {
  const std::vector<Mutation> bad = {SetCell{"sum", "q", 0, "v"}};
  EXPECT_EQ(MutateRow(tables_, *schema_, {"r", bad, Idempotency{"token 01"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 1);
}

TEST_F(IdempotencyTest, EntriesOfARequestCountByTheirTokens) {
  const std::vector<Mutation> add = {AddToCell{"sum", "q", 0, 1}};
  const Idempotency one{"token 01"}, two{"token 02"};
  const std::vector<RowMutations> rows = {
      {"r", add, one}, {"r", add}, {"r", add, one}, {"r", add, two}, {"r", add}};
  for (const absl::Status& status : tables_.MutateRows(*schema_, rows)) EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(Sum(), 4);
}

// Counts the commits of its engine that change something.
class CountingEngine : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  using RowStore::Apply;
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override {
    Counted counted(rows);
    absl::Status status = absl::UnavailableError("busy");
    if (refuses) {
      while (counted.Next().has_value()) continue;
    } else {
      status = engine_->Apply(table, &counted, options);
    }
    if (counted.changes > counted.refused) ++commits;
    return status;
  }
  std::atomic<int> commits = 0;
  bool refuses = false;

 private:
  struct Counted final : RowSource {
    explicit Counted(RowSource* source) : rows(source) {}
    ~Counted() = default;
    std::optional<absl::Span<const RowChange>> Next() override {
      const std::optional<absl::Span<const RowChange>> part = rows->Next();
      if (part.has_value()) changes += part->size();
      return part;
    }
    void OnRefused(size_t index, const absl::Status& why) override {
      ++refused;
      rows->OnRefused(index, why);
    }
    RowSource* const rows;
    size_t changes = 0, refused = 0;
  };
};

class IdempotentBatchTest : public IdempotencyTest {
 protected:
  static constexpr size_t kRows = 200;

  IdempotentBatchTest() {
    for (size_t i = 0; i < kRows; ++i) {
      rows_.push_back({names_.emplace_back(fmt::format("row {}", i)), add_,
                       Idempotency{names_.emplace_back(fmt::format("token {}", i))}});
    }
  }
  std::vector<absl::Status> Mutate(const std::function<absl::Status()>& interrupted = {}) {
    return counted_.MutateRows(*schema_, rows_, nullptr, interrupted);
  }
  int64_t SumOfAll() {
    int64_t sum = 0;
    for (const RowMutations& row : rows_) sum += Sum(row.row_key);
    return sum;
  }

  const std::vector<Mutation> add_ = {AddToCell{"sum", "q", 0, 1}};
  std::deque<std::string> names_;
  std::vector<RowMutations> rows_;
  CountingEngine counting_{engine_.get()};
  Tables counted_{&counting_, catalog_.get(), &clock_, 1};
};

TEST_F(IdempotentBatchTest, IsOneCommit) {
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(counting_.commits, 1);
  EXPECT_EQ(SumOfAll(), kRows);
  rows_.push_back({"another", add_, Idempotency{"token 0"}});
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(counting_.commits, 2);
  EXPECT_EQ(SumOfAll(), kRows + 1) << "what was there was not applied again";
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(counting_.commits, 2) << "nothing to write";
}

TEST_F(IdempotentBatchTest, KeepsTheOrderOfARowsEntries) {
  const std::vector<Mutation> first = {SetCell{"z", "q", 0, "1"}}, second = {SetCell{"z", "q", 0, "2"}};
  rows_ = {{"r", first, Idempotency{"token 01"}}, {"r", second}, {"r", first, Idempotency{"token 01"}}};
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(Read({}), "r: z:q=2\n");
}

TEST_F(IdempotentBatchTest, WhatWasNotCommittedMayComeAgain) {
  rows_.push_back(rows_.front());  // a repetition in the request itself
  counting_.refuses = true;
  EXPECT_THAT(Mutate(), testing::Each(absl::UnavailableError("busy")));
  counting_.refuses = false;
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  rows_.pop_back();
  EXPECT_EQ(SumOfAll(), kRows);
}

TEST_F(IdempotentBatchTest, WhoseCallerHasGoneWritesNothing) {
  for (size_t patience : {size_t{0}, kRows / 2, kRows}) {
    size_t asked = 0;
    const auto interrupted = [&] {
      return asked++ < patience ? absl::OkStatus() : absl::CancelledError("gone");
    };
    EXPECT_THAT(Mutate(interrupted), testing::Each(absl::CancelledError("gone")));
    EXPECT_EQ(asked, patience + 1);
  }
  EXPECT_EQ(counting_.commits, 0);
  EXPECT_EQ(SumOfAll(), 0);
}

// The same requests from several threads, in different orders.
TEST_F(IdempotentBatchTest, IsAppliedOnceWhenItComesAtOnce) {
  std::vector<std::future<void>> senders;
  for (size_t i = 0; i < 8; ++i) {
    senders.push_back(std::async(std::launch::async, [&, i] {
      std::vector<RowMutations> rows = rows_;
      std::rotate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i * kRows / 8), rows.end());
      EXPECT_THAT(counted_.MutateRows(*schema_, rows), testing::Each(absl::OkStatus()));
    }));
  }
  for (std::future<void>& sender : senders) sender.get();
  EXPECT_EQ(SumOfAll(), kRows);
}

TEST_F(IdempotencyTest, TokensAreNoRowsAndOutliveTheirRow) {
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  Put("r", {DeleteFromRow{}});
  EXPECT_EQ(Read({}), "");
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", {nullptr, {}, {}}), false);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Read({}), "");
}

TEST_F(IdempotencyTest, WhatHasExpiredIsForgotten) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Add("token 01"), absl::OkStatus());
    clock_.Advance(2 * kExpiryPeriodMicros);
  }
  EXPECT_EQ(Sum(), 100);
  ReadHints hints;
  hints.families.emplace();
  for (int64_t at = kNow; at < clock_.NowMicros(); at += kExpiryPeriodMicros) {
    for (const FamilyId family : TokenFamilies("token 01", at)) hints.families->push_back(family);
  }
  size_t families = 0;
  const auto count = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    families = row.size();
    return std::nullopt;
  };
  ASSERT_EQ(engine_->Update(schema_->id, "r", hints, count, {}), absl::OkStatus());
  EXPECT_EQ(families, 1u);
}

}  // namespace
}  // namespace sonde
