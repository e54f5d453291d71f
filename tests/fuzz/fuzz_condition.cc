// The conditions of policies: any text is refused or gives a condition that can be asked; what it is asked twice it answers twice.
#include "access/condition.h"
#include "target.h"

namespace sonde {
namespace {

void CheckCondition(std::string_view text) {
  const absl::StatusOr<Condition> condition = Condition::Parse(text);
  if (!condition.ok()) {
    Require(condition.status().code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
    return;
  }
  Require(text.size() <= kConditionBytesMax, "the bound of a condition");
  const ConditionFacts facts{absl::FromUnixSeconds(1'770'000'000), "projects/p/instances/i/tables/t",
                             "bigtableadmin.googleapis.com/Table"};
  const bool holds = condition->Holds(facts);
  Require(condition->Holds(facts) == holds, "the same question has the same answer");
  if (text.size() + 3 > kConditionBytesMax) return;
  const absl::StatusOr<Condition> opposite = Condition::Parse("!(" + std::string(text) + ")");
  // The opposite may nest too deep.
  if (opposite.ok())
    Require(opposite->Holds(facts) != holds, "the opposite holds where the condition does not");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sonde::CheckCondition({reinterpret_cast<const char*>(data), size});
  return 0;
}
