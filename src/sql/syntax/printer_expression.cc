#include <array>
#include <optional>

#include "sql/syntax/literal.h"
#include "sql/syntax/printer_state.h"
#include "sql/syntax/words.h"

namespace sonde::sql {
namespace {

using Kind = Expr::Kind;

// How strongly an expression holds together, as the parser has it.
constexpr int kOr = 1;
constexpr int kAnd = 2;
constexpr int kNot = 3;
constexpr int kComparison = 4;
constexpr int kSign = 12;
constexpr int kOperand = 13;

int PrecedenceOfBinary(std::string_view operation) {
  struct Entry {
    std::string_view operation;
    int precedence;
  };
  static constexpr auto kEntries = std::to_array<Entry>({{"OR", kOr},
                                                         {"AND", kAnd},
                                                         {"|", 5},
                                                         {"^", 6},
                                                         {"&", 7},
                                                         {"<<", 8},
                                                         {">>", 8},
                                                         {"+", 9},
                                                         {"-", 9},
                                                         {"||", 10},
                                                         {"*", 11},
                                                         {"/", 11}});
  for (const Entry& entry : kEntries) {
    if (entry.operation == operation) return entry.precedence;
  }
  return kComparison;
}

int PrecedenceOf(const Expr& expr) {
  switch (expr.kind) {
    case Kind::kBinary:
      return PrecedenceOfBinary(expr.text);
    case Kind::kUnary:
      return expr.text == "NOT" ? kNot : kSign;
    case Kind::kIs:
    case Kind::kBetween:
    case Kind::kInList:
    case Kind::kInUnnest:
    case Kind::kInQuery:
      return kComparison;
    case Kind::kLambda:
      return 0;
    default:
      return kOperand;
  }
}

}  // namespace

void Printer::Operand(const Expr& expr, int precedence_min) {
  const bool wrapped =
      (expr.parenthesized && expr.kind != Kind::kScalarQuery) || PrecedenceOf(expr) < precedence_min;
  if (wrapped) Add("(");
  Unwrapped(expr);
  if (wrapped) Add(")");
}

void Printer::Expressions(const std::vector<ExprPtr>& list) {
  List(list, [&](const ExprPtr& expr) { Expression(*expr); });
}

// What stands before a dot or bracket.  A number there would take the dot.
void Printer::Base(const Expr& expr) {
  const bool is_number = expr.kind == Kind::kInt || expr.kind == Kind::kFloat;
  Operand(expr, is_number ? kOperand + 1 : kOperand);
}

void Printer::Unwrapped(const Expr& expr) {
  switch (expr.kind) {
    case Kind::kNull:
      return Add("NULL");
    case Kind::kBool:
      return Add(expr.boolean ? "TRUE" : "FALSE");
    case Kind::kInt:
    case Kind::kFloat:
      return Add(expr.text);
    case Kind::kString:
      return Add(QuotedString(expr.text));
    case Kind::kBytes:
      return Add(QuotedBytes(expr.text));
    case Kind::kDate:
      return Add("DATE " + QuotedString(expr.text));
    case Kind::kTimestamp:
      return Add("TIMESTAMP " + QuotedString(expr.text));
    case Kind::kParameter:
      Add("@");
      return FieldName(expr.text);
    case Kind::kName:
      return IsCurrentTime(expr.text) ? Add(QuotedName(expr.text)) : Name(expr.text);
    case Kind::kField:
      Base(*expr.children[0]);
      Add(".");
      return FieldName(expr.text);
    case Kind::kStarField:
      Base(*expr.children[0]);
      return Add(".*");
    case Kind::kIndex:
      return Index(expr);
    case Kind::kUnary:
      return Unary(expr);
    case Kind::kBinary:
      return Binary(expr);
    case Kind::kIs:
    case Kind::kBetween:
    case Kind::kInList:
    case Kind::kInUnnest:
    case Kind::kInQuery:
      return Test(expr);
    default:
      return Constructor(expr);
  }
}

// What has a keyword or brackets of its own.
void Printer::Constructor(const Expr& expr) {
  switch (expr.kind) {
    case Kind::kCase:
      return Case(expr);
    case Kind::kCast:
      return Cast(expr);
    case Kind::kExtract:
      return Extract(expr);
    case Kind::kInterval:
      Add("INTERVAL ");
      Expression(*expr.children[0]);
      return Add(" " + expr.text);
    case Kind::kArray:
      if (expr.type != nullptr) Type(*expr.type);
      Add("[");
      Expressions(expr.children);
      return Add("]");
    case Kind::kStruct:
      return Struct(expr);
    case Kind::kLambda:
      return Lambda(expr);
    case Kind::kCall:
      return Call(*expr.call);
    case Kind::kGrouping:
      Add(expr.text);
      if (expr.children.empty()) return;
      Add("(");
      Expressions(expr.children);
      return Add(")");
    case Kind::kArrayQuery:
      Add("ARRAY");
      return Parenthesized(*expr.query);
    case Kind::kExistsQuery:
      Add("EXISTS");
      return Parenthesized(*expr.query);
    default:
      return Parenthesized(*expr.query);
  }
}

void Printer::Unary(const Expr& expr) {
  Add(expr.text);
  const size_t end = text_.size();
  if (expr.text == "NOT") Add(" ");
  Operand(*expr.children[0], PrecedenceOf(expr));
  if (text_[end] == '-' && expr.text == "-") text_.insert(end, " ");  // two would begin a comment
}

void Printer::Binary(const Expr& expr) {
  const int precedence = PrecedenceOf(expr);
  const bool groups_left = precedence > kComparison;
  std::string operation = " " + expr.text + " ";
  if (expr.negated) operation = expr.text == "LIKE" ? " NOT LIKE " : " IS NOT DISTINCT FROM ";
  for (size_t i = 0; i < expr.children.size(); ++i) {
    if (i > 0) Add(operation);
    Operand(*expr.children[i], groups_left && i == 0 ? precedence : precedence + 1);
  }
}

void Printer::Test(const Expr& expr) {
  Operand(*expr.children[0], kComparison + 1);
  if (expr.kind == Kind::kIs) return Add((expr.negated ? " IS NOT " : " IS ") + expr.text);
  if (expr.negated) Add(" NOT");
  if (expr.kind == Kind::kBetween) {
    Add(" BETWEEN ");
    Operand(*expr.children[1], kComparison + 1);
    Add(" AND ");
    return Operand(*expr.children[2], kComparison + 1);
  }
  Add(" IN ");
  if (expr.kind == Kind::kInQuery) return Parenthesized(*expr.query);
  if (expr.kind == Kind::kInUnnest) Add("UNNEST");
  Add("(");
  for (size_t i = 1; i < expr.children.size(); ++i) {
    if (i > 1) Add(", ");
    Expression(*expr.children[i]);
  }
  Add(")");
}

void Printer::Index(const Expr& expr) {
  Base(*expr.children[0]);
  Add("[");
  const Expr& index = *expr.children[1];
  // A call of OFFSET in parentheses is no mark.
  if (!expr.text.empty()) Add(expr.text + "(");
  Operand(index, expr.text.empty() && index.kind == Kind::kCall ? kOperand : 0);
  if (!expr.text.empty()) Add(")");
  Add("]");
}

void Printer::Case(const Expr& expr) {
  Add("CASE");
  size_t i = 0;
  const auto add = [&](std::string_view word) {
    Add(word);
    Expression(*expr.children[i++]);
  };
  if (expr.has_operand) add(" ");
  const size_t pairs_end = expr.children.size() - (expr.has_else ? 1 : 0);
  while (i < pairs_end) {
    add(" WHEN ");
    add(" THEN ");
  }
  if (expr.has_else) add(" ELSE ");
  Add(" END");
}

void Printer::Cast(const Expr& expr) {
  Add(expr.safe ? "SAFE_CAST(" : "CAST(");
  Expression(*expr.children[0]);
  Add(" AS ");
  Type(*expr.type);
  if (expr.children[1] != nullptr) {
    Add(" FORMAT ");
    Expression(*expr.children[1]);
  }
  if (expr.children[2] != nullptr) {
    Add(" AT TIME ZONE ");
    Expression(*expr.children[2]);
  }
  Add(")");
}

void Printer::Extract(const Expr& expr) {
  Add("EXTRACT(" + expr.text + " FROM ");
  Expression(*expr.children[0]);
  if (expr.children.size() > 1) {
    Add(" AT TIME ZONE ");
    Expression(*expr.children[1]);
  }
  Add(")");
}

void Printer::Struct(const Expr& expr) {
  if (expr.type != nullptr) {
    Type(*expr.type);
  } else if (!expr.is_tuple) {
    Add("STRUCT");
  }
  Add("(");
  for (size_t i = 0; i < expr.children.size(); ++i) {
    if (i > 0) Add(", ");
    Expression(*expr.children[i]);
    Alias(expr.names[i]);
  }
  Add(")");
}

void Printer::Lambda(const Expr& expr) {
  const bool is_one = expr.names.size() == 1;
  if (!is_one) Add("(");
  Names(expr.names);
  if (!is_one) Add(")");
  Add(" -> ");
  Expression(*expr.children[0]);
}

void Printer::Type(const TypeName& type) {
  const std::string& first = type.path.parts[0];
  const bool is_struct = type.path.parts.size() == 1 && first == "STRUCT";
  if (type.arguments.empty() && !is_struct) {
    return type.path.parts.size() == 1 && first == "INTERVAL" ? Add(first) : Dotted(type.path);
  }
  Add(first);
  Add("<");
  for (size_t i = 0; i < type.arguments.size(); ++i) {
    if (i > 0) Add(", ");
    if (i < type.field_names.size() && !type.field_names[i].empty()) {
      Name(type.field_names[i]);
      Add(" ");
    }
    Type(*type.arguments[i]);
  }
  Add(">");
}

void Printer::Hints(const std::vector<Hint>& hints) {
  if (hints.empty()) return;
  Add("@{");
  List(hints, [&](const Hint& hint) {
    Dotted(hint.name);
    Add(" = ");
    Expression(*hint.value);
  });
  Add("}");
}

}  // namespace sonde::sql
