// The grammar, by recursive descent: a function a rule, which takes the rule's tokens and returns its part of
// the tree.
//
// After an error (TokenStream::Fail) the rules return at once what they have, which nobody may use.  An Expr is
// never null.
// Depth: rules within rules are bounded by kNestingMax.  Chains of operators make a tree higher than rules are
// deep: its height is bounded by kTreeHeightMax.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/syntax/token_stream.h"
#include "sql/syntax/tree.h"

namespace sonde::sql {

class Grammar {
 public:
  explicit Grammar(TokenStream* tokens) : tokens_(*tokens) {}

  std::unique_ptr<Statement> WholeStatement();
  ExprPtr WholeExpression();

 private:
  using Kind = Expr::Kind;

  // A rule that may contain itself.  While it lives, what is read stands one level below it.
  class Level {
   public:
    explicit Level(Grammar* grammar);
    ~Level();
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Grammar& grammar_;
    const int outer_height_;
  };

  // A rule whose tree stands beside those that were read before it, not upon them.
  class Side {
   public:
    explicit Side(Grammar* grammar);
    ~Side();
    Side(const Side&) = delete;
    Side& operator=(const Side&) = delete;

   private:
    Grammar& grammar_;
    const int outer_height_;
  };

  // --- statement.cc
  // Whether it is INSERT INTO series.NAME: no other table takes rows.
  bool BeginsInsert() const;
  std::unique_ptr<InsertInto> Insert();
  // What may stand behind any statement.
  std::unique_ptr<Statement> FinishStatement(std::unique_ptr<Statement> statement);
  void RefuseOtherStatement();
  std::string_view NameOfObjectStatement() const;

  // --- operator.cc
  ExprPtr Expression();
  ExprPtr Conjunction();
  ExprPtr Negation();
  ExprPtr Comparison();
  bool BeginsComparison() const;
  ExprPtr ComparisonWith(ExprPtr left);
  ExprPtr IsTest(ExprPtr left);
  ExprPtr InTest(ExprPtr left, bool negated);
  ExprPtr BetweenTest(ExprPtr left, bool negated);
  void CheckLeft(const Expr& left, std::string_view name);
  ExprPtr Binary(int level_min);
  ExprPtr Unary();
  ExprPtr Postfix();
  ExprPtr Field(ExprPtr base);
  ExprPtr Index(ExprPtr base);
  // Reads `item`s with commas between them, at least one.
  template <typename Item>
  void List(Item item) {
    size_t count = 0;
    do {
      item();
      CheckListLength(++count);
    } while (!tokens_.failed() && tokens_.Take(","));
  }
  void CheckListLength(size_t count);
  void GrowTree();  // what was read in this rule gets a node above it
  void Unsupported(Position position, std::string_view what);
  ExprPtr Make(Kind kind, Position position) const;
  ExprPtr MakeText(Kind kind, Position position, std::string text) const;

  // --- primary.cc
  ExprPtr Primary();
  ExprPtr PrimaryOfKeyword();
  ExprPtr PrimaryOfSymbol();
  ExprPtr Name();
  ExprPtr Text(Kind kind);
  ExprPtr Parenthesized();
  ExprPtr Parameter();
  ExprPtr Array();
  ExprPtr Struct();
  ExprPtr Case();
  ExprPtr Cast();
  std::string DatePart();
  ExprPtr TimeZone();
  ExprPtr Extract();
  ExprPtr Interval();
  ExprPtr Exists();
  void FailArgumentIsQuery(std::string_view which);
  // Whether the "(" so many tokens further on opens a query.
  bool OpensQuery(size_t ahead = 0) const;

  // --- call.cc
  ExprPtr CallOf(ExprPtr function);
  ExprPtr CallOfKeyword();
  ExprPtr CallWith(Position position, Path name, ExprPtr first_argument);
  bool EndsArguments() const;
  void Arguments(Expr::Call* call);
  void Argument(Expr::Call* call);
  void Modifiers(Expr::Call* call);
  void RefuseArgument(const Path& function, Position position);
  bool BeginsLambda() const;
  ExprPtr Lambda();
  NamedArgument Named();
  std::unique_ptr<WindowSpec> Window();
  std::unique_ptr<WindowSpec> WindowInside();
  WindowFrame Frame();
  FrameBound Bound();
  std::vector<OrderItem> OrderItems(bool takes_last_comma = false);
  void ExpectBy();
  void OrderMarks(OrderItem* item);
  void NullsMark(OrderItem* item);

  // --- type.cc
  std::unique_ptr<TypeName> Type();
  void TypeArguments(TypeName* type);
  void StructFields(TypeName* type);
  Path DottedPath();
  std::vector<Hint> Hints();
  std::string HintName();

  // --- from.cc
  FromItemPtr FromClause();
  FromItemPtr Joins(FromItemPtr left, bool takes_commas);
  // The words of a join up to JOIN; nothing: none begins here.
  bool JoinWords(FromItem* join);
  bool BeginsAsof() const;
  void JoinRight(FromItem* join);
  FromItemPtr FromPrimary();
  FromItemPtr FromParentheses();
  FromItemPtr Unnest();
  FromItemPtr Unpack();
  FromItemPtr Table();
  Path TablePath();
  bool TablePathPart(std::string* part);
  void RefuseElement();
  void TableArguments(FromItem* table);
  void TableArgument(FromItem* table);
  QueryPtr TableAsQuery();
  void WithOffset(FromItem* item);
  std::string Alias();
  bool BeginsAlias() const;

  // --- query.cc
  QueryPtr QueryInParentheses();  // its parentheses too
  QueryPtr QueryBody();
  QueryPtr QueryPrimary();
  QueryPtr Select();
  QueryPtr From();
  void With(Query* query);
  void SelectList(std::vector<SelectItem>* items);
  SelectItem OneSelectItem();
  void StarModifiers(SelectItem* item);
  void SelectClauses(Query* query);
  void GroupBy(Query* query);
  ExprPtr GroupingItem();
  ExprPtr RollupOrCube();
  ExprPtr EmptyGroupingSet();
  void Windows(std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>>* windows,
               bool takes_last_comma);
  bool BeginsSetOperation(size_t ahead = 0) const;
  std::string SetOperation();
  QueryPtr SetOperations(QueryPtr first);
  void OrderAndLimit(Query* query);
  void Limit(ExprPtr* limit, ExprPtr* offset);
  // Whether no expression, nor a star, begins here: behind a comma, the list ended before it.
  bool EndsList() const;

  // --- pipe.cc
  void Pipes(Query* query);
  PipeOperator Pipe();
  bool PipeOfColumns(PipeOperator* pipe);
  bool PipeOfRelations(PipeOperator* pipe);
  void FailPipe();
  void PipeSelect(PipeOperator* pipe);
  void PipeSet(PipeOperator* pipe);
  void PipeDrop(PipeOperator* pipe);
  void PipeRename(PipeOperator* pipe);
  void PipeAggregate(PipeOperator* pipe);
  void PipeGroupBy(PipeOperator* pipe);
  void PipeCall(PipeOperator* pipe);
  void PipeUnion(PipeOperator* pipe);
  std::vector<SelectItem> PipeItems();

  TokenStream& tokens_;
  int depth_ = 0;
  int height_ = 0;  // of the highest tree that the rule that runs has read so far
};

}  // namespace sonde::sql
