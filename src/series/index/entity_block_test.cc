#include "series/index/entity_block.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "series/index/index_table.h"
#include "series/known/known_series.h"

namespace sonde::series {
namespace {

const std::vector<std::string> kNames = {"host", "zone", "a,b", "pod", "empty often"};

// The text of labels that are chosen at random, and the labels.
std::string RandomText(RandomSource* random, std::map<std::string, std::string>* labels) {
  KnownSeries series = NewOpenSeries("s");
  series.labels = kNames;
  labels->clear();
  for (const std::string& name : kNames) {
    if (random->Uniform(4) == 0) continue;
    std::string value = random->Uniform(3) == 0 ? "shared-beginning-" : "";
    value += std::to_string(random->Uniform(name == "pod" ? 100'000 : 20));
    if (random->Uniform(10) == 0) value += "=,# %\xC3\xA9";
    (*labels)[name] = value;
  }
  std::vector<std::pair<std::string_view, std::string_view>> views(labels->begin(), labels->end());
  std::string text;
  EXPECT_TRUE(AppendLabelsText(series, views, &text));
  return text;
}

std::map<std::string, std::string> CellsOf(const EntityBlock& block) {
  std::map<std::string, std::string> cells;
  for (const std::string& name : block.names()) cells[name] = block.Find(name)->Encode();
  return cells;
}

void ExpectEntities(const EntityBlock& block, const std::vector<std::string>& texts,
                    const std::vector<std::map<std::string, std::string>>& labels) {
  ASSERT_EQ(block.count(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string text;
    block.AppendText(block.base() + i, &text);
    EXPECT_EQ(text, texts[i]);
    std::map<std::string, std::string> found;
    block.ForEachLabel(block.base() + i,
                       [&](const std::string& name, std::string_view value) { found[name] = value; });
    EXPECT_EQ(found, labels[i]);
  }
}

TEST(EntityBlockTest, HasTheLabelsThatItWasMadeOf) {
  SeededRandom random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> texts(random.Uniform(round < 15 ? 50 : 2'000));
    std::vector<std::map<std::string, std::string>> labels(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = RandomText(&random, &labels[i]);
    const size_t base = random.Uniform(2) * 100;
    const auto block = EntityBlock::Make(kNames, texts, base);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->base(), base);
    ExpectEntities(*block, texts, labels);
    const auto read = EntityBlock::Decode(block->EncodeHeader(), CellsOf(*block));
    ASSERT_NE(read, nullptr);
    ExpectEntities(*read, texts, labels);
  }
}

TEST(EntityBlockTest, ColumnsHaveSortedDistinctValues) {
  const auto block = EntityBlock::Make({"h"}, {"h=b", ",", "h=a", "h=b"});
  ASSERT_NE(block, nullptr);
  const LabelColumn* const column = block->Find("h");
  ASSERT_EQ(column->values_count(), 2U);
  EXPECT_EQ(column->value(0), "a");
  EXPECT_EQ(column->codes(), (std::vector<uint16_t>{2, 0, 1, 2}));
  EXPECT_EQ(column->Find("b"), 1U);
  EXPECT_EQ(column->Find("c"), std::nullopt);
  EXPECT_EQ(column->LowerBound("aa"), 1U);
  EXPECT_EQ(block->Find("other"), nullptr);
}

TEST(EntityBlockTest, EveryEntityMayHaveAValueOfItsOwn) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < kBlockEntitiesMax; ++i) texts.push_back("h=" + std::to_string(i));
  const auto block = EntityBlock::Make({}, texts);
  ASSERT_NE(block, nullptr);
  const auto read = EntityBlock::Decode(block->EncodeHeader(), CellsOf(*block));
  ASSERT_NE(read, nullptr);
  std::string text;
  read->AppendText(kBlockEntitiesMax - 1, &text);
  EXPECT_EQ(text, texts.back());
  texts.push_back("h=one-more");
  EXPECT_EQ(EntityBlock::Make({}, texts), nullptr);
}

TEST(EntityBlockTest, RefusesTextsThatNoKeyHas) {
  EXPECT_EQ(EntityBlock::Make({}, {"h"}), nullptr);
  EXPECT_EQ(EntityBlock::Make({}, {"h="}), nullptr);
  EXPECT_EQ(EntityBlock::Make({}, {"h=%4"}), nullptr);
  EXPECT_EQ(EntityBlock::Make({}, {"h=%41"}), nullptr);  // keys have A
  EXPECT_EQ(EntityBlock::Make({"a", "b"}, {"b=1,a=1"}), nullptr);
  EXPECT_EQ(EntityBlock::Make({}, {"h=1,h=1"}), nullptr);
}

TEST(EntityBlockTest, RefusesDamagedCells) {
  SeededRandom random(4);
  std::vector<std::string> texts(300);
  std::map<std::string, std::string> labels;
  for (std::string& text : texts) text = RandomText(&random, &labels);
  const auto block = EntityBlock::Make(kNames, texts);
  const std::map<std::string, std::string> cells = CellsOf(*block);
  EXPECT_EQ(EntityBlock::Decode("", cells), nullptr);
  EXPECT_EQ(EntityBlock::Decode(block->EncodeHeader(), {}), nullptr);
  for (const auto& [name, cell] : cells) {
    for (int round = 0; round < 50; ++round) {
      std::map<std::string, std::string> damaged = cells;
      damaged[name][random.Uniform(cell.size())] ^= static_cast<char>(1 << random.Uniform(8));
      EXPECT_EQ(EntityBlock::Decode(block->EncodeHeader(), damaged), nullptr);
    }
  }
  // Each cell is good, but they are of two blocks.
  const auto other = EntityBlock::Make(kNames, {texts[0]});
  EXPECT_EQ(EntityBlock::Decode(other->EncodeHeader(), cells), nullptr);
}

TEST(EntityBlockTest, TextsComeBackFromTheirBytes) {
  const std::vector<std::string> texts = {",", "a=b", std::string(3'000, 'x')};
  std::vector<std::string> read;
  std::string bytes = EncodeTexts(texts);
  ASSERT_TRUE(DecodeTexts(bytes, &read));
  EXPECT_EQ(read, texts);
  for (size_t i = 0; i < bytes.size(); i += 17) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    EXPECT_FALSE(DecodeTexts(damaged, &read));
  }
  EXPECT_FALSE(DecodeTexts(bytes.substr(1), &read));
}

}  // namespace
}  // namespace sonde::series
