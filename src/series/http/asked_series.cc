#include "series/http/asked_series.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "series/schema/schema.h"

namespace sonde::series {

absl::StatusOr<KnownSeriesRef> FindSeries(IngestService* service, const HttpRequest& request) {
  const std::string& name = request.parts.at("name");
  absl::StatusOr<KnownSeriesRef> series = service->declarations().FindStored(name);
  if (!series.ok() || *series != nullptr) return series;
  return absl::NotFoundError(fmt::format(
      "no series '{}'; PUT its declaration here, or send points of it to /write", Printable(name)));
}

absl::StatusOr<KnownSeriesRef> FindSeriesToAsk(IngestService* service, const HttpRequest& request) {
  absl::StatusOr<KnownSeriesRef> series = FindSeries(service, request);
  const std::string& name = request.parts.at("name");
  const size_t at = name.rfind('@');
  if (series.ok() || !absl::IsNotFound(series.status()) || at == std::string::npos) return series;
  const std::string table = name.substr(at + 1);
  const absl::StatusOr<KnownSeriesRef> base = service->declarations().FindStored(name.substr(0, at));
  if (!base.ok()) return base.status();
  if (*base == nullptr || (*base)->is_open()) return series;
  std::optional<SeriesSchema> derived = SchemaOfTable((*base)->schema, table);
  if (!derived) {
    return absl::NotFoundError(
        fmt::format("series '{}' has no table '{}'", (*base)->schema.name, Printable(table)));
  }
  return std::make_shared<const KnownSeries>(KnownSeries{*std::move(derived), (*base)->yaml, {}});
}

}  // namespace sonde::series
