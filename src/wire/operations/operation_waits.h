// Waits until operations have ended, without a thread for each.
//
// One thread for all looks at the operations every kBetweenLooks while somebody waits.
//
// Threads: all functions may be called at once, but for the destructor.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "wire/operations/operations.h"

namespace sonde {

class OperationWaits {
 public:
  static constexpr absl::Duration kBetweenLooks = absl::Milliseconds(50);

  // `operations` must outlive this.
  explicit OperationWaits(const Operations* operations);
  // As End.
  ~OperationWaits();
  OperationWaits(const OperationWaits&) = delete;
  OperationWaits& operator=(const OperationWaits&) = delete;

  struct Wait {
    std::string name;                   // of the operation
    absl::Duration timeout;             // from now
    std::function<bool()> is_given_up;  // asked now and then; nobody waits any more
    std::function<void()> answer;       // called once, by any thread
  };
  // Answers when the operation has ended or was forgotten, when the timeout has passed, or when this ends; at once if it is so now.
  void Add(Wait wait);
  // Answers all waits, and from now on every wait at once.
  void End();

 private:
  struct Waiting {
    Wait wait;
    std::chrono::steady_clock::time_point until;
  };
  bool IsOver(const Wait& wait) const;
  void Run();

  const Operations* const operations_;
  absl::Mutex mutex_;
  SteadyCondVar changed_;
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, as it uses the others
};

}  // namespace sonde
