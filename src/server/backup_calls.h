// The calls of the admin socket for `sonde backup create` and `sonde restore --table`.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "server/admin_socket.h"
#include "server/local_store.h"

namespace sonde {

// `checkpoint` makes a checkpoint of the store, and answers {"directory", "moment_micros", "tables"}; the server removes the
// directory when the client closes the connection.
// `restore-table {"copy", "table", "as"}` adds a table of a copy to the store (AddTableOfCopy).
// `store` must outlive the calls.
std::map<std::string, AdminCall, std::less<>> BackupCalls(LocalStore* store, const std::string& data_dir);

}  // namespace sonde
