// The HTTP port of `sonde serve`: which parts have routes there.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "series/http/ingest_service.h"
#include "server/certificates.h"
#include "server/serve_settings.h"
#include "server/server_access.h"
#include "sql/http/sql_answer.h"
#include "web/http/http_server.h"
#include "web/server_facts.h"

namespace sonde {

class CommitLine;
class IdleWorkers;

// Series are kept in this instance (its project and name are what `sonde series` has when nobody names
// others). `tables`, `line` (where short writes are committed) and `idle_workers` (for questions) must outlive it.
// Errors as IngestService::Open.
absl::StatusOr<std::unique_ptr<series::IngestService>> OpenIngest(const ServeSettings& settings,
                                                                  Tables* tables, CommitLine* line,
                                                                  IdleWorkers* idle_workers);

// The objects that `facts`, `sql` and `ingest` point to, `certificates` and `access` (null: authentication is off) must outlive the
// server.  Returns null if the settings
// want none. If the settings name no port and the usual one is taken, the server takes a free one, and the
// log says so. FAILED_PRECONDITION: the port that the settings name cannot be had.
absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(const ServeSettings& settings, const ServerFacts& facts,
                                                      const sql::SqlService& sql,
                                                      series::IngestService* ingest,
                                                      const Certificates& certificates, ServerAccess* access);
// projects/P/instances/I, whose tables series and SQL over HTTP use unless they are told others.
std::string SeriesInstance();

}  // namespace sonde
