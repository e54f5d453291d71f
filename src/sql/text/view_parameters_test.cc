#include <gtest/gtest.h>

#include "sql/testing/function_calls.h"

namespace sonde::sql {
namespace {

TEST(ViewParameters, AreTheTextsOfTheStatement) {
  const ViewParameters parameters = {{"user_id", "alice"}, {"empty", ""}};
  TestCall call;
  call.facts.view_parameters = &parameters;
  EXPECT_EQ(Called("VIEW_PARAMETERS", {"user_id"}, call), "STRING: \"alice\"");
  EXPECT_EQ(Called("VIEW_PARAMETERS", {"empty"}, call), "STRING: \"\"");
  EXPECT_EQ(Called("VIEW_PARAMETERS", {"USER_ID"}, call), "STRING: NULL");  // names have a case
  EXPECT_EQ(Called("VIEW_PARAMETERS", {"other"}, call), "STRING: NULL");
  EXPECT_EQ(Called("VIEW_PARAMETERS", {Value::Null(TypeKind::kString)}, call), "STRING: NULL");
}

TEST(ViewParameters, AreNullWhereNoneAreGiven) {
  EXPECT_EQ(Called("VIEW_PARAMETERS", {"user_id"}), "STRING: NULL");
}

TEST(ViewParameters, HaveNamesThatAreTexts) {
  EXPECT_EQ(Called("VIEW_PARAMETERS", {1}),
            "INVALID_ARGUMENT: No matching signature for function VIEW_PARAMETERS");
}

}  // namespace
}  // namespace sonde::sql
