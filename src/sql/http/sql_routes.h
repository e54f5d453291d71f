// SQL over HTTP: POST /api/v1/sql asks, GET /api/v1/sql tells the words of the language.  docs/http-api.md describes both.
#pragma once

#include <string>

#include "sql/http/sql_answer.h"
#include "web/http/router.h"

namespace sonde::sql {

// `project` and `instance`: where tables are looked for if a request does not say.  What `service` points to must outlive the
// routes.
void AddSqlRoutes(SqlService service, std::string project, std::string instance, Router* router);

}  // namespace sonde::sql
