#include "engine/rocks/store/shape_dictionary.h"

#include <gtest/gtest.h>

#include <map>

namespace sonde {
namespace {

using Names = std::vector<std::string_view>;

class ShapeDictionaryTest : public testing::Test {
 protected:
  static constexpr TableId kTable = 1;
  static constexpr TableId kOtherTable = 2;

  // Sees the names until they are a shape.
  ShapeId Learn(TableId table, const Names& names) {
    ShapeId id = 0;
    for (uint32_t i = 1; i < ShapeDictionary::kSightingsToLearn; ++i) {
      EXPECT_FALSE(shapes_.FindOrLearn(table, names, &id)) << i;
    }
    EXPECT_TRUE(shapes_.FindOrLearn(table, names, &id));
    return id;
  }

  std::map<ShapeId, std::string> records_;
  ShapeDictionary shapes_{[this](ShapeId id, const std::string& record) {
    records_[id] = record;
    return true;
  }};
  const Names cpu_{"usage_idle", "usage_user"};
  const Names disk_{"free", "used"};
};

TEST_F(ShapeDictionaryTest, LearnsWhatItSeesOftenAndForOneTable) {
  const ShapeId cpu = Learn(kTable, cpu_);
  EXPECT_EQ(*shapes_.Get(cpu), Shape(cpu_.begin(), cpu_.end()));
  ShapeId id = 0;
  EXPECT_TRUE(shapes_.Find(kTable, cpu_, &id));
  EXPECT_EQ(id, cpu);
  EXPECT_FALSE(shapes_.Find(kOtherTable, cpu_, &id));
  // The same letters, cut elsewhere.
  const Names cut{"usage_idleu", "sage_user"};
  EXPECT_FALSE(shapes_.Find(kTable, cut, &id));
  EXPECT_NE(Learn(kOtherTable, cpu_), cpu);
}

TEST_F(ShapeDictionaryTest, ABatchFindsEachRowsOwnShape) {
  const ShapeId cpu = Learn(kTable, cpu_), disk = Learn(kTable, disk_);
  const LearningTableShapes batch(&shapes_, kTable);
  ShapeId id = 0;
  for (int i = 0; i < 3; ++i) {
    for (const auto& [names, shape] : {std::pair(cpu_, cpu), std::pair(cpu_, cpu), std::pair(disk_, disk)}) {
      ASSERT_TRUE(batch.Find(names, &id));
      EXPECT_EQ(id, shape);
    }
    // Neither a shape's beginning nor one with more is that shape.
    EXPECT_FALSE(batch.Find({&disk_[0], 1}, &id));
    const Names more{"free", "used", "zones"};
    EXPECT_FALSE(batch.Find(more, &id));
  }
}

TEST_F(ShapeDictionaryTest, KnowsItsRecordsAgain) {
  const ShapeId cpu = Learn(kTable, cpu_);
  ShapeDictionary again([](ShapeId, const std::string&) { return false; });
  ASSERT_TRUE(again.Load(cpu, records_.at(cpu)).ok());
  ShapeId id = cpu + 1;
  EXPECT_TRUE(again.Find(kTable, cpu_, &id));
  EXPECT_EQ(id, cpu);
  EXPECT_FALSE(again.Load(cpu, records_.at(cpu)).ok()) << "there is one already";
  EXPECT_FALSE(again.Load(cpu + 1, records_.at(cpu).substr(1)).ok());
}

}  // namespace
}  // namespace sonde
