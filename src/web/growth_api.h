// GET /api/v1/growth: which parts of the disk and which tables grew, and how many series were new.  docs/http-api.md describes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "metrics/disk_parts.h"
#include "table/tables.h"
#include "web/http/router.h"

namespace sonde {

// A thread of its own, which ends with the router, notes the sizes every SizeHistory::kStep.  `tables` must outlive the router.
// `new_series`: how many entities of open series were new since the server's start; null: nobody counts them.
void AddGrowthApi(Tables* tables, std::shared_ptr<DiskParts> disk, std::function<uint64_t()> new_series,
                  Router* router);

}  // namespace sonde
