// The calls of the admin socket for `sonde backup create` and `sonde restore --table`.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "journal/journal.h"
#include "server/admin_socket.h"
#include "server/local_store.h"

namespace sonde {

// `checkpoint` makes a checkpoint of the store, and answers {"directory", "moment_micros", "tables"}, and if the store has a journal
// {"journal": {"id", "from_micros", "through_micros"}}; the server removes the directory when the client closes the connection.
// `journal-cut {"journal", "after", "starts"}` makes a segment of the journal, and answers {"file", "first", "last", "records", "more"}; the
// server removes the file when the client closes the connection.
// `restore-table {"copy", "table", "as"}` adds a table of a copy to the store (AddTableOfCopy).
// Both must outlive the calls; `journal` may be null.
std::map<std::string, AdminCall, std::less<>> BackupCalls(LocalStore* store, Journal* journal,
                                                          const std::string& data_dir);

}  // namespace sonde
