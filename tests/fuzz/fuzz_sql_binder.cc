// The binder: any text, and any soup of words of valid queries, is bound or refused with a code that a client understands.
#include <array>
#include <string>
#include <string_view>

#include "sql/bind/binder.h"
#include "target.h"

namespace sonde::sql {
namespace {

constexpr size_t kTextBytes = 1 << 12;

// What a soup is made of: one byte of the input a word.
constexpr std::array kWords = std::to_array<std::string_view>({"SELECT",
                                                               "FROM",
                                                               "WHERE",
                                                               "GROUP BY",
                                                               "HAVING",
                                                               "ORDER BY",
                                                               "LIMIT",
                                                               "OFFSET",
                                                               "DISTINCT",
                                                               "AS",
                                                               "ON",
                                                               "JOIN",
                                                               "LEFT JOIN",
                                                               "FULL JOIN",
                                                               "CROSS JOIN",
                                                               "USING",
                                                               "UNNEST",
                                                               "UNPACK",
                                                               "WITH",
                                                               "UNION ALL",
                                                               "EXCEPT DISTINCT",
                                                               "QUALIFY",
                                                               "WINDOW",
                                                               "OVER",
                                                               "PARTITION BY",
                                                               "ROWS",
                                                               "RANGE",
                                                               "BETWEEN",
                                                               "AND",
                                                               "OR",
                                                               "NOT",
                                                               "IN",
                                                               "LIKE",
                                                               "IS",
                                                               "NULL",
                                                               "TRUE",
                                                               "FALSE",
                                                               "CASE",
                                                               "WHEN",
                                                               "THEN",
                                                               "ELSE",
                                                               "END",
                                                               "CAST",
                                                               "SAFE_CAST",
                                                               "EXTRACT",
                                                               "INTERVAL",
                                                               "DAY",
                                                               "HOUR",
                                                               "YEAR",
                                                               "ARRAY",
                                                               "STRUCT",
                                                               "<",
                                                               ">",
                                                               "(",
                                                               ")",
                                                               "[",
                                                               "]",
                                                               ",",
                                                               ".",
                                                               "*",
                                                               "+",
                                                               "-",
                                                               "/",
                                                               "||",
                                                               "=",
                                                               "!=",
                                                               "<=",
                                                               "<<",
                                                               "&",
                                                               "->",
                                                               "=>",
                                                               "|>",
                                                               "EXTEND",
                                                               "SET",
                                                               "DROP",
                                                               "RENAME",
                                                               "AGGREGATE",
                                                               "CALL",
                                                               "@p",
                                                               "@s",
                                                               "1",
                                                               "0",
                                                               "-1",
                                                               "2.5",
                                                               "'a'",
                                                               "b'q'",
                                                               "''",
                                                               "DATE '2020-01-01'",
                                                               "TIMESTAMP '2020-01-01'",
                                                               "9223372036854775807",
                                                               "t",
                                                               "x",
                                                               "y",
                                                               "cf",
                                                               "n",
                                                               "_key",
                                                               "_timestamp",
                                                               "cf['q']",
                                                               "INT64",
                                                               "STRING",
                                                               "BYTES",
                                                               "FLOAT64",
                                                               "BOOL",
                                                               "COUNT(*)",
                                                               "SUM",
                                                               "MAX",
                                                               "ARRAY_AGG",
                                                               "STRING_AGG",
                                                               "ROW_NUMBER()",
                                                               "LAG",
                                                               "IF",
                                                               "COALESCE",
                                                               "IFERROR",
                                                               "CONCAT",
                                                               "SUBSTR",
                                                               "SPLIT",
                                                               "REGEXP_EXTRACT",
                                                               "FORMAT",
                                                               "ARRAY_FILTER",
                                                               "MAP_KEYS",
                                                               "TO_INT64",
                                                               "GENERATE_ARRAY",
                                                               "DATE_TRUNC",
                                                               "TIMESTAMP_ADD",
                                                               "ABS",
                                                               "SAFE.",
                                                               "WITH OFFSET",
                                                               "EXISTS",
                                                               "IGNORE NULLS",
                                                               "ASC",
                                                               "DESC",
                                                               "NULLS LAST",
                                                               "UNBOUNDED PRECEDING",
                                                               "CURRENT ROW",
                                                               "1 FOLLOWING",
                                                               "with_history => TRUE",
                                                               "latest_n => 2",
                                                               "EXPLAIN",
                                                               ";",
                                                               "FORMAT 'YYYY'",
                                                               "AT TIME ZONE",
                                                               "ASOF JOIN",
                                                               "TIME_BUCKET",
                                                               "[OFFSET(0)]",
                                                               "[SAFE_OFFSET(1)]",
                                                               "HLL_COUNT.INIT",
                                                               "WRITE_TIMESTAMP",
                                                               "LOGICAL_OR"});

std::string SoupOf(InputReader* input) {
  std::string text;
  while (!input->IsEmpty() && text.size() < kTextBytes) {
    text += kWords[input->Byte() % kWords.size()];
    text += ' ';
  }
  return text;
}

absl::StatusOr<TableSchemaRef> FindTable(std::string_view id) {
  if (id != "t") return absl::NotFoundError("Table not found");
  static const TableSchemaRef table = [] {
    auto schema = std::make_shared<TableSchema>();
    schema->name = "projects/p/instances/i/tables/t";
    schema->families = {{.name = "cf"}, {.name = "n", .aggregate = AggregateKind::kSum}};
    return schema;
  }();
  return table;
}

void CheckRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kResourceExhausted:
      return Require(!status.message().empty(), "a refusal says why");
    default:
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      Require(false, "the code of a refusal");
  }
}

void CheckText(std::string_view text, Dialect dialect) {
  BindOptions options;
  options.dialect = dialect;
  options.find_table = FindTable;
  options.parameters = {{"p", TypeKind::kInt64}, {"s", TypeKind::kString}};
  const absl::StatusOr<BoundQuery> query = ParseAndBind(text, options);
  if (!query.ok()) return CheckRefusal(query.status());
  Require(query->plan != nullptr, "a query has a plan");
  Require(!query->columns.empty(), "a query has columns");
  Require(query->columns.size() <= query->plan->types.size(), "the plan gives the columns of the query");
  const std::string plan = ToString(*query->plan);
  Require(!plan.empty(), "a plan is written");
  const absl::StatusOr<BoundQuery> again = ParseAndBind(text, options);
  Require(again.ok() && ToString(*again->plan) == plan, "a text is bound as the same plan each time");
}

}  // namespace
}  // namespace sonde::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::sql::kTextBytes) return 0;
  sonde::InputReader input(data, size);
  const uint8_t mode = input.Byte();
  // As readable inputs of the corpus begin with letters, these are texts.
  const bool is_text = mode >= 0x20;
  const std::string text =
      is_text ? std::string(reinterpret_cast<const char*>(data), size) : sonde::sql::SoupOf(&input);
  sonde::sql::CheckText(text, mode % 2 == 0 ? sonde::sql::Dialect::kSonde : sonde::sql::Dialect::kProduction);
  return 0;
}
