#include "wire/admin/instance_admin_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "engine/memory/memory_engine.h"
#include "table/mutate_row_test_support.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr int64_t kStartSeconds = 1'700'000'040;

class ListHotTabletsTest : public testing::Test {
 protected:
  ListHotTabletsTest()
      : directory_(std::filesystem::path(testing::TempDir()) /
                   ("list-hot-tablets-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(directory_);
    KeyVisualizer::Options options;
    options.directory = directory_;
    options.cpu_micros = [this] { return cpu_micros_; };
    key_visualizer_ = *KeyVisualizer::Open(options, &clock_);
    catalog_ = *Catalog::Open(engine_.get());
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, 1, key_visualizer_.get());
    schema_ = *catalog_->Create({.name = "projects/p/instances/i/tables/t",
                                 .families = {{.name = "f"}},
                                 .split_points = {"h", "m", "\xff"}});
    instances_ = *InstanceStore::Open(engine_.get(), catalog_.get(), /*backups=*/nullptr, &clock_);
  }
  ~ListHotTabletsTest() override {
    key_visualizer_.reset();
    std::filesystem::remove_all(directory_);
  }

  void WriteForAMinute(const std::string& prefix, int64_t cpu_micros_a_second) {
    for (int second = 0; second < 60; ++second) {
      for (int i = 0; i < 20; ++i) {
        const std::vector<Mutation> mutations = {SetCell{"f", "q", 1'000, "v"}};
        ASSERT_TRUE(MutateRow(*tables_, *schema_, {prefix + std::to_string(i), mutations, {}}).ok());
      }
      clock_.Advance(1'000'000);
      cpu_micros_ += cpu_micros_a_second;
      key_visualizer_->Tick();
    }
  }

  absl::Status List(std::function<void(admin::ListHotTabletsRequest*)> change = nullptr) {
    admin::ListHotTabletsRequest request;
    request.set_parent("projects/p/instances/i/clusters/sonde");
    if (change) change(&request);
    response_.Clear();
    return ListHotTablets(tables_.get(), *instances_, key_visualizer_.get(), request, &response_);
  }

  const std::filesystem::path directory_;
  ManualClock clock_{kStartSeconds * 1'000'000};
  int64_t cpu_micros_ = 0;
  const std::unique_ptr<Engine> engine_ = MemoryEngine::Create();
  std::unique_ptr<KeyVisualizer> key_visualizer_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  TableSchemaRef schema_;
  std::unique_ptr<InstanceStore> instances_;
  admin::ListHotTabletsResponse response_;
};

TEST_F(ListHotTabletsTest, NamesTheTabletThatTakesTheProcessor) {
  WriteForAMinute("kestrel", 600'000);
  ASSERT_TRUE(List().ok());
  ASSERT_EQ(response_.hot_tablets_size(), 1);
  const admin::HotTablet& hot = response_.hot_tablets(0);
  EXPECT_EQ(hot.table_name(), "projects/p/instances/i/tables/t");
  EXPECT_EQ(hot.start_key(), "h");
  EXPECT_EQ(hot.end_key(), "m");
  EXPECT_GT(hot.node_cpu_usage_percent(), 40);
  EXPECT_THAT(hot.name(), testing::StartsWith("projects/p/instances/i/clusters/sonde/hotTablets/"));
}

TEST_F(ListHotTabletsTest, TheHottestComesFirstAndPagesGoOn) {
  WriteForAMinute("kestrel", 600'000);
  WriteForAMinute("wren", 300'000);
  ASSERT_TRUE(List([](auto* request) { request->set_page_size(1); }).ok());
  ASSERT_EQ(response_.hot_tablets_size(), 1);
  EXPECT_EQ(response_.hot_tablets(0).start_key(), "h");
  const std::string token = response_.next_page_token();
  ASSERT_FALSE(token.empty());
  ASSERT_TRUE(List([&](auto* request) { request->set_page_token(token); }).ok());
  ASSERT_EQ(response_.hot_tablets_size(), 1);
  EXPECT_EQ(response_.hot_tablets(0).start_key(), "m");
  EXPECT_EQ(response_.hot_tablets(0).end_key(), "\\xff");
  EXPECT_EQ(response_.next_page_token(), "");
}

TEST_F(ListHotTabletsTest, QuietTablesHaveNone) {
  ASSERT_TRUE(List().ok());
  EXPECT_EQ(response_.hot_tablets_size(), 0);
}

TEST_F(ListHotTabletsTest, RefusesWhatIsWrong) {
  const auto code = [&](std::function<void(admin::ListHotTabletsRequest*)> change) {
    return List(change).code();
  };
  EXPECT_EQ(code([](auto* r) { r->set_parent("projects/p/instances/i"); }),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto* r) { r->set_parent("projects/p/instances/i/clusters/x"); }),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(code([](auto* r) { r->set_parent("projects/p/instances/i/clusters/-"); }), absl::StatusCode::kOk);
  EXPECT_EQ(code([](auto* r) { r->set_page_token("x"); }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto* r) { r->set_page_token("99999"); }), absl::StatusCode::kOk);
  EXPECT_EQ(code([](auto* r) { r->set_page_size(-1); }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto* r) { r->mutable_start_time()->set_seconds(kStartSeconds - 49 * 3600); }),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto* r) { r->mutable_start_time()->set_seconds(kStartSeconds + 1); }),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
