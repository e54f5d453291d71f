#include "hbase/wire/change_messages.h"

#include <gtest/gtest.h>
#include <hbase/wire/messages.pb.h>

namespace sonde::hbase {
namespace {

RowChange Put(const char* row) { return {row, {}, {{row, "d", "q", 1, CellType::kPut, row}}}; }
RowChange DeleteAndPut(const char* row) {
  RowChange change = Put(row);
  change.markers.push_back({row, "d", "", kTimestampMax, CellType::kDeleteFamily});
  return change;
}

// The server takes the cells of the actions one after the other.
TEST(ChangeMessagesTest, CellsLieInTheOrderOfTheActions) {
  RowChange guarded = Put("c");
  guarded.guard = Guard{"v", "n", "seen"};
  const RowChange changes[] = {DeleteAndPut("a"), Put("b"), guarded, Put("d")};
  ChangesMessage message(true);
  message.Add("region", {{&changes[0], &changes[1], &changes[2], &changes[3]}});
  EXPECT_EQ(message.count(), 4u);

  pb::MultiRequest request;
  ASSERT_TRUE(request.ParseFromString(message.Message()));
  CellReader reader(message.cells());
  int actions = 0;
  for (const pb::RegionAction& region_action : request.region_action()) {
    for (const pb::Action& action : region_action.action()) {
      ++actions;
      EXPECT_EQ(action.mutation().durability(), 4);
      for (int i = 0; i < action.mutation().associated_cell_count(); ++i) {
        const absl::StatusOr<Cell> cell = reader.Next();
        ASSERT_TRUE(cell.ok());
        EXPECT_EQ(cell->row, action.mutation().row());
        EXPECT_EQ(cell->type == CellType::kPut, action.mutation().mutate_type() == 2);
      }
    }
  }
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_EQ(actions, 5);
  ASSERT_EQ(request.region_action_size(), 3);
  EXPECT_FALSE(request.region_action(0).atomic());  // the puts of b and d
  EXPECT_EQ(request.region_action(0).action_size(), 2);
  EXPECT_TRUE(request.region_action(1).atomic());
  EXPECT_FALSE(request.region_action(1).has_condition());
  EXPECT_EQ(request.region_action(2).condition().qualifier(), "n");
  pb::BinaryComparator comparator;
  ASSERT_TRUE(
      comparator.ParseFromString(request.region_action(2).condition().comparator().serialized_comparator()));
  EXPECT_EQ(comparator.comparable().value(), "seen");
}

TEST(ChangeMessagesTest, OutcomesAreInTheOrderOfTheChanges) {
  RowChange guarded = Put("c");
  guarded.guard = Guard{"v", "n", ""};
  const RowChange changes[] = {DeleteAndPut("a"), Put("b"), guarded, Put("d")};
  ChangesMessage message(false);
  message.Add("region", {{&changes[0], &changes[1], &changes[2], &changes[3]}});

  pb::MultiResponse response;
  pb::ResultOrException* const of_d = response.add_region_action_result()->add_result_or_exception();
  of_d->set_index(1);
  of_d->mutable_exception()->set_name("org.apache.hadoop.hbase.RegionTooBusyException");
  response.add_region_action_result()->mutable_exception()->set_name(
      "org.apache.hadoop.hbase.NotServingRegionException");
  response.add_region_action_result()->set_processed(false);
  const absl::StatusOr<std::vector<ChangeOutcome>> outcomes =
      message.ParseOutcomes(response.SerializeAsString());
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  ASSERT_EQ(outcomes->size(), 4u);
  EXPECT_EQ((*outcomes)[0].failure->remedy, Remedy::kLocate);
  EXPECT_FALSE((*outcomes)[1].failure.has_value());
  EXPECT_TRUE((*outcomes)[1].guard_held);
  EXPECT_FALSE((*outcomes)[2].failure.has_value());
  EXPECT_FALSE((*outcomes)[2].guard_held);
  EXPECT_EQ((*outcomes)[3].failure->remedy, Remedy::kWait);
}

TEST(ChangeMessagesTest, RefusesAnswersToOtherQuestions) {
  const RowChange change = Put("a");
  ChangesMessage message(false);
  message.Add("region", {{&change}});
  pb::MultiResponse response;
  EXPECT_TRUE(absl::IsDataLoss(message.ParseOutcomes(response.SerializeAsString()).status()));
  pb::ResultOrException* const other = response.add_region_action_result()->add_result_or_exception();
  other->set_index(5);
  other->mutable_exception()->set_name("x");
  EXPECT_TRUE(absl::IsDataLoss(message.ParseOutcomes(response.SerializeAsString()).status()));
}

}  // namespace
}  // namespace sonde::hbase
