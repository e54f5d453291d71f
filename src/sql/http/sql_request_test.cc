#include "sql/http/sql_request.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::sql {
namespace {

// The parameters of a body, a line each; or the error.
std::string Parameters(const std::string& params) {
  const absl::StatusOr<SqlRequest> request =
      ParseSqlRequest(R"({"query":"SELECT 1","params":)" + params + "}", {}, {});
  if (!request.ok()) return request.status().ToString();
  std::string text;
  for (const Question::Parameter& parameter : request->parameters) {
    text += parameter.name + ": " + parameter.value.type().ToString() + " " + parameter.value.ToSql() + "\n";
  }
  return text;
}

std::string Error(const std::string& body) {
  const absl::StatusOr<SqlRequest> request = ParseSqlRequest(body, {}, {});
  return request.ok() ? "" : request.status().ToString();
}

TEST(SqlRequest, HasWhatTheBodySaysAndElseWhatIsUsual) {
  const absl::StatusOr<SqlRequest> request =
      ParseSqlRequest(R"({"query": "SELECT 1", "format": "csv", "instance": "i", "timeout_ms": 50})",
                      {.project = "p", .instance = "usual"}, {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->query, "SELECT 1");
  EXPECT_EQ(request->format, AnswerFormat::kCsv);
  EXPECT_EQ(request->project, "p");
  EXPECT_EQ(request->instance, "i");
  EXPECT_EQ(request->timeout, absl::Milliseconds(50));
}

TEST(SqlRequest, TakesParametersByTheirLook) {
  EXPECT_EQ(Parameters(R"({"a":5,"b":5.5,"c":true,"d":"x","e":-9223372036854775808})"),
            "a: INT64 5\nb: FLOAT64 5.5\nc: BOOL true\nd: STRING \"x\"\ne: INT64 -9223372036854775808\n");
  EXPECT_EQ(Parameters(R"({"a":[1,null,2],"b":[1,2.5],"c":["x"]})"),
            "a: ARRAY<INT64> [1, NULL, 2]\nb: ARRAY<FLOAT64> [1, 2.5]\nc: ARRAY<STRING> [\"x\"]\n");
}

TEST(SqlRequest, CastsParametersToTheTypeThatTheyName) {
  EXPECT_EQ(Parameters(R"({"a":{"type":"BYTES","value":"k"},"b":{"type":"INT64","value":"7"},)"
                       R"("c":{"type":"STRING","value":null},"d":{"type":"ARRAY<BYTES>","value":["x",null]},)"
                       R"("e":{"type":"ARRAY<INT64>","value":[]},"f":{"type":"FLOAT64","value":1}})"),
            "a: BYTES b\"k\"\nb: INT64 7\nc: STRING NULL\nd: ARRAY<BYTES> [b\"x\", NULL]\n"
            "e: ARRAY<INT64> []\nf: FLOAT64 1\n");
}

TEST(SqlRequest, NamesTheParameterThatIsWrong) {
  EXPECT_EQ(Parameters(R"({"p":{"type":"INT64","value":"x"}})"),
            "INVALID_ARGUMENT: parameter 'p' is no INT64: Bad int64 value: x");
  EXPECT_EQ(Parameters(R"({"p":null})"),
            R"(INVALID_ARGUMENT: parameter 'p' needs a type, such as {"type": "STRING", "value": null})");
  EXPECT_EQ(Parameters(R"({"p":9223372036854775808})"), "INVALID_ARGUMENT: parameter 'p' is beyond INT64");
  for (const char* const array : {"[]", "[null]", R"([1,"x"])", "[[1]]"}) {
    EXPECT_EQ(Parameters(std::string(R"({"p":)") + array + "}"),
              R"(INVALID_ARGUMENT: parameter 'p' needs a type, such as {"type": "ARRAY<STRING>", "value": )"
              R"([...]}: its elements do not say one)")
        << array;
  }
  EXPECT_EQ(Parameters(R"({"p":{"type":"INT64"}})"),
            R"(INVALID_ARGUMENT: parameter 'p' must be a value, or {"type": "INT64", "value": ...})");
  EXPECT_EQ(Parameters("[]"),
            "INVALID_ARGUMENT: 'params' must be an object of at most 10000 parameters by name");
}

TEST(SqlRequest, SaysWhatIsAllowed) {
  const std::string shape =
      R"(INVALID_ARGUMENT: the body must be a JSON object, such as {"query": "SELECT 1"})";
  for (const char* const body : {"", "SELECT 1", "[]", "{\"query\":", "\xff"})
    EXPECT_EQ(Error(body), shape) << body;
  EXPECT_EQ(Error("{}"), "INVALID_ARGUMENT: 'query' is missing or empty");
  EXPECT_EQ(Error(R"({"query":5})"), "INVALID_ARGUMENT: 'query' must be a text");
  EXPECT_EQ(Error(R"({"query":"SELECT 1","format":"xml"})"),
            "INVALID_ARGUMENT: format 'xml'; allowed: json, csv");
  EXPECT_EQ(Error(R"({"sql":"SELECT 1"})"),
            "INVALID_ARGUMENT: unknown member 'sql'; allowed: format, instance, params, project, query, "
            "timeout_ms, view_parameters");
  EXPECT_EQ(Error(R"({"query":"SELECT 1","timeout_ms":0})"),
            "INVALID_ARGUMENT: 'timeout_ms' must be a whole number from 1 to 3600000, but is 0");
  EXPECT_EQ(Error(R"({"query":")" + std::string(kQueryBytesMax + 1, 'x') + "\"}"),
            "INVALID_ARGUMENT: the query has 1048577 bytes; 1048576 are allowed");
}

TEST(SqlRequest, TakesViewParametersThatAreTexts) {
  const absl::StatusOr<SqlRequest> request =
      ParseSqlRequest(R"({"query":"SELECT 1","view_parameters":{"user_id":"alice","other":null}})", {}, {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->view_parameters, (ViewParameters{{"user_id", "alice"}}));
  EXPECT_EQ(Error(R"({"query":"SELECT 1","view_parameters":{"user_id":1}})"),
            "INVALID_ARGUMENT: view parameter 'user_id' must have a name and be a text or null");
  EXPECT_EQ(Error(R"({"query":"SELECT 1","view_parameters":{"":"a"}})"),
            "INVALID_ARGUMENT: view parameter '' must have a name and be a text or null");
  EXPECT_EQ(Error(R"({"query":"SELECT 1","view_parameters":["a"]})"),
            "INVALID_ARGUMENT: 'view_parameters' must be an object of at most 10000 texts by name");
}

TEST(SqlRequest, DeepBodiesDoNoHarm) {
  EXPECT_NE(Error(R"({"query":"SELECT 1","params":{"p":)" + std::string(1'000'000, '[') +
                  std::string(1'000'000, ']') + "}}"),
            "");
}

}  // namespace
}  // namespace sonde::sql
