// The bytes of one cell, whole, for those who look at a value.  docs/http-api.md describes it.
//
//   GET /api/v1/tables/{project}/{instance}/{table}/cell?key=&family=&column=&time_micros=&bytes=
#pragma once

#include "base/large_room.h"
#include "table/tables.h"
#include "web/http/router.h"

namespace sonde {

// Nothing is owned.  `large_room`: where large values take their place; null: they need none.
void AddCellApi(Tables* tables, LargeRoom* large_room, Router* router);

}  // namespace sonde
