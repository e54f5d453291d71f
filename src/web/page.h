// The web page: its files, at / and /assets.
#pragma once

#include "web/router.h"

namespace sonde {

void AddPage(Router* router);

}  // namespace sonde
