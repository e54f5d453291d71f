#include "wire/not_built.h"

#include <fmt/format.h>

#include <string>

#include "base/bytes.h"
#include "wire/grpc_status.h"

namespace sonde {
namespace {

constexpr std::string_view kPage = "docs/compatibility.md of Sonde";

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const absl::Status& why) { Finish(ToGrpc(why)); }
  void OnDone() override { delete this; }
};

}  // namespace

absl::Status FieldNotBuilt(std::string_view field, std::string_view call) {
  return absl::UnimplementedError(fmt::format("{} of {} is not built; {} lists what is", field, call, kPage));
}

absl::Status NotBuilt(std::string_view text) {
  return absl::UnimplementedError(fmt::format("{}; {} lists what is built", text, kPage));
}

grpc::ServerGenericBidiReactor* UnbuiltCalls::CreateReactor(grpc::GenericCallbackServerContext* context) {
  // "/google.bigtable.v2.Bigtable/PrepareQuery", or whatever else the caller thought of.
  const std::string_view path = context->method();
  const std::string call = Printable(path.substr(path.starts_with('/') ? 1 : 0));
  return new Refusal(
      absl::UnimplementedError(fmt::format("{} is not built; {} lists which calls are", call, kPage)));
}

}  // namespace sonde
