#include "sql/view/state/group_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/memory/memory_engine.h"
#include "sql/view/state/state_rows.h"

namespace sonde::sql {
namespace {

// States are numbers, and merge into their sum.
class SumMerger final : public GroupMerger {
 public:
  void Clear() override { sum_ = 0; }
  absl::Status Add(std::string_view state) override {
    if (state == "bad") return absl::OutOfRangeError("it does not go with others");
    sum_ += std::stoll(std::string(state));
    return absl::OkStatus();
  }
  std::string Save() override { return std::to_string(sum_); }
  absl::StatusOr<std::optional<std::vector<ViewCell>>> Cells(const GroupId& /*group*/) override {
    return std::nullopt;
  }

 private:
  int64_t sum_ = 0;
};

class GroupTreeTest : public testing::Test {
 protected:
  GroupTreeTest() {
    TableSchema schema = StateTableSchema();
    schema.id = 1;
    schema.families[0].id = 1;
    EXPECT_EQ(engine_->CreateTable({.id = 1, .families = {{.id = 1}}}), absl::OkStatus());
    rows_ = std::make_unique<StateRows>(engine_.get(), std::make_shared<const TableSchema>(schema));
  }

  void Put(int source, const std::string& state) {
    const std::string key = "source" + std::to_string(source);
    rows_->Put(ContributorKey(prefix_, key), state);
    ASSERT_EQ(rows_->Commit(), absl::OkStatus());
    changed_.push_back({StateHash(key), std::nullopt});
  }
  // The first state of this source.
  void Add(int source, const std::string& state) {
    Put(source, state);
    changed_.back().added = added_.emplace_back(state);
  }
  void Delete(int source) {
    const std::string key = "source" + std::to_string(source);
    rows_->Delete(ContributorKey(prefix_, key));
    ASSERT_EQ(rows_->Commit(), absl::OkStatus());
    changed_.push_back({StateHash(key), std::nullopt});
  }
  std::string Refresh() {
    std::ranges::sort(changed_, {}, &ContributorChange::hash);
    const auto merged = GroupTree(kShape, rows_.get(), &merger_).Refresh(group_, changed_);
    changed_.clear();
    if (!merged.ok()) return merged.status().ToString();
    return std::to_string(merged->contributors) + ": " + (merged->has_failed ? "failed" : merger_.Save());
  }
  size_t StoredRows() {
    size_t count = 0;
    EXPECT_EQ(rows_->Scan({RowRange::All()},
                          [&count](std::string_view, std::string_view) {
                            ++count;
                            return true;
                          }),
              absl::OkStatus());
    return count;
  }

  static constexpr TreeShape kShape{.bits = 2};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<StateRows> rows_;
  SumMerger merger_;
  const GroupId group_{"key", 5};
  const std::string prefix_ = GroupPrefix(group_);
  std::vector<ContributorChange> changed_;
  std::deque<std::string> added_;
};

TEST_F(GroupTreeTest, ComesToTheSumWhateverItsSize) {
  int64_t sum = 0;
  for (int i = 0; i < 400; ++i) {
    Put(i, std::to_string(i));
    sum += i;
    ASSERT_EQ(Refresh(), std::to_string(i + 1) + ": " + std::to_string(sum));
  }
  Put(7, "1007");
  EXPECT_EQ(Refresh(), "400: " + std::to_string(sum + 1'000));
  for (int i = 0; i < 399; ++i) Delete(i);
  EXPECT_EQ(Refresh(), "1: 399");
  Delete(399);
  EXPECT_EQ(Refresh(), "0: 0");
  EXPECT_EQ(StoredRows(), 0U) << "nothing is left of the tree";
}

TEST_F(GroupTreeTest, GrowsAndChangesToTheSameSum) {
  std::mt19937 random(7);
  std::map<int, int64_t> states;
  for (int round = 0; round < 300; ++round) {
    for (uint32_t i = 0; i < 1 + random() % 8; ++i) {
      const int source = static_cast<int>(random() % 400);
      const int64_t state = static_cast<int64_t>(random() % 100);
      const bool is_changed = std::ranges::any_of(changed_, [&](const ContributorChange& change) {
        return change.hash == StateHash("source" + std::to_string(source));
      });
      if (is_changed) continue;
      if (!states.contains(source)) {
        Add(source, std::to_string(state));
        states[source] = state;
      } else if (random() % 3 == 0) {
        Delete(source);
        states.erase(source);
      } else {
        Put(source, std::to_string(state));
        states[source] = state;
      }
    }
    int64_t sum = 0;
    for (const auto& [source, state] : states) sum += state;
    ASSERT_EQ(Refresh(), std::to_string(states.size()) + ": " + std::to_string(sum)) << round;
  }
}

// So a group that only grows costs none of its other contributors.
TEST_F(GroupTreeTest, NewContributorsAreMergedIntoTheirNodes) {
  for (int i = 0; i < 100; ++i) Put(i, "1");
  EXPECT_EQ(Refresh(), "100: 100");
  for (int i = 0; i < 100; ++i) Put(i, "2");  // nobody tells the tree of these
  changed_.clear();
  Add(100, "5");
  EXPECT_EQ(Refresh(), "101: 105");
}

TEST_F(GroupTreeTest, StatesThatDoNotGoTogetherFailTheirGroupUntilTheyAreGone) {
  for (int i = 0; i < 50; ++i) Put(i, "1");
  Put(20, "bad");
  EXPECT_EQ(Refresh(), "50: failed");
  Put(30, "3");
  EXPECT_EQ(Refresh(), "50: failed");
  Put(20, "2");
  EXPECT_EQ(Refresh(), "50: 53");
}

// What a death in the middle of making a tree has left.
TEST_F(GroupTreeTest, NodesOfATreeThatWasNotFinishedDoNotCount) {
  rows_->Put(NodeKey(prefix_, 1, kShape.Prefix(uint64_t{3} << 62, 1)),
             EncodeNode({.has_failed = false, .contributors = 7, .state = "700"}));
  rows_->Put(NodeKey(prefix_, 2, 0), EncodeNode({.has_failed = false, .contributors = 7, .state = "700"}));
  ASSERT_EQ(rows_->Commit(), absl::OkStatus());
  int put = 0;
  for (int i = 0; put < 6; ++i) {
    if (StateHash("source" + std::to_string(i)) >> 62 == 3) continue;  // its node would be written
    Put(i, "1");
    ++put;
  }
  EXPECT_EQ(Refresh(), "6: 6");
}

TEST_F(GroupTreeTest, AnotherGroupOfTheSameRowIsApart) {
  for (int i = 0; i < 20; ++i) Put(i, "1");
  const std::string other = GroupPrefix({"key", 6});
  rows_->Put(ContributorKey(other, "x"), "5");
  rows_->Put(ContributorKey(GroupPrefix({"ke", 5}), "x"), "5");
  rows_->Put(ContributorKey(GroupPrefix({"keyy", 5}), "x"), "5");
  ASSERT_EQ(rows_->Commit(), absl::OkStatus());
  EXPECT_EQ(Refresh(), "20: 20");
}

}  // namespace
}  // namespace sonde::sql
