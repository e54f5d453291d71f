// Writes the parts of a syntax tree: what printer.h does, rule by rule.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/syntax/tree.h"

namespace sonde::sql {

class Printer {
 public:
  void Whole(const Statement& statement);
  void OneQuery(const Query& query);
  void Expression(const Expr& expr) { Operand(expr, 0); }

  std::string Take() { return std::move(text_); }

 private:
  using Windows = std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>>;

  void Add(std::string_view text) { text_ += text; }
  // Calls `item` with each of `items`, with ", " between them.
  template <typename Items, typename Item>
  void List(const Items& items, Item item) {
    std::string_view separator;
    for (const auto& one : items) {
      Add(separator);
      item(one);
      separator = ", ";
    }
  }
  void Expressions(const std::vector<ExprPtr>& list);
  void Name(std::string_view name);       // where a name stands alone
  void FieldName(std::string_view name);  // behind a dot, or @
  void Dotted(const Path& path);
  void Names(const std::vector<std::string>& names);
  void Alias(std::string_view alias);

  // --- printer_expression.cc
  // In parentheses if it binds less than `precedence_min` says.
  void Operand(const Expr& expr, int precedence_min);
  void Unwrapped(const Expr& expr);
  void Constructor(const Expr& expr);
  void Base(const Expr& expr);
  void Unary(const Expr& expr);
  void Binary(const Expr& expr);
  void Test(const Expr& expr);
  void Index(const Expr& expr);
  void Case(const Expr& expr);
  void Cast(const Expr& expr);
  void Extract(const Expr& expr);
  void Struct(const Expr& expr);
  void Lambda(const Expr& expr);
  void Type(const TypeName& type);
  void Hints(const std::vector<Hint>& hints);

  // --- printer_call.cc
  void Call(const Expr::Call& call);
  void CallName(const Path& name);
  void CallInside(const Expr::Call& call);
  void Named(const NamedArgument& argument);
  void Window(const WindowSpec& window);
  void Frame(const WindowFrame& frame);
  void Bound(const FrameBound& bound);
  void OrderBy(const std::vector<OrderItem>& items);
  void NullsMark(const OrderItem& item);

  // --- printer.cc
  void Insert(const InsertInto& insert);
  void Body(const Query& query);
  void Primary(const Query& query);
  void Input(const Query& query);
  void Select(const Query& query);
  void Items(const std::vector<SelectItem>& items);
  void Item(const SelectItem& item);
  void WindowClause(const Windows& windows);
  void Limit(const ExprPtr& limit, const ExprPtr& offset);
  void From(const FromItem& item);
  void Join(const FromItem& join);
  void Right(const FromItem& item);
  void JoinRight(const FromItem& join);
  void Arguments(const FromItem& item);
  void Parenthesized(const Query& query);

  // --- printer_pipe.cc
  void Pipe(const PipeOperator& pipe);
  void PipeOfColumns(const PipeOperator& pipe);
  void Aggregate(const PipeOperator& pipe);
  void Marks(const PipeOperator& pipe, size_t ordinal, bool shows_asc);
  void PipeCall(const FromItem& function);

  std::string text_;
  const Query* top_ = nullptr;  // whose hints stand before it, not behind SELECT
};

}  // namespace sonde::sql
