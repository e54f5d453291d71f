// The words of the language: reserved and other keywords, and the symbols.  Each is a number that is known when
// this compiles.
//
//   if (token.word == Word("SELECT")) ...   // a word that does not exist fails to compile
//
// Source: GoogleSQL's lexical structure, with QUALIFY reserved, as BigQuery has it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::sql {

// clang-format off
inline constexpr auto kReservedWords = std::to_array<std::string_view>({
    "ALL", "AND", "ANY", "ARRAY", "AS", "ASC", "ASSERT_ROWS_MODIFIED", "AT", "BETWEEN", "BY", "CASE",
    "CAST", "COLLATE", "CONTAINS", "CREATE", "CROSS", "CUBE", "CURRENT", "DEFAULT", "DEFINE", "DESC",
    "DISTINCT", "ELSE", "END", "ENUM", "ESCAPE", "EXCEPT", "EXCLUDE", "EXISTS", "EXTRACT", "FALSE", "FETCH",
    "FOLLOWING", "FOR", "FROM", "FULL", "GROUP", "GROUPING", "GROUPS", "HASH", "HAVING", "IF", "IGNORE",
    "IN", "INNER", "INTERSECT", "INTERVAL", "INTO", "IS", "JOIN", "LATERAL", "LEFT", "LIKE", "LIMIT",
    "LOOKUP", "MERGE", "NATURAL", "NEW", "NO", "NOT", "NULL", "NULLS", "OF", "ON", "OR", "ORDER", "OUTER",
    "OVER", "PARTITION", "PRECEDING", "PROTO", "QUALIFY", "RANGE", "RECURSIVE", "RESPECT", "RIGHT",
    "ROLLUP", "ROWS", "SELECT", "SET", "SOME", "STRUCT", "TABLESAMPLE", "THEN", "TO", "TREAT", "TRUE",
    "UNBOUNDED", "UNION", "UNNEST", "USING", "WHEN", "WHERE", "WINDOW", "WITH", "WITHIN"});

inline constexpr auto kOtherKeywords = std::to_array<std::string_view>({
    "ABORT", "ACCESS", "ACTION", "ACYCLIC", "ADD", "AFTER", "AGGREGATE", "AI", "ALTER", "ALWAYS", "ANALYZE",
    "APPROX", "ARE", "ASCENDING", "ASSERT", "AUTO", "BACKWARDS", "BATCH", "BEGIN", "BIGDECIMAL",
    "BIGNUMERIC", "BREAK", "CALL", "CASCADE", "CHEAPEST", "CHECK", "CLAMPED", "CLONE", "CLUSTER", "COLUMN",
    "COLUMNS", "COMMIT", "CONDITION", "CONFLICT", "CONNECTION", "CONSTANT", "CONSTRAINT", "CONTINUE",
    "COPY", "CORRESPONDING", "COST", "CYCLE", "DATA", "DATABASE", "DATA_POLICY", "DATE", "DATETIME",
    "DECIMAL", "DECLARE", "DEFINER", "DELETE", "DELETION", "DEPTH", "DESCENDING", "DESCRIBE", "DESCRIPTOR",
    "DESTINATION", "DETERMINISTIC", "DO", "DROP", "DYNAMIC", "EDGE", "ELSEIF", "ENFORCED", "EPOCH", "ERROR",
    "EXCEPTION", "EXECUTE", "EXPLAIN", "EXPORT", "EXTEND", "EXTERNAL", "FILES", "FILL", "FILTER", "FINISH",
    "FIRST", "FOREIGN", "FORK", "FORMAT", "FORWARDS", "FUNCTION", "GENERATED", "GRANT", "GRAPH",
    "GROUP_ROWS", "HIDDEN", "IDENTITY", "IMMEDIATE", "IMMUTABLE", "IMPORT", "INCLUDE", "INCREMENT", "INDEX",
    "INOUT", "INPUT", "INSERT", "INTERLEAVE", "INVOKER", "ISOLATION", "ITERATE", "JSON", "KEY", "LABEL",
    "LABELED", "LANGUAGE", "LAST", "LEAVE", "LET", "LEVEL", "LIVE", "LOAD", "LOCALITY", "LOG", "LOOP",
    "MACRO", "MAP", "MATCH", "MATCHED", "MATERIALIZED", "MAX", "MAXVALUE", "MEASURES", "MESSAGE",
    "METADATA", "METRICS", "MIN", "MINVALUE", "MODEL", "MODULE", "NAME", "NEXT", "NODE", "NOTHING",
    "NULL_FILTERED", "NUMERIC", "OFFSET", "ONLY", "OPTIONAL", "OPTIONS", "ORIGIN", "OUT", "OUTPUT",
    "OVERWRITE", "PARENT", "PARTITIONS", "PAST", "PATH", "PATHS", "PATTERN", "PER", "PERCENT", "PERIOD",
    "PIVOT", "POLICIES", "POLICY", "PRIMARY", "PRIVATE", "PRIVILEGE", "PRIVILEGES", "PROCEDURE", "PROJECT",
    "PROPERTIES", "PROPERTY", "PUBLIC", "RAISE", "READ", "REBUILD", "REFERENCES", "REMOTE", "REMOVE",
    "RENAME", "REPEAT", "REPEATABLE", "REPLACE", "REPLACE_FIELDS", "REPLICA", "REPORT", "RESTRICT",
    "RESTRICTION", "RETURN", "RETURNS", "REVOKE", "ROLLBACK", "ROW", "RUN", "SAFE_CAST", "SCHEMA", "SEARCH",
    "SECURITY", "SEQUENCE", "SETS", "SHORTEST", "SHOW", "SIMPLE", "SKIP", "SNAPSHOT", "SOURCE", "SQL",
    "STABLE", "START", "STATIC_DESCRIBE", "STORED", "STORING", "STRICT", "SYSTEM", "SYSTEM_TIME", "TABLE",
    "TABLES", "TARGET", "TEE", "TEMP", "TEMPORARY", "TIME", "TIMESTAMP", "TRAIL", "TRANSACTION",
    "TRANSFORM", "TRUNCATE", "TYPE", "TYPES", "UNDROP", "UNIQUE", "UNKNOWN", "UNPIVOT", "UNTIL", "UPDATE",
    "VALUE", "VALUES", "VECTOR", "VERSION", "VIEW", "VIEWS", "VOLATILE", "WALK", "WEIGHT", "WHILE", "WRITE",
    "YIELD", "ZONE"});

// Longer ones stand before those that they begin with.  The last two stand for no text: errors name them.
inline constexpr auto kSymbols = std::to_array<std::string_view>({
    "<<", ">>", "<=", "<>", ">=", "!=", "||", "|>", "->", "=>", "@@", "@{", "+=", "-=",
    "(", ")", "[", "]", "{", "}", ",", ".", ";", "+", "-", "*", "/", "|", "^", "&", "~", "=", "<", ">", "@", "?", ":",
    "@ for hint", "end of input"});
// clang-format on
inline constexpr size_t kTextSymbolsCount = kSymbols.size() - 2;

class Word {
 public:
  constexpr Word() = default;  // no word
  // NOLINTNEXTLINE(google-explicit-constructor): a word is written as its text wherever one is asked for.
  consteval Word(const char* text) : index_(Find(text)) {}

  // The keyword that `text` is, in any case; nothing: an identifier.
  static std::optional<Word> Keyword(std::string_view text);
  // The longest symbol that `text` begins with.
  static std::optional<Word> Symbol(std::string_view text);

  std::string_view text() const;  // in upper case
  bool is_keyword() const { return index_ < kSymbolsBegin; }
  bool is_reserved() const { return index_ < kReservedWords.size(); }
  bool operator==(const Word&) const = default;

 private:
  static constexpr uint16_t kSymbolsBegin = kReservedWords.size() + kOtherKeywords.size();
  static constexpr uint16_t kNone = kSymbolsBegin + kSymbols.size();
  struct ByIndex {
    uint16_t index;
  };

  explicit constexpr Word(ByIndex at) : index_(at.index) {}

  static consteval uint16_t Find(std::string_view text) {
    uint16_t index = 0;
    for (const std::string_view word : kReservedWords) {
      if (word == text) return index;
      ++index;
    }
    for (const std::string_view word : kOtherKeywords) {
      if (word == text) return index;
      ++index;
    }
    for (const std::string_view word : kSymbols) {
      if (word == text) return index;
      ++index;
    }
    throw "no such word";  // reached, it ends the compilation
  }

  uint16_t index_ = kNone;
};

// ASCII letters in upper case; whether two texts differ in nothing but the case of these.
std::string UpperCase(std::string_view text);
bool IsSameWord(std::string_view a, std::string_view b);

// Whether `text`, unquoted, would be read as something else than a name.
bool IsReservedWord(std::string_view text);
// CURRENT_DATE and its like are calls without parentheses, unless they are quoted.
bool IsCurrentTime(std::string_view text);
// Whether `text`, a word in upper case, names a function although it is reserved: IF, LEFT, ...
bool IsFunctionWord(std::string_view text);

}  // namespace sonde::sql
