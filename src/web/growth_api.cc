#include "web/growth_api.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "metrics/size_history.h"
#include "model/names.h"
#include "upkeep/repeated_work.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;
using Sizes = std::vector<SizeHistory::Size>;

constexpr int64_t kStretchUsual = 3'600, kStretchLeast = 60;
constexpr int64_t kGrownUsual = 20, kGrownMax = 1'000;

// A disk that cannot be looked at now is looked at again soon.
constexpr absl::Duration kLookEvery = absl::Seconds(60);

class GrowthApi {
 public:
  GrowthApi(Tables* tables, std::shared_ptr<DiskParts> disk, std::function<uint64_t()> new_series)
      : tables_(tables),
        disk_(std::move(disk)),
        new_series_(std::move(new_series)),
        looks_(
            kLookEvery,
            [this] {
              Look(absl::Now());
              return absl::OkStatus();
            },
            [](const absl::Status&) {}) {}

  absl::Status Answer(const HttpRequest& request, HttpResponse* response) {
    QueryReader query(request);
    const int64_t seconds = query.Int("seconds", kStretchUsual, kStretchLeast, SizeHistory::kKept);
    const int64_t limit = query.Int("limit", kGrownUsual, 1, kGrownMax);
    if (absl::Status status = query.Finish(); !status.ok()) return status;
    const absl::Time now = absl::Now();
    const int64_t now_seconds = absl::ToUnixSeconds(now);
    const SizeHistory::Answer of_parts = parts_.Compare(PartSizes(now), now_seconds, seconds);
    const SizeHistory::Answer of_tables = of_tables_.Compare(TableSizes(), now_seconds, seconds);
    Json parts = Json::array(), tables = Json::array();
    for (const SizeHistory::Grown& part : of_parts.sizes) {
      parts.push_back({{"part", part.name}, {"bytes", part.bytes}, {"grew", part.grew}});
    }
    for (const SizeHistory::Grown& table : of_tables.sizes) {
      if (static_cast<int64_t>(tables.size()) == limit) break;
      tables.push_back({{"name", table.name},
                        {"id", IdOfTable(table.name)},
                        {"bytes", table.bytes},
                        {"grew", table.grew}});
    }
    const size_t left_out = of_tables.sizes.size() - tables.size();
    Json answer = {{"since", of_tables.since_seconds},
                   {"now", now_seconds},
                   {"parts", std::move(parts)},
                   {"tables", std::move(tables)},
                   {"tables_left_out", left_out}};
    if (new_series_ != nullptr)
      answer["new_series"] = of_series_.Compare(NewSeries(), now_seconds, seconds).sizes[0].grew;
    response->body = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return absl::OkStatus();
  }

 private:
  void Look(absl::Time now) {
    const int64_t now_seconds = absl::ToUnixSeconds(now);
    if (!of_tables_.Wants(now_seconds)) return;
    parts_.Note(PartSizes(now), now_seconds);
    of_tables_.Note(TableSizes(), now_seconds);
    if (new_series_ != nullptr) of_series_.Note(NewSeries(), now_seconds);
  }

  Sizes PartSizes(absl::Time now) const {
    Sizes sizes;
    for (const DiskParts::Part& part : disk_->List(now)) sizes.push_back({part.name, part.bytes});
    return sizes;
  }

  Sizes TableSizes() const {
    Sizes sizes;
    for (const TableSchemaRef& schema : tables_->catalog().ListAll()) {
      const absl::StatusOr<std::vector<RangeStats>> ranges = tables_->engine().Ranges(schema->id);
      if (!ranges.ok()) continue;  // it is being dropped
      uint64_t bytes = 0;
      for (const RangeStats& range : *ranges) bytes += range.bytes;
      sizes.push_back({schema->name, bytes});
    }
    return sizes;
  }

  // A count, and not bytes; its history is the same.
  Sizes NewSeries() const { return {{"series", new_series_()}}; }

  Tables* const tables_;
  const std::shared_ptr<DiskParts> disk_;
  const std::function<uint64_t()> new_series_;  // null: nobody counts them
  SizeHistory parts_;
  SizeHistory of_tables_;
  SizeHistory of_series_;
  RepeatedWork looks_;  // last, as it uses the others
};

}  // namespace

void AddGrowthApi(Tables* tables, std::shared_ptr<DiskParts> disk, std::function<uint64_t()> new_series,
                  Router* router) {
  const auto api = std::make_shared<GrowthApi>(tables, std::move(disk), std::move(new_series));
  router->Add({.method = "GET",
               .path = "/api/v1/growth",
               .handler = [api](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                 return api->Answer(request, response);
               }});
}

}  // namespace sonde
