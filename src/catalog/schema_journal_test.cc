#include "catalog/schema_journal.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/record/table_record.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kNow = 1'700'000'000 * kSecond;
constexpr int64_t kKeep = 3'600 * kSecond;

class SchemaJournalTest : public testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    catalog_ = *Catalog::Open(engine_.get());
    journal_ = *SchemaJournal::Open(
        engine_.get(), &clock_,
        {.keep_micros = kKeep, .wants = [](std::string_view name) { return name.ends_with("/logged"); }});
    catalog_->LogChanges(journal_.get());
  }
  static std::string NameOf(const std::string& id) { return "projects/p/instances/i/tables/" + id; }
  TableSchemaRef Make(const std::string& id) {
    TableSchema schema;
    schema.name = NameOf(id);
    schema.families = {{.name = "f"}};
    return *catalog_->Create(schema);
  }
  std::vector<SchemaEvent> Events(int64_t after = 0) { return *journal_->Read(after, INT64_MAX); }
  // The position of a row that is written now.
  int64_t WriteRow(const TableSchema& schema) {
    const std::vector<std::string> pieces = {"piece"};
    RowChange change{.row_key = "r"};
    change.delta.log = {std::max(clock_.NowMicros(), schema.LogPositionMin()), pieces};
    EXPECT_EQ(engine_->Apply(schema.id, {&change, 1}, {}), absl::OkStatus());
    return engine_->log()->FindEnd(schema.id, RowRange::All(), 0)->last_record;
  }

  ManualClock clock_{kNow};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<SchemaJournal> journal_;
};

TEST_F(SchemaJournalTest, EveryChangeLeavesWhatItWrote) {
  Make("logged");
  ASSERT_TRUE(catalog_->Modify(NameOf("logged"), {CreateFamily{.family = {.name = "g"}}}).ok());
  const std::vector<SchemaEvent> events = Events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].position, kNow);
  EXPECT_EQ(events[1].position, kNow + 1) << "positions ascend strictly";
  const auto record = std::ranges::find(events[1].changes, "table/" + NameOf("logged"), &RecordChange::key);
  ASSERT_NE(record, events[1].changes.end());
  EXPECT_EQ(DecodeTableRecord(*record->value)->schema, **catalog_->Find(NameOf("logged")));
  Reopen();
  EXPECT_EQ(Events().size(), 2U) << "they outlive a restart";
}

TEST_F(SchemaJournalTest, OnlyTablesThatItWantsAreLogged) {
  EXPECT_FALSE(Make("t")->IsLogged());
  const TableSchemaRef logged = Make("logged");
  ASSERT_NE(logged->FindLogUse(kJournalUse), nullptr);
  EXPECT_EQ(logged->FindLogUse(kJournalUse)->retention_micros, kKeep);
}

TEST_F(SchemaJournalTest, RowsOfTheNewSchemaComeAfterTheChangeWhenTheClockGoesBack) {
  const TableSchemaRef made = Make("logged");
  const int64_t created = Events().back().position;
  clock_.Advance(-10 * kSecond);
  EXPECT_GE(WriteRow(*made), created);
  clock_.Advance(20 * kSecond);
  const int64_t row = WriteRow(*made);
  clock_.Advance(-15 * kSecond);
  const TableSchemaRef altered = *catalog_->Modify(NameOf("logged"), {CreateFamily{.family = {.name = "g"}}});
  const int64_t change = Events().back().position;
  EXPECT_GT(change, row) << "the row was written before";
  EXPECT_GE(WriteRow(*altered), change) << "this one after";
}

TEST_F(SchemaJournalTest, NoEventAppearsAtOrBelowTheFrontier) {
  EXPECT_EQ(journal_->FindFrontier(kNow + 5), kNow + 5);
  Make("t");
  EXPECT_EQ(Events().back().position, kNow + 6);
  EXPECT_EQ(journal_->FindFrontier(0), kNow + 6);
}

TEST_F(SchemaJournalTest, ForgetsEventsThatAreTooOldAndSaysSo) {
  Make("a");
  Make("b");
  EXPECT_EQ(journal_->forgotten_through(), 0);
  clock_.Advance(kKeep + kSecond);
  Make("c");
  EXPECT_EQ(Events().size(), 1U);
  EXPECT_EQ(journal_->forgotten_through(), kNow + 1);
  Reopen();
  EXPECT_EQ(Events().size(), 1U);
  EXPECT_EQ(journal_->forgotten_through(), kNow + 1);
}

TEST_F(SchemaJournalTest, ADeletedJournaledTableKeepsItsLogUntilItIsPurged) {
  const TableSchemaRef made = Make("logged");
  Make("t");
  ASSERT_EQ(catalog_->Delete(NameOf("t")), absl::OkStatus());
  ASSERT_EQ(catalog_->Delete(NameOf("logged")), absl::OkStatus());
  ASSERT_EQ(catalog_->ListDeleted().size(), 1U) << "its log may not have been copied";
  EXPECT_EQ(catalog_->ListDeleted()[0]->record.schema.id, made->id);
  ASSERT_EQ(catalog_->Purge(made->id), absl::OkStatus());
  EXPECT_EQ(Events().back().dropped, (DroppedLog{made->id, clock_.NowMicros()}));
}

TEST(SchemaEvent, DamagedBytesAreNoEvent) {
  const SchemaEvent event{
      .position = 7, .changes = {{"a", "1"}, {"b", std::nullopt}}, .dropped = DroppedLog{3, 4}};
  const std::string bytes = EncodeSchemaEvent(event);
  const absl::StatusOr<SchemaEvent> again = DecodeSchemaEvent(7, bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->changes.size(), 2U);
  EXPECT_EQ(again->changes[0].value, "1");
  EXPECT_EQ(again->changes[1].value, std::nullopt);
  EXPECT_EQ(again->dropped, event.dropped);
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(DecodeSchemaEvent(7, bytes.substr(0, i)).status().code(), absl::StatusCode::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace sonde
