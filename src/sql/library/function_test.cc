#include "sql/function/function.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sql/library/library.h"
#include "sql/testing/function_calls.h"

namespace sonde::sql {
namespace {

TEST(Function, IsFoundByName) {
  ASSERT_NE(FindFunction("$not"), nullptr);
  EXPECT_EQ(FindFunction("$not")->name, "$not");
  EXPECT_EQ(FindFunction("NO_SUCH_FUNCTION"), nullptr);
  EXPECT_EQ(FindFunction(""), nullptr);
}

TEST(Function, HasMeaningExampleAndWhatCarriesItOut) {
  std::set<std::string> names;
  for (const Function& function : AllFunctions()) {
    SCOPED_TRACE(function.name);
    EXPECT_TRUE(names.insert(function.name).second);
    EXPECT_FALSE(function.meaning.empty());
    if (function.kind == Function::Kind::kNotBuilt) continue;
    EXPECT_FALSE(function.overloads.empty());
    EXPECT_FALSE(function.examples.empty());
    for (const Overload& overload : function.overloads) {
      const std::string& text = overload.signature.text();
      EXPECT_EQ(overload.kernel != nullptr, function.kind == Function::Kind::kScalar) << text;
      if (function.kind == Function::Kind::kWindow) continue;
      EXPECT_EQ(overload.aggregator != nullptr, function.kind == Function::Kind::kAggregate) << text;
    }
  }
}

TEST(Function, IsCalled) {
  EXPECT_EQ(Called("$not", {true}), "BOOL: false");
  EXPECT_EQ(Called("$not", {TestArgument::Null()}), "BOOL: NULL");
  EXPECT_EQ(Called("$not", {1}), "INVALID_ARGUMENT: No matching signature for function $not");
}

}  // namespace
}  // namespace sonde::sql
