#include "web/http/router.h"

#include <optional>
#include <utility>

namespace sonde {
namespace {

// Takes a segment (up to the next '/') off the front.
std::string_view TakeSegment(std::string_view* path) {
  const size_t end = path->find('/');
  const std::string_view segment = path->substr(0, end);
  path->remove_prefix(end == std::string_view::npos ? path->size() : end + 1);
  return segment;
}

std::optional<std::map<std::string, std::string>> MatchPath(std::string_view pattern, std::string_view path) {
  std::map<std::string, std::string> parts;
  // Both begin with '/'.  A path that ends with '/' has an empty segment there, which only itself matches.
  const bool ends_alike = pattern.ends_with('/') == path.ends_with('/');
  bool takes_rest = false;
  while (!pattern.empty()) {
    const std::string_view wanted = TakeSegment(&pattern);
    if (wanted.starts_with('{') && wanted.ends_with("...}")) {
      parts[std::string(wanted.substr(1, wanted.size() - 5))] = DecodePath(path);
      path = {};
      takes_rest = true;
      break;
    }
    if (path.empty()) return std::nullopt;
    const std::string_view found = TakeSegment(&path);
    if (wanted.starts_with('{') && wanted.ends_with('}')) {
      if (found.empty()) return std::nullopt;
      parts[std::string(wanted.substr(1, wanted.size() - 2))] = DecodePath(found);
    } else if (wanted != DecodePath(found)) {
      return std::nullopt;
    }
  }
  if (!path.empty() || (!takes_rest && !ends_alike)) return std::nullopt;
  return parts;
}

}  // namespace

void Router::Add(Route route) { routes_.push_back(std::move(route)); }

Router::Match Router::Find(std::string_view method, std::string_view target_path) const {
  Match match;
  for (const Route& route : routes_) {
    auto parts = MatchPath(route.path, target_path);
    if (!parts.has_value()) continue;
    if (route.method == method) return {&route, *std::move(parts), {}};
    match.allowed_methods.push_back(route.method);
  }
  return match;
}

}  // namespace sonde
