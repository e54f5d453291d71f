// Tells ThreadSanitizer about absl::Mutex and absl::CondVar.  Debian's Abseil is not instrumented, so all
// that they order would look like races.  In every program of the preset `tsan` this library stands before
// Abseil's: its functions are called in their place, by Sonde and by gRPC, and call them. ThreadSanitizer
// looks away between a pre and a post call.  That covers conditions, too, which Abseil has any thread
// evaluate that is about to give the mutex back.  What is not here (`...WithTimeout`, absl::Notification,
// absl::MutexLock) calls what is.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <array>
#include <bit>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace {

constexpr unsigned kWrite = 0;
constexpr unsigned kRead = __tsan_mutex_read_lock;

// The member function of the same name in the library after this one.  A pointer to one that is not virtual
// is its address and an offset (Itanium C++ ABI).
template <typename Member>
Member Next(Member own) {
  auto words = std::bit_cast<std::array<void*, 2>>(own);
  Dl_info info;
  if (dladdr(words[0], &info) == 0 || info.dli_sname == nullptr) __builtin_trap();
  words[0] = dlsym(RTLD_NEXT, info.dli_sname);
  if (words[0] == nullptr) __builtin_trap();  // Abseil comes before this library
  return std::bit_cast<Member>(words);
}

class Locking {
 public:
  Locking(void* mutex, unsigned how) : mutex_(mutex), how_(how) { __tsan_mutex_pre_lock(mutex_, how_); }
  Locking(const Locking&) = delete;
  ~Locking() { __tsan_mutex_post_lock(mutex_, how_, 0); }

 private:
  void* const mutex_;
  const unsigned how_;
};

class Unlocking {
 public:
  Unlocking(void* mutex, unsigned how) : mutex_(mutex), how_(how) { __tsan_mutex_pre_unlock(mutex_, how_); }
  Unlocking(const Unlocking&) = delete;
  ~Unlocking() { __tsan_mutex_post_unlock(mutex_, how_); }

 private:
  void* const mutex_;
  const unsigned how_;
};

// A wait gives the mutex back, and takes it again.
class Waiting {
 public:
  explicit Waiting(void* mutex) : unlocked_(mutex), locking_(mutex, kWrite) {}

 private:
  struct Unlocked {
    explicit Unlocked(void* mutex) { const Unlocking unlocking(mutex, kWrite); }
  };
  const Unlocked unlocked_;
  const Locking locking_;
};

bool TriedLock(void* mutex, unsigned how, bool is_locked) {
  __tsan_mutex_post_lock(mutex, how | (is_locked ? 0 : __tsan_mutex_try_lock_failed), 0);
  return is_locked;
}

}  // namespace

void absl::Mutex::Lock() {
  static const auto next = Next(&Mutex::Lock);
  const Locking locking(this, kWrite);
  (this->*next)();
}

void absl::Mutex::Unlock() {
  static const auto next = Next(&Mutex::Unlock);
  const Unlocking unlocking(this, kWrite);
  (this->*next)();
}

bool absl::Mutex::TryLock() {
  static const auto next = Next(&Mutex::TryLock);
  __tsan_mutex_pre_lock(this, __tsan_mutex_try_lock);
  return TriedLock(this, __tsan_mutex_try_lock, (this->*next)());
}

void absl::Mutex::ReaderLock() {
  static const auto next = Next(&Mutex::ReaderLock);
  const Locking locking(this, kRead);
  (this->*next)();
}

void absl::Mutex::ReaderUnlock() {
  static const auto next = Next(&Mutex::ReaderUnlock);
  const Unlocking unlocking(this, kRead);
  (this->*next)();
}

bool absl::Mutex::ReaderTryLock() {
  static const auto next = Next(&Mutex::ReaderTryLock);
  __tsan_mutex_pre_lock(this, __tsan_mutex_try_read_lock);
  return TriedLock(this, __tsan_mutex_try_read_lock, (this->*next)());
}

void absl::Mutex::LockWhen(const Condition& condition) {
  static const auto next = Next(&Mutex::LockWhen);
  const Locking locking(this, kWrite);
  (this->*next)(condition);
}

bool absl::Mutex::LockWhenWithDeadline(const Condition& condition, absl::Time deadline) {
  static const auto next = Next(&Mutex::LockWhenWithDeadline);
  const Locking locking(this, kWrite);
  return (this->*next)(condition, deadline);
}

void absl::Mutex::ReaderLockWhen(const Condition& condition) {
  static const auto next = Next(&Mutex::ReaderLockWhen);
  const Locking locking(this, kRead);
  (this->*next)(condition);
}

bool absl::Mutex::ReaderLockWhenWithDeadline(const Condition& condition, absl::Time deadline) {
  static const auto next = Next(&Mutex::ReaderLockWhenWithDeadline);
  const Locking locking(this, kRead);
  return (this->*next)(condition, deadline);
}

// Waits are taken to be with a lock for writing: nobody here waits with one for reading.
void absl::Mutex::Await(const Condition& condition) {
  static const auto next = Next(&Mutex::Await);
  const Waiting waiting(this);
  (this->*next)(condition);
}

bool absl::Mutex::AwaitWithDeadline(const Condition& condition, absl::Time deadline) {
  static const auto next = Next(&Mutex::AwaitWithDeadline);
  const Waiting waiting(this);
  return (this->*next)(condition, deadline);
}

void absl::CondVar::Wait(Mutex* mutex) {
  static const auto next = Next(&CondVar::Wait);
  const Waiting waiting(mutex);
  (this->*next)(mutex);
}

bool absl::CondVar::WaitWithDeadline(Mutex* mutex, absl::Time deadline) {
  static const auto next = Next(&CondVar::WaitWithDeadline);
  const Waiting waiting(mutex);
  return (this->*next)(mutex, deadline);
}
