// The dashboards that people have saved: records "dashboard/" + name, each a JSON document.
//
// Records are read for every request, so servers that share a store see each other's dashboards at once.
// Threads: all functions may be called at once.  Errors are those of the engine, and those that a function names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/record_store.h"

namespace sonde {

struct Dashboard {
  std::string name;
  std::string etag;      // another one for another document
  std::string document;  // JSON, as CheckDashboard gives it
};

class DashboardStore {
 public:
  static constexpr std::string_view kRecordPrefix = "dashboard/";
  static constexpr size_t kDashboardsMax = 1'000;

  // `records` must outlive it.
  explicit DashboardStore(RecordStore* records) : records_(records) {}

  // By name.
  absl::StatusOr<std::vector<Dashboard>> List();
  // NOT_FOUND: there is none of the name.
  absl::StatusOr<Dashboard> Get(std::string_view name);
  // Puts `document` in the place of the dashboard's, or makes the dashboard.  `etag`: of the one that is to be replaced; empty: any, or
  // none.  ABORTED: it has changed since.  RESOURCE_EXHAUSTED: there are kDashboardsMax others.
  absl::StatusOr<Dashboard> Put(std::string_view name, std::string document, std::string_view etag);
  // NOT_FOUND: there is none of the name.
  absl::Status Delete(std::string_view name);

 private:
  RecordStore* const records_;
};

}  // namespace sonde
