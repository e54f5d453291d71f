#include "sql/syntax/random_query_test_support.h"

namespace sonde::sql::syntax_test {
namespace {

constexpr int kDepthMax = 4;

}  // namespace

std::string RandomQuery::Name() {
  return Pick<std::string>({"a",      "b",        "cf",           "value",     "offset", "date",
                            "select", "from",     "my table",     "my-table",  "_x1",    "1a",
                            "`",      "\xC3\xA9", "current_date", "asof",      "unpack", "max",
                            "if",     "all",      "interval",     "safe_cast", "A.B"});
}

std::vector<std::string> RandomQuery::Names() {
  std::vector<std::string> names;
  do {
    names.push_back(Name());
  } while (Chance(40));
  return names;
}

ExprPtr RandomQuery::Make(Kind kind, std::string text) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->text = std::move(text);
  return expr;
}

ExprPtr RandomQuery::MaybeWrapped(ExprPtr expr) {
  expr->parenthesized = expr->kind != Kind::kScalarQuery && Chance(15);
  return expr;
}

std::unique_ptr<Statement> RandomQuery::OneStatement() {
  auto statement = std::make_unique<Statement>();
  if (Chance(10)) statement->explain = Chance(50) ? Statement::Explain::kPlan : Statement::Explain::kAnalyze;
  statement->query = OneQuery(0);
  if (Chance(10)) statement->query->hints = Hints(3);
  return statement;
}

std::vector<ExprPtr> RandomQuery::Expressions(int depth, size_t count_min) {
  std::vector<ExprPtr> list;
  while (list.size() < count_min || Chance(35)) list.push_back(Expression(depth + 1));
  return list;
}

ExprPtr RandomQuery::Expression(int depth) {
  if (depth >= kDepthMax || Chance(30)) return MaybeWrapped(Leaf());
  switch (random_.Uniform(6)) {
    case 0:
    case 1:
      return MaybeWrapped(Operator(depth));
    case 2:
      return MaybeWrapped(Test(depth));
    case 3:
      return MaybeWrapped(Constructor(depth));
    case 4:
      return MaybeWrapped(Call(depth));
    default:
      return MaybeWrapped(OfQuery(depth));
  }
}

ExprPtr RandomQuery::Leaf() {
  switch (random_.Uniform(11)) {
    case 0:
      return Make(Kind::kNull);
    case 1: {
      ExprPtr expr = Make(Kind::kBool);
      expr->boolean = Chance(50);
      return expr;
    }
    case 2:
      return Make(Kind::kInt, Pick<std::string>({"0", "17", "0xfF"}));
    case 3:
      return Make(Kind::kFloat, Pick<std::string>({"1.5", "2.", "0.5", "1e10"}));
    case 4:
      return Make(Kind::kString, Pick<std::string>({"", "x", "it's", "\n\\\"", "\xC3\xA9"}));
    case 5:
      return Make(Kind::kBytes, Pick<std::string>({"", "x", "\xFF'", std::string(1, '\0')}));
    case 6:
      return Make(Kind::kDate, "2026-01-01");
    case 7:
      return Make(Kind::kTimestamp, "2026-01-01 00:00:00");
    case 8:
      return Make(Kind::kParameter, Name());
    default:
      return Make(Kind::kName, Name());
  }
}

ExprPtr RandomQuery::Operator(int depth) {
  switch (random_.Uniform(5)) {
    case 0: {
      ExprPtr expr = Make(Kind::kField, Name());
      expr->children.push_back(Expression(depth + 1));
      return expr;
    }
    case 1: {
      ExprPtr expr = Make(Kind::kIndex, Pick<std::string>({"", "", "OFFSET", "SAFE_ORDINAL", "KEY"}));
      expr->children = Expressions(depth, 2);
      expr->children.resize(2);
      return expr;
    }
    case 2: {
      ExprPtr expr = Make(Kind::kUnary, Pick<std::string>({"-", "+", "~", "NOT"}));
      expr->children.push_back(Expression(depth + 1));
      return expr;
    }
    default: {
      ExprPtr expr = Make(
          Kind::kBinary,
          Pick<std::string>({"||", "*",  "/", "+",  "-", "<<", ">>",   "&",   "^",  "|",
                             "=",  "!=", "<", "<=", ">", ">=", "LIKE", "AND", "OR", "IS DISTINCT FROM"}));
      expr->negated = (expr->text == "LIKE" || expr->text == "IS DISTINCT FROM") && Chance(50);
      expr->children = Expressions(depth, 2);
      if (expr->text != "AND" && expr->text != "OR") expr->children.resize(2);
      return expr;
    }
  }
}

ExprPtr RandomQuery::Test(int depth) {
  ExprPtr expr =
      Make(Pick<Kind>({Kind::kIs, Kind::kBetween, Kind::kInList, Kind::kInUnnest, Kind::kInQuery}));
  expr->negated = Chance(50);
  expr->children = Expressions(depth, 3);
  switch (expr->kind) {
    case Kind::kIs:
      expr->text = Pick<std::string>({"NULL", "TRUE", "FALSE"});
      expr->children.resize(1);
      break;
    case Kind::kBetween:
      expr->children.resize(3);
      break;
    case Kind::kInUnnest:
      expr->children.resize(2);
      break;
    case Kind::kInQuery:
      expr->children.resize(1);
      expr->query = OneQuery(depth + 1);
      break;
    default:
      break;
  }
  return expr;
}

ExprPtr RandomQuery::Constructor(int depth) {
  switch (random_.Uniform(6)) {
    case 0:
      return Case(depth);
    case 1:
      return Cast(depth);
    case 2: {
      ExprPtr expr = Make(Kind::kExtract, Pick<std::string>({"DAY", "WEEK(MONDAY)", "DATE"}));
      expr->children = Expressions(depth, 2);
      expr->children.resize(Chance(50) ? 1 : 2);
      return expr;
    }
    case 3: {
      ExprPtr expr = Make(Kind::kInterval, Pick<std::string>({"MINUTE", "YEAR TO MONTH"}));
      expr->children.push_back(Expression(depth + 1));
      return expr;
    }
    case 4: {
      ExprPtr expr = Make(Kind::kArray);
      expr->children = Expressions(depth, 0);
      if (!Chance(40)) return expr;
      expr->type = std::make_unique<TypeName>();
      expr->type->path.parts = {"ARRAY"};
      expr->type->arguments.push_back(Type(depth + 1));
      return expr;
    }
    default:
      return Struct(depth);
  }
}

ExprPtr RandomQuery::Case(int depth) {
  ExprPtr expr = Make(Kind::kCase);
  expr->has_operand = Chance(50);
  expr->has_else = Chance(50);
  const size_t pairs_count = 1 + random_.Uniform(2);
  const size_t count = 2 * pairs_count + (expr->has_operand ? 1 : 0) + (expr->has_else ? 1 : 0);
  expr->children = Expressions(depth, count);
  expr->children.resize(count);
  return expr;
}

ExprPtr RandomQuery::Cast(int depth) {
  ExprPtr expr = Make(Kind::kCast);
  expr->safe = Chance(50);
  expr->type = Type(depth + 1);
  expr->children.resize(3);
  expr->children[0] = Expression(depth + 1);
  if (Chance(30)) expr->children[1] = Expression(depth + 1);
  if (expr->children[1] != nullptr && Chance(50)) expr->children[2] = Expression(depth + 1);
  return expr;
}

ExprPtr RandomQuery::Struct(int depth) {
  ExprPtr expr = Make(Kind::kStruct);
  expr->is_tuple = Chance(40);
  expr->children = Expressions(depth, expr->is_tuple ? 2 : 0);
  expr->names.resize(expr->children.size());
  if (expr->is_tuple) return expr;
  for (std::string& name : expr->names) {
    if (Chance(40)) name = Name();
  }
  if (!Chance(30)) return expr;
  expr->type = Type(kDepthMax);
  expr->type->path.parts = {"STRUCT"};
  return expr;
}

std::unique_ptr<TypeName> RandomQuery::Type(int depth) {
  auto type = std::make_unique<TypeName>();
  type->path.parts =
      Pick<std::vector<std::string>>({{"INT64"}, {"a", "b", "Select"}, {"pkg.M"}, {"INTERVAL"}, {"map"}});
  if (depth >= kDepthMax || Chance(40)) return type;
  type->path.parts = {Pick<std::string>({"ARRAY", "STRUCT", "MAP"})};
  const bool is_struct = type->path.parts[0] == "STRUCT";
  const size_t count = is_struct ? random_.Uniform(4) : type->path.parts[0] == "MAP" ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    type->arguments.push_back(Type(depth + 1));
    if (is_struct) type->field_names.push_back(Chance(50) ? Name() : "");
  }
  return type;
}

ExprPtr RandomQuery::Call(int depth) {
  ExprPtr expr = Make(Kind::kCall);
  expr->call = std::make_unique<Expr::Call>();
  Expr::Call& call = *expr->call;
  call.name.parts = Pick<std::vector<std::string>>({{"F"},
                                                    {"SAFE", "G"},
                                                    {"NET", "HOST"},
                                                    {"IF"},
                                                    {"COUNT"},
                                                    {"SAFE_CAST"},
                                                    {"CURRENT_DATE"},
                                                    {"EXTRACT"},
                                                    {"A B", "C D"}});
  call.star = Chance(10);
  call.distinct = Chance(15);
  if (!call.star) call.arguments = Expressions(depth, call.distinct ? 1 : 0);
  if (!call.star && Chance(20)) {
    ExprPtr lambda = Make(Kind::kLambda);
    if (Chance(80)) lambda->names = Names();
    lambda->children.push_back(Expression(depth + 1));
    call.arguments.push_back(std::move(lambda));
  }
  if (!call.star && Chance(20)) call.named = NamedArguments(depth);
  if (Chance(15)) call.nulls = Chance(50) ? Expr::Call::Nulls::kIgnore : Expr::Call::Nulls::kRespect;
  if (Chance(10)) call.having_max = Expression(depth + 1);
  if (call.having_max == nullptr && Chance(10)) call.having_min = Expression(depth + 1);
  if (Chance(10)) call.order_by = OrderItems(depth);
  if (Chance(10)) call.limit = Expression(depth + 1);
  if (Chance(15)) call.over = Window(depth);
  return expr;
}

std::vector<NamedArgument> RandomQuery::NamedArguments(int depth) {
  std::vector<NamedArgument> named;
  for (std::string& name : Names()) {
    NamedArgument argument;
    argument.name = std::move(name);
    argument.value = Expression(depth + 1);
    named.push_back(std::move(argument));
  }
  return named;
}

std::unique_ptr<WindowSpec> RandomQuery::Window(int depth) {
  auto window = std::make_unique<WindowSpec>();
  if (Chance(40)) window->base = Name();
  if (Chance(50)) window->partition_by = Expressions(depth, 1);
  if (Chance(50)) window->order_by = OrderItems(depth);
  if (!Chance(40)) return window;
  window->frame.emplace();
  window->frame->is_range = Chance(50);
  window->frame->start = Bound(depth);
  window->frame->end = Bound(depth);
  return window;
}

FrameBound RandomQuery::Bound(int depth) {
  FrameBound bound;
  bound.kind = static_cast<FrameBound::Kind>(random_.Uniform(5));
  const bool has_offset =
      bound.kind == FrameBound::Kind::kPreceding || bound.kind == FrameBound::Kind::kFollowing;
  if (has_offset) bound.offset = Expression(depth + 1);
  return bound;
}

std::vector<OrderItem> RandomQuery::OrderItems(int depth) {
  std::vector<OrderItem> items;
  do {
    OrderItem item;
    item.expr = Expression(depth + 1);
    item.descending = Chance(50);
    if (Chance(30)) item.nulls_first = Chance(50);
    items.push_back(std::move(item));
  } while (Chance(30));
  return items;
}

ExprPtr RandomQuery::OfQuery(int depth) {
  ExprPtr expr = Make(Pick<Kind>({Kind::kScalarQuery, Kind::kArrayQuery, Kind::kExistsQuery}));
  expr->query = OneQuery(depth + 1);
  return expr;
}

std::vector<Hint> RandomQuery::Hints(int depth) {
  std::vector<Hint> hints;
  Hint hint;
  hint.name.parts = Names();
  hint.name.parts.resize(1 + (hint.name.parts.size() > 1 ? 1 : 0));
  hint.value = Expression(depth + 1);
  hints.push_back(std::move(hint));
  return hints;
}

QueryPtr RandomQuery::OneQuery(int depth) {
  QueryPtr query;
  const uint64_t choice = depth >= kDepthMax ? 0 : random_.Uniform(10);
  if (choice < 6) {
    query = Select(depth);
  } else {
    query = std::make_unique<Query>();
  }
  if (choice == 6) {
    query->kind = Query::Kind::kFrom;
    query->from = Joins(depth + 1);
  } else if (choice == 7) {
    query->kind = Query::Kind::kNested;
    query->nested = OneQuery(depth + 1);
  } else if (choice > 7) {
    query->kind = Query::Kind::kSet;
    query->set_operation =
        Pick<std::string>({"UNION ALL", "UNION DISTINCT", "EXCEPT ALL", "INTERSECT DISTINCT"});
    for (int i = 0; i < 2 || Chance(30); ++i) query->inputs.push_back(OneQuery(depth + 1));
  }
  if (Chance(10)) {
    query->recursive = Chance(30);
    Query::With with;
    with.name = Name();
    with.query = OneQuery(depth + 1);
    query->with.push_back(std::move(with));
  }
  if (query->kind != Query::Kind::kFrom) {
    if (Chance(20)) query->order_by = OrderItems(depth);
    if (Chance(20)) query->limit = Expression(depth + 1);
    if (query->limit != nullptr && Chance(50)) query->offset = Expression(depth + 1);
  }
  while (depth < kDepthMax && Chance(25)) query->pipes.push_back(Pipe(depth + 1));
  return query;
}

ExprPtr RandomQuery::Grouping(int depth) {
  ExprPtr grouping = Make(Kind::kGrouping, Pick<std::string>({"ROLLUP", "CUBE", "GROUPING SETS", "()"}));
  if (grouping->text == "()") return grouping;
  grouping->children = Expressions(depth, 1);
  if (grouping->text == "GROUPING SETS" && depth < kDepthMax && Chance(40)) {
    ExprPtr inside = Grouping(depth + 1);
    if (inside->text != "GROUPING SETS") grouping->children.push_back(std::move(inside));
  }
  return grouping;
}

QueryPtr RandomQuery::Select(int depth) {
  auto query = std::make_unique<Query>();
  query->distinct = Chance(20);
  query->as_struct = Chance(10);
  query->as_value = !query->as_struct && Chance(10);
  if (Chance(5)) query->hints = Hints(depth);
  query->items = Items(depth, true);
  if (Chance(70)) query->from = Joins(depth + 1);
  if (Chance(30)) query->where = Expression(depth + 1);
  if (Chance(20)) query->group_by = Expressions(depth, 1);
  if (Chance(10)) query->group_by.push_back(Grouping(depth));
  query->group_by_all = query->group_by.empty() && Chance(10);
  if (Chance(10)) query->having = Expression(depth + 1);
  if (Chance(10)) query->qualify = Expression(depth + 1);
  if (Chance(10)) query->windows = Windows(depth);
  return query;
}

std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>> RandomQuery::Windows(int depth) {
  std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>> windows;
  for (std::string& name : Names()) windows.emplace_back(std::move(name), Window(depth));
  return windows;
}

SelectItem RandomQuery::Item(int depth) {
  SelectItem item;
  item.expr = Expression(depth + 1);
  if (Chance(50)) item.alias = Name();
  return item;
}

std::vector<SelectItem> RandomQuery::Items(int depth, bool takes_stars) {
  std::vector<SelectItem> items;
  do {
    SelectItem item = Item(depth);
    item.star = takes_stars && Chance(20);
    if (item.star) {
      item.alias = "";
      if (Chance(50)) item.expr = nullptr;
      if (Chance(30)) item.except = Names();
      if (Chance(30)) item.replace.push_back({Expression(depth + 1), Name()});
    }
    items.push_back(std::move(item));
  } while (Chance(40));
  return items;
}

FromItemPtr RandomQuery::Joins(int depth) {
  FromItemPtr left = From(depth);
  bool has_comma = false;
  while (Chance(30)) {
    auto join = std::make_unique<FromItem>();
    join->kind = FromItem::Kind::kJoin;
    join->join = static_cast<FromItem::Join>(random_.Uniform(has_comma ? 4 : 6));
    has_comma = has_comma || join->join == FromItem::Join::kComma;
    join->left = std::move(left);
    join->right = Chance(15) && depth < kDepthMax ? Joins(depth + 1) : From(depth);
    if (join->right->kind == FromItem::Kind::kJoin && join->right->join == FromItem::Join::kComma) {
      join->right = From(depth);  // no comma in parentheses
    }
    for (FromItem* inner = join->right.get(); inner->kind == FromItem::Kind::kJoin;
         inner = inner->left.get()) {
      if (inner->join == FromItem::Join::kComma) inner->join = FromItem::Join::kCross;
    }
    if (join->join != FromItem::Join::kComma) {
      join->asof =
          (join->join == FromItem::Join::kInner || join->join == FromItem::Join::kLeft) && Chance(30);
      if (Chance(50)) join->on = Expression(depth + 1);
      if (join->on == nullptr && Chance(50)) join->using_columns = Names();
    }
    left = std::move(join);
  }
  return left;
}

FromItemPtr RandomQuery::From(int depth) {
  auto item = std::make_unique<FromItem>();
  switch (depth >= kDepthMax ? 0 : random_.Uniform(6)) {
    case 1:
      item->kind = FromItem::Kind::kUnnest;
      item->array = Expression(depth + 1);
      break;
    case 2:
      item->kind = FromItem::Kind::kQuery;
      item->query = OneQuery(depth + 1);
      break;
    case 3:
      item->kind = FromItem::Kind::kUnpack;
      item->query = OneQuery(depth + 1);
      break;
    case 4:
      item->kind = FromItem::Kind::kFunction;
      item->path.parts = Names();
      while (Chance(40)) item->tables.push_back(OneQuery(depth + 1));
      if (Chance(50)) item->positional.push_back(Leaf());
      if (!item->tables.empty() || !item->positional.empty()) item->arguments = NamedArguments(depth);
      break;
    default:
      item->path.parts = Names();
      if (Chance(30)) item->arguments = NamedArguments(depth);
  }
  const bool is_table = item->kind == FromItem::Kind::kTable && item->arguments.empty();
  if (item->kind == FromItem::Kind::kTable && Chance(10)) item->hints = Hints(depth);
  if (Chance(50)) item->alias = Name();
  item->with_offset = (is_table || item->kind == FromItem::Kind::kUnnest) && Chance(20);
  if (item->with_offset && Chance(50)) item->offset_alias = Name();
  return item;
}

PipeOperator RandomQuery::Pipe(int depth) {
  PipeOperator pipe;
  pipe.kind = static_cast<PipeOperator::Kind>(random_.Uniform(14));
  switch (pipe.kind) {
    case PipeOperator::Kind::kWhere:
      pipe.expr = Expression(depth + 1);
      break;
    case PipeOperator::Kind::kOrderBy:
      pipe.order_by = OrderItems(depth);
      break;
    case PipeOperator::Kind::kLimit:
      pipe.limit = Expression(depth + 1);
      if (Chance(50)) pipe.offset = Expression(depth + 1);
      break;
    case PipeOperator::Kind::kJoin:
      pipe.from = std::make_unique<FromItem>();
      pipe.from->kind = FromItem::Kind::kJoin;
      pipe.from->join = FromItem::Join::kLeft;
      pipe.from->right = From(depth);
      pipe.from->on = Expression(depth + 1);
      break;
    case PipeOperator::Kind::kCall:
      pipe.from = std::make_unique<FromItem>();
      pipe.from->kind = Chance(50) ? FromItem::Kind::kUnpack : FromItem::Kind::kFunction;
      if (pipe.from->kind == FromItem::Kind::kFunction) pipe.from->path.parts = {"f", "g"};
      if (Chance(50)) pipe.from->alias = Name();
      break;
    case PipeOperator::Kind::kUnion:
      pipe.set_operation = "INTERSECT ALL";
      do {
        pipe.queries.push_back(OneQuery(depth + 1));
      } while (Chance(30));
      break;
    default:
      PipeOfColumns(depth, &pipe);
  }
  return pipe;
}

void RandomQuery::PipeOfColumns(int depth, PipeOperator* pipe) {
  switch (pipe->kind) {
    case PipeOperator::Kind::kSelect:
      pipe->distinct = Chance(30);
      pipe->items = Items(depth, true);
      if (Chance(20)) pipe->windows = Windows(depth);
      break;
    case PipeOperator::Kind::kExtend:
      pipe->items = Items(depth, false);
      break;
    case PipeOperator::Kind::kSet:
      pipe->items = Items(depth, false);
      for (SelectItem& item : pipe->items) item.alias = Name();
      break;
    case PipeOperator::Kind::kRename:
      pipe->names = Names();
      for (size_t i = 0; i < pipe->names.size(); ++i) pipe->new_names.push_back(Name());
      break;
    case PipeOperator::Kind::kDrop:
      pipe->names = Names();
      break;
    case PipeOperator::Kind::kAs:
      pipe->names = {Name()};
      break;
    case PipeOperator::Kind::kAggregate:
      return Aggregate(depth, pipe);
    default:
      break;
  }
}

void RandomQuery::Aggregate(int depth, PipeOperator* pipe) {
  if (Chance(70)) pipe->items = Items(depth, false);
  if (Chance(70)) pipe->group_by = Items(depth, false);
  pipe->group_and_order_by = !pipe->group_by.empty() && Chance(50);
  for (size_t i = 0; i < pipe->group_by.size() + pipe->items.size(); ++i) {
    const bool is_group = i < pipe->group_by.size();
    if (!(is_group && pipe->group_and_order_by) && Chance(60)) continue;
    OrderItem item;
    item.expr = Make(Kind::kInt, std::to_string(i + 1));
    item.descending = Chance(50);
    if (Chance(30)) item.nulls_first = Chance(50);
    pipe->order_by.push_back(std::move(item));
  }
}

}  // namespace sonde::sql::syntax_test
