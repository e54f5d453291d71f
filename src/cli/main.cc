#include "absl/synchronization/mutex.h"
#include "cli/program.h"

// jemalloc's settings.  Memory that nobody uses is given back after ten seconds also when the thread that had
// it does nothing any more: a thousand reads that began at once leave many such.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";
}

int main(int argc, char** argv) {
  // Debian's Abseil looks for deadlocks at every lock that gRPC takes: some 6% of a small call.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return sonde::RunProgram(argc, argv);
}
