#include "sql/library/reference.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "sql/library/library.h"

namespace sonde::sql {
namespace {

// A kind of function, as a section of the reference.
struct Section {
  std::string_view title;
  Function::Kind kind;
  bool operators;
};

constexpr Section kSections[] = {
    {"Operators", Function::Kind::kScalar, true},      {"Functions", Function::Kind::kScalar, false},
    {"Aggregates", Function::Kind::kAggregate, false}, {"Window functions", Function::Kind::kWindow, false},
    {"Not built", Function::Kind::kNotBuilt, false},
};

bool IsIn(const Function& function, const Section& section) {
  return function.kind == section.kind && function.name.starts_with("$") == section.operators;
}

std::string OtherNames(const Function& function) {
  std::string names;
  for (const Function& other : AllFunctions()) {
    if (other.alias_of == function.name) names += (names.empty() ? "" : ", ") + other.name;
  }
  return names;
}

void AppendFunction(const Function& function, const ExampleResult& result_of, std::string* text) {
  *text += fmt::format("### {}\n\n", function.name);
  for (const Overload& overload : function.overloads) {
    const bool needs_over = function.IsAlsoAggregate() && overload.aggregator == nullptr;
    *text += fmt::format("    {}{}{}\n", function.name, overload.signature.text(),
                         needs_over ? ", with OVER" : "");
  }
  *text += fmt::format("\n{}\n", function.meaning);
  if (const std::string others = OtherNames(function); !others.empty())
    *text += fmt::format("\nAlso: {}.\n", others);
  *text += '\n';
  for (const std::string& example : function.examples) {
    const std::string result = result_of == nullptr ? "" : result_of(function, example);
    *text += fmt::format("    {}{}{}\n", example, result.empty() ? "" : "    -- ", result);
  }
  if (!function.examples.empty()) *text += '\n';
}

}  // namespace

std::string Reference(const ExampleResult& result_of) {
  std::string text;
  for (const Section& section : kSections) {
    text += fmt::format("## {}\n\n", section.title);
    for (const Function& function : AllFunctions()) {
      if (!IsIn(function, section) || !function.alias_of.empty()) continue;
      if (function.kind == Function::Kind::kNotBuilt) {
        text += fmt::format("- {}\n", function.name);
      } else {
        AppendFunction(function, result_of, &text);
      }
    }
    if (section.kind == Function::Kind::kNotBuilt) text += '\n';
  }
  return text;
}

}  // namespace sonde::sql
