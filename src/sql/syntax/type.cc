// Types, paths and hints.
#include <utility>

#include "sql/syntax/grammar.h"

namespace sonde::sql {

std::unique_ptr<TypeName> Grammar::Type() {
  const Level level(this);
  auto type = std::make_unique<TypeName>();
  type->position = tokens_.position();
  const bool has_arguments = tokens_.Is("<", 1) || tokens_.Is("<>", 1);
  if (has_arguments && (tokens_.Is("ARRAY") || tokens_.Is("STRUCT") || tokens_.Is("MAP"))) {
    type->path = Path{{std::string(tokens_.Peek().word.text())}, type->position};
    tokens_.Skip();
    TypeArguments(type.get());
  } else if (tokens_.Take("INTERVAL")) {
    type->path = Path{{"INTERVAL"}, type->position};
  } else if (tokens_.Is("ARRAY") || tokens_.Is("STRUCT")) {
    tokens_.Skip();
    tokens_.Expect("<");
  } else {
    type->path = DottedPath();
  }
  if (tokens_.Is("(")) Unsupported(tokens_.position(), "Type parameters are");
  if (tokens_.Is("COLLATE")) Unsupported(tokens_.position(), "COLLATE is");
  return type;
}

// Behind ARRAY, STRUCT or MAP: <...>.
void Grammar::TypeArguments(TypeName* type) {
  if (type->path.parts[0] == "STRUCT" && tokens_.Take("<>")) return;
  tokens_.Expect("<");
  if (type->path.parts[0] == "STRUCT") return StructFields(type);
  type->arguments.push_back(Type());
  if (type->path.parts[0] == "MAP") {
    tokens_.Expect(",");
    type->arguments.push_back(Type());
  }
  if (!tokens_.TakeCloseOfType()) tokens_.FailUnexpected({">"});
}

// [name] type, ... >
void Grammar::StructFields(TypeName* type) {
  if (tokens_.TakeCloseOfType()) return;
  List([&] {
    const bool has_name = tokens_.IsName() && (tokens_.IsName(1) || tokens_.Is("ARRAY", 1) ||
                                               tokens_.Is("STRUCT", 1) || tokens_.Is("INTERVAL", 1));
    type->field_names.push_back(has_name ? tokens_.TakeName() : "");
    type->arguments.push_back(Type());
  });
  if (!tokens_.TakeCloseOfType()) tokens_.FailUnexpected({">"});
}

Path Grammar::DottedPath() {
  Path path;
  path.position = tokens_.position();
  do {
    path.parts.push_back(tokens_.TakeName());
    CheckListLength(path.parts.size());
  } while (tokens_.Take("."));
  return path;
}

// @{name = e, ...}, if it stands here.
std::vector<Hint> Grammar::Hints() {
  std::vector<Hint> hints;
  if (!tokens_.Take("@{")) return hints;
  List([&] {
    Hint hint;
    hint.name.position = tokens_.position();
    hint.name.parts.push_back(HintName());
    if (tokens_.Take(".")) hint.name.parts.push_back(HintName());
    tokens_.Expect("=", hint.name.parts.size() == 1 ? std::initializer_list<Word>{"=", "."}
                                                    : std::initializer_list<Word>{"="});
    hint.value = Expression();
    hints.push_back(std::move(hint));
  });
  tokens_.Expect("}", {"}", ","});
  return hints;
}

std::string Grammar::HintName() {
  for (const Word word : {Word("HASH"), Word("PROTO"), Word("PARTITION")}) {
    if (!tokens_.Is(word)) continue;
    std::string name(tokens_.Raw(tokens_.Peek()));
    tokens_.Skip();
    return name;
  }
  return tokens_.TakeName();
}

}  // namespace sonde::sql
