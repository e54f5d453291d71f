// ReadRows: rows are streamed while they are scanned.  At most one message waits for the client, so a slow
// reader costs its message and its scan, whatever the size of the result.
#pragma once

#include <memory>

#include "table/tables.h"
#include "wire/call/calls.h"

namespace sonde {

// Nothing is owned.
std::unique_ptr<rpc::Handler> HandleReadRows(rpc::Call* call, Tables* tables, const CallResources& resources);

}  // namespace sonde
