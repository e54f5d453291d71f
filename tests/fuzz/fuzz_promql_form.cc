// Parameters of Prometheus' API: any text is a time, a duration, a name, or refused; and no time is beyond what queries calculate with.
#include <string>
#include <string_view>

#include "promql/http/api_answer.h"
#include "promql/http/api_form.h"
#include "promql/syntax/words.h"
#include "target.h"

namespace sonde::promql {
namespace {

constexpr size_t kTextBytes = 1 << 12;

void CheckForm(std::string_view text) {
  const auto time = ParseApiTime(text);
  Require(!time.ok() || (*time >= -kApiMillisMax && *time <= kApiMillisMax), "a time within the limits");
  Require(time.ok() || absl::IsInvalidArgument(time.status()), "the code of a refused time");
  const auto duration = ParseApiDuration(text);
  Require(duration.ok() || absl::IsInvalidArgument(duration.status()), "the code of a refused duration");
  Require(!IsUtf8(text) || IsUtf8(UnescapeLabelName(text)), "a name stays UTF-8");
  const auto matchers = ParseMatchers({std::string(text)});
  Require(matchers.ok() || absl::IsInvalidArgument(matchers.status()), "the code of refused matchers");
  std::string json;
  AppendJsonTextForHtml(text, &json);
  Require(IsUtf8(json) && json.size() >= 2, "an answer is UTF-8");
}

}  // namespace
}  // namespace sonde::promql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::promql::kTextBytes) return 0;
  sonde::promql::CheckForm({reinterpret_cast<const char*>(data), size});
  return 0;
}
