// The lock of a repository: one process at a time adds backups or removes them.
//
// The lock is a file that says who has it, since when, and when it was renewed.  It is advisory: whoever only reads takes none.  A
// lock that was not renewed for kLockStale is taken over; so is one of a process of this machine that has ended.
//
// Threads: an object is for one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backup/repository/repository.h"

namespace sonde {

constexpr absl::Duration kLockStale = absl::Minutes(10);
constexpr absl::Duration kLockRenewal = absl::Minutes(1);

class RepositoryLock {
 public:
  // The repository must outlive the lock.  FAILED_PRECONDITION: another process has the lock; the text says which one.
  static absl::StatusOr<std::unique_ptr<RepositoryLock>> Take(const Repository& repository);
  // Gives the lock back, if it is still held.
  ~RepositoryLock();
  RepositoryLock(const RepositoryLock&) = delete;

  // To be called often.  Renews the lock when it is time.  ABORTED: another process has taken it over.
  absl::Status Keep();
  // Looks whether the lock is still this one's.  ABORTED: it is not.
  absl::Status CheckHeld() const;

 private:
  RepositoryLock(const Repository& repository, std::string token)
      : repository_(repository), token_(std::move(token)) {}
  std::string Text() const;

  const Repository& repository_;
  const std::string token_;
  absl::Time renewed_;
};

}  // namespace sonde
