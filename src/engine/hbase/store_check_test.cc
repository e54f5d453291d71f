#include "engine/hbase/store_check.h"

#include <gtest/gtest.h>

#include "engine/hbase/stored_cells.h"

namespace sonde {
namespace {

// Whether one of the ranges has the qualifier of a cell of this family.
bool IsInOne(const std::vector<hbase::QualifierRange>& gaps, FamilyId family) {
  const std::string qualifier = PlaceOf(family, "q", 1).qualifier;
  int count = 0;
  for (const hbase::QualifierRange& gap : gaps)
    count += qualifier >= gap.start && (gap.end.empty() || qualifier < gap.end) ? 1 : 0;
  EXPECT_LE(count, 1);
  return count == 1;
}

TEST(StoreCheckTest, GapsAreAllFamiliesButTheseOnes) {
  using Families = std::set<FamilyId>;
  for (const Families& families :
       {Families{}, Families{1}, Families{1, 2, 3}, Families{2, 5, 6, 900}, Families{7, 0x7FFFFFFF}}) {
    const std::vector<hbase::QualifierRange> gaps = GapsBetween(families);
    for (const FamilyId family :
         {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 255u, 256u, 899u, 900u, 901u, 0x7FFFFFFFu})
      EXPECT_EQ(IsInOne(gaps, family), !families.contains(family)) << family;
  }
  std::set<FamilyId> many;
  for (FamilyId family = 1; family < 400; family += 2) many.insert(family);
  EXPECT_EQ(GapsBetween(many).size(), 64u);
  EXPECT_TRUE(IsInOne(GapsBetween(many), 400));
}

}  // namespace
}  // namespace sonde
