#include "hbase/wire/read_messages.h"

#include <gtest/gtest.h>
#include <hbase/wire/messages.pb.h>

namespace sonde::hbase {
namespace {

pb::RegionInfo SomeRegion() {
  pb::RegionInfo info;
  info.set_region_id(17);
  info.mutable_table_name()->set_namespace_("space");
  info.mutable_table_name()->set_qualifier("table");
  info.set_start_key("a");
  info.set_end_key("m");
  return info;
}

std::vector<Cell> MetaCells(const std::string& info, std::string_view server) {
  return {{"space:table,a,17.0123abcd.", "info", "regioninfo", 1, CellType::kPut, info},
          {"space:table,a,17.0123abcd.", "info", "server", 1, CellType::kPut, server}};
}

TEST(ReadMessagesTest, ReadsARegionOfMeta) {
  const std::string info = "PBUF" + SomeRegion().SerializeAsString();
  const absl::StatusOr<std::optional<Region>> region = ParseMetaRow(MetaCells(info, "host.example:16020"));
  ASSERT_TRUE(region.ok() && region->has_value()) << region.status();
  EXPECT_EQ(
      **region,
      (Region{"space:table,a,17.0123abcd.", {"space", "table"}, 17, "a", "m", {"host.example", 16020}}));
  EXPECT_EQ((*region)->EncodedName(), "0123abcd");
  EXPECT_EQ((*region)->table.Text(), "space:table");
  EXPECT_TRUE((*region)->Contains("a"));
  EXPECT_FALSE((*region)->Contains("m"));
}

TEST(ReadMessagesTest, PassesOverRegionsThatAreNotOpen) {
  pb::RegionInfo split = SomeRegion();
  split.set_split(true);
  EXPECT_EQ(*ParseMetaRow(MetaCells("PBUF" + split.SerializeAsString(), "h:1")), std::nullopt);
  pb::RegionInfo copy = SomeRegion();
  copy.set_replica_id(1);
  EXPECT_EQ(*ParseMetaRow(MetaCells("PBUF" + copy.SerializeAsString(), "h:1")), std::nullopt);
  EXPECT_EQ(*ParseMetaRow(MetaCells("PBUF" + SomeRegion().SerializeAsString(), "")), std::nullopt);
  EXPECT_EQ(*ParseMetaRow({}), std::nullopt);
}

TEST(ReadMessagesTest, RefusesRowsOfMetaThatCannotBe) {
  const std::string info = "PBUF" + SomeRegion().SerializeAsString();
  for (const char* server : {"host", ":16020", "host:", "host:0", "host:70000", "host:12x"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseMetaRow(MetaCells(info, server)).status())) << server;
  }
  EXPECT_TRUE(absl::IsDataLoss(ParseMetaRow(MetaCells("PBUX", "h:1")).status()));
  pb::RegionInfo turned = SomeRegion();
  turned.set_end_key("A");
  EXPECT_TRUE(absl::IsDataLoss(ParseMetaRow(MetaCells("PBUF" + turned.SerializeAsString(), "h:1")).status()));
}

TEST(ReadMessagesTest, ScanSaysWhatIsWanted) {
  CellChoice choice{.families = {"d"},
                    .qualifiers = {{"a", "b"}, {"x", ""}},
                    .time_start = 5,
                    .time_end = 9,
                    .newest_per_column = 2};
  choice.keys_only = true;
  pb::ScanRequest request;
  ASSERT_TRUE(request.ParseFromString(
      OpenScanMessage("region", {.start = "s", .stop = "t", .with_start = false, .reverse = true}, choice,
                      {.rows_max = 3}, true)));
  EXPECT_EQ(request.region().value(), "region");
  EXPECT_EQ(request.scan().start_row(), "s");
  EXPECT_EQ(request.scan().stop_row(), "t");
  EXPECT_FALSE(request.scan().include_start_row());
  EXPECT_TRUE(request.scan().reversed());
  EXPECT_EQ(request.scan().max_versions(), 2u);
  EXPECT_EQ(request.scan().time_range().from(), 5u);
  EXPECT_EQ(request.scan().time_range().to(), 9u);
  EXPECT_TRUE(request.scan().allow_partial_results());
  EXPECT_TRUE(request.client_handles_partials());
  EXPECT_TRUE(request.client_handles_heartbeats());
  EXPECT_TRUE(request.close_scanner());
  EXPECT_EQ(request.number_of_rows(), 3u);

  ASSERT_EQ(request.scan().filter().name(), "org.apache.hadoop.hbase.filter.FilterList");
  pb::FilterList both;
  ASSERT_TRUE(both.ParseFromString(request.scan().filter().serialized_filter()));
  EXPECT_EQ(both.operator_(), 1);
  ASSERT_EQ(both.filters_size(), 2);
  pb::FilterList ranges;
  ASSERT_TRUE(ranges.ParseFromString(both.filters(0).serialized_filter()));
  EXPECT_EQ(ranges.operator_(), 2);
  ASSERT_EQ(ranges.filters_size(), 2);
  pb::ColumnRangeFilter range;
  ASSERT_TRUE(range.ParseFromString(ranges.filters(1).serialized_filter()));
  EXPECT_EQ(range.min_column(), "x");
  EXPECT_FALSE(range.has_max_column());
  EXPECT_EQ(both.filters(1).name(), "org.apache.hadoop.hbase.filter.KeyOnlyFilter");
}

TEST(ReadMessagesTest, SomeCellsMayComeWholeWhereOthersAreKeys) {
  const CellChoice choice{.families = {"b", "d"}, .keys_only = true, .whole = {{"a", "b"}}};
  pb::ScanRequest request;
  ASSERT_TRUE(request.ParseFromString(OpenScanMessage("region", {}, choice, {})));
  pb::FilterList either, keys;
  ASSERT_TRUE(either.ParseFromString(request.scan().filter().serialized_filter()));
  EXPECT_EQ(either.operator_(), 2);
  ASSERT_EQ(either.filters_size(), 2);
  EXPECT_EQ(either.filters(0).name(), "org.apache.hadoop.hbase.filter.ColumnRangeFilter");
  ASSERT_TRUE(keys.ParseFromString(either.filters(1).serialized_filter()));
  EXPECT_EQ(keys.operator_(), 1);
  ASSERT_EQ(keys.filters_size(), 2);
  pb::ColumnRangeFilter others;
  ASSERT_TRUE(others.ParseFromString(keys.filters(0).serialized_filter()));
  EXPECT_EQ(others.min_column(), "b");
  EXPECT_EQ(keys.filters(1).name(), "org.apache.hadoop.hbase.filter.KeyOnlyFilter");
}

TEST(ReadMessagesTest, ARangeOfTimesMayBeOfOneFamily) {
  const CellChoice choice{.time_start = 5, .time_end = 9, .times_of_family = "d"};
  pb::ScanRequest request;
  ASSERT_TRUE(request.ParseFromString(OpenScanMessage("region", {}, choice, {})));
  EXPECT_FALSE(request.scan().has_time_range());
  ASSERT_EQ(request.scan().cf_time_range_size(), 1);
  EXPECT_EQ(request.scan().cf_time_range(0).column_family(), "d");
  EXPECT_EQ(request.scan().cf_time_range(0).time_range().from(), 5u);
  EXPECT_EQ(request.scan().cf_time_range(0).time_range().to(), 9u);
}

TEST(ReadMessagesTest, ScanAnswerHasPartsAndWhatIsLeft) {
  pb::ScanResponse response;
  response.add_cells_per_result(3);
  response.add_cells_per_result(1);
  response.add_partial_flag_per_result(true);
  response.set_scanner_id(5);
  response.set_ttl(60'000);
  response.set_more_results(true);
  response.set_more_results_in_region(true);
  absl::StatusOr<ScanAnswer> answer = ParseScan(response.SerializeAsString());
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->parts.size(), 2u);
  EXPECT_EQ(answer->parts[0].cells, 3u);
  EXPECT_TRUE(answer->parts[0].may_go_on);
  EXPECT_FALSE(answer->parts[1].may_go_on);
  EXPECT_EQ(answer->scanner, 5u);
  EXPECT_EQ(answer->lease_ms, 60'000);
  EXPECT_TRUE(answer->has_more);

  response.set_more_results(false);
  answer = ParseScan(response.SerializeAsString());
  EXPECT_FALSE(answer->has_more);
}

TEST(ReadMessagesTest, RefusesAnswersWithCellsElsewhere) {
  pb::GetResponse get;
  get.mutable_result()->add_cell("cell");
  EXPECT_TRUE(absl::IsDataLoss(ParseGet(get.SerializeAsString()).status()));
  pb::ScanResponse scan;
  scan.add_results();
  EXPECT_TRUE(absl::IsDataLoss(ParseScan(scan.SerializeAsString()).status()));
}

}  // namespace
}  // namespace sonde::hbase
