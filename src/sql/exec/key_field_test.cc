#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sql/exec/exec_test_support.h"
#include "sql/key/row_key_codec.h"

namespace sonde::sql {
namespace {

class KeyFieldTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/keyed";
    schema.families = {{.name = "cf"}};
    schema.row_key_schema = keys_;
    table_ = *catalog_->Create(schema);
    PutReading("oslo", 3);
    PutReading("rome", -1);
    PutReading("rome", 7);
  }

  void PutReading(std::string_view city, int64_t id) {
    std::string key;
    const absl::Status status =
        AppendRowKey(keys_, std::vector<Datum>{Datum::Bytes(city), Datum::Int(id)}, &key);
    ASSERT_TRUE(status.ok()) << status;
    Put(key, "cf", "q", 1, std::string(city) + std::to_string(id));
  }

  const RowKeySchema keys_{.encoding = RowKeySchema::Encoding::kDelimited,
                           .delimiter = "#",
                           .fields = {{.name = "city", .kind = RowKeyField::Kind::kString},
                                      {.name = "id",
                                       .kind = RowKeyField::Kind::kInt64,
                                       .number_encoding = RowKeyField::NumberEncoding::kOrderedCode}}};
};

TEST_F(KeyFieldTest, AreColumnsInTheOrderOfTheKeys) {
  EXPECT_EQ(Query("SELECT * FROM keyed"),
            "\"oslo\" 3 {b\"q\": b\"oslo3\"}\n\"rome\" -1 {b\"q\": b\"rome-1\"}\n\"rome\" 7 {b\"q\": "
            "b\"rome7\"}\n");
  EXPECT_EQ(Query("SELECT id, _key FROM keyed WHERE city = 'oslo'"), "3 b\"oslo#\\x83\"\n");
  EXPECT_EQ(Query("SELECT city, SUM(id) FROM keyed GROUP BY city"), "\"oslo\" 3\n\"rome\" 6\n");
  EXPECT_EQ(Query("SELECT id FROM keyed ORDER BY _key DESC LIMIT 2"), "7\n-1\n");
  EXPECT_EQ(Query("SELECT cf['q'] FROM keyed WHERE city = 'rome' AND id > 0"), "b\"rome7\"\n");
}

TEST_F(KeyFieldTest, ReadOnlyTheRowsOfTheirRanges) {
  EXPECT_THAT(Query("EXPLAIN SELECT cf['q'] FROM keyed WHERE city = 'rome' AND id = 7"),
              testing::HasSubstr("1 ranges [rome#\\\\x87, rome#\\\\x87\\\\x00)"));
  EXPECT_THAT(Query("EXPLAIN SELECT cf['q'] FROM keyed WHERE city = 'rome'"),
              testing::HasSubstr("1 ranges [rome#, rome$)"));
}

TEST_F(KeyFieldTest, AKeyThatDoesNotFitFailsWhatReadsItsFields) {
  Put("paris", "cf", "q", 1, "p");
  EXPECT_EQ(Query("SELECT _key FROM keyed WHERE cf['q'] = b'p'"), "b\"paris\"\n");
  EXPECT_EQ(Query("SELECT COUNT(*) FROM keyed"), "4\n");
  const std::string error =
      "INVALID_ARGUMENT: Row key 'paris' does not fit the row key schema: field 'city': the key ends before "
      "its "
      "delimiter";
  EXPECT_EQ(Query("SELECT city FROM keyed"), error);
  EXPECT_EQ(Query("SELECT * FROM keyed"), error);
  EXPECT_EQ(Query("SELECT id FROM keyed WHERE city = 'rome'"), "-1\n7\n") << "it is not read";
}

TEST_F(KeyFieldTest, RowsThatDoNotCountAreNotRead) {
  Put("paris", "cf", "other", 1, "p");
  EXPECT_EQ(Query("SELECT id FROM keyed WHERE cf['q'] > b'rome'"), "-1\n7\n");
}

}  // namespace
}  // namespace sonde::sql
