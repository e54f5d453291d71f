#include "access/http_rules.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::string_view kList = "bigtable.tables.list";
constexpr std::string_view kListLogical = "bigtable.logicalViews.list";
constexpr std::string_view kListMaterialized = "bigtable.materializedViews.list";
constexpr std::string_view kGet = "bigtable.tables.get";
constexpr std::string_view kRead = "bigtable.tables.readRows";
constexpr std::string_view kWrite = "bigtable.tables.mutateRows";
constexpr std::string_view kCreate = "bigtable.tables.create";
// A dashboard is saved questions, as a logical view is one.
constexpr std::string_view kGetView = "bigtable.logicalViews.get";
constexpr std::string_view kUpdateView = "bigtable.logicalViews.update";
constexpr std::string_view kDeleteView = "bigtable.logicalViews.delete";
constexpr std::string_view kHeat = "bigtable.keyvisualizer.get";
constexpr std::string_view kHeats = "bigtable.keyvisualizer.list";
constexpr std::string_view kMetrics = "sonde.metrics.get";
constexpr std::string_view kDebug = "sonde.debug.get";
constexpr std::string_view kCancel = "sonde.requests.cancel";

constexpr std::string_view kTableOfPath = "projects/{project}/instances/{instance}/tables/{table}";

// A write whose series is not declared makes tables, so such routes need kCreate, too.
constexpr std::array kHttpRules = {
    HttpRule{"GET", "/healthz", Door::kOpen},
    HttpRule{"GET", "/readyz", Door::kOpen},
    HttpRule{"GET", "/login", Door::kOpen},
    HttpRule{"POST", "/login", Door::kOpen},
    HttpRule{"POST", "/logout", Door::kAuthenticated},
    HttpRule{"GET", "/api/v1/session", Door::kAuthenticated},
    HttpRule{"GET", "/", Door::kAuthenticated},
    HttpRule{"GET", "/index.html", Door::kAuthenticated},
    HttpRule{"GET", "/icon.svg", Door::kAuthenticated},
    HttpRule{"GET", "/assets/*", Door::kAuthenticated},
    HttpRule{"GET", "/ping", Door::kAuthenticated},
    HttpRule{"GET", "/health", Door::kAuthenticated},
    HttpRule{"GET", "/metrics", Door::kDecided, {kMetrics}, kWholeServer},
    HttpRule{"GET", "/api/v1/overview", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"GET", "/api/v1/slow", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"GET", "/api/v1/running", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"POST", "/api/v1/running/cancel", Door::kDecided, {kCancel}, kWholeServer},
    HttpRule{"GET", "/api/v1/errors", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"GET", "/api/v1/latency", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"GET", "/api/v1/callers", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"GET", "/api/v1/growth", Door::kDecided, {kDebug}, kWholeServer},
    HttpRule{"GET", "/api/v1/findings", Door::kDecided, {kHeats}, kWholeServer},
    HttpRule{"GET", "/api/v1/tables", Door::kDecided, {kList}, kWholeServer},
    HttpRule{"GET", "/api/v1/views", Door::kDecided, {kListLogical, kListMaterialized}, kWholeServer},
    HttpRule{"GET", "/api/v1/tables/{project}/{instance}/{table}", Door::kDecided, {kGet}, kTableOfPath},
    HttpRule{
        "GET", "/api/v1/tables/{project}/{instance}/{table}/rows", Door::kDecided, {kRead}, kTableOfPath},
    HttpRule{
        "GET", "/api/v1/tables/{project}/{instance}/{table}/cell", Door::kDecided, {kRead}, kTableOfPath},
    HttpRule{
        "GET", "/api/v1/tables/{project}/{instance}/{table}/heatmap", Door::kDecided, {kHeat}, kTableOfPath},
    HttpRule{
        "GET", "/api/v1/tables/{project}/{instance}/{table}/findings", Door::kDecided, {kHeat}, kTableOfPath},
    HttpRule{"GET", "/api/v1/series", Door::kDecided, {kList}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/series/{name}", Door::kDecided, {kGet}, kSeriesInstance},
    HttpRule{"PUT", "/api/v1/series/{name}", Door::kDecided, {kWrite, kCreate}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/series/{name}/query", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/series/{name}/query", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/series/{name}/tags/{tag}/values", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/series/{name}/write", Door::kDecided, {kWrite, kCreate}, kSeriesInstance},
    HttpRule{"POST", "/write", Door::kDecided, {kWrite, kCreate}, kSeriesInstance},
    HttpRule{"POST", "/api/v2/write", Door::kDecided, {kWrite, kCreate}, kSeriesInstance},
    HttpRule{"GET", "/query", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/query", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/write", Door::kDecided, {kWrite, kCreate}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/read", Door::kDecided, {kRead}, kSeriesInstance},
    // Prometheus' API.  GET /api/v1/series with match[] is of it, too: its handler checks readRows.
    HttpRule{"GET", "/api/v1/query", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/query", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/query_range", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/query_range", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/query_exemplars", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/query_exemplars", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/format_query", Door::kAuthenticated},
    HttpRule{"POST", "/api/v1/format_query", Door::kAuthenticated},
    HttpRule{"GET", "/api/v1/parse_query", Door::kAuthenticated},
    HttpRule{"POST", "/api/v1/parse_query", Door::kAuthenticated},
    HttpRule{"POST", "/api/v1/series", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/labels", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/labels", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/label/{name}/values", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/metadata", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/rules", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/status/buildinfo", Door::kAuthenticated},
    HttpRule{"GET", "/api/v1/status/tsdb", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/export", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/export", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/import", Door::kDecided, {kWrite, kCreate}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/admin/tsdb/delete_series", Door::kDecided, {kWrite}, kSeriesInstance},
    HttpRule{"PUT", "/api/v1/admin/tsdb/delete_series", Door::kDecided, {kWrite}, kSeriesInstance},
    // In front of the rules for all that reads.
    HttpRule{
        "POST", "/prometheus/api/v1/admin/tsdb/delete_series", Door::kDecided, {kWrite}, kSeriesInstance},
    HttpRule{"PUT", "/prometheus/api/v1/admin/tsdb/delete_series", Door::kDecided, {kWrite}, kSeriesInstance},
    HttpRule{"GET", "/prometheus/api/v1/*", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"POST", "/prometheus/api/v1/*", Door::kDecided, {kRead}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/dashboards", Door::kDecided, {kListLogical}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/dashboards/{name}", Door::kDecided, {kGetView}, kSeriesInstance},
    HttpRule{"PUT", "/api/v1/dashboards/{name}", Door::kDecided, {kUpdateView}, kSeriesInstance},
    HttpRule{"POST", "/api/v1/dashboards/{name}/delete", Door::kDecided, {kDeleteView}, kSeriesInstance},
    HttpRule{"GET", "/api/v1/sql", Door::kAuthenticated},
    // The body names the instance, the tables and the views.  The handler checks instances.executeQuery on the
    // instance, readRows on each table and view that is read, and mutateRows on the tables of a series that INSERT writes to.
    HttpRule{"POST", "/api/v1/sql", Door::kAuthenticated},
};

}  // namespace

std::span<const HttpRule> AllHttpRules() { return kHttpRules; }

const HttpRule* FindHttpRule(std::string_view method, std::string_view path) {
  const auto* const found = std::find_if(kHttpRules.begin(), kHttpRules.end(), [&](const HttpRule& rule) {
    if (rule.method != method) return false;
    if (!rule.path.ends_with('*')) return rule.path == path;
    return path.starts_with(rule.path.substr(0, rule.path.size() - 1));
  });
  return found == kHttpRules.end() ? nullptr : found;
}

}  // namespace sonde
