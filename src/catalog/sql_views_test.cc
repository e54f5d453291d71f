#include "catalog/record/sql_views.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "engine/memory/memory_engine.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr char kViewedInstance[] = "projects/p/instances/i";

std::string TableName(std::string_view id) { return fmt::format("{}/tables/{}", kViewedInstance, id); }
std::string LogicalName(std::string_view id) {
  return fmt::format("{}/logicalViews/{}", kViewedInstance, id);
}
std::string MaterializedName(std::string_view id) {
  return fmt::format("{}/materializedViews/{}", kViewedInstance, id);
}

class SqlViewsTest : public testing::Test {
 protected:
  void SetUp() override {
    Reopen();
    TableSchema schema;
    schema.name = TableName("t");
    schema.families = {{.name = "a"}, {.name = "b"}};
    table_ = *catalog_->Create(std::move(schema));
  }
  void Reopen() { catalog_ = *Catalog::Open(engine_.get()); }

  ViewSource Source(std::vector<std::string> families) const {
    ViewSource source{table_->name, table_->id, {}};
    for (const std::string& family : families) source.families.push_back(table_->FindFamily(family)->id);
    return source;
  }
  LogicalViewRecord Logical(std::string_view id, std::vector<ViewSource> tables = {},
                            std::vector<std::string> views = {}) const {
    return {
        .name = LogicalName(id), .query = "SELECT 1", .tables = std::move(tables), .views = std::move(views)};
  }
  MaterializedViewRecord Materialized(std::string_view id) const {
    TableSchema storage;
    storage.families = {{.name = "result"}, {.name = "default"}};
    return {.name = MaterializedName(id),
            .query = "SELECT a FROM t",
            .source = Source({"a"}),
            .storage = std::make_shared<const TableSchema>(storage),
            .workings = std::make_shared<const TableSchema>()};
  }
  bool EngineHas(TableId id) const { return engine_->Scan(id, {RowRange::All()}, {}).ok(); }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_;
  TableSchemaRef table_;
};

TEST_F(SqlViewsTest, LogicalViewsOutliveARestartByteForByte) {
  LogicalViewRecord view = Logical("v", {Source({"a"})}, {LogicalName("w")});
  view.query = "SELECT\t'\xc3\xa4'  AS `x`\n";
  view.deletion_protection = true;
  ASSERT_TRUE(catalog_->CreateLogicalView(Logical("w")).ok());
  ASSERT_TRUE(catalog_->CreateLogicalView(view).ok());
  Reopen();
  EXPECT_EQ(**catalog_->FindLogicalView(LogicalName("v")), view);
  EXPECT_EQ(catalog_->CreateLogicalView(view).status(),
            absl::AlreadyExistsError("Logical view already exists: " + LogicalName("v")));
  EXPECT_EQ(catalog_->FindLogicalView(LogicalName("x")).status(),
            absl::NotFoundError("Logical view not found: " + LogicalName("x")));
  // Views and tables have names of their own.
  EXPECT_EQ(catalog_->Find(TableName("v")).status(),
            absl::NotFoundError("Table not found: " + TableName("v")));
}

TEST_F(SqlViewsTest, ListsByIdInPages) {
  for (const char* id : {"c", "a", "b"}) ASSERT_TRUE(catalog_->CreateLogicalView(Logical(id)).ok());
  LogicalViewRecord elsewhere = Logical("d");
  elsewhere.name = "projects/p/instances/other/logicalViews/d";
  ASSERT_TRUE(catalog_->CreateLogicalView(elsewhere).ok());
  const auto ids = [&](std::string_view after, size_t count) {
    std::string result;
    for (const LogicalViewRef& view : catalog_->ListLogicalViews(kViewedInstance, after, count))
      result += view->name.back();
    return result;
  };
  EXPECT_EQ(ids("", 10), "abc");
  EXPECT_EQ(ids("", 2), "ab");
  EXPECT_EQ(ids("b", 2), "c");
}

TEST_F(SqlViewsTest, AChangeNeedsTheEtagThatWasSeen) {
  const LogicalViewRef before = *catalog_->CreateLogicalView(Logical("v"));
  const auto protect = [](LogicalViewRecord* view) { view->deletion_protection = true; };
  const auto after = catalog_->UpdateLogicalView(LogicalName("v"), EtagOf(*before), protect);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_NE(EtagOf(**after), EtagOf(*before));
  const absl::Status outdated =
      absl::AbortedError("The etag '" + EtagOf(*before) + "' is not that of " + LogicalName("v") +
                         ", which has changed: its etag is '" + EtagOf(**after) + "'");
  EXPECT_EQ(catalog_->UpdateLogicalView(LogicalName("v"), EtagOf(*before), protect).status(), outdated);
  EXPECT_EQ(catalog_->DeleteLogicalView(LogicalName("v"), EtagOf(*before)), outdated);
  EXPECT_EQ(
      catalog_->DeleteLogicalView(LogicalName("v"), ""),
      absl::FailedPreconditionError("Logical view " + LogicalName("v") + " is protected against deletion"));
  ASSERT_TRUE(catalog_
                  ->UpdateLogicalView(LogicalName("v"), "",
                                      [](LogicalViewRecord* view) { view->deletion_protection = false; })
                  .ok());
  EXPECT_EQ(catalog_->DeleteLogicalView(LogicalName("v"), ""), absl::OkStatus());
  EXPECT_EQ(catalog_->DeleteLogicalView(LogicalName("v"), ""),
            absl::NotFoundError("Logical view not found: " + LogicalName("v")));
}

TEST_F(SqlViewsTest, WhatAViewReadsFromStays) {
  ASSERT_TRUE(catalog_->CreateLogicalView(Logical("v", {Source({"a"})})).ok());
  ASSERT_TRUE(catalog_->CreateLogicalView(Logical("outer", {}, {LogicalName("v")})).ok());
  EXPECT_EQ(catalog_->Delete(TableName("t")),
            absl::FailedPreconditionError("Table " + TableName("t") + " is in use: view " + LogicalName("v") +
                                          " reads from it. Delete the view first"));
  EXPECT_EQ(
      catalog_->Modify(TableName("t"), {sonde::DropFamily{"a"}}).status(),
      absl::FailedPreconditionError("Column family 'a' of table " + TableName("t") + " is in use: view " +
                                    LogicalName("v") + " reads from it. Delete the view first"));
  EXPECT_EQ(catalog_->DeleteLogicalView(LogicalName("v"), ""),
            absl::FailedPreconditionError("Logical view " + LogicalName("v") + " is in use: view " +
                                          LogicalName("outer") + " reads from it. Delete that view first"));
  EXPECT_TRUE(catalog_->Modify(TableName("t"), {sonde::DropFamily{"b"}}).ok());
  ASSERT_EQ(catalog_->DeleteLogicalView(LogicalName("outer"), ""), absl::OkStatus());
  ASSERT_EQ(catalog_->DeleteLogicalView(LogicalName("v"), ""), absl::OkStatus());
  EXPECT_EQ(catalog_->Delete(TableName("t")), absl::OkStatus());
}

TEST_F(SqlViewsTest, AViewOfWhatHasChangedMeanwhileIsNotMade) {
  const ViewSource source = Source({"a"});
  ASSERT_TRUE(catalog_->Modify(TableName("t"), {sonde::DropFamily{"a"}}).ok());
  const absl::Status changed =
      absl::AbortedError(TableName("t") + " has changed since the view's query was bound. Try again");
  EXPECT_EQ(catalog_->CreateLogicalView(Logical("v", {source})).status(), changed);
  ASSERT_TRUE(catalog_->CreateLogicalView(Logical("v")).ok());
  EXPECT_EQ(
      catalog_
          ->UpdateLogicalView(LogicalName("v"), "", [&](LogicalViewRecord* view) { view->tables = {source}; })
          .status(),
      changed);
  EXPECT_EQ(
      catalog_->CreateLogicalView(Logical("w", {}, {LogicalName("x")})).status(),
      absl::AbortedError(LogicalName("x") + " has changed since the view's query was bound. Try again"));
}

TEST_F(SqlViewsTest, AMaterializedViewOwnsTwoTablesThatNobodyFinds) {
  const uint64_t version = catalog_->MaterializedViewsVersion();
  const MaterializedViewRef view = *catalog_->CreateMaterializedView(Materialized("m"));
  EXPECT_NE(catalog_->MaterializedViewsVersion(), version);
  EXPECT_EQ(view->state, MaterializedViewRecord::State::kPopulating);
  EXPECT_EQ(view->storage->name, MaterializedName("m"));
  EXPECT_EQ(view->storage->FindFamily("default")->id, 1u);
  EXPECT_EQ(view->storage->FindFamily("result")->id, 2u);
  EXPECT_TRUE(EngineHas(view->storage->id) && EngineHas(view->workings->id));
  EXPECT_EQ(catalog_->ListAll().size(), 1u);
  EXPECT_EQ(catalog_->FindById(view->storage->id), view->storage);
  ASSERT_TRUE(catalog_
                  ->UpdateMaterializedView(MaterializedName("m"), EtagOf(*view),
                                           [](MaterializedViewRecord* changed) {
                                             changed->state = MaterializedViewRecord::State::kReady;
                                           })
                  .ok());

  Reopen();
  const MaterializedViewRef again = *catalog_->FindMaterializedView(MaterializedName("m"));
  EXPECT_EQ(EtagOf(*again), EtagOf(*view));  // clients do not see the state
  EXPECT_EQ(again->state, MaterializedViewRecord::State::kReady);
  EXPECT_EQ(again->source, view->source);
  EXPECT_EQ(*again->storage, *view->storage);
  EXPECT_EQ(*again->workings, *view->workings);
  EXPECT_THAT(catalog_->ListAllMaterializedViews(), testing::ElementsAre(again));

  EXPECT_EQ(catalog_->Delete(TableName("t")).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(catalog_->DeleteMaterializedView(MaterializedName("m"), ""), absl::OkStatus());
  EXPECT_FALSE(EngineHas(view->storage->id) || EngineHas(view->workings->id));
  EXPECT_EQ(catalog_->FindById(view->storage->id), nullptr);
  EXPECT_GT((*catalog_->CreateMaterializedView(Materialized("m")))->storage->id, view->workings->id);
}

TEST_F(SqlViewsTest, ATableHasSoManyMaterializedViewsAndKeepsItsKeySchema) {
  for (size_t i = 0; i < kMaterializedViewsPerTableMax; ++i) {
    ASSERT_TRUE(catalog_->CreateMaterializedView(Materialized(fmt::format("m{}", i))).ok());
  }
  EXPECT_EQ(catalog_->CreateMaterializedView(Materialized("more")).status(),
            absl::ResourceExhaustedError("Too many materialized views of table " + TableName("t") +
                                         ": the limit is 5"));
  const auto set_key = [](TableSchema* schema) {
    schema->row_key_schema = {.fields = {{.name = "k", .kind = RowKeyField::Kind::kString}}};
    return absl::OkStatus();
  };
  EXPECT_EQ(
      catalog_->Update(TableName("t"), set_key).status(),
      absl::FailedPreconditionError("The row key schema of table " + TableName("t") + " is in use: view " +
                                    MaterializedName("m0") + " reads from it. Delete the view first"));
}

TEST_F(SqlViewsTest, AllViewsTogetherHaveSoManyBytes) {
  LogicalViewRecord view = Logical("v0");
  view.query = std::string(1'000'000, ' ');
  for (int i = 0; i < 67; ++i) {
    view.name = LogicalName(fmt::format("v{}", i));
    ASSERT_TRUE(catalog_->CreateLogicalView(view).ok()) << i;
  }
  view.name = LogicalName("more");
  EXPECT_EQ(catalog_->CreateLogicalView(view).status(),
            absl::ResourceExhaustedError(
                "The names and queries of all views would take 68037459 bytes: the limit is 67108864"));
  const auto lengthen = [](size_t bytes) {
    return [bytes](LogicalViewRecord* changed) { changed->query = std::string(bytes, ' '); };
  };
  EXPECT_EQ(catalog_->UpdateLogicalView(LogicalName("v0"), "", lengthen(1'200'000)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(catalog_->UpdateLogicalView(LogicalName("v0"), "", lengthen(10)).ok());
  EXPECT_TRUE(catalog_->CreateLogicalView(view).ok());
}

TEST_F(SqlViewsTest, ViewsOfAnInstanceEndTogether) {
  ASSERT_TRUE(catalog_->CreateLogicalView(Logical("v", {Source({"a"})})).ok());
  ASSERT_TRUE(catalog_->CreateLogicalView(Logical("outer", {}, {LogicalName("v")})).ok());
  const MaterializedViewRef materialized = *catalog_->CreateMaterializedView(Materialized("m"));
  const auto protect = [&](bool is_protected) {
    return catalog_
        ->UpdateMaterializedView(
            MaterializedName("m"), "",
            [&](MaterializedViewRecord* view) { view->deletion_protection = is_protected; })
        .status();
  };
  ASSERT_EQ(protect(true), absl::OkStatus());
  EXPECT_EQ(catalog_->DeleteSqlViews(kViewedInstance),
            absl::FailedPreconditionError("Materialized view " + MaterializedName("m") +
                                          " is protected against deletion"));
  EXPECT_TRUE(catalog_->FindLogicalView(LogicalName("v")).ok());
  ASSERT_EQ(protect(false), absl::OkStatus());
  ASSERT_EQ(catalog_->DeleteSqlViews(kViewedInstance), absl::OkStatus());
  EXPECT_TRUE(catalog_->ListLogicalViews(kViewedInstance, "", 10).empty());
  EXPECT_TRUE(catalog_->ListAllMaterializedViews().empty());
  EXPECT_FALSE(EngineHas(materialized->storage->id));
  EXPECT_EQ(catalog_->DeleteSqlViews(kViewedInstance), absl::OkStatus());
}

TEST_F(SqlViewsTest, ADamagedRecordIsDataLoss) {
  const RecordChange damage{"logicalView/" + LogicalName("v"), "{\"version\":2}"};
  ASSERT_TRUE(engine_->WriteRecords({damage}, absl::InfiniteFuture()).ok());
  EXPECT_EQ(Catalog::Open(engine_.get()).status(),
            absl::DataLossError("The record of a view is damaged (unknown version): {\"version\":2}"));
}

}  // namespace
}  // namespace sonde
