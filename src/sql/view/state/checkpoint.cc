#include "sql/view/state/checkpoint.h"

#include <algorithm>
#include <variant>

#include "base/varint.h"
#include "model/gc_rule.h"

namespace sonde::sql {
namespace {

constexpr char kCheckpointFormat = 1;

void AppendRule(const GcRule& rule, std::string* text) {
  PutVarint(text, rule.rule.index());
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) {
    PutVarint(text, static_cast<uint64_t>(versions->count));
  } else if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    PutVarint(text, static_cast<uint64_t>(age->micros));
  } else if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) {
    PutVarint(text, all->rules.size());
    for (const GcRule& inner : all->rules) AppendRule(inner, text);
  } else if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) {
    PutVarint(text, any->rules.size());
    for (const GcRule& inner : any->rules) AppendRule(inner, text);
  }
}

bool GetRules(std::string_view* bytes, FamilyRules* rules) {
  uint64_t count = 0;
  if (!GetVarint(bytes, &count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t family = 0;
    std::string_view rule;
    if (!GetVarint(bytes, &family) || family > UINT32_MAX || !GetBytes(bytes, &rule)) return false;
    (*rules)[static_cast<FamilyId>(family)] = std::string(rule);
  }
  return true;
}

bool GetFlag(std::string_view* bytes, bool* flag) {
  uint64_t number = 0;
  if (!GetVarint(bytes, &number) || number > 1) return false;
  *flag = number == 1;
  return true;
}

}  // namespace

std::string EncodeCheckpoint(const ViewCheckpoint& checkpoint) {
  std::string bytes(1, kCheckpointFormat);
  PutVarint(&bytes, static_cast<uint64_t>(checkpoint.position));
  PutVarint(&bytes, checkpoint.families.size());
  for (const auto& [family, rule] : checkpoint.families) {
    PutVarint(&bytes, family);
    PutBytes(&bytes, rule);
  }
  PutVarint(&bytes, checkpoint.populating_from.has_value() ? 1 : 0);
  if (checkpoint.populating_from.has_value()) PutBytes(&bytes, *checkpoint.populating_from);
  PutVarint(&bytes, checkpoint.was_populated ? 1 : 0);
  return bytes;
}

std::optional<ViewCheckpoint> DecodeCheckpoint(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != kCheckpointFormat) return std::nullopt;
  bytes.remove_prefix(1);
  uint64_t position = 0;
  bool is_populating = false;
  ViewCheckpoint checkpoint;
  if (!GetVarint(&bytes, &position) || position > INT64_MAX || !GetRules(&bytes, &checkpoint.families) ||
      !GetFlag(&bytes, &is_populating)) {
    return std::nullopt;
  }
  checkpoint.position = static_cast<int64_t>(position);
  std::string_view from;
  if (is_populating && !GetBytes(&bytes, &from)) return std::nullopt;
  if (is_populating) checkpoint.populating_from = std::string(from);
  if (!GetFlag(&bytes, &checkpoint.was_populated) || !bytes.empty()) return std::nullopt;
  return checkpoint;
}

FamilyRules RulesOf(const TableSchema& source) {
  FamilyRules rules;
  for (const FamilySchema& family : source.families) AppendRule(family.gc_rule, &rules[family.id]);
  return rules;
}

bool ShowsOtherCells(const FamilyRules& before, const FamilyRules& now) {
  return !std::ranges::includes(now, before);
}

}  // namespace sonde::sql
