// Operands: literals, names, and what has its own keyword or parentheses.
#include <fmt/format.h>

#include <utility>

#include "sql/syntax/grammar.h"
#include "sql/syntax/parser.h"

namespace sonde::sql {
namespace {

using Kind = Expr::Kind;

// Whether a query in parentheses goes on, or ends, with this token behind these.
bool ContinuesQuery(const Token& token) {
  for (const Word word : {Word(")"), Word("UNION"), Word("INTERSECT"), Word("EXCEPT"), Word("ORDER"),
                          Word("LIMIT"), Word("|>")}) {
    if (token.word == word) return true;
  }
  return false;
}

}  // namespace

ExprPtr Grammar::Primary() {
  const Token& token = tokens_.Peek();
  switch (token.kind) {
    case Token::Kind::kInteger:
    case Token::Kind::kFloat: {
      ExprPtr number = MakeText(token.kind == Token::Kind::kFloat ? Kind::kFloat : Kind::kInt,
                                tokens_.position(), std::string(tokens_.Raw(token)));
      if (number->text.starts_with('.')) number->text.insert(0, "0");  // a name could take the dot
      tokens_.Skip();
      return number;
    }
    case Token::Kind::kString:
      return Text(Kind::kString);
    case Token::Kind::kBytes:
      return Text(Kind::kBytes);
    case Token::Kind::kName:
      return Name();
    case Token::Kind::kKeyword:
      return PrimaryOfKeyword();
    case Token::Kind::kSymbol:
      return PrimaryOfSymbol();
    default:
      tokens_.FailUnexpected();
      return Make(Kind::kNull, tokens_.position());
  }
}

ExprPtr Grammar::PrimaryOfSymbol() {
  const Position position = tokens_.position();
  if (tokens_.Is("(")) return Parenthesized();
  if (tokens_.Is("[")) return Array();
  if (tokens_.Is("@")) return Parameter();
  if (tokens_.Is("?")) Unsupported(position, "Positional parameters are");
  if (tokens_.Is("@@")) Unsupported(position, "System variables are");
  tokens_.FailUnexpected();
  return Make(Kind::kNull, position);
}

ExprPtr Grammar::PrimaryOfKeyword() {
  const Position position = tokens_.position();
  const Word word = tokens_.Peek().word;
  if (tokens_.Take("NULL")) return Make(Kind::kNull, position);
  if (word == "TRUE" || word == "FALSE") {
    tokens_.Skip();
    ExprPtr expr = Make(Kind::kBool, position);
    expr->boolean = word == "TRUE";
    return expr;
  }
  if (word == "CASE") return Case();
  if (word == "CAST" || (word == "SAFE_CAST" && tokens_.Is("(", 1))) return Cast();
  if (word == "EXTRACT") return Extract();
  if (word == "INTERVAL") return Interval();
  if (word == "ARRAY") return Array();
  if (word == "STRUCT") return Struct();
  if (word == "EXISTS") return Exists();
  if (word == "RANGE" && tokens_.Is("<", 1)) Unsupported(position, "RANGE literals are");
  if (word == "NEW") Unsupported(position, "NEW constructors are");
  if (word == "WITH" && tokens_.Is("(", 1)) Unsupported(position, "WITH expressions are");
  for (const Word name :
       {Word("IF"), Word("LEFT"), Word("RIGHT"), Word("GROUPING"), Word("COLLATE"), Word("RANGE")}) {
    if (word == name) return CallOfKeyword();
  }
  if (!word.is_reserved()) return Name();
  tokens_.FailUnexpected();
  return Make(Kind::kNull, position);
}

// A name, or a literal that a name begins: DATE '2026-01-01'.
ExprPtr Grammar::Name() {
  const Position position = tokens_.position();
  const Token& token = tokens_.Peek();
  if (tokens_.Is(Token::Kind::kString, 1) && token.kind == Token::Kind::kKeyword) {
    if (token.word == "DATE" || token.word == "TIMESTAMP") {
      tokens_.Skip();
      ExprPtr literal = Text(Kind::kString);
      literal->kind = token.word == "DATE" ? Kind::kDate : Kind::kTimestamp;
      literal->position = position;
      return literal;
    }
    for (const Word type : {Word("DATETIME"), Word("TIME"), Word("JSON"), Word("NUMERIC"), Word("BIGNUMERIC"),
                            Word("DECIMAL"), Word("BIGDECIMAL")}) {
      if (token.word == type) Unsupported(position, fmt::format("{} literals are", type.text()));
    }
  }
  const bool is_current_time = IsCurrentTime(tokens_.Raw(token));
  std::string name = tokens_.TakeName();
  if (is_current_time && !tokens_.Is("(")) {
    ExprPtr call = Make(Kind::kCall, position);
    call->call = std::make_unique<Expr::Call>();
    call->call->name = Path{{UpperCase(name)}, position};
    return call;
  }
  return MakeText(Kind::kName, position, std::move(name));
}

// Strings that follow each other, or bytes that do, are one.
ExprPtr Grammar::Text(Kind kind) {
  const auto token_kind = kind == Kind::kBytes ? Token::Kind::kBytes : Token::Kind::kString;
  ExprPtr expr = MakeText(kind, tokens_.position(), tokens_.Value(tokens_.Peek()));
  tokens_.Skip();
  while (tokens_.Is(Token::Kind::kString) || tokens_.Is(Token::Kind::kBytes)) {
    if (!tokens_.Is(token_kind)) {
      tokens_.Fail(tokens_.position(), "Syntax error: string and bytes literals cannot be concatenated.");
    }
    if (tokens_.IsAdjacent(0)) {
      tokens_.Fail(
          tokens_.position(),
          fmt::format("Syntax error: concatenated {} literals must be separated by whitespace or comments",
                      kind == Kind::kBytes ? "bytes" : "string"));
    }
    expr->text += tokens_.Value(tokens_.Peek());
    tokens_.Skip();
  }
  return expr;
}

ExprPtr Grammar::Parameter() {
  const Position position = tokens_.position();
  tokens_.Expect("@");
  const Token& token = tokens_.Peek();
  if (token.kind != Token::Kind::kName && token.kind != Token::Kind::kKeyword) tokens_.FailUnexpected();
  ExprPtr expr = MakeText(Kind::kParameter, position, tokens_.Value(token));
  tokens_.Skip();
  return expr;
}

// (query), (e), (e, e, ...).
ExprPtr Grammar::Parenthesized() {
  const Position position = tokens_.position();
  if (OpensQuery()) {
    ExprPtr expr = Make(Kind::kScalarQuery, position);
    expr->query = QueryInParentheses();
    return expr;
  }
  tokens_.Expect("(");
  ExprPtr first = Expression();
  if (!tokens_.Take(",")) {
    tokens_.Expect(")", {","});
    first->parenthesized = true;
    return first;
  }
  ExprPtr expr = Make(Kind::kStruct, position);
  expr->is_tuple = true;
  expr->children.push_back(std::move(first));
  List([&] { expr->children.push_back(Expression()); });
  expr->names.resize(expr->children.size());
  tokens_.Expect(")", {")", ","});
  return expr;
}

bool Grammar::OpensQuery(size_t ahead) const {
  size_t count = 0;
  while (tokens_.Is("(", ahead + count) && count <= kNestingMax) ++count;
  const bool is_with = tokens_.Is("WITH", ahead + count) && !tokens_.Is("(", ahead + count + 1);
  if (!is_with && !tokens_.Is("SELECT", ahead + count) && !tokens_.Is("FROM", ahead + count)) return false;
  // The innermost opens a query.  Another one does if what it encloses goes on as a query does.
  for (size_t i = count - 1; i > 0; --i) {
    const uint32_t partner = tokens_.Peek(ahead + i).partner;
    if (partner != 0 && !ContinuesQuery(tokens_.At(partner + 1))) return false;
  }
  return true;
}

// [e, ...], ARRAY[e, ...], ARRAY<type>[e, ...], ARRAY(query).
ExprPtr Grammar::Array() {
  ExprPtr expr = Make(Kind::kArray, tokens_.position());
  const bool has_word = tokens_.Take("ARRAY");
  if (has_word && tokens_.Is("(")) {
    expr->kind = Kind::kArrayQuery;
    expr->query = QueryInParentheses();
    return expr;
  }
  if (has_word && tokens_.Is("<")) {
    expr->type = std::make_unique<TypeName>();
    expr->type->position = expr->position;
    expr->type->path = Path{{"ARRAY"}, expr->position};
    TypeArguments(expr->type.get());
    tokens_.Expect("[");
  } else if (!tokens_.Take("[")) {
    tokens_.FailUnexpected({"<"});
  }
  if (tokens_.Take("]")) return expr;
  List([&] { expr->children.push_back(Expression()); });
  tokens_.Expect("]", {"]", ","});
  return expr;
}

// STRUCT(e [AS name], ...), STRUCT<type>(e, ...).
ExprPtr Grammar::Struct() {
  ExprPtr expr = Make(Kind::kStruct, tokens_.position());
  tokens_.Expect("STRUCT");
  if (tokens_.Is("<") || tokens_.Is("<>")) {
    expr->type = std::make_unique<TypeName>();
    expr->type->position = expr->position;
    expr->type->path = Path{{"STRUCT"}, expr->position};
    TypeArguments(expr->type.get());
  }
  if (tokens_.Is("{")) Unsupported(tokens_.position(), "Braced constructors are");
  if (expr->type != nullptr) {
    tokens_.Expect("(", {"(", "{"});
  } else {
    tokens_.Expect("(", {"<"});
  }
  if (tokens_.Take(")")) return expr;
  List([&] {
    expr->children.push_back(Expression());
    expr->names.push_back(tokens_.Take("AS") ? tokens_.TakeName() : "");
  });
  tokens_.Expect(")", {")", ","});
  return expr;
}

ExprPtr Grammar::Case() {
  ExprPtr expr = Make(Kind::kCase, tokens_.position());
  tokens_.Expect("CASE");
  if (!tokens_.Is("WHEN")) {
    expr->has_operand = true;
    expr->children.push_back(Expression());
  }
  do {
    tokens_.Expect("WHEN");
    expr->children.push_back(Expression());
    tokens_.Expect("THEN");
    expr->children.push_back(Expression());
    CheckListLength(expr->children.size());
  } while (tokens_.Is("WHEN"));
  if (tokens_.Take("ELSE")) {
    expr->has_else = true;
    expr->children.push_back(Expression());
    tokens_.Expect("END");
  } else {
    tokens_.Expect("END", {"ELSE", "END"});
  }
  return expr;
}

// CAST(e AS type [FORMAT e [AT TIME ZONE e]]).
ExprPtr Grammar::Cast() {
  ExprPtr expr = Make(Kind::kCast, tokens_.position());
  expr->safe = tokens_.Is("SAFE_CAST");
  expr->children.resize(3);
  tokens_.Skip();
  tokens_.Expect("(");
  if (tokens_.Is("SELECT"))
    FailArgumentIsQuery(expr->safe ? "The argument to SAFE_CAST is" : "The argument to CAST is");
  expr->children[0] = Expression();
  tokens_.Expect("AS");
  expr->type = Type();
  if (!tokens_.Take("FORMAT")) {
    tokens_.Expect(")", {")", "FORMAT"});
    return expr;
  }
  expr->children[1] = Expression();
  if (tokens_.Is("AT")) expr->children[2] = TimeZone();
  tokens_.Expect(")");
  return expr;
}

ExprPtr Grammar::TimeZone() {
  tokens_.Expect("AT");
  tokens_.Expect("TIME");
  tokens_.Expect("ZONE");
  return Expression();
}

// A part of a date, such as DAY: a name without backticks.
std::string Grammar::DatePart() {
  if (tokens_.Raw(tokens_.Peek()).starts_with('`')) tokens_.FailUnexpected();
  return UpperCase(tokens_.TakeName());
}

// EXTRACT(part FROM e [AT TIME ZONE e]).
ExprPtr Grammar::Extract() {
  ExprPtr expr = Make(Kind::kExtract, tokens_.position());
  tokens_.Expect("EXTRACT");
  tokens_.Expect("(");
  expr->text = DatePart();
  if (tokens_.Take("(")) {
    expr->text += fmt::format("({})", DatePart());
    tokens_.Expect(")");
  }
  if (!tokens_.Take("FROM")) tokens_.FailUnexpected();
  expr->children.push_back(Expression());
  if (!tokens_.Is("AT")) {
    tokens_.Expect(")", {")", "AT"});
    return expr;
  }
  expr->children.push_back(TimeZone());
  tokens_.Expect(")");
  return expr;
}

// INTERVAL e part [TO part].
ExprPtr Grammar::Interval() {
  ExprPtr expr = Make(Kind::kInterval, tokens_.position());
  tokens_.Expect("INTERVAL");
  expr->children.push_back(Expression());
  expr->text = DatePart();
  if (tokens_.Take("TO")) expr->text += " TO " + DatePart();
  return expr;
}

ExprPtr Grammar::Exists() {
  ExprPtr expr = Make(Kind::kExistsQuery, tokens_.position());
  tokens_.Expect("EXISTS");
  if (!tokens_.Is("(")) tokens_.FailUnexpected();
  expr->query = QueryInParentheses();
  return expr;
}

void Grammar::FailArgumentIsQuery(std::string_view which) {
  tokens_.Fail(tokens_.position(),
               fmt::format("{} an expression, not a query; to use a query as an expression, the query must "
                           "be wrapped with additional parentheses to make it a scalar subquery expression",
                           which));
}

}  // namespace sonde::sql
