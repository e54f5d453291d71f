#include "engine/rocks/store/fragment_merge.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "cellblock/fragment.h"
#include "engine/rocks/store/key.h"

namespace sonde {
namespace {

using Merge = rocksdb::MergeOperator;

class FragmentMergeTest : public testing::Test {
 protected:
  FragmentMergeTest() { AppendCellsKey(/*table=*/1, "row", /*family=*/2, &key_); }

  // So many fragments with a cell of so many bytes each.
  void Make(size_t count, size_t value_bytes) {
    const std::string value(value_bytes, 'v');
    for (size_t i = 0; i < count; ++i) {
      FamilyDelta delta{.family = 2};
      delta.puts = {{"q", static_cast<int64_t>(i) * 1000, value}};
      EncodeFragment(delta, TableShapes(&shapes_, 1), &fragments_.emplace_back());
    }
    operands_.assign(fragments_.begin(), fragments_.end());
  }
  bool MergePartly() {
    return merge_->PartialMergeMulti(key_, {operands_.begin(), operands_.end()}, &value_, nullptr);
  }
  bool MergeAll() {
    rocksdb::Slice existing;
    Merge::MergeOperationOutput out(value_, existing);
    const bool merged =
        merge_->FullMergeV2(Merge::MergeOperationInput(key_, nullptr, operands_, nullptr), &out);
    failure_scope_ = out.op_failure_scope;
    return merged;
  }

  ShapeDictionary shapes_{[](ShapeId, const std::string&) { return false; }};
  const std::shared_ptr<Merge> merge_ = MakeFragmentMerge(&shapes_);
  std::string key_, value_;
  std::deque<std::string> fragments_;
  std::vector<rocksdb::Slice> operands_;
  Merge::OpFailureScope failure_scope_ = Merge::OpFailureScope::kDefault;
};

TEST_F(FragmentMergeTest, FragmentsOfALongEntryStayApart) {
  Make(kCombinedBytesMax / kFragmentApartBytesMin, kFragmentApartBytesMin);
  EXPECT_FALSE(MergePartly());
  // A compaction copies them; a read must ask in another way.
  EXPECT_FALSE(MergeAll());
  EXPECT_EQ(failure_scope_, Merge::OpFailureScope::kMustMerge);
  {
    const FragmentsApart apart;
    ASSERT_TRUE(MergeAll());
    EXPECT_TRUE(IsLongEntry(value_));
  }
  EXPECT_FALSE(MergeAll());
}

TEST_F(FragmentMergeTest, AReaderMayHaveTheFragmentsOfAnyEntry) {
  const auto of_value = [&] {
    std::vector<std::string_view> found;
    EXPECT_TRUE(AppendFragments(value_, &found));
    return found;
  };
  Make(300, 100);
  ASSERT_TRUE(MergeAll());
  const std::string combined = value_;
  EXPECT_EQ(of_value(), std::vector<std::string_view>{combined});
  {
    const FragmentsApart apart;
    ASSERT_TRUE(MergeAll());
    EXPECT_EQ(of_value(), std::vector<std::string_view>(fragments_.begin(), fragments_.end()));
    for (size_t cut = 1; cut < 100; ++cut) {
      std::vector<std::string_view> found;
      EXPECT_FALSE(AppendFragments(std::string_view(value_).substr(0, value_.size() - cut), &found));
    }
    // None or one would have come as they are.
    for (const size_t bytes : {size_t{2}, 2 + 1 + fragments_[0].size()}) {
      std::vector<std::string_view> found;
      EXPECT_FALSE(AppendFragments(std::string_view(value_).substr(0, bytes), &found));
    }
  }
  ASSERT_TRUE(MergeAll());
  EXPECT_EQ(value_, combined);
}

TEST_F(FragmentMergeTest, AllOthersAreCombined) {
  Make(kCombinedBytesMax / kFragmentApartBytesMin - 1, kFragmentApartBytesMin);
  EXPECT_TRUE(MergePartly());
  EXPECT_FALSE(IsLongEntry(value_));
  EXPECT_TRUE(MergeAll());
  EXPECT_GT(value_.size(), kCombinedBytesMax / 2);
}

TEST_F(FragmentMergeTest, SoAreManySmallOnesWhateverTheyComeTo) {
  Make(kFragmentsApartMax + 1, kCombinedBytesMax / kFragmentsApartMax);
  EXPECT_TRUE(MergePartly());
  EXPECT_TRUE(MergeAll());
  EXPECT_GT(value_.size(), kCombinedBytesMax);
}

}  // namespace
}  // namespace sonde
