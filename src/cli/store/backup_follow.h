// `sonde backup create --follow`: copies the journal of a running server into a repository, until the process is stopped.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"

namespace sonde {

// Makes a backup by `make_base`, then follows until SIGINT or SIGTERM, which is OK.  While no server answers it waits for one.  If the
// server's journal has ended, or has forgotten changes, another backup is made.  Errors: those of make_base and of the repository.
absl::Status FollowJournal(const Repository& repository, const std::string& data_dir,
                           const std::function<absl::StatusOr<Manifest>()>& make_base);

}  // namespace sonde
