#include "sql/testing/function_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/arena.h"
#include "model/column.h"
#include "sql/cast/cast.h"
#include "sql/function/function.h"
#include "sql/library/library.h"

namespace sonde::sql {
namespace {

constexpr size_t kRows = 5;

// `rows` rows, each with this value; `holes`: every other row is NULL, from the second on.
ColumnView Dense(const Value& value, size_t rows, bool holes, Arena* arena) {
  uint8_t* there = nullptr;
  if (holes || value.is_null()) {
    there = arena->New<uint8_t>(rows);
    for (size_t row = 0; row < rows; ++row) there[row] = !value.is_null() && !(holes && row % 2 == 1);
  }
  const auto fill = [&](auto* values, const auto& one) {
    for (size_t row = 0; row < rows; ++row) values[row] = one;
    return absl::MakeConstSpan(values, rows);
  };
  const Datum& datum = value.datum();
  switch (ColumnTypeOf(value.type())) {
    case ColumnType::kDouble:
      return ColumnView::OfDoubles(fill(arena->New<double>(rows), value.is_null() ? 0 : datum.number), there);
    case ColumnType::kBytes: {
      const std::string_view bytes = value.is_null() ? std::string_view() : datum.bytes();
      return ColumnView::OfBytes(fill(arena->New<std::string_view>(rows), bytes), there);
    }
    case ColumnType::kList:
      return ColumnView::OfLists(fill(arena->New<Datum>(rows), datum), there);
    default:
      return ColumnView::OfInts(fill(arena->New<int64_t>(rows), value.is_null() ? 0 : datum.integer), there);
  }
}

class LambdaOfTest : public Lambda {
 public:
  LambdaOfTest(std::vector<Type> parameters, Type result, TestArgument::LambdaBody body, Arena* arena)
      : parameters_(std::move(parameters)),
        result_(std::move(result)),
        body_(std::move(body)),
        arena_(arena) {}

  absl::StatusOr<ColumnView> Evaluate(absl::Span<const ColumnView> arguments,
                                      absl::Span<const size_t> outer_rows) override {
    const size_t rows = outer_rows.size();
    Datum* const results = arena_->New<Datum>(rows);
    for (size_t row = 0; row < rows; ++row) {
      std::vector<Value> values;
      for (size_t i = 0; i < arguments.size(); ++i)
        values.emplace_back(parameters_[i], DatumAt(arguments[i], row));
      absl::StatusOr<Value> value = body_(values);
      if (!value.ok()) return value.status();
      results[row] = CopyTo(arena_, value->datum());
    }
    return Column(absl::MakeConstSpan(results, rows));
  }

 private:
  ColumnView Column(absl::Span<const Datum> values) {
    uint8_t* const there = arena_->New<uint8_t>(values.size());
    for (size_t row = 0; row < values.size(); ++row) there[row] = values[row].is_there;
    const auto fill = [&](auto* to, auto&& part) {
      for (size_t row = 0; row < values.size(); ++row) to[row] = part(values[row]);
      return absl::MakeConstSpan(to, values.size());
    };
    switch (ColumnTypeOf(result_)) {
      case ColumnType::kDouble:
        return ColumnView::OfDoubles(
            fill(arena_->New<double>(values.size()), [](const Datum& value) { return value.number; }), there);
      case ColumnType::kBytes:
        return ColumnView::OfBytes(
            fill(arena_->New<std::string_view>(values.size()),
                 [](const Datum& value) { return value.is_there ? value.bytes() : std::string_view(); }),
            there);
      case ColumnType::kList:
        return ColumnView::OfLists(values, there);
      default:
        return ColumnView::OfInts(
            fill(arena_->New<int64_t>(values.size()), [](const Datum& value) { return value.integer; }),
            there);
    }
  }

  const std::vector<Type> parameters_;
  const Type result_;
  const TestArgument::LambdaBody body_;
  Arena* const arena_;
};

// A call whose arguments have the types that the kernel takes.
struct Prepared {
  struct Argument {
    Value value;
    bool must_be_constant = false;
    std::vector<Type> lambda_parameters;
    Type lambda_result;
    TestArgument::LambdaBody body;
  };
  Kernel kernel = nullptr;
  Type result;
  std::vector<Argument> arguments;
};

// The form of the columns in one run.
struct Form {
  size_t rows = 1;
  bool holes = false;
  std::vector<bool> dense;  // by argument
  int batches = 2;          // the second one finds the state that the first one left
};

absl::StatusOr<Value> Run(const Prepared& prepared, const Form& form, const TestCall& test) {
  Arena arena;
  std::vector<Type> types;
  std::vector<ColumnView> columns;
  Call::Site site;
  for (size_t i = 0; i < prepared.arguments.size(); ++i) {
    const Prepared::Argument& argument = prepared.arguments[i];
    types.push_back(argument.body ? argument.lambda_result : argument.value.type());
    columns.push_back(form.dense[i] ? Dense(argument.value, form.rows, form.holes, &arena)
                                    : argument.value.AsColumn(form.rows));
    site.lambdas.push_back(argument.body
                               ? std::make_unique<LambdaOfTest>(argument.lambda_parameters,
                                                                argument.lambda_result, argument.body, &arena)
                               : nullptr);
  }
  site.argument_types = &types;
  site.result_type = &prepared.result;
  site.is_safe = test.is_safe;
  absl::StatusOr<Value> first;
  for (int batch = 0; batch < form.batches; ++batch) {
    Call call(&test.facts, &site, &arena, form.rows);
    const ColumnView result = prepared.kernel(call, columns);
    if (!call.status().ok()) return call.status();
    EXPECT_EQ(result.size(), form.rows);
    EXPECT_EQ(result.type(), ColumnTypeOf(prepared.result));
    for (size_t row = 0; row < form.rows; row += form.holes ? 2 : 1) {
      Value value(prepared.result, DatumAt(result, row));
      if (row == 0 && batch == 0) first = value;
      EXPECT_EQ(value.ToSql(), first->ToSql()) << "row " << row << " of batch " << batch;
    }
  }
  return first;
}

std::string Describe(const Form& form) {
  std::string text = fmt::format("{} rows{}, arguments", form.rows, form.holes ? " with NULLs between" : "");
  for (const bool dense : form.dense) text += dense ? " dense" : " constant";
  return text;
}

absl::StatusOr<Value> RunInAllForms(const Prepared& prepared, const TestCall& test) {
  const size_t count = prepared.arguments.size();
  std::vector<Form> forms = {{1, false, std::vector<bool>(count, false)},
                             {kRows, false, std::vector<bool>(count, false)}};
  const auto add = [&](const std::vector<bool>& dense) {
    forms.push_back({1, false, dense});
    forms.push_back({kRows, false, dense});
    forms.push_back({kRows, true, dense});
  };
  std::vector<bool> all(count, true);
  for (size_t i = 0; i < count; ++i) {
    if (prepared.arguments[i].must_be_constant) all[i] = false;
  }
  add(all);
  for (size_t i = 0; count > 1 && count < 6 && i < count; ++i) {
    if (!all[i]) continue;
    std::vector<bool> one(count, false);
    one[i] = true;
    add(one);
    std::vector<bool> others = all;
    others[i] = false;
    add(others);
  }
  absl::StatusOr<Value> first = Run(prepared, forms[0], test);
  for (const Form& form : forms) {
    EXPECT_EQ(TextOf(Run(prepared, form, test)), TextOf(first)) << Describe(form);
  }
  return first;
}

absl::StatusOr<Value> Coerced(const TestArgument& argument, const Type& to) {
  if (argument.value.type() == to) return argument.value;
  if (argument.value.is_null()) return Value::Null(to);
  const Kernel cast = FindCast(argument.value.type(), to);
  if (cast == nullptr) return absl::InternalError(fmt::format("no cast to {}", to.ToString()));
  return Run({cast, to, {{argument.value}}}, {1, false, {false}}, {});
}

}  // namespace

void TestArgument::SetLiteral() {
  facts.type = value.type();
  facts.literal = value;
}

TestArgument TestArgument::NotLiteral(Value of) {
  TestArgument argument(std::move(of));
  argument.facts.literal.reset();
  return argument;
}

TestArgument TestArgument::Null() {
  TestArgument argument = NotLiteral(Value());
  argument.facts.is_untyped_null = true;
  return argument;
}

TestArgument TestArgument::EmptyArray() {
  TestArgument argument = NotLiteral(Value::Array(TypeKind::kInt64, {}));
  argument.facts.is_untyped_null = true;
  return argument;
}

TestArgument TestArgument::Part(std::string_view part) {
  TestArgument argument = NotLiteral(Value::String(part));
  argument.facts.kind = ArgumentFacts::Kind::kPart;
  argument.part = part;
  return argument;
}

TestArgument TestArgument::Interval(TestArgument count, std::string_view part) {
  count.facts.kind = ArgumentFacts::Kind::kInterval;
  count.part = part;
  return count;
}

TestArgument TestArgument::Lambda(size_t parameters, LambdaBody body) {
  TestArgument argument = Null();
  argument.facts = {};
  argument.facts.kind = ArgumentFacts::Kind::kLambda;
  argument.facts.lambda_parameters = parameters;
  argument.body = std::move(body);
  return argument;
}

absl::StatusOr<Value> CallFunction(std::string_view name, std::vector<TestArgument> arguments,
                                   const TestCall& call) {
  const Function* const function = FindFunction(name);
  if (function == nullptr) return absl::InvalidArgumentError(fmt::format("Function not found: {}", name));
  if (function->kind == Function::Kind::kNotBuilt) return absl::UnimplementedError(std::string(name));
  std::vector<ArgumentFacts> facts;
  for (const TestArgument& argument : arguments) facts.push_back(argument.facts);
  const auto lambda_result = [&](size_t index, absl::Span<const Type> parameters) -> std::optional<Type> {
    std::vector<Value> nulls;
    for (const Type& type : parameters) nulls.push_back(Value::Null(type));
    const absl::StatusOr<Value> value = arguments[index].body(nulls);
    if (!value.ok()) return std::nullopt;
    return value->type();
  };
  const std::optional<ChosenOverload> chosen = ChooseOverload(*function, facts, lambda_result);
  if (!chosen.has_value()) {
    return absl::InvalidArgumentError(fmt::format("No matching signature for function {}", name));
  }
  Prepared prepared{chosen->overload->kernel, chosen->match.result, {}};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = chosen->match.argument_types[i];
    const TestArgument& argument = arguments[i];
    if (argument.facts.kind == ArgumentFacts::Kind::kLambda) {
      prepared.arguments.push_back({Value(), true, chosen->match.lambda_parameters[i], type, argument.body});
      continue;
    }
    absl::StatusOr<Value> value = Coerced(argument, type);
    if (!value.ok()) return value.status();
    prepared.arguments.push_back({*std::move(value), argument.facts.kind == ArgumentFacts::Kind::kPart});
    if (argument.facts.kind == ArgumentFacts::Kind::kInterval) {
      prepared.arguments.push_back({Value::String(argument.part), true});
    }
  }
  // A volatile function gives each row something else.
  if (function->is_volatile) {
    return Run(prepared, {.dense = std::vector<bool>(prepared.arguments.size(), false), .batches = 1}, call);
  }
  return RunInAllForms(prepared, call);
}

absl::StatusOr<Value> CallCast(std::vector<TestArgument> arguments, const Type& to, const TestCall& call) {
  const Type& from = arguments[0].value.type();
  if (arguments.size() == 1 && (arguments[0].facts.is_untyped_null || from == to)) {
    if (arguments[0].value.is_null()) return Value::Null(to);
    if (!arguments[0].facts.is_untyped_null) return arguments[0].value;
  }
  const Kernel kernel = arguments.size() == 1 ? FindCast(from, to) : FindFormatCast(from, to);
  if (kernel == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("Invalid cast from {} to {}", from.ToString(), to.ToString()));
  }
  Prepared prepared{kernel, to, {}};
  for (TestArgument& argument : arguments) prepared.arguments.push_back({std::move(argument.value)});
  return RunInAllForms(prepared, call);
}

std::string TextOf(const absl::StatusOr<Value>& result) {
  if (!result.ok()) {
    return fmt::format("{}: {}", absl::StatusCodeToString(result.status().code()),
                       std::string(result.status().message()));
  }
  return fmt::format("{}: {}", result->type().ToString(), result->ToSql());
}

std::string Called(std::string_view name, std::vector<TestArgument> arguments, const TestCall& call) {
  return TextOf(CallFunction(name, std::move(arguments), call));
}

}  // namespace sonde::sql
