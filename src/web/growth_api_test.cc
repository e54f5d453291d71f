#include "web/growth_api.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "table/mutate_row_test_support.h"

namespace sonde {
namespace {

using Json = nlohmann::json;

class GrowthApiTest : public testing::Test {
 protected:
  GrowthApiTest() {
    TableSchema schema;
    schema.families = {{.name = "f"}};
    schema.name = "projects/p/instances/i/tables/quiet";
    quiet_ = *catalog_->Create(schema);
    schema.name = "projects/p/instances/i/tables/grows";
    schema_ = *catalog_->Create(schema);
    AddGrowthApi(&tables_, std::make_shared<DiskParts>(""), [this] { return new_series_.load(); }, &router_);
  }

  void Put(const TableSchemaRef& schema, const std::string& row, size_t bytes) {
    ASSERT_TRUE(MutateRow(tables_, *schema, {row, {SetCell{"f", "c", 1'000, std::string(bytes, 'x')}}}).ok());
  }

  absl::StatusOr<Json> Ask(std::map<std::string, std::string> query = {}) {
    HttpRequest request;
    for (const auto& [name, value] : query) request.query.emplace(name, value);
    HttpResponse response;
    const absl::Status status =
        router_.Find("GET", "/api/v1/growth").route->handler(request, nullptr, &response);
    if (!status.ok()) return status;
    return Json::parse(response.body);
  }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  SystemClock clock_;
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
  TableSchemaRef schema_, quiet_;
  std::atomic<uint64_t> new_series_ = 7;
  Router router_;
};

TEST_F(GrowthApiTest, CountsTheSeriesThatWereNewSince) {
  for (int i = 0; i < 200; ++i) {
    ++new_series_;
    const absl::StatusOr<Json> answer = Ask();
    ASSERT_TRUE(answer.ok()) << answer.status();
    // The first look is a thread's, soon after the start: until then nothing was new since.
    if (const int64_t count = (*answer)["new_series"]; count > 0) {
      EXPECT_LE(count, i + 1);
      const int64_t before = new_series_.load();
      new_series_ += 1'000;
      EXPECT_EQ((*Ask())["new_series"], count + 1'000) << before;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ADD_FAILURE() << "no series was new";
}

TEST_F(GrowthApiTest, NamesWhatGrewFirst) {
  Put(quiet_, "a", 1'000);
  // The first look is a thread's, soon after the start.
  for (int i = 0; i < 200; ++i) {
    Put(schema_, std::to_string(i), 10'000);
    const absl::StatusOr<Json> answer = Ask();
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ((*answer)["tables"].size(), 2);
    EXPECT_EQ((*answer)["tables_left_out"], 0);
    if ((*answer)["tables"][0]["grew"] > 0 && (*answer)["tables"][0]["id"] == "grows") {
      EXPECT_EQ((*answer)["tables"][0]["name"], "projects/p/instances/i/tables/grows");
      EXPECT_EQ((*Ask({{"limit", "1"}}))["tables_left_out"], 1);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ADD_FAILURE() << "nothing has grown";
}

TEST_F(GrowthApiTest, RefusesStretchesThatItDoesNotKeep) {
  EXPECT_EQ(Ask({{"seconds", "1209601"}}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Ask({{"x", "1"}}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
