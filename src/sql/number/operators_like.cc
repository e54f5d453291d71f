#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/bounds.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"
#include "sql/text/like_pattern.h"

namespace sonde::sql {
namespace {

// The last pattern of a call, which mostly is the only one.
class LikeState : public CallState {
 public:
  absl::StatusOr<const LikePattern*> Get(std::string_view pattern, LikePattern::Over over) {
    if (!compiled_.has_value() || text_ != pattern) {
      compiled_ = LikePattern::Compile(pattern, over);
      text_ = pattern;
    }
    if (!compiled_->ok()) return compiled_->status();
    return &**compiled_;
  }
  WorkMeter& meter() { return meter_; }

 private:
  std::string text_;
  std::optional<absl::StatusOr<LikePattern>> compiled_;
  WorkMeter meter_;
};

template <LikePattern::Over kOver>
absl::StatusOr<bool> Like(Call& call, std::string_view text, std::string_view pattern) {
  // Parts with _ are tried at each place, so that the work may be as long as both together.
  constexpr size_t kShortBytes = 4096;
  LikeState& state = call.state<LikeState>();
  const absl::StatusOr<const LikePattern*> compiled = state.Get(pattern, kOver);
  if (!compiled.ok()) return compiled.status();
  const size_t work = text.size() < kShortBytes ? text.size() : text.size() * (1 + pattern.size() / 16);
  if (absl::Status status = state.meter().Add(call, work); !status.ok()) return status;
  return (*compiled)->Matches(text);
}

}  // namespace

std::vector<Function> LikeOperators() {
  return {
      {.name = "$like",
       .overloads = {Scalar("(STRING, STRING) -> BOOL", RowKernel<Like<LikePattern::Over::kString>>),
                     Scalar("(BYTES, BYTES) -> BOOL", RowKernel<Like<LikePattern::Over::kBytes>>)},
       .meaning = "Whether a text fits a pattern, in which % stands for any characters and _ for one; \\ "
                  "takes this meaning from "
                  "the character behind it.",
       .examples = {"'sensor-7' LIKE 'sensor-%'", "'a' LIKE '_'"}},
  };
}

}  // namespace sonde::sql
