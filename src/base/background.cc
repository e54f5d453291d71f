#include "base/background.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sonde {

void WorkBehindRequests() {
  constexpr int kNice = 10;
  // Linux takes the id of a thread for that thread alone.
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
}

}  // namespace sonde
