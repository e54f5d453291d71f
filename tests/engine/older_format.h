// A data directory as an older version of Sonde left it: what opens it next upgrades it.
#pragma once

#include <string>

namespace sonde {

// Of format 1 (which had no inventory) or 2 (which had no pages; those that are there stay).  The directory
// must not be open.  False: it is none yet.
bool MakeOlderFormat(const std::string& data_dir, int format);

// What the directory says; 0 when it says nothing.
int FormatOf(const std::string& data_dir);

}  // namespace sonde
