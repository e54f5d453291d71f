// GET /api/v1/growth: which parts of the disk and which tables grew.  docs/http-api.md describes it.
#pragma once

#include <memory>

#include "metrics/disk_parts.h"
#include "table/tables.h"
#include "web/http/router.h"

namespace sonde {

// A thread of its own, which ends with the router, notes the sizes every SizeHistory::kStep.  `tables` must outlive the router.
void AddGrowthApi(Tables* tables, std::shared_ptr<DiskParts> disk, Router* router);

}  // namespace sonde
