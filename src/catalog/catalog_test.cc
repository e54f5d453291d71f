#include "catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/record/table_record.h"
#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

constexpr char kInstance[] = "projects/p/instances/i";

TableSchema Named(const std::string& id, std::vector<std::string> families = {}) {
  TableSchema schema;
  schema.name = std::string(kInstance) + "/tables/" + id;
  for (const std::string& family : families) schema.families.push_back({.name = family});
  return schema;
}

class CatalogTest : public testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() { catalog_ = *Catalog::Open(engine_.get()); }
  std::string Name(const std::string& id) { return std::string(kInstance) + "/tables/" + id; }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_;
};

TEST(TableRecord, RoundTrips) {
  TableRecord record;
  record.next_family_id = 9;
  record.schema = Named("t");
  record.schema.id = 3;
  record.schema.granularity = TimestampGranularity::kMicros;
  record.schema.deletion_protection = true;
  record.schema.split_points = {"a", std::string("\0\xff", 2)};
  record.schema.families = {
      {.name = "f",
       .id = 1,
       .gc_rule = {GcRule::Union{
           {{GcRule::MaxVersions{2}}, {GcRule::Intersection{{{GcRule::MaxAge{5000}}, {}}}}}}}},
      {.name = "s", .id = 2, .aggregate = AggregateKind::kMin, .value_type = std::string("\x12\x00", 2)}};
  record.schema.change_stream = {.retention_micros = 5, .start_micros = 6, .partition_points = {"a", "\xff"}};
  record.schema.log_uses = {
      {.name = "journal", .retention_micros = 12, .start_micros = 13, .reads_garbage = true}};
  record.schema.row_key_schema = {
      .encoding = RowKeySchema::Encoding::kDelimited,
      .delimiter = "\xff#",
      .fields = {{.name = "a", .kind = RowKeyField::Kind::kString, .null_escape = std::string(1, '\0')},
                 {.name = "b",
                  .kind = RowKeyField::Kind::kTimestamp,
                  .number_encoding = RowKeyField::NumberEncoding::kOrderedCode}}};
  record.schema.restored_from = {"backup", "table", "", 7, 8};
  record.schema.automated_backups = {.retention_micros = 9, .has_frequency = true, .since_micros = 11};
  record.schema.infrequent_access_micros = 10;
  const absl::StatusOr<TableRecord> again = DecodeTableRecord(EncodeTableRecord(record));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->schema, record.schema);
  EXPECT_EQ(again->next_family_id, 9u);
  EXPECT_EQ(DecodeTableRecord("{").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeTableRecord("{\"version\":2}").status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(CatalogTest, TablesOutliveARestart) {
  ASSERT_TRUE(catalog_->Create(Named("t", {"b", "a"})).ok());
  const TableSchema before = **catalog_->Find(Name("t"));
  EXPECT_EQ(before.families[0].name, "a");
  Reopen();
  EXPECT_EQ(**catalog_->Find(Name("t")), before);
}

TEST_F(CatalogTest, ANewTableNeverHasTheIdOfADroppedOne) {
  const TableId first = (*catalog_->Create(Named("t")))->id;
  ASSERT_TRUE(catalog_->Delete(Name("t")).ok());
  Reopen();
  EXPECT_GT((*catalog_->Create(Named("t")))->id, first);
}

TEST_F(CatalogTest, RefusesDoublesAndStrangers) {
  ASSERT_TRUE(catalog_->Create(Named("t", {"a"})).ok());
  EXPECT_EQ(catalog_->Create(Named("t")).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(catalog_->Create(Named("u", {"a", "a"})).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(catalog_->Find(Name("u")).status(), absl::NotFoundError("Table not found: " + Name("u")));
  EXPECT_EQ(catalog_->Delete(Name("u")).code(), absl::StatusCode::kNotFound);
}

TEST_F(CatalogTest, ListsByIdInPages) {
  for (const char* id : {"c", "a", "b"}) ASSERT_TRUE(catalog_->Create(Named(id)).ok());
  TableSchema elsewhere = Named("d");
  elsewhere.name = "projects/p/instances/other/tables/d";
  ASSERT_TRUE(catalog_->Create(elsewhere).ok());
  const auto ids = [&](std::string_view after, size_t count) {
    std::string result;
    for (const TableSchemaRef& table : catalog_->List(kInstance, after, count)) result += table->name.back();
    return result;
  };
  EXPECT_EQ(ids("", 10), "abc");
  EXPECT_EQ(ids("", 2), "ab");
  EXPECT_EQ(ids("b", 2), "c");
}

TEST_F(CatalogTest, ModificationsAreAllOrNothing) {
  ASSERT_TRUE(catalog_->Create(Named("t", {"a", "b"})).ok());
  const TableSchema before = **catalog_->Find(Name("t"));
  EXPECT_EQ(
      catalog_->Modify(Name("t"), {CreateFamily{{.name = "c"}}, sonde::DropFamily{"none"}}).status().code(),
      absl::StatusCode::kNotFound);
  EXPECT_EQ(**catalog_->Find(Name("t")), before);
  EXPECT_EQ(catalog_->Modify(Name("t"), {CreateFamily{{.name = "a"}}}).status().code(),
            absl::StatusCode::kAlreadyExists);

  // Dropped and made again in one request: another family.
  const auto after = catalog_->Modify(Name("t"), {sonde::DropFamily{"a"}, CreateFamily{{.name = "a"}},
                                                  UpdateFamily{"b", GcRule{GcRule::MaxVersions{1}}}});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_GT((*after)->FindFamily("a")->id, before.FindFamily("b")->id);
  EXPECT_EQ((*after)->FindFamily("b")->gc_rule, GcRule{GcRule::MaxVersions{1}});
  Reopen();
  EXPECT_EQ(**catalog_->Find(Name("t")), **after);
}

TEST_F(CatalogTest, ChangesTheTypeOfAFamilyThatIsNoAggregate) {
  TableSchema schema = Named("t", {"a"});
  schema.families[0].gc_rule = {GcRule::MaxVersions{1}};
  schema.families.push_back({.name = "s", .aggregate = AggregateKind::kSum, .value_type = "sum"});
  ASSERT_TRUE(catalog_->Create(schema).ok());
  const auto changed = catalog_->Modify(Name("t"), {UpdateFamily{.name = "a", .value_type = "text"}});
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ((*changed)->FindFamily("a")->value_type, "text");
  EXPECT_EQ((*changed)->FindFamily("a")->gc_rule, GcRule{GcRule::MaxVersions{1}});
  Reopen();
  EXPECT_EQ(**catalog_->Find(Name("t")), **changed);
  EXPECT_EQ(catalog_->Modify(Name("t"), {UpdateFamily{.name = "s", .value_type = "text"}}).status(),
            absl::InvalidArgumentError("Immutable fields 'value_type.aggregate_type' cannot be updated"));
  const UpdateFamily to_aggregate{.name = "s", .value_type = "max", .is_aggregate = true};
  EXPECT_EQ(catalog_->Modify(Name("t"), {to_aggregate}).status(),
            absl::InvalidArgumentError("Immutable fields 'value_type.aggregate_type' cannot be updated"));
  EXPECT_EQ(
      catalog_->Modify(Name("t"), {UpdateFamily{.name = "a", .value_type = "sum", .is_aggregate = true}})
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(**catalog_->Find(Name("t")), **changed);
}

TEST_F(CatalogTest, ProtectionKeepsTableAndFamilies) {
  TableSchema schema = Named("t", {"a"});
  schema.deletion_protection = true;
  ASSERT_TRUE(catalog_->Create(schema).ok());
  EXPECT_EQ(catalog_->Delete(Name("t")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(catalog_->Modify(Name("t"), {sonde::DropFamily{"a"}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(CatalogTest, AFieldOfTheRowKeysIsNoFamily) {
  TableSchema schema = Named("t", {"a"});
  schema.row_key_schema = {.fields = {{.name = "a"}}};
  const absl::Status both = absl::InvalidArgumentError(
      "'a' cannot be both a column family and a field of the row key schema of table " + Name("t"));
  EXPECT_EQ(catalog_->Create(schema).status(), both);
  schema.row_key_schema->fields[0].name = "b";
  ASSERT_TRUE(catalog_->Create(schema).ok());
  EXPECT_EQ(catalog_->Modify(Name("t"), {CreateFamily{{.name = "b"}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto rename = [](TableSchema* of) {
    of->row_key_schema->fields[0].name = "a";
    return absl::OkStatus();
  };
  EXPECT_EQ(catalog_->Update(Name("t"), rename).status(), both);
  Reopen();
  EXPECT_EQ((*catalog_->Find(Name("t")))->row_key_schema, schema.row_key_schema);
}

TEST(TableRecord, ReadsRecordsFromBeforeChangeStreamsAndRowKeySchemas) {
  const absl::StatusOr<TableRecord> old = DecodeTableRecord(
      R"({"version":1,"name":"projects/p/instances/i/tables/t","id":3,"granularity_micros":1000,)"
      R"("deletion_protection":false,"families":[],"split_points":[],"next_family_id":1})");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->schema.id, 3u);
  EXPECT_FALSE(old->schema.change_stream.has_value());
  EXPECT_FALSE(old->schema.row_key_schema.has_value());
}

TEST_F(CatalogTest, AChangeStreamKeepsItsTable) {
  TableSchema schema = Named("t", {"a"});
  schema.change_stream = {.retention_micros = 1, .start_micros = 2};
  ASSERT_TRUE(catalog_->Create(schema).ok());
  EXPECT_EQ(catalog_->Delete(Name("t")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(catalog_->Modify(Name("t"), {sonde::DropFamily{"a"}}).ok()) << "families are not kept";
  EXPECT_EQ(catalog_->ListAll().size(), 1u);
  ASSERT_TRUE(catalog_
                  ->Update(Name("t"),
                           [](TableSchema* table) {
                             table->change_stream.reset();
                             return absl::OkStatus();
                           })
                  .ok());
  EXPECT_TRUE(catalog_->Delete(Name("t")).ok());
  EXPECT_TRUE(catalog_->ListAll().empty());
}

TEST_F(CatalogTest, UpdatesWhatIsNotFamilies) {
  TableSchema schema = Named("t", {"a"});
  schema.deletion_protection = true;
  ASSERT_TRUE(catalog_->Create(schema).ok());
  const auto unprotect = [](TableSchema* table) {
    table->deletion_protection = false;
    return absl::OkStatus();
  };
  const auto refuse = [](TableSchema* table) {
    table->deletion_protection = false;
    return absl::AbortedError("no");
  };
  EXPECT_EQ(catalog_->Update(Name("u"), unprotect).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(catalog_->Update(Name("t"), refuse).status(), absl::AbortedError("no"));
  EXPECT_TRUE((*catalog_->Find(Name("t")))->deletion_protection);
  const auto updated = catalog_->Update(Name("t"), unprotect);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_FALSE((*updated)->deletion_protection);
  Reopen();
  EXPECT_EQ(**catalog_->Find(Name("t")), **updated);
  // Families that come later get ids of their own.
  const auto modified = catalog_->Modify(Name("t"), {CreateFamily{{.name = "b"}}});
  EXPECT_GT((*modified)->FindFamily("b")->id, (*modified)->FindFamily("a")->id);
}

AuthorizedView View(const std::string& table, const std::string& id, bool deletion_protection = false) {
  return {.name = std::string(kInstance) + "/tables/" + table + "/authorizedViews/" + id,
          .row_prefixes = {"a", std::string("\0\xff", 2)},
          .families = {{"f", {{"q"}, {""}}}},
          .deletion_protection = deletion_protection};
}

TEST_F(CatalogTest, ViewsSurviveARestartAndGoWithTheirTable) {
  ASSERT_TRUE(catalog_->Create(Named("t", {"f"})).ok());
  ASSERT_TRUE(catalog_->Create(Named("t2", {"f"})).ok());
  EXPECT_TRUE(absl::IsNotFound(catalog_->CreateView(View("absent", "v")).status()));
  ASSERT_TRUE(catalog_->CreateView(View("t", "v")).ok());
  ASSERT_TRUE(catalog_->CreateView(View("t", "w", /*deletion_protection=*/true)).ok());
  ASSERT_TRUE(catalog_->CreateView(View("t2", "v")).ok());
  Reopen();
  EXPECT_EQ(**catalog_->FindView(Name("t") + "/authorizedViews/v"), View("t", "v"));
  EXPECT_EQ(catalog_->ListViews(Name("t"), "", 10).size(), 2u);
  EXPECT_EQ(catalog_->ListViews(Name("t"), "v", 10).size(), 1u);

  const absl::Status refused = catalog_->Delete(Name("t"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_TRUE(catalog_->Find(Name("t")).ok());
  const std::string w = Name("t") + "/authorizedViews/w";
  ASSERT_TRUE(
      catalog_->UpdateView(w, "", [](AuthorizedView* view) { view->deletion_protection = false; }).ok());
  ASSERT_EQ(catalog_->Delete(Name("t")), absl::OkStatus());
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(absl::IsNotFound(catalog_->FindView(w).status()));
    EXPECT_EQ(catalog_->ListViews(Name("t2"), "", 10).size(), 1u);
    Reopen();
  }
}

TEST(Catalog, SecretsOutliveIt) {
  const auto engine = MemoryEngine::Create();
  const auto catalog = *Catalog::Open(engine.get());
  const std::string secret = *catalog->Secret("a");
  EXPECT_EQ(secret.size(), Catalog::kSecretBytes);
  EXPECT_EQ(*catalog->Secret("a"), secret);
  EXPECT_NE(*catalog->Secret("b"), secret);
  EXPECT_NE(*catalog->Secret(""), secret);
  EXPECT_EQ(*(*Catalog::Open(engine.get()))->Secret("a"), secret);
  EXPECT_NE(*(*Catalog::Open(MemoryEngine::Create().get()))->Secret("a"), secret);
}

TEST_F(CatalogTest, AReservedTableKeepsItsIdsAndIsFoundOnceItIsCreated) {
  ASSERT_TRUE(catalog_->Create(Named("first", {"f"})).ok());
  const absl::StatusOr<TableId> id = catalog_->Reserve();
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*id, 2u);
  EXPECT_EQ(catalog_->ListAll().size(), 1u);
  ASSERT_TRUE(engine_->Ranges(*id).ok()) << "the engine has it";
  TableSchema schema = Named("restored");
  schema.id = *id;
  schema.families = {{.name = "a", .id = 7}, {.name = "b", .id = 3}};
  ASSERT_TRUE(catalog_->CreateReserved(schema).ok());
  EXPECT_EQ(catalog_->CreateReserved(schema).status().code(), absl::StatusCode::kAlreadyExists);
  Reopen();
  EXPECT_EQ((*catalog_->Find(schema.name))->families, schema.families);
  EXPECT_TRUE(engine_->Ranges(*id).ok());
  const auto more = catalog_->Modify(schema.name, {CreateFamily{{.name = "c"}}});
  ASSERT_TRUE(more.ok());
  EXPECT_EQ((*more)->FindFamily("c")->id, 8u);
  EXPECT_EQ((*catalog_->Create(Named("third")))->id, 3u);
}

TEST(Catalog, AReservedTableOfASharedStoreIsCreatedUnlessAnotherServerStarted) {
  const auto store = MemoryEngine::Create();
  ClusterMember first(store.get(), {}), second(store.get(), {});
  const CatalogOptions options = {.seen_within = absl::Milliseconds(60)};
  const auto catalog = *Catalog::Open(&first, options);
  TableSchema schema = Named("restored");
  schema.id = *catalog->Reserve();
  ASSERT_TRUE(catalog->CreateReserved(schema).ok());
  const auto other = *Catalog::Open(&second, options);
  EXPECT_EQ((*other->Find(schema.name))->id, schema.id);
  EXPECT_TRUE(store->Ranges(schema.id).ok());

  TableSchema late = Named("late");
  late.id = *catalog->Reserve();
  const auto started_since = *Catalog::Open(&second, options);
  EXPECT_EQ(catalog->CreateReserved(late).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store->Ranges(late.id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(catalog->Find(late.name).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CatalogTest, AReservedTableThatIsNotCreatedIsDropped) {
  const absl::StatusOr<TableId> abandoned = catalog_->Reserve();
  const absl::StatusOr<TableId> forgotten = catalog_->Reserve();
  ASSERT_TRUE(abandoned.ok() && forgotten.ok());
  ASSERT_EQ(catalog_->Abandon(*abandoned), absl::OkStatus());
  EXPECT_EQ(engine_->Ranges(*abandoned).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(engine_->Ranges(*forgotten).ok());
  Reopen();
  EXPECT_EQ(engine_->Ranges(*forgotten).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ((*catalog_->Create(Named("t")))->id, 3u);
}

}  // namespace
}  // namespace sonde
