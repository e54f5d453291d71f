// The web page: its files, at / and /assets.
#pragma once

#include "web/http/router.h"

namespace sonde {

void AddPage(Router* router);

}  // namespace sonde
