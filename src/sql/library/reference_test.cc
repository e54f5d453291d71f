#include "sql/library/reference.h"

#include <gtest/gtest.h>

#include "sql/library/library.h"

namespace sonde::sql {
namespace {

TEST(Reference, ShowsSignaturesMeaningExamplesAndResults) {
  const std::string text = Reference([](const Function& function, const std::string& example) {
    return function.name == "POW" && example == "POW(2, 10)" ? "1024" : "";
  });
  EXPECT_NE(text.find(R"(### POW

    POW(FLOAT64, FLOAT64) -> FLOAT64

The first number raised to the power of the second one.

Also: POWER.

    POW(2, 10)    -- 1024

)"),
            std::string::npos);
  EXPECT_EQ(text.find("### POWER"), std::string::npos);
  EXPECT_NE(text.find("\n- ST_AREA\n"), std::string::npos);
}

TEST(Reference, NamesEachFunction) {
  const std::string text = Reference();
  for (const Function& function : AllFunctions()) {
    EXPECT_NE(text.find(function.name), std::string::npos) << function.name;
  }
}

}  // namespace
}  // namespace sonde::sql
