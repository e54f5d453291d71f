#include "web/slow_api.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(SlowApi, GivesALineACallTheLastFirst) {
  SlowCalls calls;
  const absl::Time time = absl::UnixEpoch() + absl::Hours(24);
  calls.Record({.ended = time, .took = absl::Milliseconds(700), .method = "MutateRow", .resource = "\xff\""});
  calls.Record({.ended = time + absl::Microseconds(1),
                .took = absl::Microseconds(1'500'250),
                .method = "ReadRows",
                .code = absl::StatusCode::kUnavailable,
                .request = "ff-1",
                .trace = "4bf92f3577b34da6a3ce929d0e0e4736",
                .resource = "projects/p/instances/i/tables/t",
                .app_profile = "batch",
                .principal = "user:a@example.com",
                .filter = "sink",
                .cost = {.queued = absl::Milliseconds(250),
                         .untaken = absl::Milliseconds(1'000),
                         .rows_seen = 4,
                         .rows = 3,
                         .cells_seen = 2,
                         .cells = 1,
                         .bytes_seen = 20,
                         .bytes = 10,
                         .pages = 5,
                         .block_reads = 0}});
  Router router;
  AddSlowApi(&calls, &router);
  const Router::Match match = router.Find("GET", "/api/v1/slow");
  ASSERT_NE(match.route, nullptr);
  HttpResponse response;
  ASSERT_TRUE(match.route->handler({}, nullptr, &response).ok());
  EXPECT_EQ(response.content_type, "application/x-ndjson");
  EXPECT_EQ(
      response.body,
      R"({"time":"1970-01-02T00:00:00.000001Z","took_ms":1500.25,"queue_ms":250.0,"engine_ms":250.25,)"
      R"("method":"ReadRows","status":"UNAVAILABLE","request":"ff-1","trace":"4bf92f3577b34da6a3ce929d0e0e4736",)"
      R"("resource":"projects/p/instances/i/tables/t","app_profile":"batch","principal":"user:a@example.com",)"
      R"("filter":"sink","rows_seen":4,"rows":3,"cells_seen":2,"cells":1,"bytes_seen":20,"bytes":10,"pages":5,"block_reads":0})"
      "\n"
      R"({"time":"1970-01-02T00:00:00.000000Z","took_ms":700.0,"queue_ms":0.0,"engine_ms":700.0,"method":"MutateRow","status":"OK",)"
      "\"resource\":\"\xEF\xBF\xBD\\\"\",\"rows_seen\":0,\"rows\":0,\"cells_seen\":0,\"cells\":0,\"bytes_"
      "seen\":0,\"bytes\":0}\n");
}

}  // namespace
}  // namespace sonde
