// What the tests of this folder share: trees as text, with every member but positions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/syntax/parser.h"
#include "sql/syntax/printer.h"
#include "sql/syntax/tree.h"

namespace sonde::sql::syntax_test {

// A tree as nested lists: (select (items (+ (int 1) (name a))) ...).
class Dumper {
 public:
  static std::string Of(const Statement& statement);
  static std::string Of(const Expr& expr);

 private:
  void Add(std::string_view text) { text_ += text; }
  void Flag(bool holds, std::string_view name);
  void Texts(std::string_view name, const std::vector<std::string>& texts);
  void One(const Expr& expr);
  void Child(std::string_view name, const ExprPtr& expr);
  void Children(std::string_view name, const std::vector<ExprPtr>& list);
  void Call(const Expr::Call& call);
  void Named(const std::vector<NamedArgument>& arguments);
  void Window(const WindowSpec& window);
  void Bound(const FrameBound& bound);
  void Order(const std::vector<OrderItem>& items);
  void Type(const TypeName& type);
  void Hints(const std::vector<Hint>& hints);
  void Items(std::string_view name, const std::vector<SelectItem>& items);
  void Windows(const std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>>& windows);
  void From(const FromItem& item);
  void Pipe(const PipeOperator& pipe);
  void OneQuery(const Query& query);

  std::string text_;
};

// The printed form of a statement, or why it is refused.
std::string Printed(std::string_view text);
// The tree of an expression, or why it is refused.
std::string TreeOf(std::string_view expression);

struct ErrorCase {
  std::string_view text;
  std::string_view error;
};
// Expects each statement to be refused in these words.
void ExpectErrors(const std::vector<ErrorCase>& cases);

// How printing fails `statement`: the text is refused, or read as a tree that is printed otherwise.  Empty: it
// does not.
std::string RoundTripFault(const Statement& statement);

}  // namespace sonde::sql::syntax_test
