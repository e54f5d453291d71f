// Answers statements for the suites that compare answers with those of other databases: one statement a line on stdin, an answer a
// line on stdout.  Statements read no tables.
//
//   ok TAB columns TAB name TAB type TAB ... TAB value TAB value ...      rows one after the other
//   error TAB CODE TAB text
//
// Values are written as Value::ToSql writes them, but for numbers: a FLOAT64 has 17 digits, a FLOAT32 nine, and -0 its sign.  The
// entries of a map are ordered by their texts.  A newline or backslash in the text of an error is written \n or \\.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "sql/bind/binder.h"
#include "sql/exec/execution.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr absl::Duration kStatementTimeMax = absl::Seconds(20);
constexpr size_t kRowsMax = 100'000;

void AppendNumber(double number, int digits, std::string* text) {
  if (std::isnan(number)) {
    *text += "nan";
  } else if (std::isinf(number)) {
    *text += number < 0 ? "-inf" : "inf";
  } else {
    *text += fmt::format("{:.{}g}", number, digits);
  }
}

std::string Exact(const Type& type, const Datum& datum) {
  if (!datum.is_there) return "NULL";
  std::string text;
  std::vector<std::string> items;
  switch (type.kind()) {
    case TypeKind::kFloat32:
      AppendNumber(datum.number, 9, &text);
      return text;
    case TypeKind::kFloat64:
      AppendNumber(datum.number, 17, &text);
      return text;
    case TypeKind::kArray:
      for (const Datum& item : datum.list()) items.push_back(Exact(type.element(), item));
      return fmt::format("[{}]", fmt::join(items, ", "));
    case TypeKind::kStruct:
      for (size_t i = 0; i < datum.list().size(); ++i) {
        items.push_back(Exact(type.fields()[i].type, datum.list()[i]));
      }
      return fmt::format("({})", fmt::join(items, ", "));
    case TypeKind::kMap:
      for (size_t i = 0; i + 1 < datum.list().size(); i += 2) {
        items.push_back(Exact(type.key(), datum.list()[i]) + ": " + Exact(type.value(), datum.list()[i + 1]));
      }
      std::sort(items.begin(), items.end());
      return fmt::format("{{{}}}", fmt::join(items, ", "));
    default:
      AppendSql(type, datum, &text);
      return text;
  }
}

absl::StatusOr<std::string> AnswerOf(std::string_view statement) {
  BindOptions options;
  options.find_table = [](std::string_view id) {
    return absl::NotFoundError(fmt::format("Table not found: {}", id));
  };
  const absl::StatusOr<BoundQuery> query = ParseAndBind(statement, options);
  if (!query.ok()) return query.status();
  std::string answer = fmt::format("ok\t{}", query->columns.size());
  for (const OutputColumn& column : query->columns) {
    answer += fmt::format("\t{}\t{}", column.name, column.type.ToString());
  }
  ExecutionEnvironment environment;
  environment.deadline = absl::Now() + kStatementTimeMax;
  const absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(*query, {}, environment);
  if (!execution.ok()) return execution.status();
  rows::Batch batch;
  size_t rows = 0;
  while (true) {
    const absl::StatusOr<bool> more = (*execution)->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) return answer;
    rows += batch.rows;
    if (rows > kRowsMax) return absl::ResourceExhaustedError("The answer has too many rows to compare");
    for (size_t row = 0; row < batch.rows; ++row) {
      for (size_t i = 0; i < query->columns.size(); ++i) {
        answer += "\t" + Exact(query->columns[i].type, DatumAt(batch.columns[i], row));
      }
    }
  }
}

std::string LineOf(std::string_view statement) {
  const absl::StatusOr<std::string> answer = AnswerOf(statement);
  if (answer.ok()) return *answer;
  return fmt::format("error\t{}\t{}", absl::StatusCodeToString(answer.status().code()),
                     absl::StrReplaceAll(answer.status().message(),
                                         {{"\\", "\\\\"}, {"\n", "\\n"}, {"\r", "\\r"}, {"\t", "\\t"}}));
}

}  // namespace
}  // namespace sonde::sql

int main() {
  std::string statement;
  while (std::getline(std::cin, statement)) {
    std::cout << sonde::sql::LineOf(statement) << std::endl;  // the suite waits for each line
  }
  return 0;
}
