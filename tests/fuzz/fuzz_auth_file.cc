// Authentication files: any text is read or refused by file and line, and what is read is written and read as the same.
#include <string>
#include <string_view>

#include "identity/check/file_authenticator.h"
#include "identity/config/auth_text.h"
#include "target.h"

namespace sonde {
namespace {

constexpr size_t kTextBytes = 1 << 16;

void CheckText(std::string_view text) {
  const absl::StatusOr<AuthConfig> config = ParseAuthText(text, "auth.yaml");
  if (!config.ok()) {
    Require(config.status().code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
    Require(config.status().message().substr(0, 10) == "auth.yaml:", "a refusal names the file");
    return;
  }
  const absl::StatusOr<AuthConfig> again = ParseAuthText(WriteAuthText(*config), "auth.yaml");
  Require(again.ok() && *again == *config, "a configuration is read as it was written");
  const auto authenticator = FileAuthenticator::Create(*config);
  Require(*authenticator->config() == *config, "it is in force");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::kTextBytes) return 0;
  sonde::CheckText({reinterpret_cast<const char*>(data), size});
  return 0;
}
