// Dashboards over HTTP, under /api/v1/dashboards; docs/http-api.md describes it.
//
//   GET  /api/v1/dashboards                {"dashboards": [{"name", "title", "etag"}]}
//   GET  /api/v1/dashboards/{name}         the dashboard's document, with its name and etag
//   PUT  /api/v1/dashboards/{name}         saves a document; what GET gives may be sent back
//   POST /api/v1/dashboards/{name}/delete  {"deleted": name}
//
// A dashboard is saved questions and how they are shown.  Nobody sees data by it: the page asks the questions with its caller's right.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/record_store.h"
#include "web/http/router.h"

namespace sonde {

constexpr size_t kDashboardBytesMax = 256 << 10;
constexpr size_t kPanelsMax = 50;
constexpr size_t kVariablesMax = 20;

// A document as it is stored, of one that a client has sent: {"title", "instance", "variables": [{"name", "series", "tag"}],
// "panels": [{"title", "query", "shown"}]}.  `etag`: the document's member, which is not stored; empty: it has none.
// INVALID_ARGUMENT names the member, what is allowed, and what it is.
absl::StatusOr<std::string> CheckDashboard(std::string_view text, std::string_view name, std::string* etag);

// `records` must outlive the router.
void AddDashboardsApi(RecordStore* records, Router* router);

}  // namespace sonde
