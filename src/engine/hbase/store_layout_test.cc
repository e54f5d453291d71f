#include "engine/hbase/store_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sonde {
namespace {

TEST(StoreLayout, AddressesAreTakenApart) {
  const absl::StatusOr<HBaseStoreAddress> one = ParseHBaseStore("hbase://example.org/sonde");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->space, "sonde");
  EXPECT_EQ(one->masters, (std::vector<hbase::ServerAddress>{{"example.org", 16000}}));
  const absl::StatusOr<HBaseStoreAddress> two = ParseHBaseStore("hbase://a:1,10.0.0.2:65535/s_1");
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(two->space, "s_1");
  EXPECT_EQ(two->masters, (std::vector<hbase::ServerAddress>{{"a", 1}, {"10.0.0.2", 65535}}));
}

TEST(StoreLayout, OtherAddressesAreRefused) {
  for (const std::string text :
       {"", "hbase", "hbase://", "hbase://host", "hbase:///sonde", "hbase://host/", "hbase://host/a-b",
        "hbase://host/a/b", "hbase://host/hbase", "hbase://host/default", "hbase://host:0/s",
        "hbase://host:65536/s", "hbase://host:x/s", "hbase://a,,b/s", "http://host/s",
        "hbase://a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/s"}) {
    const absl::Status status = ParseHBaseStore(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text << ": " << status;
    EXPECT_EQ(std::count(status.message().begin(), status.message().end(), '\n'), 0);
  }
}

TEST(StoreLayout, TablesHaveTheirIdsAsNames) {
  for (const TableId id : {1u, 7u, 0xABCDEFu, 0xFFFFFFFEu}) EXPECT_EQ(CellsTableId(CellsTable("s", id)), id);
  EXPECT_EQ(CellsTable("s", 0x1f).Text(), "s:t0000001f");
  for (const char* name : {"catalog", "t1", "t0000001F", "t000000001", "u00000001", "t0000000g", ""})
    EXPECT_EQ(CellsTableId({"s", name}), std::nullopt) << name;
}

}  // namespace
}  // namespace sonde
