#include "cli/sql_prompt.h"

#include <editline/readline.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "series/known/declaration_store.h"
#include "series/known/known_series.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/syntax/printer.h"

namespace sonde {
namespace {

constexpr int kHistoryLinesMax = 10'000;
constexpr size_t kStatementBytesMax = 1 << 20;

// The words that can complete a line.  The library wants a plain function, so they are kept here while a prompt runs.
std::vector<std::string>* words_of_prompt = nullptr;

char* NextWord(const char* begun, int state) {
  static size_t next = 0;
  if (state == 0) next = 0;
  while (words_of_prompt != nullptr && next < words_of_prompt->size()) {
    const std::string& word = (*words_of_prompt)[next++];
    // A name that needs backticks is found without them: nobody knows of them before the name is complete.
    if (absl::StartsWithIgnoreCase(absl::StrReplaceAll(word, {{"`", ""}}), begun))
      return strdup(word.c_str());
  }
  return nullptr;
}

char** Complete(const char* begun, int /*start*/, int /*end*/) {
  rl_attempted_completion_over = 1;  // no names of files
  return rl_completion_matches(begun, NextWord);
}

// Names of series, of their tags and fields.
void AppendSeries(const SqlSession& session, std::vector<std::string>* words) {
  const absl::StatusOr<std::vector<series::StoredSeries>> all = series::ListStored(session.tables.get());
  if (!all.ok()) return;
  for (const series::StoredSeries& stored : *all) {
    words->push_back("series." + sql::PrintName(stored.series));
    const absl::StatusOr<series::KnownSeries> known = series::ParseStored(stored);
    if (!known.ok()) continue;
    const series::SeriesSchema schema = series::LabelsAsTags(*known);
    for (const series::Tag& tag : schema.tags) words->push_back(sql::PrintName(tag.name));
    for (const series::Field& field : schema.fields) words->push_back(sql::PrintName(field.name));
  }
}

std::vector<std::string> WordsOf(const SqlSession& session) {
  std::vector<std::string> words = {
      "SELECT",  "FROM",   "WHERE",  "GROUP BY",  "HAVING",      "ORDER BY", "LIMIT", "OFFSET",
      "UNNEST",  "UNPACK", "AND",    "OR",        "NOT",         "IN",       "LIKE",  "BETWEEN",
      "IS NULL", "CASE",   "WHEN",   "THEN",      "ELSE",        "END",      "CAST",  "DISTINCT",
      "EXPLAIN", "JOIN",   "EXTEND", "AGGREGATE", "SHOW TABLES", "DESCRIBE", "_key",  "_timestamp"};
  for (const sql::Function& function : sql::AllFunctions()) {
    if (!function.name.starts_with('$')) words.push_back(function.name + "(");
  }
  const absl::StatusOr<std::vector<std::string>> tables = session.tables->ListTables();
  if (!tables.ok()) return words;
  for (const std::string& table : *tables) {
    words.push_back(sql::PrintName(table));
    const absl::StatusOr<std::vector<FamilyRequest>> families = session.tables->ListFamilies(table);
    if (!families.ok()) continue;
    for (const FamilyRequest& family : *families) words.push_back(sql::PrintName(family.name));
  }
  if (absl::StatusOr<std::vector<std::string>> views = session.sql->ListViews(); views.ok()) {
    std::ranges::transform(*views, std::back_inserter(words), sql::PrintName);
  }
  AppendSeries(session, &words);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// Empty: there is no place for it.
std::string HistoryFile() {
  std::filesystem::path directory;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    directory = state;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    directory = std::filesystem::path(home) / ".local" / "state";
  } else {
    return "";
  }
  std::error_code error;
  std::filesystem::create_directories(directory / "sonde", error);
  return error ? "" : (directory / "sonde" / "sql_history").string();
}

// Whether a statement ends here: its last character is a semicolon, or it is one word of the prompt's own.
bool IsWhole(const std::string& statement) {
  const std::string text(absl::StripAsciiWhitespace(statement));
  return text.ends_with(';') || absl::EqualsIgnoreCase(text, "quit") ||
         absl::EqualsIgnoreCase(text, "exit") || absl::EqualsIgnoreCase(text, "help");
}

void PrintHelp() {
  fmt::print(
      "A statement ends with a semicolon.  SHOW TABLES; and DESCRIBE table; say what is there, views too; "
      "EXPLAIN "
      "query; how it "
      "would be\nread.  The tabulator completes words.  quit, or Ctrl-D, ends.\n");
}

}  // namespace

void RunSqlPrompt(const SqlSession& session, SqlOptions options) {
  options.says_how_many = true;
  std::vector<std::string> words = WordsOf(session);
  words_of_prompt = &words;
  rl_readline_name = "sonde";
  rl_attempted_completion_function = Complete;
  using_history();
  stifle_history(kHistoryLinesMax);
  const std::string history = HistoryFile();
  if (!history.empty()) read_history(history.c_str());
  fmt::print("SQL over Bigtable tables; help tells more.\n");
  std::string statement;
  while (char* const line = readline(statement.empty() ? "sonde> " : "   ... ")) {
    statement += statement.empty() ? line : std::string("\n") + line;
    std::free(line);
    if (absl::StripAsciiWhitespace(statement).empty()) statement.clear();
    if (statement.empty()) continue;
    if (!IsWhole(statement) && statement.size() < kStatementBytesMax) continue;
    add_history(statement.c_str());
    const std::string whole(absl::StripAsciiWhitespace(std::exchange(statement, std::string())));
    if (absl::EqualsIgnoreCase(whole, "quit") || absl::EqualsIgnoreCase(whole, "exit")) break;
    if (absl::EqualsIgnoreCase(whole, "help")) {
      PrintHelp();
      continue;
    }
    const absl::Status status = RunStatement(session, whole, options, &std::cout);
    std::cout.flush();
    if (!status.ok()) fmt::print(stderr, "{}\n", std::string(status.message()));
  }
  if (!history.empty()) write_history(history.c_str());
  words_of_prompt = nullptr;
}

}  // namespace sonde
