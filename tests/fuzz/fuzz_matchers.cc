// Conditions on labels: any pattern is refused, or lets the same entities of a block through as it does when it is asked of each.
//   entities 1 byte: count; then for each of two labels of each: a length, bytes
//   matchers 1 byte: count; then for each: kind and label 1 byte, a length, bytes of a value or a pattern
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "promql/syntax/matcher.h"
#include "series/index/block_match.h"
#include "series/index/entity_block.h"
#include "series/known/known_series.h"
#include "target.h"

namespace sonde::series {
namespace {

constexpr std::array<const char*, 3> kLabels = {"x", "y", "none"};
constexpr std::array kKinds = {promql::MatchKind::kEqual, promql::MatchKind::kNotEqual,
                               promql::MatchKind::kMatches, promql::MatchKind::kMatchesNot};
constexpr size_t kEntitiesMax = 24, kMatchersMax = 4, kValueBytesMax = 12, kPatternBytesMax = 40;

// The values of the labels "x" and "y"; an entity does not have a label whose value is empty.
using Entity = std::array<std::string, 2>;

std::string TextOf(const Entity& entity) {
  std::string text;
  for (size_t i = 0; i < entity.size(); ++i) {
    if (entity[i].empty()) continue;
    if (!text.empty()) text += ',';
    text += std::string(kLabels[i]) + "=";
    AppendEscaped(entity[i], &text);
  }
  return text.empty() ? kNoLabelsText : text;
}

bool LetsThrough(const std::vector<promql::Matcher>& matchers, const Entity& entity) {
  for (const promql::Matcher& matcher : matchers) {
    std::string value;
    for (size_t i = 0; i < entity.size(); ++i) {
      if (matcher.name() == kLabels[i]) value = entity[i];
    }
    if (!matcher.Matches(value)) return false;
  }
  return true;
}

}  // namespace
}  // namespace sonde::series

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;          // NOLINT: a main of sorts
  using namespace sonde::series;  // NOLINT
  InputReader input(data, size);
  std::vector<Entity> entities(input.Byte() % (kEntitiesMax + 1));
  std::vector<std::string> texts;
  for (Entity& entity : entities) {
    for (std::string& value : entity) value = std::string(input.Bytes(input.Byte() % (kValueBytesMax + 1)));
    texts.push_back(TextOf(entity));
  }
  const auto block = EntityBlock::Make({"x", "y"}, texts);
  Require(block != nullptr, "entities come to a block");

  std::vector<promql::Matcher> matchers;
  for (size_t i = input.Byte() % (kMatchersMax + 1); i > 0; --i) {
    const uint8_t form = input.Byte();
    std::string value(input.Bytes(input.Byte() % (kPatternBytesMax + 1)));
    auto matcher = promql::Matcher::Create(kKinds[form % kKinds.size()],
                                           kLabels[form / kKinds.size() % kLabels.size()], std::move(value));
    if (!matcher.ok()) {
      Require(absl::IsInvalidArgument(matcher.status()), "the code of a refusal");
      continue;
    }
    matchers.push_back(*std::move(matcher));
  }
  for (const promql::Matcher& matcher : matchers) {
    const auto pattern = promql::CompilePattern(matcher.value());
    if (matcher.kind() != promql::MatchKind::kMatches || !pattern.ok()) continue;
    for (const Entity& entity : entities) {
      Require(matcher.Matches(entity[0]) == re2::RE2::FullMatch(entity[0], **pattern), "as RE2 matches");
    }
  }
  const PositionSet found = MatchBlock(*block, matchers);
  for (size_t i = 0; i < entities.size(); ++i) {
    Require(found.Contains(i) == LetsThrough(matchers, entities[i]), "as each entity is asked");
  }
  return 0;
}
