#include "web/http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Router Example() {
  Router router;
  for (const auto& [method, path] : std::vector<std::pair<std::string, std::string>>{
           {"GET", "/"},
           {"GET", "/healthz"},
           {"POST", "/write"},
           {"PUT", "/write"},
           {"GET", "/api/v1/tables/{table}/rows"},
           {"GET", "/assets/{file...}"},
       }) {
    router.Add({method, path, nullptr});
  }
  return router;
}

std::string PathOf(const Router::Match& match) { return match.route == nullptr ? "none" : match.route->path; }

TEST(Router, FindsByMethodAndPath) {
  const Router router = Example();
  EXPECT_EQ(PathOf(router.Find("GET", "/")), "/");
  EXPECT_EQ(PathOf(router.Find("GET", "/healthz")), "/healthz");
  EXPECT_EQ(router.Find("PUT", "/write").route->method, "PUT");
  const Router::Match rows = router.Find("GET", "/api/v1/tables/METRIC/rows");
  EXPECT_EQ(PathOf(rows), "/api/v1/tables/{table}/rows");
  EXPECT_THAT(rows.parts, ElementsAre(Pair("table", "METRIC")));
  EXPECT_THAT(router.Find("GET", "/assets/a/b.js").parts, ElementsAre(Pair("file", "a/b.js")));
}

TEST(Router, ANameMayHaveAnySign) {
  const Router router = Example();
  EXPECT_THAT(router.Find("GET", "/api/v1/tables/%3C%2Fb%3E%20%252F/rows").parts,
              ElementsAre(Pair("table", "</b> %2F")));
  EXPECT_EQ(PathOf(router.Find("GET", "/%68ealthz")), "/healthz");
  EXPECT_EQ(PathOf(router.Find("GET", "/api%2Fv1/tables/a/rows")), "none");
}

TEST(Router, FindsNothingElse) {
  const Router router = Example();
  for (const std::string path : {"", "//", "/health", "/healthz/", "/api/v1/tables//rows",
                                 "/api/v1/tables/a/b/rows", "/api/v1/tables/a/rows/", "/api/v1/tables/a"}) {
    EXPECT_EQ(PathOf(router.Find("GET", path)), "none") << path;
    EXPECT_THAT(router.Find("GET", path).allowed_methods, IsEmpty()) << path;
  }
}

TEST(Router, SaysWhichMethodsThereAre) {
  EXPECT_THAT(Example().Find("GET", "/write").allowed_methods, ElementsAre("POST", "PUT"));
}

}  // namespace
}  // namespace sonde
