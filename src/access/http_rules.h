// The permission table of the HTTP port: which permissions a request to each route needs, and on which resource.  A route that is
// not in the table is refused.
//
// The routes of series reach tables by names that the door does not know.  They need their permissions on the instance that holds
// all of these tables.  The body of a SQL query names the instance and the tables, so the handler decides on them.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "access/permission.h"
#include "access/rules.h"

namespace sonde {

// Resources of HttpRule beside patterns.
inline constexpr std::string_view kWholeServer = "";
inline constexpr std::string_view kSeriesInstance = "@series";  // the instance of series over HTTP

struct HttpRule {
  std::string_view method;
  std::string_view path;  // the route's: "/api/v1/series/{name}"; "/assets/*": all below
  Door door = Door::kDecided;
  // Those that are not empty are all needed.
  std::array<std::string_view, 2> permissions = {};
  // kWholeServer, kSeriesInstance, or a pattern whose {names} stand for parts of the path.
  std::string_view resource = kWholeServer;
};

std::span<const HttpRule> AllHttpRules();

// Null: there is no rule.
const HttpRule* FindHttpRule(std::string_view method, std::string_view path);

}  // namespace sonde
