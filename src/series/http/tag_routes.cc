// GET /api/v1/series/{name}/tags/{tag}/values: docs/http-series.md describes it.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes.h"
#include "series/http/asked_series.h"
#include "series/http/ingest_service.h"
#include "series/http/query_memory.h"
#include "series/query/query_request.h"
#include "series/query/tag_values.h"
#include "web/http/query_reader.h"

namespace sonde::series {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kValuesUsual = 100;
constexpr int64_t kValuesMax = 1'000;
constexpr size_t kTextBytesMax = 1'024;
// Somebody waits for the words while he types.
constexpr absl::Duration kSearchMax = absl::Seconds(2);

// Parameters have their names here, and are no flags of the command line.
absl::Status InWordsOfHere(const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrReplaceAll(status.message(),
                          {{"--where", "where"}, {"--from", "from"}, {"--to", "to"}, {"--last", "last"}}));
}

absl::Status AnswerValues(IngestService* service, const HttpRequest& request, HttpResponse* response) {
  const absl::StatusOr<KnownSeriesRef> series = FindSeriesToAsk(service, request);
  if (!series.ok()) return series.status();
  const SeriesSchema view = LabelsAsTags(**series);
  const std::string& name = request.parts.at("tag");
  const std::optional<size_t> tag = view.FindTag(name);
  QueryReader reader(request);
  const std::string prefix = reader.Text("prefix", kTextBytesMax);
  const auto limit = static_cast<size_t>(reader.Int("limit", kValuesUsual, 1, kValuesMax));
  QueryRequest asked;
  asked.from = reader.Text("from", kTextBytesMax);
  asked.to = reader.Text("to", kTextBytesMax);
  asked.last = reader.Text("last", kTextBytesMax);
  (void)reader.Text("where", kPatternBytesMax);
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  const auto [first, end] = request.query.equal_range("where");
  for (auto one = first; one != end; ++one) asked.where.push_back(one->second);
  if (!tag) {
    std::vector<std::string> names;
    for (const Tag& one : view.tags) names.push_back(one.name);
    return absl::NotFoundError(
        fmt::format("series '{}' has no tag '{}'; there are: {}", Printable(request.parts.at("name")),
                    Printable(name), names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  absl::StatusOr<Query> query = ParseQuery(view, asked, service->clock().NowMicros());
  if (!query.ok()) return InWordsOfHere(query.status());
  query->interrupted = [is_gone = InterruptedWhenGone(request), until = absl::Now() + kSearchMax] {
    if (absl::Now() > until) return absl::DeadlineExceededError("the search for values has ended");
    return is_gone ? is_gone() : absl::OkStatus();
  };
  const auto memory = std::make_shared<QueryMemory>(&service->admission());
  query->hold = [memory](int64_t more_bytes) { return memory->Hold(more_bytes); };
  query->index = &service->index();
  const absl::StatusOr<TagValues> found =
      ListTagValues(**series, *std::move(query), *tag, prefix, limit, service->TablesFor(request).get());
  if (!found.ok()) return InWordsOfHere(found.status());
  const Json answer = {{"tag", name},
                       {"values", found->values},
                       {"has_more", found->has_more},
                       {"rows_read", found->rows_read}};
  response->body = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return absl::OkStatus();
}

}  // namespace

void AddTagRoutes(IngestService* service, Router* router) {
  router->Add({"GET", "/api/v1/series/{name}/tags/{tag}/values",
               [service](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                 return AnswerValues(service, request, response);
               }});
}

}  // namespace sonde::series
