#include "cli/store/check_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/record/deleted_tables.h"
#include "catalog/record/record_keys.h"
#include "catalog/record/table_record.h"

namespace sonde {
namespace {

TEST(CheckClusterTest, FindsTheTablesOfRecordsAndNamesBadOnes) {
  TableRecord table{.schema = {.name = "projects/p/instances/i/tables/t",
                               .id = 7,
                               .families = {{.name = "a", .id = 1}, {.name = "b", .id = 4}}}};
  DeletedTable deleted{.record = table, .deleted_micros = 5};
  deleted.record.schema.id = 3;
  const RecordChange gone = DeletedTables::RecordOf(deleted);
  const RecordedTables recorded = TablesOfRecords({{TableKey("t"), EncodeTableRecord(table)},
                                                   {gone.key, *gone.value},
                                                   {TableKey("broken"), "{"},
                                                   {"policy/x", "whatever"}});
  ASSERT_EQ(recorded.tables.size(), 2u);
  EXPECT_EQ(recorded.tables.at(7).name, "projects/p/instances/i/tables/t");
  EXPECT_EQ(recorded.tables.at(7).families, (std::set<FamilyId>{1, 4}));
  EXPECT_TRUE(recorded.tables.contains(3));
  ASSERT_EQ(recorded.faults.size(), 1u);
  EXPECT_THAT(recorded.faults[0], testing::StartsWith("Record 'table/broken' cannot be read: "));
}

TEST(CheckClusterTest, RefusesWhatIsNoStore) {
  EXPECT_TRUE(absl::IsInvalidArgument(CheckCluster("hbase://host", {}).status()));
  EXPECT_EQ(CheckCluster("hbase://host/space", {.files = {.key = "a"}}).status().message(),
            "--store-tls-certificate and --store-tls-key go together: a certificate is shown with its key");
}

}  // namespace
}  // namespace sonde
