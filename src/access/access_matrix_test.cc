// Every method and every route, for every kind of caller, with every role granted in every place, against a second table that is
// written by hand here: the ranks of roles by permission, and the kinds of resources.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "access/access_test_support.h"
#include "access/http_rules.h"
#include "access/resource.h"
#include "access/rules.h"

namespace sonde {
namespace {

constexpr std::string_view kServer = "";
constexpr std::string_view kProject = "projects/p";
constexpr std::string_view kInstance = "projects/p/instances/i";
constexpr std::string_view kTable = "projects/p/instances/i/tables/t";
constexpr std::string_view kView = "projects/p/instances/i/tables/t/authorizedViews/v";
constexpr std::string_view kOtherTable = "projects/p/instances/i/tables/other";
constexpr std::string_view kCluster = "projects/p/instances/i/clusters/c";
constexpr std::string_view kBackup = "projects/p/instances/i/clusters/c/backups/b";
constexpr std::string_view kCustomRole = "projects/p/roles/custom";

// The least of viewer (1), reader (2), user (3), editor (4), admin (5) that may.  0: everybody; 6: nobody.
constexpr int kEverybody = 0, kViewer = 1, kReader = 2, kUser = 3, kEditor = 4, kAdmin = 5, kNobody = 6;

struct Expected {
  int rank;
  // The resources that are asked about; on each of them a caller needs the rank.
  std::vector<std::string_view> on;
};

// By method, without its service where that is clear.
const std::map<std::string, Expected>& Methods() {
  static const auto* const methods = new std::map<std::string, Expected>{
      {"Bigtable/ReadRows", {kReader, {kTable}}},
      {"Bigtable/SampleRowKeys", {kReader, {kTable}}},
      {"Bigtable/MutateRow", {kUser, {kTable}}},
      {"Bigtable/MutateRows", {kUser, {kTable}}},
      {"Bigtable/CheckAndMutateRow", {kUser, {kTable}}},
      {"Bigtable/ReadModifyWriteRow", {kUser, {kTable}}},
      {"Bigtable/PingAndWarm", {kReader, {kInstance}}},
      {"Bigtable/GenerateInitialChangeStreamPartitions", {kReader, {kTable}}},
      {"Bigtable/ReadChangeStream", {kReader, {kTable}}},
      {"Bigtable/PrepareQuery", {kReader, {kInstance}}},
      {"Bigtable/ExecuteQuery", {kReader, {kInstance}}},
      {"Bigtable/GetClientConfiguration", {kViewer, {kInstance}}},
      {"Bigtable/OpenTable", {kNobody, {}}},
      {"Bigtable/OpenAuthorizedView", {kNobody, {}}},
      {"Bigtable/OpenMaterializedView", {kNobody, {}}},
      {"BigtableTableAdmin/CreateTable", {kEditor, {kInstance}}},
      {"BigtableTableAdmin/CreateTableFromSnapshot", {kNobody, {}}},
      {"BigtableTableAdmin/ListTables", {kViewer, {kInstance}}},
      {"BigtableTableAdmin/GetTable", {kViewer, {kTable}}},
      {"BigtableTableAdmin/UpdateTable", {kEditor, {kTable}}},
      {"BigtableTableAdmin/DeleteTable", {kEditor, {kTable}}},
      {"BigtableTableAdmin/UndeleteTable", {kEditor, {kTable}}},
      {"BigtableTableAdmin/CreateAuthorizedView", {kEditor, {kTable}}},
      {"BigtableTableAdmin/ListAuthorizedViews", {kViewer, {kTable}}},
      {"BigtableTableAdmin/GetAuthorizedView", {kViewer, {kView}}},
      {"BigtableTableAdmin/UpdateAuthorizedView", {kEditor, {kView}}},
      {"BigtableTableAdmin/DeleteAuthorizedView", {kEditor, {kView}}},
      {"BigtableTableAdmin/ModifyColumnFamilies", {kEditor, {kTable}}},
      {"BigtableTableAdmin/DropRowRange", {kUser, {kTable}}},
      {"BigtableTableAdmin/GenerateConsistencyToken", {kViewer, {kTable}}},
      {"BigtableTableAdmin/CheckConsistency", {kViewer, {kTable}}},
      {"BigtableTableAdmin/SnapshotTable", {kNobody, {}}},
      {"BigtableTableAdmin/GetSnapshot", {kNobody, {}}},
      {"BigtableTableAdmin/ListSnapshots", {kNobody, {}}},
      {"BigtableTableAdmin/DeleteSnapshot", {kNobody, {}}},
      {"BigtableTableAdmin/CreateBackup", {kEditor, {kTable, kCluster}}},
      {"BigtableTableAdmin/GetBackup", {kViewer, {kBackup}}},
      {"BigtableTableAdmin/UpdateBackup", {kEditor, {kBackup}}},
      {"BigtableTableAdmin/DeleteBackup", {kEditor, {kBackup}}},
      {"BigtableTableAdmin/ListBackups", {kViewer, {kCluster}}},
      {"BigtableTableAdmin/RestoreTable", {kEditor, {kBackup, kInstance}}},
      {"BigtableTableAdmin/CopyBackup", {kEditor, {kBackup, kCluster}}},
      {"BigtableTableAdmin/GetIamPolicy", {kEditor, {kTable}}},
      {"BigtableTableAdmin/SetIamPolicy", {kAdmin, {kTable}}},
      {"BigtableTableAdmin/TestIamPermissions", {kEverybody, {}}},
      {"BigtableTableAdmin/CreateSchemaBundle", {kEditor, {kTable}}},
      {"BigtableTableAdmin/UpdateSchemaBundle",
       {kEditor, {"projects/p/instances/i/tables/t/schemaBundles/b"}}},
      {"BigtableTableAdmin/GetSchemaBundle", {kViewer, {"projects/p/instances/i/tables/t/schemaBundles/b"}}},
      {"BigtableTableAdmin/ListSchemaBundles", {kViewer, {kTable}}},
      {"BigtableTableAdmin/DeleteSchemaBundle",
       {kEditor, {"projects/p/instances/i/tables/t/schemaBundles/b"}}},
      {"BigtableInstanceAdmin/CreateInstance", {kEditor, {kProject}}},
      {"BigtableInstanceAdmin/GetInstance", {kViewer, {kInstance}}},
      {"BigtableInstanceAdmin/ListInstances", {kViewer, {kProject}}},
      {"BigtableInstanceAdmin/UpdateInstance", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/PartialUpdateInstance", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/DeleteInstance", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/CreateCluster", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/GetCluster", {kViewer, {kCluster}}},
      {"BigtableInstanceAdmin/ListClusters", {kViewer, {kInstance}}},
      {"BigtableInstanceAdmin/UpdateCluster", {kEditor, {kCluster}}},
      {"BigtableInstanceAdmin/PartialUpdateCluster", {kEditor, {kCluster}}},
      {"BigtableInstanceAdmin/DeleteCluster", {kEditor, {kCluster}}},
      {"BigtableInstanceAdmin/CreateAppProfile", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/GetAppProfile", {kViewer, {"projects/p/instances/i/appProfiles/a"}}},
      {"BigtableInstanceAdmin/ListAppProfiles", {kViewer, {kInstance}}},
      {"BigtableInstanceAdmin/UpdateAppProfile", {kEditor, {"projects/p/instances/i/appProfiles/a"}}},
      {"BigtableInstanceAdmin/DeleteAppProfile", {kEditor, {"projects/p/instances/i/appProfiles/a"}}},
      {"BigtableInstanceAdmin/GetIamPolicy", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/SetIamPolicy", {kAdmin, {kInstance}}},
      {"BigtableInstanceAdmin/TestIamPermissions", {kEverybody, {}}},
      {"BigtableInstanceAdmin/ListHotTablets", {kViewer, {kCluster}}},
      {"BigtableInstanceAdmin/CreateLogicalView", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/GetLogicalView", {kViewer, {"projects/p/instances/i/logicalViews/l"}}},
      {"BigtableInstanceAdmin/ListLogicalViews", {kViewer, {kInstance}}},
      {"BigtableInstanceAdmin/UpdateLogicalView", {kEditor, {"projects/p/instances/i/logicalViews/l"}}},
      {"BigtableInstanceAdmin/DeleteLogicalView", {kEditor, {"projects/p/instances/i/logicalViews/l"}}},
      {"BigtableInstanceAdmin/CreateMaterializedView", {kEditor, {kInstance}}},
      {"BigtableInstanceAdmin/GetMaterializedView",
       {kViewer, {"projects/p/instances/i/materializedViews/m"}}},
      {"BigtableInstanceAdmin/ListMaterializedViews", {kViewer, {kInstance}}},
      {"BigtableInstanceAdmin/UpdateMaterializedView",
       {kEditor, {"projects/p/instances/i/materializedViews/m"}}},
      {"BigtableInstanceAdmin/DeleteMaterializedView",
       {kEditor, {"projects/p/instances/i/materializedViews/m"}}},
      {"Operations/ListOperations", {kViewer, {kTable}}},
      {"Operations/GetOperation", {kViewer, {kTable}}},
      {"Operations/WaitOperation", {kViewer, {kTable}}},
      {"Operations/DeleteOperation", {kEditor, {kTable}}},
      {"Operations/CancelOperation", {kEditor, {kTable}}},
      {"Health/Check", {kEverybody, {}}},
      {"Health/Watch", {kEverybody, {}}},
      {"v1.ServerReflection/ServerReflectionInfo", {kEverybody, {}}},
      {"v1alpha.ServerReflection/ServerReflectionInfo", {kEverybody, {}}},
  };
  return *methods;
}

const std::map<std::string, Expected>& Routes() {
  constexpr std::string_view kSeries = kInstance;
  static const auto* const routes = new std::map<std::string, Expected>{
      {"GET /healthz", {kEverybody, {}}},
      {"GET /readyz", {kEverybody, {}}},
      {"GET /login", {kEverybody, {}}},
      {"POST /login", {kEverybody, {}}},
      {"POST /logout", {kEverybody, {}}},
      {"GET /api/v1/session", {kEverybody, {}}},
      {"GET /", {kEverybody, {}}},
      {"GET /index.html", {kEverybody, {}}},
      {"GET /icon.svg", {kEverybody, {}}},
      {"GET /assets/*", {kEverybody, {}}},
      {"GET /ping", {kEverybody, {}}},
      {"GET /health", {kEverybody, {}}},
      {"GET /metrics", {kViewer, {kServer}}},
      {"GET /api/v1/overview", {kAdmin, {kServer}}},
      {"GET /api/v1/slow", {kAdmin, {kServer}}},
      {"GET /api/v1/running", {kAdmin, {kServer}}},
      {"POST /api/v1/running/cancel", {kAdmin, {kServer}}},
      {"GET /api/v1/errors", {kAdmin, {kServer}}},
      {"GET /api/v1/latency", {kAdmin, {kServer}}},
      {"GET /api/v1/callers", {kAdmin, {kServer}}},
      {"GET /api/v1/growth", {kAdmin, {kServer}}},
      {"GET /api/v1/findings", {kReader, {kServer}}},
      {"GET /api/v1/tables", {kViewer, {kServer}}},
      {"GET /api/v1/views", {kViewer, {kServer}}},
      {"GET /api/v1/tables/{project}/{instance}/{table}", {kViewer, {kTable}}},
      {"GET /api/v1/tables/{project}/{instance}/{table}/rows", {kReader, {kTable}}},
      {"GET /api/v1/tables/{project}/{instance}/{table}/cell", {kReader, {kTable}}},
      {"GET /api/v1/tables/{project}/{instance}/{table}/heatmap", {kReader, {kTable}}},
      {"GET /api/v1/tables/{project}/{instance}/{table}/findings", {kReader, {kTable}}},
      {"GET /api/v1/series", {kViewer, {kSeries}}},
      {"GET /api/v1/series/{name}", {kViewer, {kSeries}}},
      {"PUT /api/v1/series/{name}", {kEditor, {kSeries}}},
      {"GET /api/v1/series/{name}/query", {kReader, {kSeries}}},
      {"POST /api/v1/series/{name}/query", {kReader, {kSeries}}},
      {"GET /api/v1/series/{name}/tags/{tag}/values", {kReader, {kSeries}}},
      {"POST /api/v1/series/{name}/write", {kEditor, {kSeries}}},
      {"POST /write", {kEditor, {kSeries}}},
      {"POST /api/v2/write", {kEditor, {kSeries}}},
      {"GET /query", {kReader, {kSeries}}},
      {"POST /query", {kReader, {kSeries}}},
      {"POST /api/v1/write", {kEditor, {kSeries}}},
      {"POST /api/v1/read", {kReader, {kSeries}}},
      {"GET /api/v1/query", {kReader, {kSeries}}},
      {"POST /api/v1/query", {kReader, {kSeries}}},
      {"GET /api/v1/query_range", {kReader, {kSeries}}},
      {"POST /api/v1/query_range", {kReader, {kSeries}}},
      {"GET /api/v1/query_exemplars", {kReader, {kSeries}}},
      {"POST /api/v1/query_exemplars", {kReader, {kSeries}}},
      {"GET /api/v1/format_query", {kEverybody, {}}},
      {"POST /api/v1/format_query", {kEverybody, {}}},
      {"GET /api/v1/parse_query", {kEverybody, {}}},
      {"POST /api/v1/parse_query", {kEverybody, {}}},
      {"POST /api/v1/series", {kReader, {kSeries}}},
      {"GET /api/v1/labels", {kReader, {kSeries}}},
      {"POST /api/v1/labels", {kReader, {kSeries}}},
      {"GET /api/v1/label/{name}/values", {kReader, {kSeries}}},
      {"GET /api/v1/metadata", {kReader, {kSeries}}},
      {"GET /api/v1/rules", {kReader, {kSeries}}},
      {"GET /api/v1/status/buildinfo", {kEverybody, {}}},
      {"GET /api/v1/status/tsdb", {kReader, {kSeries}}},
      {"GET /api/v1/export", {kReader, {kSeries}}},
      {"POST /api/v1/export", {kReader, {kSeries}}},
      {"POST /api/v1/import", {kEditor, {kSeries}}},
      {"POST /api/v1/admin/tsdb/delete_series", {kUser, {kSeries}}},
      {"PUT /api/v1/admin/tsdb/delete_series", {kUser, {kSeries}}},
      {"POST /prometheus/api/v1/admin/tsdb/delete_series", {kUser, {kSeries}}},
      {"PUT /prometheus/api/v1/admin/tsdb/delete_series", {kUser, {kSeries}}},
      {"GET /prometheus/api/v1/*", {kReader, {kSeries}}},
      {"POST /prometheus/api/v1/*", {kReader, {kSeries}}},
      {"GET /api/v1/dashboards", {kViewer, {kSeries}}},
      {"GET /api/v1/dashboards/{name}", {kViewer, {kSeries}}},
      {"PUT /api/v1/dashboards/{name}", {kEditor, {kSeries}}},
      {"POST /api/v1/dashboards/{name}/delete", {kEditor, {kSeries}}},
      {"GET /api/v1/sql", {kEverybody, {}}},
      {"POST /api/v1/sql", {kEverybody, {}}},  // SqlRoutesTest has what its handler decides
  };
  return *routes;
}

// The names that a place gives its roles for, by hand.
bool Covers(std::string_view place, std::string_view resource) {
  static const std::map<std::string_view, std::vector<std::string_view>> parents = {
      {kTable, {kInstance, kProject}},
      {kView, {kTable, kInstance, kProject}},
      {"projects/p/instances/i/tables/t/schemaBundles/b", {kTable, kInstance, kProject}},
      {kInstance, {kProject}},
      {kProject, {}},
      {kServer, {}}};
  if (place == kServer || place == resource) return true;
  const auto found = parents.find(resource);
  if (found == parents.end()) return place == kInstance || place == kProject;  // clusters, profiles, views
  return std::find(found->second.begin(), found->second.end(), place) != found->second.end();
}

// The resource that stands in a field of a request, of the kind that the rule says.
std::string_view ExampleOf(const Need& need) {
  if (!need.kind.has_value()) return "";
  switch (*need.kind) {
    case ResourceKind::kServer:
      return kServer;
    case ResourceKind::kProject:
      return kProject;
    case ResourceKind::kInstance:
      return kInstance;
    case ResourceKind::kCluster:
      return kCluster;
    case ResourceKind::kAppProfile:
      return "projects/p/instances/i/appProfiles/a";
    case ResourceKind::kTable:
      return kTable;
    case ResourceKind::kAuthorizedView:
      return kView;
    case ResourceKind::kSchemaBundle:
      return "projects/p/instances/i/tables/t/schemaBundles/b";
    case ResourceKind::kLogicalView:
      return "projects/p/instances/i/logicalViews/l";
    case ResourceKind::kMaterializedView:
      return "projects/p/instances/i/materializedViews/m";
    case ResourceKind::kBackup:
      return kBackup;
    case ResourceKind::kSnapshot:
      return "projects/p/instances/i/clusters/c/snapshots/s";
  }
  return "";
}

std::string ShortName(std::string_view method) {
  const size_t slash = method.find('/');
  const bool is_reflection = method.starts_with("grpc.reflection.");
  size_t dot = method.rfind('.', slash);
  if (is_reflection) dot = method.rfind('.', dot - 1);
  return std::string(method.substr(dot + 1));
}

using Decide = std::function<bool(AccessFixture* it, std::string_view method, std::string_view proof)>;

// The decision on a method by the permission table and the policies, as the door makes it, with a table's name in each field that
// takes one.
bool DecideByRules(AccessFixture* it, std::string_view method, std::string_view proof) {
  const Rule* const rule = FindRule(method);
  if (rule == nullptr) return false;
  if (rule->door == Door::kOpen) return true;
  const auto principal = it->access.Authenticate({.authorization = proof}, absl::Now(), nullptr);
  if (!principal.ok() || rule->door == Door::kNotBuilt) return false;
  for (const Need& need : rule->needs) {
    if (need.if_set && need.field != "table_name") continue;
    std::string_view resource = ExampleOf(need);
    // Policies of the instance service are asked for the instance, all else for the table.
    if (!need.kind.has_value()) resource = method.find("InstanceAdmin") == method.npos ? kTable : kInstance;
    const std::optional<Permission> permission = PermissionFor(need, *KindOfResource(resource));
    if (!permission.has_value() || !it->access.IsAllowed(**principal, *permission, resource, absl::Now())) {
      return false;
    }
  }
  return true;
}

bool DecideByHttpRules(AccessFixture* it, std::string_view route, std::string_view proof) {
  const size_t blank = route.find(' ');
  const HttpRule* const rule = FindHttpRule(route.substr(0, blank), route.substr(blank + 1));
  if (rule == nullptr) return false;
  if (rule->door == Door::kOpen) return true;
  const auto principal = it->access.Authenticate({.authorization = proof}, absl::Now(), nullptr);
  if (!principal.ok()) return false;
  const std::string_view resource = rule->resource == kSeriesInstance ? kInstance
                                    : rule->resource.empty()          ? kServer
                                                                      : kTable;
  for (const std::string_view permission : rule->permissions) {
    if (!permission.empty() &&
        !it->access.IsAllowed(**principal, FindPermission(permission).value(), resource, absl::Now())) {
      return false;
    }
  }
  return true;
}

struct Caller {
  std::string_view proof;  // the header
  std::string_view role;
  int rank;  // -1: it has proven nothing
};
// Those without a proof come after one with a proof, so that an identity that stays somewhere shows.
constexpr Caller kCallers[] = {
    {"Bearer good", kViewerRole, kViewer},
    {"Bearer good", kReaderRole, kReader},
    {"Bearer good", kUserRole, kUser},
    {"Bearer good", kEditorRole, kEditor},
    {"Bearer good", kAdminRole, kAdmin},
    {"Bearer good", kCustomRole, 0},
    {"Bearer good", "", 0},
    {"", kAdminRole, -1},
    {"Bearer forged", kAdminRole, -1},
    {"Bearer expired", kAdminRole, -1},
    {"Bearer revoked", kAdminRole, -1},
};
constexpr std::string_view kPlaces[] = {kServer, kProject, kInstance, kTable, kView, kOtherTable};

bool IsOpen(std::string_view name) {
  return name.starts_with("Health/") || name.ends_with("z") || name.ends_with(" /login");
}

// Routes of Prometheus' API that read series.
bool IsOfPrometheus(std::string_view name) {
  if (name.find("/admin/") != name.npos) return false;
  return name.find("/api/v1/query") != name.npos || name.find("/api/v1/label") != name.npos ||
         name.find(" /prometheus/") != name.npos || name == "POST /api/v1/series" ||
         name.ends_with("/metadata") || name.ends_with("/rules") || name.ends_with("/status/tsdb") ||
         name.ends_with("/export");
}

bool ExpectedFor(const std::string& name, const Expected& expected, const Caller& caller,
                 std::string_view place) {
  if (IsOpen(name)) return true;
  if (caller.rank < 0 || expected.rank == kNobody) return false;
  if (expected.rank == kEverybody) return true;
  // The custom role has only the reading of rows.
  const bool custom_suffices =
      caller.role == kCustomRole &&
      (name == "Bigtable/ReadRows" || name == "Bigtable/ReadChangeStream" ||
       name == "Bigtable/GenerateInitialChangeStreamPartitions" || name.ends_with("/query") ||
       name.ends_with("/read") || IsOfPrometheus(name) || name.ends_with("/rows") ||
       name.ends_with("/cell") || name.ends_with("/tags/{tag}/values"));
  if (caller.rank < expected.rank && !custom_suffices) return false;
  return std::all_of(expected.on.begin(), expected.on.end(),
                     [&](std::string_view resource) { return Covers(place, resource); });
}

// Returns the number of cases in which `decide` differs from the table by hand.
int Differences(const std::map<std::string, Expected>& all,
                const std::map<std::string, std::string>& full_names, const Decide& decide, bool tell,
                int* cases) {
  int wrong = 0;
  for (const Caller& caller : kCallers) {
    for (const std::string_view place : kPlaces) {
      AccessFixture it;
      it.authenticator.Set("Bearer good", {.member = std::string(kSomebody)});
      it.authenticator.Set("Bearer revoked", {.member = std::string(kSomebody)});
      it.authenticator.Revoke("Bearer revoked");
      it.authenticator.Set("Bearer expired",
                           {.member = std::string(kSomebody), .until = absl::Now() - absl::Seconds(1)});
      it.custom_role = kCustomRole;
      it.Grant(place, caller.role);
      for (const auto& [name, expected] : all) {
        const auto full = full_names.find(name);
        if (full == full_names.end()) continue;
        ++*cases;
        const bool is_allowed = decide(&it, full->second, caller.proof);
        if (is_allowed == ExpectedFor(name, expected, caller, place)) continue;
        ++wrong;
        if (tell) {
          ADD_FAILURE() << name << " with '" << caller.proof << "' as " << caller.role << " on '" << place
                        << "' is " << (is_allowed ? "allowed" : "denied");
        }
      }
    }
  }
  return wrong;
}

std::map<std::string, std::string> FullNames() {
  std::map<std::string, std::string> names;
  for (const Rule& rule : AllRules()) names[ShortName(rule.method)] = rule.method;
  return names;
}

std::map<std::string, std::string> RouteNames() {
  std::map<std::string, std::string> names;
  for (const HttpRule& rule : AllHttpRules()) {
    const std::string name = std::string(rule.method) + " " + std::string(rule.path);
    names[name] = name;
  }
  return names;
}

TEST(AccessMatrix, HasEveryMethodAndRoute) {
  std::set<std::string> by_hand, in_table;
  for (const auto& [name, expected] : Methods()) by_hand.insert(name);
  for (const auto& [name, full] : FullNames()) in_table.insert(name);
  EXPECT_EQ(by_hand, in_table);
  EXPECT_EQ(AllRules().size(), by_hand.size());
  by_hand.clear();
  in_table.clear();
  for (const auto& [name, expected] : Routes()) by_hand.insert(name);
  for (const auto& [name, full] : RouteNames()) in_table.insert(name);
  EXPECT_EQ(by_hand, in_table);
  EXPECT_EQ(AllHttpRules().size(), by_hand.size());
}

TEST(AccessMatrix, DecidesAsTheTableByHand) {
  int cases = 0;
  EXPECT_EQ(Differences(Methods(), FullNames(), DecideByRules, /*tell=*/true, &cases), 0);
  EXPECT_EQ(Differences(Routes(), RouteNames(), DecideByHttpRules, /*tell=*/true, &cases), 0);
  EXPECT_EQ(cases, 11 * 6 * (90 + 75));
}

// Each of these decisions has a fault that somebody might build in; the matrix must see it.
TEST(AccessMatrix, SeesPlantedFaults) {
  const auto skips_proof = [](AccessFixture* it, std::string_view method, std::string_view) {
    return DecideByRules(it, method, "Bearer good");
  };
  const auto skips_expiry = [](AccessFixture* it, std::string_view method, std::string_view proof) {
    return DecideByRules(it, method, proof == "Bearer expired" ? "Bearer good" : proof);
  };
  const auto allows_unknown = [](AccessFixture* it, std::string_view method, std::string_view proof) {
    const bool is_known = method.find("Snapshot") == method.npos;  // as if snapshots had no rule
    return is_known ? DecideByRules(it, method, proof) : true;
  };
  const auto remembers_the_connection = [last = std::string()](AccessFixture* it, std::string_view method,
                                                               std::string_view proof) mutable {
    if (proof == "Bearer good") last = proof;
    return DecideByRules(it, method, last.empty() ? proof : std::string_view(last));
  };
  const auto takes_another_tables_policy = [](AccessFixture* it, std::string_view method,
                                              std::string_view proof) {
    const GrantsRef other = it->policies.Find(kOtherTable);
    return DecideByRules(it, method, proof) || (other != nullptr && proof == "Bearer good");
  };
  const auto forgets_the_instance = [](AccessFixture* it, std::string_view method, std::string_view proof) {
    return it->policies.Find(kInstance) == nullptr && DecideByRules(it, method, proof);
  };
  for (const Decide& decide :
       std::vector<Decide>{skips_proof, skips_expiry, allows_unknown, remembers_the_connection,
                           takes_another_tables_policy, forgets_the_instance}) {
    int cases = 0;
    EXPECT_GT(Differences(Methods(), FullNames(), decide, /*tell=*/false, &cases), 0);
  }
}

// An INSERT of SQL is decided by its handler, as its text names the series.
TEST(AccessMatrix, InsertNeedsToWriteToTablesAndToMakeThoseOfPeriods) {
  EXPECT_EQ(NameOf(PermissionToInsert(kTable)), "bigtable.tables.mutateRows");
  EXPECT_EQ(NameOf(PermissionToInsert(kInstance)), "bigtable.tables.create");
}

}  // namespace
}  // namespace sonde
