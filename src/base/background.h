// Threads whose work may wait: settling, views, long-running operations.
#pragma once

namespace sonde {

// Makes the calling thread give way to those that serve requests, for as long as it lives: where processors are scarce, it gets a tenth
// of what one of those gets.  Other threads stay as they are.
void WorkBehindRequests();

}  // namespace sonde
