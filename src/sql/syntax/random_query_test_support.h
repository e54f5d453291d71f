// Random statements, as trees: every kind of node, of small size.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sql/syntax/tree.h"

namespace sonde::sql::syntax_test {

class RandomQuery {
 public:
  explicit RandomQuery(RandomSource* random) : random_(*random) {}

  std::unique_ptr<Statement> OneStatement();

 private:
  using Kind = Expr::Kind;

  bool Chance(uint64_t percent) { return random_.Uniform(100) < percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[random_.Uniform(from.size())];
  }
  std::string Name();
  std::vector<std::string> Names();
  ExprPtr Make(Kind kind, std::string text = "") const;
  ExprPtr MaybeWrapped(ExprPtr expr);

  ExprPtr Expression(int depth);
  ExprPtr Leaf();
  ExprPtr Operator(int depth);
  ExprPtr Test(int depth);
  ExprPtr Constructor(int depth);
  ExprPtr Case(int depth);
  ExprPtr Cast(int depth);
  ExprPtr Struct(int depth);
  ExprPtr Call(int depth);
  ExprPtr OfQuery(int depth);
  std::vector<ExprPtr> Expressions(int depth, size_t count_min);
  std::vector<NamedArgument> NamedArguments(int depth);
  std::unique_ptr<WindowSpec> Window(int depth);
  FrameBound Bound(int depth);
  std::vector<OrderItem> OrderItems(int depth);
  std::unique_ptr<TypeName> Type(int depth);
  std::vector<Hint> Hints(int depth);

  QueryPtr OneQuery(int depth);
  ExprPtr Grouping(int depth);
  QueryPtr Select(int depth);
  SelectItem Item(int depth);
  std::vector<SelectItem> Items(int depth, bool takes_stars);
  FromItemPtr From(int depth);
  FromItemPtr Joins(int depth);
  std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>> Windows(int depth);
  PipeOperator Pipe(int depth);
  void PipeOfColumns(int depth, PipeOperator* pipe);
  void Aggregate(int depth, PipeOperator* pipe);

  RandomSource& random_;
};

}  // namespace sonde::sql::syntax_test
