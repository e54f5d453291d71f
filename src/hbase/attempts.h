// How often a call is tried, and how long each try waits for the last one's fault to pass.
//
// Waits double from kWaitMin to kWaitMax, each drawn from its upper half, so that clients that failed together do not come back
// together.  A try that found a server away has waited already: its time counts.  Not for several threads.
#pragma once

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "hbase/wire/failure.h"

namespace sonde::hbase {

class Attempts {
 public:
  static constexpr absl::Duration kWaitMin = absl::Milliseconds(10);
  static constexpr absl::Duration kWaitMax = absl::Seconds(1);
  // A caller without a deadline waits no longer than this for a cluster that does not answer.
  static constexpr absl::Duration kAllMax = absl::Minutes(2);

  // `timeout` is of one try.
  Attempts(absl::Time deadline, absl::Duration timeout);

  // How long the next try may take: at most its timeout, and no longer than the deadline.  Never below a millisecond.
  absl::Duration TimeForOne() const;
  bool is_over() const { return absl::Now() >= end_; }
  // Waits before the next try after `failure`.  False: there is no time for one.
  bool WaitAfter(const Failure& failure);
  // What to answer when no time is left.  DEADLINE_EXCEEDED: the caller's deadline has passed, and nothing was done.
  absl::Status Over(const Failure& last, bool changes) const;
  int count() const { return count_; }

 private:
  const absl::Time deadline_;  // the caller's
  const absl::Time end_;
  const absl::Duration timeout_;
  absl::Duration wait_ = kWaitMin;
  absl::Time begun_ = absl::Now();  // of the last try
  int count_ = 1;
  SystemRandom random_;
};

}  // namespace sonde::hbase
