#include "web/views_api.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

class ViewsApiTest : public testing::Test {
 protected:
  std::string Get() {
    Router router;
    AddViewsApi(catalog_.get(), &router);
    const Router::Match match = router.Find("GET", "/api/v1/views");
    HttpResponse response;
    EXPECT_EQ(match.route->handler({}, nullptr, &response), absl::OkStatus());
    std::string text;
    parts_ = 0;
    for (bool has_more = true; has_more; text += std::exchange(part_, "")) {
      has_more = *response.stream(&part_);
      ++parts_;
    }
    return text;
  }

  int parts_ = 0;
  std::string part_;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
};

TEST_F(ViewsApiTest, GivesTheViewsOfAllInstancesByName) {
  EXPECT_EQ(Get(), "{\"views\":[]}\n");
  for (const char* name :
       {"projects/p/instances/j/logicalViews/a", "projects/p/instances/i/logicalViews/b"}) {
    ASSERT_TRUE(catalog_->CreateLogicalView({.name = name, .query = "SELECT \"x\""}).ok());
  }
  EXPECT_EQ(Get(),
            "{\"views\":["
            R"({"name":"projects/p/instances/i/logicalViews/b","id":"b","instance":"projects/p/instances/i",)"
            R"("kind":"logical","query":"SELECT \"x\""},)"
            R"({"name":"projects/p/instances/j/logicalViews/a","id":"a","instance":"projects/p/instances/j",)"
            R"("kind":"logical","query":"SELECT \"x\""}]})"
            "\n");
}

// What is long comes in parts.
TEST_F(ViewsApiTest, IsWholeInSeveralParts) {
  const std::string query(100'000, 'x');
  for (const char* name :
       {"projects/p/instances/i/logicalViews/a", "projects/p/instances/i/logicalViews/b"}) {
    ASSERT_TRUE(catalog_->CreateLogicalView({.name = name, .query = query}).ok());
  }
  const std::string text = Get();
  EXPECT_GT(text.size(), 2 * query.size());
  EXPECT_TRUE(text.ends_with("\"}]}\n"));
  EXPECT_EQ(parts_, 2);
}

}  // namespace
}  // namespace sonde
