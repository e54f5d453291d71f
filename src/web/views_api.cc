#include "web/views_api.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/names.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

// A part of so many bytes is sent.
constexpr size_t kViewsPartBytes = 64 << 10;

struct ShownView {
  LogicalViewRef logical;            // or
  MaterializedViewRef materialized;  // one of the two

  const std::string& name() const { return logical != nullptr ? logical->name : materialized->name; }
  std::string ToJson() const {
    nlohmann::ordered_json json = {{"name", name()},
                                   {"id", IdOfSqlView(name())},
                                   {"instance", InstanceOfSqlView(name())},
                                   {"kind", logical != nullptr ? "logical" : "materialized"},
                                   {"query", logical != nullptr ? logical->query : materialized->query}};
    return json.dump();
  }
};

std::vector<ShownView> AllViews(const Catalog& catalog) {
  std::vector<ShownView> views;
  for (LogicalViewRef& view : catalog.ListAllLogicalViews()) views.push_back({std::move(view), nullptr});
  for (MaterializedViewRef& view : catalog.ListAllMaterializedViews())
    views.push_back({nullptr, std::move(view)});
  std::sort(views.begin(), views.end(),
            [](const ShownView& a, const ShownView& b) { return a.name() < b.name(); });
  return views;
}

}  // namespace

void AddViewsApi(const Catalog* catalog, Router* router) {
  router->Add(
      {"GET", "/api/v1/views", [catalog](const HttpRequest& request, HttpBody*, HttpResponse* response) {
         if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
         response->stream = [views = AllViews(*catalog),
                             at = size_t{0}](std::string* part) mutable -> absl::StatusOr<bool> {
           if (at == 0) *part += "{\"views\":[";
           for (; at < views.size() && part->size() < kViewsPartBytes; ++at) {
             if (at > 0) *part += ',';
             *part += views[at].ToJson();
           }
           if (at < views.size()) return true;
           *part += "]}\n";
           return false;
         };
         return absl::OkStatus();
       }});
}

}  // namespace sonde
