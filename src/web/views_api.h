// GET /api/v1/views: the logical and materialized views of all instances, by name.  docs/http-api.md describes it.
#pragma once

#include "catalog/catalog.h"
#include "web/http/router.h"

namespace sonde {

// `catalog` must outlive the router.
void AddViewsApi(const Catalog* catalog, Router* router);

}  // namespace sonde
