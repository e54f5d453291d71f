#include "wire/admin/sql_views.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "model/limits.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::longrunning::Operation;

constexpr char kParent[] = "projects/p/instances/i";
constexpr char kTableOfViews[] = "projects/p/instances/i/tables/t";

std::string LogicalNamed(const std::string& id) { return fmt::format("{}/logicalViews/{}", kParent, id); }
std::string MaterializedNamed(const std::string& id) {
  return fmt::format("{}/materializedViews/{}", kParent, id);
}

// Takes "SELECT a FROM t" only, and says that it needs the family a.
class OneDefinition final : public ViewDefinitions {
 public:
  explicit OneDefinition(const Catalog* catalog) : catalog_(*catalog) {}
  absl::StatusOr<MaterializedViewFacts> Check(std::string_view instance, std::string_view query,
                                              MayReadTable may_read) override {
    if (query != "SELECT a FROM t") return absl::InvalidArgumentError("another query");
    const std::string table = fmt::format("{}/tables/t", instance);
    if (absl::Status status = may_read(table); !status.ok()) return status;
    const absl::StatusOr<TableSchemaRef> schema = catalog_.Find(table);
    if (!schema.ok()) return schema.status();
    MaterializedViewFacts facts{.source = {table, (*schema)->id, {(*schema)->FindFamily("a")->id}}};
    facts.storage.families = {{.name = "default"}};
    return facts;
  }

 private:
  const Catalog& catalog_;
};

class AdminSqlViewsTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = kTableOfViews;
    schema.families = {{.name = "a"}, {.name = "b"}};
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }

  absl::Status Create(const std::string& id, const std::string& query, bool is_protected = false) {
    admin::CreateLogicalViewRequest request;
    request.set_parent(kParent);
    request.set_logical_view_id(id);
    request.mutable_logical_view()->set_query(query);
    request.mutable_logical_view()->set_deletion_protection(is_protected);
    return CreateLogicalView(parts_, may_read_, request, &operation_);
  }
  absl::Status Update(const admin::LogicalView& view, const std::vector<std::string>& paths) {
    admin::UpdateLogicalViewRequest request;
    *request.mutable_logical_view() = view;
    for (const std::string& path : paths) request.mutable_update_mask()->add_paths(path);
    return UpdateLogicalView(parts_, may_read_, request, &operation_);
  }
  static admin::LogicalView View(const std::string& id, const std::string& query = "",
                                 bool is_protected = false, const std::string& etag = "") {
    admin::LogicalView view;
    view.set_name(LogicalNamed(id));
    view.set_query(query);
    view.set_deletion_protection(is_protected);
    view.set_etag(etag);
    return view;
  }
  admin::LogicalView Get(const std::string& id) {
    admin::GetLogicalViewRequest request;
    request.set_name(LogicalNamed(id));
    admin::LogicalView view;
    EXPECT_EQ(GetLogicalView(parts_, request, &view), absl::OkStatus());
    return view;
  }
  absl::Status Delete(const std::string& id, const std::string& etag = "") {
    admin::DeleteLogicalViewRequest request;
    request.set_name(LogicalNamed(id));
    request.set_etag(etag);
    return DeleteLogicalView(parts_, request);
  }
  absl::Status CreateMaterialized(const std::string& id, const std::string& query) {
    admin::CreateMaterializedViewRequest request;
    request.set_parent(kParent);
    request.set_materialized_view_id(id);
    request.mutable_materialized_view()->set_query(query);
    return CreateMaterializedView(parts_, may_read_, request, &operation_);
  }

  // As the keeper of the view does.
  void Complete(const std::string& id) {
    const auto complete = [](MaterializedViewRecord* view) {
      view->state = MaterializedViewRecord::State::kReady;
    };
    ASSERT_TRUE(catalog_->UpdateMaterializedView(MaterializedNamed(id), "", complete).ok());
  }
  Operation Await(const std::string& name) {
    for (int i = 0; i < 10'000 && operations_->Runs(name); ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_TRUE(operations_->Get(name)->done());
    return *operations_->Get(name);
  }

  ManualClock clock_{1'700'000'000'000'000};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  std::unique_ptr<InstanceStore> instances_ =
      *InstanceStore::Open(engine_.get(), catalog_.get(), /*backups=*/nullptr, &clock_);
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  OperationRunner runner_{operations_.get(), SqlViewOperationKinds(catalog_.get(), &clock_)};
  sql::BundleFinder bundles_{catalog_.get()};
  OneDefinition definitions_{catalog_.get()};
  SqlViewParts parts_{.catalog = catalog_.get(),
                      .instances = instances_.get(),
                      .operations = operations_.get(),
                      .runner = &runner_,
                      .clock = &clock_,
                      .bundles = &bundles_,
                      .definitions = &definitions_};
  sql::InstanceNames::MayRead may_read_;
  google::longrunning::Operation operation_;
};

TEST_F(AdminSqlViewsTest, ALogicalViewIsMadeAlteredAndDeleted) {
  const std::string query = "SELECT  _key,\n\ta['x'] AS `x`  FROM t -- as it was given: \xc3\xa4";
  ASSERT_EQ(Create("v", query), absl::OkStatus());
  admin::LogicalView made;
  admin::CreateLogicalViewMetadata created;
  ASSERT_TRUE(operation_.done() && operation_.response().UnpackTo(&made) &&
              operation_.metadata().UnpackTo(&created));
  EXPECT_EQ(created.original_request().logical_view_id(), "v");
  EXPECT_EQ(created.start_time().seconds(), 1'700'000'000);
  EXPECT_EQ(created.end_time().seconds(), 1'700'000'000);
  EXPECT_EQ(made.query(), query);
  EXPECT_EQ(made.SerializeAsString(), Get("v").SerializeAsString());

  ASSERT_EQ(Update(View("v", "SELECT 1 AS value", true, made.etag()), {"query", "deletion_protection"}),
            absl::OkStatus());
  admin::LogicalView updated;
  admin::UpdateLogicalViewMetadata altered;
  ASSERT_TRUE(operation_.done() && operation_.response().UnpackTo(&updated) &&
              operation_.metadata().UnpackTo(&altered));
  EXPECT_EQ(altered.original_request().logical_view().name(), LogicalNamed("v"));
  EXPECT_TRUE(altered.has_start_time() && altered.has_end_time());
  EXPECT_EQ(updated.query(), "SELECT 1 AS value");
  EXPECT_NE(updated.etag(), made.etag());

  EXPECT_EQ(Delete("v", made.etag()).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Delete("v", updated.etag()).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(Update(View("v"), {"deletion_protection"}), absl::OkStatus());
  EXPECT_EQ(Get("v").query(), "SELECT 1 AS value");
  EXPECT_EQ(Delete("v"), absl::OkStatus());
  EXPECT_EQ(Delete("v"), absl::NotFoundError("Logical view not found: " + LogicalNamed("v")));
}

TEST_F(AdminSqlViewsTest, WithoutAMaskTheFieldsThatHaveAValueAreSet) {
  ASSERT_EQ(Create("v", "SELECT 1 AS a", /*is_protected=*/true), absl::OkStatus());
  ASSERT_EQ(Update(View("v", "SELECT 2 AS b"), {}), absl::OkStatus());
  EXPECT_EQ(Get("v").query(), "SELECT 2 AS b");
  EXPECT_TRUE(Get("v").deletion_protection());
  ASSERT_EQ(Update(View("v", "SELECT 3 AS c"), {"*"}), absl::OkStatus());
  EXPECT_FALSE(Get("v").deletion_protection());
}

TEST_F(AdminSqlViewsTest, AQueryThatDoesNotBindMakesNoView) {
  EXPECT_EQ(Create("v", ""), absl::InvalidArgumentError("Error in field 'query' : It is empty"));
  EXPECT_EQ(std::string(Create("v", "SELECT none FROM t").message()), "Unrecognized name: none [at 1:8]");
  EXPECT_EQ(std::string(Create("v", "SELECT * FROM other").message()), "Table not found: other [at 1:15]");
  EXPECT_EQ(Create("v", "SELECT * FROM other").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Create("v", "SELECT @p AS p").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Create("v", "EXPLAIN SELECT 1"),
            absl::InvalidArgumentError("Error in field 'query' : A view cannot be an EXPLAIN"));
  ASSERT_EQ(Create("v", "SELECT a FROM t"), absl::OkStatus());
  ASSERT_EQ(Create("w", "SELECT a FROM v"), absl::OkStatus());
  EXPECT_EQ(std::string(Update(View("v", "SELECT a FROM w"), {"query"}).message()),
            "In view w: View v must not read from itself [at 1:15]");
  EXPECT_EQ(Update(View("v", ""), {"query"}),
            absl::InvalidArgumentError("Error in field 'query' : It is empty"));
}

TEST_F(AdminSqlViewsTest, RefusesBadRequests) {
  EXPECT_EQ(Create("-v", "SELECT 1").code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(Create("v", "SELECT 1"), absl::OkStatus());
  EXPECT_EQ(Create("v", "SELECT 2"),
            absl::AlreadyExistsError("Logical view already exists: " + LogicalNamed("v")));
  EXPECT_EQ(
      Update(View("v"), {"name"}),
      absl::InvalidArgumentError(
          "Error in field 'update_mask' : 'name' cannot be updated; query and deletion_protection can"));
  EXPECT_EQ(Update(View("other", "SELECT none"), {"query"}),
            absl::NotFoundError("Logical view not found: " + LogicalNamed("other")));
  admin::GetLogicalViewRequest request;
  request.set_name(kTableOfViews);
  admin::LogicalView view;
  EXPECT_EQ(
      GetLogicalView(parts_, request, &view),
      absl::InvalidArgumentError("Invalid logical view name 'projects/p/instances/i/tables/t': it must be "
                                 "projects/<project>/instances/<instance>/logicalViews/<logical_view>"));
}

TEST_F(AdminSqlViewsTest, WhoDefinesAViewMustBeAllowedToReadWhatItNames) {
  may_read_ = [](std::string_view resource) -> absl::Status {
    if (resource == LogicalNamed("open")) return absl::OkStatus();
    return absl::PermissionDeniedError(std::string(resource));
  };
  EXPECT_EQ(Create("v", "SELECT a FROM t"), absl::PermissionDeniedError(kTableOfViews));
  EXPECT_EQ(CreateMaterialized("m", "SELECT a FROM t"), absl::PermissionDeniedError(kTableOfViews));
  const sql::InstanceNames::MayRead denied = std::exchange(may_read_, nullptr);
  ASSERT_EQ(Create("open", "SELECT a FROM t"), absl::OkStatus());
  may_read_ = denied;
  EXPECT_EQ(Create("v", "SELECT a FROM open"), absl::OkStatus());
  EXPECT_EQ(Update(View("v", "SELECT a FROM t"), {"query"}), absl::PermissionDeniedError(kTableOfViews));
  EXPECT_EQ(Update(View("v", "", true), {"deletion_protection"}), absl::OkStatus());
}

TEST_F(AdminSqlViewsTest, TheTableOfAViewAndTheFamiliesThatItNeedsStay) {
  ASSERT_EQ(Create("v", "SELECT a['x'] AS x FROM t"), absl::OkStatus());
  EXPECT_EQ(catalog_->Delete(kTableOfViews).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(catalog_->Modify(kTableOfViews, {sonde::DropFamily{"a"}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(catalog_->Modify(kTableOfViews, {sonde::DropFamily{"b"}}).ok());
  ASSERT_EQ(Update(View("v", "SELECT 1 AS x"), {"query"}), absl::OkStatus());
  EXPECT_EQ(catalog_->Delete(kTableOfViews), absl::OkStatus());
}

TEST_F(AdminSqlViewsTest, ListsInPages) {
  for (const char* id : {"c", "a", "b"}) ASSERT_EQ(Create(id, "SELECT 1"), absl::OkStatus());
  admin::ListLogicalViewsRequest request;
  request.set_parent(kParent);
  const auto list = [&] {
    admin::ListLogicalViewsResponse response;
    EXPECT_EQ(ListLogicalViews(parts_, request, &response), absl::OkStatus());
    std::string ids;
    for (const admin::LogicalView& view : response.logical_views()) ids += view.name().back();
    request.set_page_token(response.next_page_token());
    return ids;
  };
  EXPECT_EQ(list(), "abc");
  EXPECT_EQ(request.page_token(), "");
  request.set_page_size(2);
  EXPECT_EQ(list(), "ab");
  EXPECT_EQ(list(), "c");
  admin::ListLogicalViewsResponse response;
  request.set_page_size(-1);
  EXPECT_EQ(ListLogicalViews(parts_, request, &response),
            absl::InvalidArgumentError("Error in field 'page_size' : must not be negative, but is -1"));
  request.set_page_size(0);
  request.set_page_token("*");
  EXPECT_EQ(ListLogicalViews(parts_, request, &response),
            absl::InvalidArgumentError("Error in field 'page_token' : not one that this call gave"));
}

// A page fits into a message that clients take, whatever queries are in it.
TEST_F(AdminSqlViewsTest, APageHasSoManyBytes) {
  const std::string query = "SELECT 1 AS value" + std::string(1'000'000, ' ');
  for (const char* id : {"a", "b", "c", "d"}) ASSERT_EQ(Create(id, query), absl::OkStatus());
  admin::ListLogicalViewsRequest request;
  request.set_parent(kParent);
  admin::ListLogicalViewsResponse response;
  ASSERT_EQ(ListLogicalViews(parts_, request, &response), absl::OkStatus());
  EXPECT_EQ(response.logical_views_size(), 3);
  EXPECT_EQ(response.next_page_token(), "c");
}

TEST_F(AdminSqlViewsTest, AMaterializedViewKeepsItsQuery) {
  ASSERT_EQ(CreateMaterialized("m", "SELECT a FROM t"), absl::OkStatus());
  EXPECT_FALSE(operation_.done());
  Complete("m");
  const Operation ended = Await(operation_.name());
  admin::MaterializedView made;
  admin::CreateMaterializedViewMetadata created;
  ASSERT_TRUE(ended.response().UnpackTo(&made) && ended.metadata().UnpackTo(&created));
  EXPECT_EQ(created.original_request().materialized_view_id(), "m");
  EXPECT_EQ(made.name(), MaterializedNamed("m"));
  EXPECT_EQ(made.query(), "SELECT a FROM t");
  EXPECT_TRUE(created.has_start_time() && created.has_end_time());
  EXPECT_EQ(CreateMaterialized("n", "SELECT b FROM t"), absl::InvalidArgumentError("another query"));
  EXPECT_EQ(CreateMaterialized("m", "SELECT a FROM t"),
            absl::AlreadyExistsError("Materialized view already exists: " + MaterializedNamed("m")));

  admin::UpdateMaterializedViewRequest request;
  request.mutable_materialized_view()->set_name(MaterializedNamed("m"));
  request.mutable_materialized_view()->set_query("SELECT 1");
  request.mutable_update_mask()->add_paths("query");
  EXPECT_EQ(UpdateMaterializedView(parts_, request, &operation_),
            absl::InvalidArgumentError(
                "Immutable fields 'query' cannot be updated: delete the view and create another one"));
  request.mutable_update_mask()->set_paths(0, "deletion_protection");
  request.mutable_materialized_view()->set_deletion_protection(true);
  ASSERT_EQ(UpdateMaterializedView(parts_, request, &operation_), absl::OkStatus());
  admin::MaterializedView updated;
  ASSERT_TRUE(operation_.response().UnpackTo(&updated));
  EXPECT_EQ(updated.query(), "SELECT a FROM t");
  EXPECT_NE(updated.etag(), made.etag());

  admin::DeleteMaterializedViewRequest end;
  end.set_name(MaterializedNamed("m"));
  EXPECT_EQ(DeleteMaterializedView(parts_, end),
            absl::FailedPreconditionError("Materialized view " + MaterializedNamed("m") +
                                          " is protected against deletion"));
  end.set_etag(made.etag());
  EXPECT_EQ(DeleteMaterializedView(parts_, end).code(), absl::StatusCode::kAborted);
  request.mutable_materialized_view()->set_deletion_protection(false);
  ASSERT_EQ(UpdateMaterializedView(parts_, request, &operation_), absl::OkStatus());
  end.clear_etag();
  EXPECT_EQ(DeleteMaterializedView(parts_, end), absl::OkStatus());
  admin::GetMaterializedViewRequest get;
  get.set_name(MaterializedNamed("m"));
  EXPECT_EQ(GetMaterializedView(parts_, get, &made),
            absl::NotFoundError("Materialized view not found: " + MaterializedNamed("m")));
}

// The same name may have another view meanwhile.
TEST_F(AdminSqlViewsTest, TheOperationOfAViewThatIsDeletedIsAborted) {
  ASSERT_EQ(CreateMaterialized("m", "SELECT a FROM t"), absl::OkStatus());
  const std::string first = operation_.name();
  EXPECT_EQ(runner_.Cancel(first),
            absl::FailedPreconditionError("Operation " + first +
                                          " cannot be cancelled: it is one of CreateMaterializedView"));
  ASSERT_EQ(catalog_->DeleteMaterializedView(MaterializedNamed("m"), ""), absl::OkStatus());
  ASSERT_EQ(CreateMaterialized("m", "SELECT a FROM t"), absl::OkStatus());
  Complete("m");
  const Operation ended = Await(first);
  EXPECT_EQ(ended.error().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_EQ(ended.error().message(), "Materialized view " + MaterializedNamed("m") +
                                         " was deleted before it had all rows of its table");
  EXPECT_TRUE(Await(operation_.name()).has_response());
}

TEST_F(AdminSqlViewsTest, AViewWhoseOperationCannotBeginIsNotThere) {
  runner_.Pause();
  EXPECT_EQ(CreateMaterialized("m", "SELECT a FROM t"), absl::UnavailableError("The server is ending"));
  EXPECT_TRUE(absl::IsNotFound(catalog_->FindMaterializedView(MaterializedNamed("m")).status()));
}

TEST_F(AdminSqlViewsTest, MaterializedViewsThatNobodyKeepsAreNotBuilt) {
  parts_.definitions = nullptr;
  EXPECT_EQ(CreateMaterialized("m", "SELECT a FROM t"),
            absl::UnimplementedError("Materialized views are not built; docs/compatibility.md of Sonde lists "
                                     "what is built"));
}

TEST_F(AdminSqlViewsTest, AnInstanceGoesWithItsViews) {
  ASSERT_EQ(Create("v", "SELECT a FROM t", /*is_protected=*/true), absl::OkStatus());
  ASSERT_EQ(Create("w", "SELECT a FROM v"), absl::OkStatus());
  ASSERT_EQ(CreateMaterialized("m", "SELECT a FROM t"), absl::OkStatus());
  EXPECT_EQ(
      instances_->DeleteInstance(kParent),
      absl::FailedPreconditionError("Logical view " + LogicalNamed("v") + " is protected against deletion"));
  EXPECT_TRUE(catalog_->Find(kTableOfViews).ok());
  ASSERT_EQ(Update(View("v"), {"deletion_protection"}), absl::OkStatus());
  EXPECT_EQ(instances_->DeleteInstance(kParent), absl::OkStatus());
  EXPECT_FALSE(catalog_->FindLogicalView(LogicalNamed("w")).ok());
  EXPECT_FALSE(catalog_->FindMaterializedView(MaterializedNamed("m")).ok());
}

// As the first table does.
TEST_F(AdminSqlViewsTest, TheFirstViewMakesAnInstance) {
  admin::CreateLogicalViewRequest request;
  request.set_parent("projects/p/instances/new");
  request.set_logical_view_id("v");
  request.mutable_logical_view()->set_query("SELECT 1 AS value");
  ASSERT_EQ(CreateLogicalView(parts_, may_read_, request, &operation_), absl::OkStatus());
  EXPECT_TRUE(instances_->FindInstance("projects/p/instances/new").ok());
}

}  // namespace
}  // namespace sonde
