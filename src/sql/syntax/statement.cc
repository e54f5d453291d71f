// Statements: queries, EXPLAIN, and the names of the others.
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

#include "sql/syntax/grammar.h"
#include "sql/syntax/words.h"

namespace sonde::sql {
namespace {

struct StatementName {
  Word first;
  std::string_view name;
};

// Statements that the first word tells.
constexpr std::array kStatements = std::to_array<StatementName>({
    {"INSERT", "InsertStatement"},     {"UPDATE", "UpdateStatement"},
    {"DELETE", "DeleteStatement"},     {"MERGE", "MergeStatement"},
    {"TRUNCATE", "TruncateStatement"}, {"GRANT", "GrantStatement"},
    {"REVOKE", "RevokeStatement"},     {"RENAME", "RenameStatement"},
    {"UNDROP", "UndropStatement"},     {"BEGIN", "BeginStatement"},
    {"START", "BeginStatement"},       {"COMMIT", "CommitStatement"},
    {"ROLLBACK", "RollbackStatement"}, {"SET", "SingleAssignment"},
    {"SHOW", "ShowStatement"},         {"DESCRIBE", "DescribeStatement"},
    {"CALL", "CallStatement"},         {"ANALYZE", "AnalyzeStatement"},
    {"ASSERT", "AssertStatement"},     {"EXECUTE", "ExecuteImmediateStatement"},
    {"EXPORT", "ExportDataStatement"}, {"IMPORT", "ImportStatement"},
    {"MODULE", "ModuleStatement"},     {"DEFINE", "DefineTableStatement"},
    {"CLONE", "CloneDataStatement"},   {"LOAD", "AuxLoadDataStatement"},
});

// What CREATE, DROP and ALTER make, drop and alter.
struct ObjectName {
  Word first;
  Word second;
  std::string_view create;
  std::string_view drop;
  std::string_view alter;
};

constexpr std::array kObjects = std::to_array<ObjectName>({
    {"TABLE", "FUNCTION", "CreateTableFunctionStatement", "DropTableFunctionStatement", ""},
    {"TABLE", {}, "CreateTableStatement", "DropStatement", "AlterTableStatement"},
    {"EXTERNAL", "TABLE", "CreateExternalTableStatement", "DropStatement", "AlterExternalTableStatement"},
    {"SNAPSHOT", "TABLE", "CreateSnapshotTableStatement", "DropSnapshotTableStatement", ""},
    {"MATERIALIZED", "VIEW", "CreateMaterializedViewStatement", "DropMaterializedViewStatement",
     "AlterMaterializedViewStatement"},
    {"VIEW", {}, "CreateViewStatement", "DropStatement", "AlterViewStatement"},
    {"FUNCTION", {}, "CreateFunctionStatement", "DropFunctionStatement", ""},
    {"AGGREGATE", "FUNCTION", "CreateFunctionStatement", "DropFunctionStatement", ""},
    {"PROCEDURE", {}, "CreateProcedureStatement", "DropStatement", ""},
    {"INDEX", {}, "CreateIndexStatement", "DropStatement", ""},
    {"UNIQUE", "INDEX", "CreateIndexStatement", "DropStatement", ""},
    {"SCHEMA", {}, "CreateSchemaStatement", "DropStatement", "AlterSchemaStatement"},
    {"DATABASE", {}, "CreateDatabaseStatement", "DropStatement", "AlterDatabaseStatement"},
    {"MODEL", {}, "CreateModelStatement", "DropStatement", "AlterModelStatement"},
    {"CONSTANT", {}, "CreateConstantStatement", "DropStatement", ""},
    {"SEQUENCE", {}, "CreateEntityStatement", "DropEntityStatement", "AlterEntityStatement"},
});

}  // namespace

std::unique_ptr<Statement> Grammar::WholeStatement() {
  auto statement = std::make_unique<Statement>();
  std::vector<Hint> hints = Hints();
  if (tokens_.Take("EXPLAIN")) {
    statement->explain = tokens_.Take("ANALYZE") ? Statement::Explain::kAnalyze : Statement::Explain::kPlan;
    std::vector<Hint> more = Hints();
    std::move(more.begin(), more.end(), std::back_inserter(hints));
  }
  if (BeginsInsert()) {
    if (!hints.empty()) tokens_.Fail(tokens_.position(), "INSERT takes no hints before it");
    statement->insert = Insert();
    if (!statement->insert->rows.empty()) return FinishStatement(std::move(statement));
  }
  RefuseOtherStatement();
  statement->query = QueryBody();
  std::move(statement->query->hints.begin(), statement->query->hints.end(), std::back_inserter(hints));
  statement->query->hints = std::move(hints);
  return FinishStatement(std::move(statement));
}

std::unique_ptr<Statement> Grammar::FinishStatement(std::unique_ptr<Statement> statement) {
  tokens_.Take(";");
  if (!tokens_.Is(Token::Kind::kEnd)) tokens_.FailUnexpected({"end of input"});
  return statement;
}

bool Grammar::BeginsInsert() const {
  if (!tokens_.Is("INSERT")) return false;
  const size_t name = tokens_.Is("INTO", 1) ? 2 : 1;
  return IsSameWord(tokens_.Raw(tokens_.Peek(name)), "series") && tokens_.Is(".", name + 1);
}

std::unique_ptr<InsertInto> Grammar::Insert() {
  auto insert = std::make_unique<InsertInto>();
  insert->position = tokens_.position();
  tokens_.Skip();
  tokens_.Take("INTO");
  insert->into = DottedPath();
  // A query may begin with a parenthesis, too.
  if (tokens_.Is("(") && !OpensQuery()) {
    tokens_.Skip();
    List([&] {
      const Position position = tokens_.position();
      insert->columns.push_back({tokens_.TakeName(), position});
    });
    tokens_.Expect(")", {","});
  }
  if (!tokens_.Take("VALUES")) return insert;
  List([&] {
    InsertInto::Row& row = insert->rows.emplace_back();
    row.position = tokens_.position();
    tokens_.Expect("(");
    List([&] { row.values.push_back(Expression()); });
    tokens_.Expect(")", {","});
  });
  return insert;
}

ExprPtr Grammar::WholeExpression() {
  ExprPtr expr = Expression();
  if (!tokens_.Is(Token::Kind::kEnd)) tokens_.FailUnexpected({"end of input"});
  return expr;
}

void Grammar::RefuseOtherStatement() {
  std::string_view name;
  for (const StatementName& statement : kStatements) {
    if (tokens_.Is(statement.first)) name = statement.name;
  }
  if (tokens_.Is("CREATE") || tokens_.Is("DROP") || tokens_.Is("ALTER")) name = NameOfObjectStatement();
  if (!name.empty()) tokens_.Fail(tokens_.position(), fmt::format("Statement not supported: {}", name));
}

// Of CREATE [OR REPLACE] [TEMP | ...] object, DROP object, ALTER object.
std::string_view Grammar::NameOfObjectStatement() const {
  size_t ahead = 1;
  if (tokens_.Is("OR", ahead)) ahead += 2;
  for (const Word word : {Word("TEMP"), Word("TEMPORARY"), Word("PUBLIC"), Word("PRIVATE")}) {
    if (tokens_.Is(word, ahead)) ++ahead;
  }
  for (const ObjectName& object : kObjects) {
    if (!tokens_.Is(object.first, ahead) ||
        (object.second != Word() && !tokens_.Is(object.second, ahead + 1)))
      continue;
    const std::string_view name = tokens_.Is("CREATE") ? object.create
                                  : tokens_.Is("DROP") ? object.drop
                                                       : object.alter;
    if (!name.empty()) return name;
  }
  return tokens_.Is("CREATE") ? "CreateStatement" : tokens_.Is("DROP") ? "DropStatement" : "AlterStatement";
}

}  // namespace sonde::sql
