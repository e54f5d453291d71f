#include "wire/call/not_built.h"

#include <fmt/format.h>

#include <string>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr std::string_view kPage = "docs/compatibility.md of Sonde";

}  // namespace

absl::Status NotBuilt(std::string_view text) {
  return absl::UnimplementedError(fmt::format("{}; {} lists what is built", text, kPage));
}

absl::Status CallNotBuilt(std::string_view path) {
  // "/google.bigtable.v2.Bigtable/PrepareQuery", or whatever else the caller thought of.
  const std::string call = Printable(path.substr(path.starts_with('/') ? 1 : 0));
  return absl::UnimplementedError(fmt::format("{} is not built; {} lists which calls are", call, kPage));
}

}  // namespace sonde
