#include <gtest/gtest.h>

#include "model/names.h"
#include "model/quote_regex.h"
#include "model/row_range.h"
#include "model/table_schema.h"

namespace sonde {
namespace {

TEST(RowRange, NormalizeJoinsWhatTouchesOrOverlaps) {
  EXPECT_EQ(NormalizeRanges({{"c", "d"}, {"a", "b"}, {"b", "c"}, {"x", "x"}, {"e", ""}, {"f", "g"}}),
            (std::vector<RowRange>{{"a", "d"}, {"e", ""}}));
  EXPECT_TRUE(NormalizeRanges({{"b", "a"}}).empty());
}

TEST(RowRange, SingleKnowsItself) {
  EXPECT_TRUE(RowRange::Single("k").IsSingleRow());
  EXPECT_FALSE((RowRange{"k", "l"}).IsSingleRow());
  EXPECT_FALSE(RowRange::All().IsSingleRow());
  EXPECT_TRUE(RowRange::Prefix("ab").Contains("ab\xff\xff"));
  EXPECT_FALSE(RowRange::Prefix("ab").Contains("ac"));
}

TEST(RowRange, ClipKeepsWhatIsInside) {
  EXPECT_EQ(ClipRanges({{"a", "c"}, {"e", ""}}, {"b", "f"}), (std::vector<RowRange>{{"b", "c"}, {"e", "f"}}));
  EXPECT_EQ(ClipRanges({{"a", ""}}, {}), (std::vector<RowRange>{{"a", ""}}));
}

TEST(Names, TableNames) {
  EXPECT_TRUE(CheckTableName("projects/p/instances/i/tables/t-1.x_Y").ok());
  EXPECT_TRUE(CheckTableName("projects/example.com:p/instances/i/tables/_").ok());
  // As the Node client names a project that nobody told it.
  EXPECT_TRUE(CheckTableName("projects/{{projectId}}/instances/my instance/tables/t").ok());
  EXPECT_TRUE(CheckTableName("projects/Zürich/instances/100%/tables/t").ok());
  EXPECT_TRUE(CheckInstanceName("projects/p/instances/" + std::string(1024, 'i')).ok());
  EXPECT_FALSE(CheckInstanceName("projects/p/instances/" + std::string(1025, 'i')).ok());
  for (const char* bad : {"", "t", "projects/p/instances/i/tables/", "projects/p/instances/i/tables/-t",
                          "projects//instances/i/tables/t", "projects/p/instances//tables/t",
                          "projects/p/instances/i/tables/a/tables/b", "projects/p/q/instances/i/tables/t",
                          "projects/p\n/instances/i/tables/t", "projects/p/instances/i\x7F/tables/t",
                          "projects/p/instances/i/tables/a b"}) {
    EXPECT_EQ(CheckTableName(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_FALSE(CheckTableId(std::string(51, 'a')).ok());
  EXPECT_TRUE(CheckTableId(std::string(50, 'a')).ok());
  EXPECT_EQ(InstanceOfTable("projects/p/instances/i/tables/t"), "projects/p/instances/i");
  EXPECT_EQ(IdOfTable("projects/p/instances/i/tables/t"), "t");
}

TEST(Names, NamesOfTheOtherResources) {
  constexpr absl::Status (*kChecks[])(std::string_view) = {
      CheckProjectName,    CheckInstanceName,       CheckClusterName,      CheckBackupName,
      CheckAppProfileName, CheckAuthorizedViewName, CheckSchemaBundleName,
  };
  const std::string instance = "projects/p/instances/i";
  const std::string good[] = {"projects/p",
                              instance,
                              instance + "/clusters/c-1",
                              instance + "/clusters/c/backups/B.1",
                              instance + "/appProfiles/_a",
                              instance + "/tables/t/authorizedViews/v",
                              instance + "/tables/t/schemaBundles/b"};
  for (size_t check = 0; check < std::size(kChecks); ++check) {
    for (size_t name = 0; name < std::size(good); ++name) {
      EXPECT_EQ(kChecks[check](good[name]).ok(), check == name) << check << ": " << good[name];
    }
    EXPECT_FALSE(kChecks[check](good[check] + "/").ok());
    EXPECT_FALSE(kChecks[check]("x" + good[check]).ok());
  }
  for (const char* bad : {"", "C", "1c", "c_", "c.d", "-c"}) EXPECT_FALSE(CheckClusterId(bad).ok()) << bad;
  EXPECT_TRUE(CheckClusterId(std::string(50, 'c')).ok());
  EXPECT_FALSE(CheckClusterId(std::string(51, 'c')).ok());
  EXPECT_FALSE(CheckBackupName(instance + "/clusters/C/backups/b").ok()) << "there is no such cluster";
  EXPECT_EQ(InstanceOfCluster(good[2]), instance);
  EXPECT_EQ(IdOfCluster(good[2]), "c-1");
  EXPECT_EQ(InstanceOfAppProfile(good[4]), instance);
  EXPECT_EQ(IdOfAppProfile(good[4]), "_a");
}

TEST(TableSchema, FindsFamiliesByNameAndId) {
  TableSchema schema;
  schema.families = {{.name = "a", .id = 7}, {.name = "c", .id = 2}};
  EXPECT_EQ(schema.FindFamily("c")->id, 2u);
  EXPECT_EQ(schema.FindFamily("b"), nullptr);
  EXPECT_EQ(schema.FindFamily(FamilyId{7})->name, "a");
  EXPECT_EQ(schema.FindFamily(FamilyId{1}), nullptr);
}

TEST(TableSchema, LogsAsLongAsTheLongestReaderNeeds) {
  TableSchema schema;
  EXPECT_FALSE(schema.IsLogged());
  EXPECT_EQ(schema.LogNeededFromMicros(1'000), 1'000) << "nobody needs anything";
  schema.change_stream = {.retention_micros = 100, .start_micros = 300};
  EXPECT_EQ(schema.LogNeededFromMicros(1'000), 900);
  schema.log_uses = {{.name = "journal", .retention_micros = 400, .start_micros = 200},
                     {.name = "view", .retention_micros = 900, .start_micros = 650}};
  EXPECT_EQ(schema.LogNeededFromMicros(1'000), 600) << "the journal is the longest, the view began later";
  EXPECT_EQ(schema.LogNeededFromMicros(500), 200) << "nothing from before its start";
  EXPECT_EQ(schema.LogPositionMin(), 650) << "what is written now is for all of them";
  schema.change_stream.reset();
  EXPECT_TRUE(schema.IsLogged());
  EXPECT_EQ(schema.FindLogUse("view")->start_micros, 650);
  EXPECT_EQ(schema.FindLogUse("other"), nullptr);
  EXPECT_FALSE(schema.LogsGarbage()) << "nobody asks for it";
  schema.log_uses[1].reads_garbage = true;
  EXPECT_TRUE(schema.LogsGarbage());
  schema.StopLogging();
  EXPECT_FALSE(schema.IsLogged());
}

TEST(QuoteRegex, EscapesEverythingButLettersDigitsAndUnderscore) {
  EXPECT_EQ(QuoteRegex("aZ_9"), "aZ_9");
  EXPECT_EQ(QuoteRegex("a.b|c\\"), "a\\.b\\|c\\\\");
  EXPECT_EQ(QuoteRegex(std::string_view("\0\n\x7F\xFF", 4)), "\\x00\\x0a\\x7f\\xff");
}

}  // namespace
}  // namespace sonde
