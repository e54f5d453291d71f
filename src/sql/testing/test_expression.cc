#include "sql/testing/test_expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/check.h"
#include "sql/cast/cast.h"
#include "sql/function/function.h"
#include "sql/testing/function_calls.h"

namespace sonde::sql {
namespace {

struct Token {
  enum class Kind : uint8_t { kWord, kNumber, kString, kBytes, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // of kString and kBytes without quotes and escapes
  size_t at = 0;
};

void AppendUtf8(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
  } else if (code < 0x10000) {
    *text += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
              static_cast<char>(0x80 | (code & 0x3f))};
  } else {
    *text += {static_cast<char>(0xf0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3f)),
              static_cast<char>(0x80 | (code >> 6 & 0x3f)), static_cast<char>(0x80 | (code & 0x3f))};
  }
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    do {
      tokens_.push_back(Next());
    } while (tokens_.back().kind != Token::Kind::kEnd);
  }

  std::vector<Token> Take() { return std::move(tokens_); }

 private:
  char At(size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

  Token Next() {
    while (absl::ascii_isspace(At(place_))) ++place_;
    const size_t start = place_;
    if (place_ == text_.size()) return {Token::Kind::kEnd, "", start};
    size_t quote = place_;
    while (quote < place_ + 2 && absl::ascii_isalpha(At(quote))) ++quote;
    const std::string prefix = absl::AsciiStrToLower(std::string(text_.substr(place_, quote - place_)));
    if ((At(quote) == '\'' || At(quote) == '"') && prefix.find_first_not_of("rb") == std::string::npos) {
      place_ = quote;
      return Quoted(prefix);
    }
    if (absl::ascii_isalpha(At(place_)) || At(place_) == '_' || At(place_) == '$') {
      while (absl::ascii_isalnum(At(place_)) || At(place_) == '_' || At(place_) == '$' || At(place_) == '.')
        ++place_;
      return {Token::Kind::kWord, std::string(text_.substr(start, place_ - start)), start};
    }
    if (absl::ascii_isdigit(At(place_)) || (At(place_) == '.' && absl::ascii_isdigit(At(place_ + 1))))
      return Number();
    for (const std::string_view symbol : {"||", "<<", ">>", "<=", ">=", "!=", "<>", "->", "=>"}) {
      if (text_.substr(place_, 2) == symbol) {
        place_ += 2;
        return {Token::Kind::kSymbol, std::string(symbol), start};
      }
    }
    ++place_;
    return {Token::Kind::kSymbol, std::string(1, text_[start]), start};
  }

  Token Number() {
    const size_t start = place_;
    if (At(place_) == '0' && absl::ascii_tolower(At(place_ + 1)) == 'x') {
      place_ += 2;
      while (absl::ascii_isxdigit(At(place_))) ++place_;
    } else {
      while (absl::ascii_isdigit(At(place_)) || At(place_) == '.') ++place_;
      if (absl::ascii_tolower(At(place_)) == 'e') {
        ++place_;
        if (At(place_) == '-' || At(place_) == '+') ++place_;
        while (absl::ascii_isdigit(At(place_))) ++place_;
      }
    }
    return {Token::Kind::kNumber, std::string(text_.substr(start, place_ - start)), start};
  }

  uint32_t Code(size_t digits, int base) {
    const auto code =
        static_cast<uint32_t>(std::strtoul(std::string(text_.substr(place_, digits)).c_str(), nullptr, base));
    place_ += digits;
    return code;
  }

  void Escape(bool is_bytes, std::string* out) {
    static constexpr std::string_view kNames = "abfnrtv";
    static constexpr std::string_view kValues = "\a\b\f\n\r\t\v";
    const char c = At(place_++);
    if (c == 'x' || c == 'X') {
      const uint32_t code = Code(2, 16);
      return is_bytes ? out->push_back(static_cast<char>(code)) : AppendUtf8(code, out);
    }
    if (c == 'u') return AppendUtf8(Code(4, 16), out);
    if (c == 'U') return AppendUtf8(Code(8, 16), out);
    if (c >= '0' && c <= '3') {
      --place_;
      const uint32_t code = Code(3, 8);
      return is_bytes ? out->push_back(static_cast<char>(code)) : AppendUtf8(code, out);
    }
    const size_t known = kNames.find(c);
    *out += known == std::string_view::npos ? c : kValues[known];
  }

  Token Quoted(const std::string& prefix) {
    const bool is_bytes = prefix.find('b') != std::string::npos;
    const bool is_raw = prefix.find('r') != std::string::npos;
    const char quote = At(place_++);
    Token token{is_bytes ? Token::Kind::kBytes : Token::Kind::kString, "", place_};
    while (At(place_) != quote) {
      CHECK(place_ < text_.size());
      if (At(place_) == '\\' && !is_raw) {
        ++place_;
        Escape(is_bytes, &token.text);
      } else {
        if (At(place_) == '\\') token.text += At(place_++);
        token.text += At(place_++);
      }
    }
    ++place_;
    return token;
  }

  const std::string_view text_;
  size_t place_ = 0;
  std::vector<Token> tokens_;
};

using Names = std::map<std::string, TestArgument>;

// Evaluates while it reads.  The body of a lambda is read again at each call.
class Reader {
 public:
  Reader(std::vector<Token> tokens, const StatementFacts& facts)
      : tokens_(std::move(tokens)), facts_(facts) {}

  absl::StatusOr<Value> Run() {
    const TestArgument result = Expression(0);
    if (status_.ok() && Peek().kind != Token::Kind::kEnd) Fail(absl::InternalError("rest: " + Peek().text));
    if (!status_.ok()) return status_;
    return result.value;
  }

 private:
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(place_ + ahead, tokens_.size() - 1)]; }
  bool Is(std::string_view text, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    if (token.kind == Token::Kind::kSymbol) return token.text == text;
    return token.kind == Token::Kind::kWord && absl::AsciiStrToUpper(token.text) == text;
  }
  bool Take(std::string_view text) {
    if (!Is(text)) return false;
    ++place_;
    return true;
  }
  void Expect(std::string_view text) {
    if (!Take(text)) Fail(absl::InternalError(fmt::format("expected {} but got {}", text, Peek().text)));
  }
  void Fail(absl::Status why) {
    if (status_.ok()) status_ = std::move(why);
  }
  std::string Word() { return absl::AsciiStrToUpper(tokens_[std::min(place_++, tokens_.size() - 1)].text); }

  TestArgument Result(absl::StatusOr<Value> value, bool is_literal = false) {
    if (!value.ok()) {
      Fail(value.status());
      return TestArgument::Null();
    }
    return is_literal ? TestArgument(*std::move(value)) : TestArgument::NotLiteral(*std::move(value));
  }
  TestArgument Call(std::string_view name, std::vector<TestArgument> arguments, bool is_safe = false) {
    if (!status_.ok()) return TestArgument::Null();
    TestCall call;
    call.is_safe = is_safe;
    call.facts = facts_;
    return Result(CallFunction(name, std::move(arguments), call));
  }
  TestArgument Cast(std::vector<TestArgument> arguments, const Type& to, bool is_safe,
                    bool is_literal = false) {
    if (!status_.ok()) return TestArgument::Null();
    TestCall call;
    call.is_safe = is_safe;
    call.facts = facts_;
    return Result(CallCast(std::move(arguments), to, call), is_literal);
  }

  TestArgument Expression(int level);
  TestArgument Comparison(TestArgument left);
  TestArgument In(TestArgument left);
  TestArgument IsOperator(TestArgument left);
  TestArgument Unary();
  TestArgument Subscript(TestArgument array);
  TestArgument Primary();
  TestArgument Number();
  TestArgument FromWord();
  TestArgument FunctionCall(std::string name);
  TestArgument Argument();
  TestArgument Lambda();
  bool IsLambda() const;
  TestArgument CastCall(bool is_safe);
  TestArgument Extract();
  TestArgument Array(std::optional<Type> element);
  TestArgument Struct(std::optional<Type> type, std::string_view end);
  Type ReadType();

  const std::vector<Token> tokens_;
  const StatementFacts& facts_;
  size_t place_ = 0;
  Names names_;
  absl::Status status_;
};

// Levels of binary operators, from the loosest on; kComparison holds all of = < LIKE IN IS BETWEEN.
constexpr int kNot = 0;
constexpr int kComparison = 1;
constexpr int kLevels = 8;
std::string_view OperatorOf(std::string_view symbol, int level) {
  static const std::map<std::string_view, std::pair<int, std::string_view>, std::less<>> kOperators = {
      {"|", {2, "$bitwise_or"}},  {"^", {3, "$bitwise_xor"}},  {"&", {4, "$bitwise_and"}},
      {"<<", {5, "$shift_left"}}, {">>", {5, "$shift_right"}}, {"+", {6, "$add"}},
      {"-", {6, "$subtract"}},    {"*", {7, "$multiply"}},     {"/", {7, "$divide"}},
      {"||", {7, "$concat"}},
  };
  const auto found = kOperators.find(symbol);
  return found == kOperators.end() || found->second.first != level ? "" : found->second.second;
}

TestArgument Reader::Expression(int level) {
  if (level == kLevels) return Unary();
  if (level == kNot && Take("NOT")) return Call("$not", {Expression(kNot)});
  TestArgument left = Expression(level + 1);
  if (level == kComparison) return Comparison(std::move(left));
  while (Peek().kind == Token::Kind::kSymbol && !OperatorOf(Peek().text, level).empty()) {
    const std::string_view name = OperatorOf(tokens_[place_++].text, level);
    TestArgument right = Expression(level + 1);
    left = Call(name, {std::move(left), std::move(right)});
  }
  return left;
}

TestArgument Reader::Comparison(TestArgument left) {
  static constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"=", "$equal"},          {"!=", "$not_equal"}, {"<>", "$not_equal"},        {"<", "$less"},
      {"<=", "$less_or_equal"}, {">", "$greater"},    {">=", "$greater_or_equal"}, {"LIKE", "$like"}};
  for (const auto& [symbol, name] : kOperators) {
    if (!Take(symbol)) continue;
    return Call(name, {std::move(left), Expression(kComparison + 1)});
  }
  if (Take("IS")) return IsOperator(std::move(left));
  const bool is_not = Is("NOT") && (Is("LIKE", 1) || Is("IN", 1) || Is("BETWEEN", 1));
  if (is_not) {
    ++place_;
    return Call("$not", {Comparison(std::move(left))});
  }
  if (Take("BETWEEN")) {
    TestArgument low = Expression(kComparison + 1);
    Expect("AND");
    return Call("$between", {std::move(left), std::move(low), Expression(kComparison + 1)});
  }
  if (Take("IN")) return In(std::move(left));
  return left;
}

TestArgument Reader::In(TestArgument left) {
  if (Take("UNNEST")) {
    Expect("(");
    TestArgument array = Expression(0);
    Expect(")");
    return Call("$in_array", {std::move(left), std::move(array)});
  }
  std::vector<TestArgument> arguments = {std::move(left)};
  Expect("(");
  do {
    arguments.push_back(Expression(0));
  } while (Take(","));
  Expect(")");
  return Call("$in", std::move(arguments));
}

TestArgument Reader::IsOperator(TestArgument left) {
  const bool is_not = Take("NOT");
  TestArgument result = TestArgument::Null();
  if (Take("DISTINCT")) {
    Expect("FROM");
    result = Call("$is_distinct", {std::move(left), Expression(kComparison + 1)});
  } else {
    const std::string what = Word();
    result = Call(what == "NULL" ? "$is_null" : what == "TRUE" ? "$is_true" : "$is_false", {std::move(left)});
  }
  return is_not ? Call("$not", {std::move(result)}) : result;
}

TestArgument Reader::Unary() {
  if (Is("-") && Peek(1).kind == Token::Kind::kNumber) {
    ++place_;
    const bool is_least = Peek().text == "9223372036854775808";
    if (is_least) {
      ++place_;
      return std::numeric_limits<int64_t>::min();
    }
    TestArgument number = Primary();
    if (number.value.type().Is(TypeKind::kInt64)) return Subscript(-number.value.datum().integer);
    return Subscript(-number.value.datum().number);
  }
  if (Take("-")) return Call("$unary_minus", {Unary()});
  if (Take("+")) return Unary();
  if (Take("~")) return Call("$bitwise_not", {Unary()});
  return Subscript(Primary());
}

TestArgument Reader::Subscript(TestArgument array) {
  while (Take("[")) {
    std::string name = array.value.type().Is(TypeKind::kMap) ? "$map_at" : "$array_at_offset";
    const bool has_mode =
        Is("(", 1) && (Is("OFFSET") || Is("ORDINAL") || Is("SAFE_OFFSET") || Is("SAFE_ORDINAL"));
    if (has_mode) {
      const std::string mode = absl::AsciiStrToLower(Word());
      name = absl::StartsWith(mode, "safe_") ? "$safe_array_at_" + mode.substr(5) : "$array_at_" + mode;
    }
    TestArgument index = Expression(0);
    Expect("]");
    array = Call(name, {std::move(array), std::move(index)});
  }
  return array;
}

TestArgument Reader::Number() {
  const std::string text = tokens_[place_++].text;
  if (absl::StartsWith(absl::AsciiStrToLower(text), "0x")) {
    return static_cast<int64_t>(std::strtoull(text.c_str(), nullptr, 16));
  }
  if (text.find_first_of(".eE") != std::string::npos) return std::strtod(text.c_str(), nullptr);
  return static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
}

TestArgument Reader::Primary() {
  const Token& token = Peek();
  switch (token.kind) {
    case Token::Kind::kNumber:
      return Number();
    case Token::Kind::kString:
      ++place_;
      return Value::String(token.text);
    case Token::Kind::kBytes:
      ++place_;
      return Value::Bytes(token.text);
    case Token::Kind::kWord:
      return FromWord();
    default:
      break;
  }
  if (Take("[")) return Array(std::nullopt);
  Expect("(");
  if (!status_.ok()) return TestArgument::Null();
  const size_t start = place_;
  TestArgument first = Expression(0);
  if (!Is(",")) {
    Expect(")");
    return first;
  }
  place_ = start;
  return Struct(std::nullopt, ")");
}

TestArgument Reader::FromWord() {
  const std::string exact = Peek().text;
  const std::string word = Word();
  if (const auto name = names_.find(exact); name != names_.end() && !Is("(")) return name->second;
  if (word == "NULL") return TestArgument::Null();
  if (word == "TRUE" || word == "FALSE") return word == "TRUE";
  if (word == "CAST" || word == "SAFE_CAST") return CastCall(word == "SAFE_CAST");
  if (word == "EXTRACT") return Extract();
  if ((word == "DATE" || word == "TIMESTAMP") && Peek().kind == Token::Kind::kString) {
    const Type type = word == "DATE" ? TypeKind::kDate : TypeKind::kTimestamp;
    return Cast({Value::String(tokens_[place_++].text)}, type, false, /*is_literal=*/true);
  }
  if (word == "INTERVAL") {
    TestArgument count = Expression(0);
    return TestArgument::Interval(std::move(count), Word());
  }
  if (word == "ARRAY" || (word == "STRUCT" && (Is("<") || Is("(")))) {
    --place_;
    if (!Is("<", 1)) {
      place_ += 2;
      return word == "ARRAY" ? Array(std::nullopt) : Struct(std::nullopt, ")");
    }
    const Type type = ReadType();
    ++place_;
    return word == "ARRAY" ? Array(type.element()) : Struct(type, ")");
  }
  if (Is("(") && word != "WEEK") return FunctionCall(word);
  if (Take("(")) {
    const std::string day = Word();
    Expect(")");
    return TestArgument::Part(fmt::format("{}({})", word, day));
  }
  return TestArgument::Part(word);
}

TestArgument Reader::FunctionCall(std::string name) {
  const bool is_safe = absl::StartsWith(name, "SAFE.");
  if (is_safe) name = name.substr(5);
  std::vector<TestArgument> arguments;
  Expect("(");
  while (status_.ok() && !Is(")")) {
    if (Is("=>", 1)) place_ += 2;
    arguments.push_back(Argument());
    if (!Take(",")) break;
  }
  Expect(")");
  return Call(name, std::move(arguments), is_safe);
}

bool Reader::IsLambda() const {
  if (Is("->", 1)) return true;
  return Is("(") && Peek(1).kind == Token::Kind::kWord && Is(",", 2) && Is(")", 4) && Is("->", 5);
}

TestArgument Reader::Argument() { return IsLambda() ? Lambda() : Expression(0); }

TestArgument Reader::Lambda() {
  std::vector<std::string> parameters;
  const bool in_parentheses = Take("(");
  do {
    parameters.push_back(tokens_[place_++].text);
  } while (Take(","));
  if (in_parentheses) Expect(")");
  Expect("->");
  const auto evaluate = [names = names_, parameters, start = place_, this](absl::Span<const Value> values) {
    Reader body(tokens_, facts_);
    body.names_ = names;
    body.place_ = start;
    for (size_t i = 0; i < values.size(); ++i) {
      body.names_.insert_or_assign(parameters[i], TestArgument::NotLiteral(values[i]));
    }
    const TestArgument result = body.Expression(0);
    return body.status_.ok() ? absl::StatusOr<Value>(result.value) : absl::StatusOr<Value>(body.status_);
  };
  // Steps over the body.
  for (int depth = 0; Peek().kind != Token::Kind::kEnd; ++place_) {
    if (depth == 0 && (Is(",") || Is(")"))) break;
    if (Is("(") || Is("[")) ++depth;
    if (Is(")") || Is("]")) --depth;
  }
  return TestArgument::Lambda(parameters.size(), evaluate);
}

TestArgument Reader::CastCall(bool is_safe) {
  Expect("(");
  std::vector<TestArgument> arguments = {Expression(0)};
  Expect("AS");
  const Type type = ReadType();
  if (Take("FORMAT")) arguments.push_back(Expression(0));
  if (Take("AT")) {
    place_ += 2;
    arguments.push_back(Expression(0));
  }
  Expect(")");
  return Cast(std::move(arguments), type, is_safe);
}

TestArgument Reader::Extract() {
  Expect("(");
  std::vector<TestArgument> arguments = {FromWord()};
  Expect("FROM");
  arguments.push_back(Expression(0));
  if (Take("AT")) {
    place_ += 2;
    arguments.push_back(Expression(0));
  }
  Expect(")");
  return Call("$extract", std::move(arguments));
}

TestArgument Reader::Array(std::optional<Type> element) {
  std::vector<TestArgument> elements;
  while (status_.ok() && !Is("]")) {
    elements.push_back(Expression(0));
    if (!Take(",")) break;
  }
  Expect("]");
  const bool is_typed = element.has_value();
  if (elements.empty() && !is_typed) return TestArgument::EmptyArray();
  std::vector<ArgumentFacts> facts;
  bool is_literal = !is_typed;
  for (const TestArgument& argument : elements) {
    facts.push_back(argument.facts);
    is_literal = is_literal && (argument.facts.literal.has_value() || argument.facts.is_untyped_null);
  }
  if (!is_typed) element = CommonSupertype(facts);
  if (!element.has_value()) Fail(absl::InvalidArgumentError("no common supertype"));
  std::vector<Value> values;
  for (TestArgument& argument : elements) {
    if (status_.ok()) values.push_back(Cast({std::move(argument)}, *element, false).value);
  }
  if (!status_.ok()) return TestArgument::Null();
  Value value = Value::Array(*element, values);
  return is_literal ? TestArgument(std::move(value)) : TestArgument::NotLiteral(std::move(value));
}

TestArgument Reader::Struct(std::optional<Type> type, std::string_view end) {
  std::vector<Value> values;
  std::vector<Type::Field> fields;
  bool is_literal = true;
  while (status_.ok() && !Is(end)) {
    TestArgument argument = Expression(0);
    is_literal = is_literal && (argument.facts.literal.has_value() || argument.facts.is_untyped_null);
    std::string name;
    if (Take("AS")) name = tokens_[place_++].text;
    if (type.has_value()) argument = Cast({argument}, type->fields()[values.size()].type, false);
    fields.push_back({name, argument.value.type()});
    values.push_back(argument.value);
    if (!Take(",")) break;
  }
  Expect(end);
  if (!type.has_value()) type = Type::Struct(fields);
  Value value = Value::Struct(*type, values);
  return is_literal ? TestArgument(std::move(value)) : TestArgument::NotLiteral(std::move(value));
}

Type Reader::ReadType() {
  static const std::map<std::string, TypeKind> kKinds = {
      {"BOOL", TypeKind::kBool},       {"INT64", TypeKind::kInt64},        {"FLOAT32", TypeKind::kFloat32},
      {"FLOAT64", TypeKind::kFloat64}, {"STRING", TypeKind::kString},      {"BYTES", TypeKind::kBytes},
      {"DATE", TypeKind::kDate},       {"TIMESTAMP", TypeKind::kTimestamp}};
  const std::string word = Word();
  if (word == "ARRAY" || word == "MAP" || word == "STRUCT") {
    std::vector<Type::Field> inside;
    Expect("<");
    do {
      std::string name;
      if (word == "STRUCT" && Peek(1).kind == Token::Kind::kWord) name = tokens_[place_++].text;
      inside.push_back({name, ReadType()});
    } while (Take(","));
    if (Is(">>")) {
      // The other half belongs to the type around; a test writes "> >" there.
      Fail(absl::InternalError("write > >"));
    }
    Expect(">");
    if (word == "ARRAY") return Type::Array(inside[0].type);
    if (word == "MAP") return Type::Map(inside[0].type, inside.back().type);
    return Type::Struct(inside);
  }
  const auto found = kKinds.find(word);
  if (found == kKinds.end()) {
    Fail(absl::InternalError("no type " + word));
    return TypeKind::kInt64;
  }
  return found->second;
}

}  // namespace

TEST(TestExpression, IsRead) {
  EXPECT_EQ(Evaluated("NOT NOT TRUE"), "BOOL: true");
  EXPECT_EQ(Evaluated("[1, 2.5, NULL]"), "ARRAY<FLOAT64>: [1, 2.5, NULL]");
  EXPECT_EQ(Evaluated("[(1, 'a'), (2, b'\\xff')]"),
            R"(ARRAY<STRUCT<INT64, BYTES>>: [(1, b"a"), (2, b"\xff")])");
  EXPECT_EQ(Evaluated("(1 + 2) * 3 - -4"), "INT64: 13");
}

std::string Evaluated(std::string_view expression, const StatementFacts& facts) {
  return TextOf(Reader(Tokens(expression).Take(), facts).Run());
}

void ExpectAll(absl::Span<const ExpressionCase> cases, const StatementFacts& facts) {
  for (const ExpressionCase& one : cases) {
    SCOPED_TRACE(one.expression);
    EXPECT_EQ(Evaluated(one.expression, facts), one.expected);
  }
}

}  // namespace sonde::sql
