#include "sql/function/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "sql/function/coercion.h"

namespace sonde::sql {
namespace {

constexpr int kVariablesMax = 9;

// Reads the text of a signature, which is a literal of the program.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : rest_(text) {}

  bool Take(std::string_view token) {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void Expect(std::string_view token) { CHECK(Take(token)); }
  bool AtEnd() {
    Take("");
    return rest_.empty();
  }

  std::string_view Word() {
    Take("");
    size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_')) {
      ++length;
    }
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

  // What follows, without taking it.
  SignatureReader Ahead() const { return *this; }

  TypePattern Pattern();
  Signature::Argument Argument();

 private:
  TypePattern StructPattern();
  std::vector<TypePattern> LambdaParameters();

  std::string_view rest_;
};

TypePattern::Class ClassOf(std::string_view word) {
  if (word == "COMPARABLE") return TypePattern::Class::kComparable;
  if (word == "GROUPABLE") return TypePattern::Class::kGroupable;
  if (word == "ORDERABLE") return TypePattern::Class::kOrderable;
  if (word == "NUMERIC") return TypePattern::Class::kNumeric;
  CHECK(word == "FLOAT");
  return TypePattern::Class::kFloat;
}

TypeKind ScalarKind(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, TypeKind>, 8> kNames = {{
      {"BOOL", TypeKind::kBool},
      {"INT64", TypeKind::kInt64},
      {"FLOAT32", TypeKind::kFloat32},
      {"FLOAT64", TypeKind::kFloat64},
      {"STRING", TypeKind::kString},
      {"BYTES", TypeKind::kBytes},
      {"DATE", TypeKind::kDate},
      {"TIMESTAMP", TypeKind::kTimestamp},
  }};
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == word; });
  CHECK(found != kNames.end());
  return found->second;
}

TypePattern SignatureReader::Pattern() {
  const std::string_view word = Word();
  TypePattern pattern;
  if (word == "ARRAY" || word == "MAP") {
    pattern.kind = word == "MAP" ? TypePattern::Kind::kMap : TypePattern::Kind::kArray;
    Expect("<");
    pattern.inside.push_back(Pattern());
    if (word == "MAP") {
      Expect(",");
      pattern.inside.push_back(Pattern());
    }
    Expect(">");
  } else if (word == "STRUCT") {
    pattern = StructPattern();
  } else if (word.size() == 2 && word[0] == 'T' && std::isdigit(static_cast<unsigned char>(word[1])) != 0) {
    pattern.kind = TypePattern::Kind::kVariable;
    pattern.variable = word[1] - '0';
    if (Take(":")) pattern.of = ClassOf(Word());
  } else if (word == "ANY") {
    pattern.kind = TypePattern::Kind::kAny;
  } else {
    pattern.type = ScalarKind(word);
  }
  return pattern;
}

TypePattern SignatureReader::StructPattern() {
  TypePattern pattern;
  pattern.kind = TypePattern::Kind::kAnyStruct;
  if (!Take("<")) return pattern;
  pattern.kind = TypePattern::Kind::kStruct;
  do {
    pattern.names.emplace_back(Word());
    pattern.inside.push_back(Pattern());
  } while (Take(","));
  Expect(">");
  return pattern;
}

std::vector<TypePattern> SignatureReader::LambdaParameters() {
  std::vector<TypePattern> parameters;
  if (!Take("(")) {
    parameters.push_back(Pattern());
    return parameters;
  }
  do {
    parameters.push_back(Pattern());
  } while (Take(","));
  Expect(")");
  return parameters;
}

Signature::Argument SignatureReader::Argument() {
  Signature::Argument argument;
  argument.is_optional = Take("[");
  SignatureReader named = Ahead();
  const std::string_view name = named.Word();
  if (!name.empty() && named.Take("=>")) {
    argument.name = name;
    *this = named;
  }
  SignatureReader ahead = Ahead();
  const std::string_view word = ahead.Word();
  if (word == "PART" || word == "INTERVAL") {
    argument.kind = word == "PART" ? ArgumentFacts::Kind::kPart : ArgumentFacts::Kind::kInterval;
    argument.type.type = word == "PART" ? TypeKind::kString : TypeKind::kInt64;
    *this = ahead;
  } else {
    std::vector<TypePattern> parameters = LambdaParameters();
    if (Take("->")) {
      argument.kind = ArgumentFacts::Kind::kLambda;
      argument.parameters = std::move(parameters);
      argument.type = Pattern();
    } else {
      argument.type = std::move(parameters[0]);
    }
  }
  argument.repeats = Take("...");
  if (argument.is_optional) Expect("]");
  return argument;
}

bool IsOfClass(const Type& type, TypePattern::Class of) {
  switch (of) {
    case TypePattern::Class::kAny:
      return true;
    case TypePattern::Class::kComparable:
      return type.IsComparable();
    case TypePattern::Class::kGroupable:
      return type.IsGroupable();
    case TypePattern::Class::kOrderable:
      return type.IsOrderable();
    case TypePattern::Class::kNumeric:
      return type.IsNumeric();
    case TypePattern::Class::kFloat:
      return type.IsFloat();
  }
  return false;
}

// What the types T1, T2, ... come to in a call.
class Variables {
 public:
  // Takes the types of an argument that stand where the pattern has variables.  False: the argument has another shape.
  bool Collect(const TypePattern& pattern, const ArgumentFacts& argument);
  // Finds a type for each variable that came up.  False: the arguments of one have no common supertype, or one that is
  // not of its class.
  bool Determine();
  // The pattern with types for its variables; nothing: a variable has no type.
  std::optional<Type> Concrete(const TypePattern& pattern) const;

 private:
  struct Variable {
    std::vector<ArgumentFacts> values;
    bool is_seen = false;
    TypePattern::Class of = TypePattern::Class::kAny;
    std::optional<Type> type;
  };

  bool CollectInside(const TypePattern& pattern, const ArgumentFacts& argument);
  void Saw(const TypePattern& pattern);

  std::array<Variable, kVariablesMax + 1> variables_;
};

void Variables::Saw(const TypePattern& pattern) {
  if (pattern.kind == TypePattern::Kind::kVariable) {
    Variable& variable = variables_[pattern.variable];
    variable.is_seen = true;
    if (pattern.of != TypePattern::Class::kAny) variable.of = pattern.of;
  }
  for (const TypePattern& inside : pattern.inside) Saw(inside);
}

bool Variables::Collect(const TypePattern& pattern, const ArgumentFacts& argument) {
  Saw(pattern);
  if (pattern.kind == TypePattern::Kind::kVariable) {
    variables_[pattern.variable].values.push_back(argument);
    return true;
  }
  if (argument.is_untyped_null) {
    // [] goes with arrays only where the pattern shows an array.
    return !argument.type.Is(TypeKind::kArray) || pattern.kind == TypePattern::Kind::kArray ||
           pattern.kind == TypePattern::Kind::kAny;
  }
  return CollectInside(pattern, argument);
}

bool Variables::CollectInside(const TypePattern& pattern, const ArgumentFacts& argument) {
  const Type& type = argument.type;
  switch (pattern.kind) {
    case TypePattern::Kind::kArray:
      return type.Is(TypeKind::kArray) && Collect(pattern.inside[0], ElementFacts(argument));
    case TypePattern::Kind::kMap:
      return type.Is(TypeKind::kMap) && Collect(pattern.inside[0], PlainFacts(type.key())) &&
             Collect(pattern.inside[1], PlainFacts(type.value()));
    case TypePattern::Kind::kAnyStruct:
      return type.Is(TypeKind::kStruct);
    case TypePattern::Kind::kStruct:
      if (!type.Is(TypeKind::kStruct) || type.fields().size() != pattern.inside.size()) return false;
      for (size_t i = 0; i < pattern.inside.size(); ++i) {
        if (!Collect(pattern.inside[i], PlainFacts(type.fields()[i].type))) return false;
      }
      return true;
    case TypePattern::Kind::kAny:
    case TypePattern::Kind::kExact:
    case TypePattern::Kind::kVariable:
      break;
  }
  return true;
}

bool Variables::Determine() {
  for (Variable& variable : variables_) {
    if (!variable.is_seen) continue;
    variable.type = variable.values.empty() ? Type(TypeKind::kInt64) : CommonSupertype(variable.values);
    if (!variable.type.has_value() || !IsOfClass(*variable.type, variable.of)) return false;
  }
  return true;
}

std::optional<Type> Variables::Concrete(const TypePattern& pattern) const {
  if (pattern.kind == TypePattern::Kind::kExact) return pattern.type;
  if (pattern.kind == TypePattern::Kind::kVariable) return variables_[pattern.variable].type;
  std::vector<Type::Field> inside;
  for (size_t i = 0; i < pattern.inside.size(); ++i) {
    std::optional<Type> type = Concrete(pattern.inside[i]);
    if (!type.has_value()) return std::nullopt;
    inside.push_back({i < pattern.names.size() ? pattern.names[i] : "", std::move(*type)});
  }
  if (pattern.kind == TypePattern::Kind::kMap) return Type::Map(inside[0].type, inside[1].type);
  if (pattern.kind == TypePattern::Kind::kStruct) return Type::Struct(std::move(inside));
  CHECK(pattern.kind == TypePattern::Kind::kArray);
  if (inside[0].type.Is(TypeKind::kArray)) return std::nullopt;  // there are no arrays of arrays
  return Type::Array(inside[0].type);
}

// A call that is being fitted to a signature.
class Fitting {
 public:
  Fitting(const Signature& signature, absl::Span<const ArgumentFacts> arguments)
      : signature_(signature), arguments_(arguments) {}

  std::optional<Signature::Match> Run(const Signature::LambdaResult& lambda_result) {
    if (!CountFits() || !CollectValues(lambda_result) || !variables_.Determine()) return std::nullopt;
    return Coerced();
  }

 private:
  // The argument of the signature that takes argument `index` of the call.
  const Signature::Argument& Slot(size_t index) const {
    const auto& slots = signature_.arguments();
    return slots[std::min(index, slots.size() - 1)];
  }
  bool CountFits() const;
  bool CollectValues(const Signature::LambdaResult& lambda_result);
  bool CollectLambda(size_t index, const Signature::LambdaResult& lambda_result);
  std::optional<Signature::Match> Coerced() const;
  // What argument `index`, a value, must be cast to; nothing: it cannot.
  std::optional<Type> TypeOfValue(size_t index, Coercion* total) const;

  const Signature& signature_;
  const absl::Span<const ArgumentFacts> arguments_;
  Variables variables_;
  std::vector<std::vector<Type>> lambda_parameters_;
};

bool Fitting::CountFits() const {
  const auto& slots = signature_.arguments();
  if (arguments_.size() > slots.size() && (slots.empty() || !slots.back().repeats)) return false;
  for (size_t i = arguments_.size(); i < slots.size(); ++i) {
    if (!slots[i].is_optional && !slots[i].repeats) return false;
  }
  return true;
}

bool Fitting::CollectValues(const Signature::LambdaResult& lambda_result) {
  lambda_parameters_.resize(arguments_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (Slot(i).kind != arguments_[i].kind) return false;
    if (Slot(i).kind == ArgumentFacts::Kind::kLambda) {
      if (!CollectLambda(i, lambda_result)) return false;
    } else if (!variables_.Collect(Slot(i).type, arguments_[i])) {
      return false;
    }
  }
  return true;
}

bool Fitting::CollectLambda(size_t index, const Signature::LambdaResult& lambda_result) {
  const Signature::Argument& slot = Slot(index);
  if (slot.parameters.size() != arguments_[index].lambda_parameters || lambda_result == nullptr) return false;
  Variables so_far = variables_;
  if (!so_far.Determine()) return false;
  std::vector<Type>& parameters = lambda_parameters_[index];
  for (const TypePattern& pattern : slot.parameters) {
    std::optional<Type> type = so_far.Concrete(pattern);
    if (!type.has_value()) return false;
    parameters.push_back(std::move(*type));
  }
  const std::optional<Type> result = lambda_result(index, parameters);
  if (!result.has_value()) return false;
  if (slot.type.kind == TypePattern::Kind::kExact) {
    return CoercionCost(PlainFacts(*result), slot.type.type).has_value();
  }
  return variables_.Collect(slot.type, PlainFacts(*result));
}

// Whether two types differ at most in the names of fields, in structs that are all of the type or elements of an array.
bool IsSameButForNames(const Type& a, const Type& b) {
  if (a == b) return true;
  if (a.kind() != b.kind()) return false;
  if (a.Is(TypeKind::kArray)) return IsSameButForNames(a.element(), b.element());
  if (!a.Is(TypeKind::kStruct)) return false;
  return std::equal(a.fields().begin(), a.fields().end(), b.fields().begin(), b.fields().end(),
                    [](const Type::Field& x, const Type::Field& y) { return x.type == y.type; });
}

std::optional<Type> Fitting::TypeOfValue(size_t index, Coercion* total) const {
  const TypePattern& pattern = Slot(index).type;
  const bool is_any =
      pattern.kind == TypePattern::Kind::kAnyStruct || pattern.kind == TypePattern::Kind::kAny;
  std::optional<Type> type = is_any ? arguments_[index].type : variables_.Concrete(pattern);
  if (!type.has_value()) return std::nullopt;
  if (IsSameButForNames(arguments_[index].type, *type)) return arguments_[index].type;
  const std::optional<Coercion> coercion = CoercionTo(arguments_[index], *type);
  if (!coercion.has_value()) return std::nullopt;
  total->Add(*coercion);
  return type;
}

std::optional<Signature::Match> Fitting::Coerced() const {
  Signature::Match match;
  Coercion total;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    std::optional<Type> type;
    if (Slot(i).kind == ArgumentFacts::Kind::kValue) {
      type = TypeOfValue(i, &total);
    } else {
      type = variables_.Concrete(Slot(i).type);
    }
    if (!type.has_value()) return std::nullopt;
    match.argument_types.push_back(std::move(*type));
  }
  std::optional<Type> result = variables_.Concrete(signature_.result());
  if (!result.has_value()) return std::nullopt;
  match.result = std::move(*result);
  match.lambda_parameters = lambda_parameters_;
  match.cost = total.Cost();
  return match;
}

}  // namespace

Signature Signature::Parse(std::string_view text) {
  Signature signature;
  signature.text_ = text;
  SignatureReader reader(text);
  reader.Expect("(");
  if (!reader.Take(")")) {
    do {
      signature.arguments_.push_back(reader.Argument());
    } while (reader.Take(","));
    reader.Expect(")");
  }
  reader.Expect("->");
  signature.result_ = reader.Pattern();
  CHECK(reader.AtEnd());
  return signature;
}

std::optional<Signature::Match> Signature::Fit(absl::Span<const ArgumentFacts> arguments,
                                               const LambdaResult& lambda_result) const {
  return Fitting(*this, arguments).Run(lambda_result);
}

}  // namespace sonde::sql
