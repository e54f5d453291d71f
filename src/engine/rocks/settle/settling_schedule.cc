#include "engine/rocks/settle/settling_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/background.h"
#include "engine/rocks/store/fragment_merge.h"

namespace sonde {
namespace {

constexpr uint64_t kHeadShare = 8;
// The cells that a core takes in if it does little else.
constexpr uint64_t kBusyCellsPerSecond = 200'000;
constexpr uint64_t kBusyFactor = 4;
// After so long a smaller share is enough, and in the end any.
constexpr absl::Duration kOld = absl::Hours(1);
constexpr uint64_t kOldShare = 64;
constexpr absl::Duration kVeryOld = absl::Hours(24);
// Deletes hide cells that take space and time until they settle.
constexpr uint64_t kDeletesMin = 10'000;
constexpr uint64_t kDeletesShare = 100;

// The bytes that a point read looks through in about the time that it takes otherwise.
constexpr uint64_t kLongEntryBytes = uint64_t{256} << 10;
constexpr int kEarlyRest = 10;

// Giving space back pauses after this time, so that cells that came in meanwhile settle.
constexpr absl::Duration kSpaceTurn = absl::Seconds(1);
constexpr int kSpaceRest = 10;

constexpr absl::Duration kPause = absl::Milliseconds(250);
constexpr absl::Duration kPauseAfterFailure = absl::Seconds(10);
constexpr size_t kPagesPerVisit = 1'000;

bool IsMuch(const HeadLoad& head, bool busy, const SettlingSchedule::Options& options) {
  return head.cells >= options.head_cells_min * (busy ? kBusyFactor : 1) ||
         head.bytes >= options.head_bytes_min;
}

}  // namespace

bool SettlingSchedule::IsDue(const HeadLoad& open_head, uint64_t page_cells, int64_t now_micros, bool busy,
                             const Options& options) {
  if (open_head.since_micros == 0) return false;
  if (IsMuch(open_head, busy, options) && open_head.cells >= page_cells / kHeadShare) return true;
  if (open_head.has_full_row || open_head.has_much_dropped) return true;
  if (open_head.long_bytes >= kCombinedBytesMax && open_head.long_bytes >= open_head.bytes / 2) return true;
  if (open_head.deletes >= std::max(kDeletesMin, page_cells / kDeletesShare)) return true;
  const absl::Duration age = absl::Microseconds(now_micros - open_head.since_micros);
  return age >= kVeryOld || (age >= kOld && open_head.cells >= page_cells / kOldShare);
}

bool SettlingSchedule::IsDueEarly(const HeadLoad& open_head) {
  return open_head.longest_read_bytes >= kLongEntryBytes;
}

void SettlingSchedule::Start() {
  thread_ = std::thread([this] { Run(); });
}

void SettlingSchedule::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  space_.Cancel();
  if (thread_.joinable()) thread_.join();
}

bool SettlingSchedule::IsStopping() const {
  const absl::MutexLock lock(&mutex_);
  return stopping_;
}

bool SettlingSchedule::MayGoOn() const {
  return !IsStopping() && (!options_.has_room || options_.has_room());
}

void SettlingSchedule::Run() {
  WorkBehindRequests();
  while (!IsStopping()) {
    const absl::Status status = Work();
    Report(status);
    if (status.ok() && store_->long_rows().AnyFull() && MayGoOn()) continue;  // somebody waits for it
    const absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&stopping_), status.ok() ? kPause : kPauseAfterFailure);
  }
}

bool SettlingSchedule::IsBusy(const HeadLoad& open_head, absl::Time now) {
  // The head may be another one by now.
  const uint64_t came = open_head.cells - std::min(open_head.cells, last_cells_);
  const double seconds = absl::ToDoubleSeconds(now - std::exchange(last_look_, now));
  last_cells_ = open_head.cells;
  return static_cast<double>(came) > kBusyCellsPerSecond * seconds;
}

absl::Status SettlingSchedule::Work() {
  if (absl::Status status = SettleResting(); !status.ok()) return status;
  if (absl::Now() - last_visit_ >= options_.visit_interval) {
    if (absl::Status status = Visit(); !status.ok()) return status;
  }
  FreeSpace();
  const absl::Time start = absl::Now();
  const HeadLoad load = store_->OpenHeadLoad();
  const bool due = IsDue(load, CellsToRewrite(), absl::ToUnixMicros(start), IsBusy(load, start), options_);
  const bool early = !due && start >= early_from_ && IsDueEarly(load);
  if (!MayGoOn() || !(due || early)) return absl::OkStatus();  // the switch settles what still rests
  absl::Status status = Settle(load);
  if (early) early_from_ = absl::Now() + kEarlyRest * (absl::Now() - start);
  return status;
}

uint64_t SettlingSchedule::CellsToRewrite() const {
  const auto all = static_cast<uint64_t>(std::max<int64_t>(settling_->page_totals().cells, 0));
  return std::min(all, *std::max_element(rewritten_.begin(), rewritten_.end()));
}

absl::Status SettlingSchedule::Settle(const HeadLoad& load) {
  const uint64_t rewritten_before = settling_->counts().cells_old;
  if (absl::Status status = settling_->Switch(); !status.ok()) return status;
  absl::Status status = SettleResting(/*switched=*/true);
  // A head with little in it says nothing of one with much.
  if (status.ok() && IsMuch(load, /*busy=*/false, options_)) {
    rewritten_ = {settling_->counts().cells_old - rewritten_before, rewritten_[0]};
  }
  return status;
}

absl::Status SettlingSchedule::SettleResting(bool switched) {
  bool any = switched;
  while (MayGoOn()) {
    absl::StatusOr<bool> more = settling_->Step();
    if (!more.ok()) return more.status();
    // Settled entries are still in the files, and in the way of readers of the head.
    if (!*more) return any ? store_->CompactRestingHead() : absl::OkStatus();
    any = true;
  }
  return absl::OkStatus();
}

absl::Status SettlingSchedule::Visit() {
  Settling::VisitPlace place;
  while (MayGoOn()) {
    absl::StatusOr<bool> more = settling_->Visit(kPagesPerVisit, &place);
    if (!more.ok()) return more.status();
    visited_pages_.store(place.visited, std::memory_order_relaxed);
    if (!*more) {
      space_due_ = true;
      last_visit_ = absl::Now();
      last_visit_seconds_.store(absl::ToUnixSeconds(last_visit_), std::memory_order_relaxed);
      break;
    }
  }
  return absl::OkStatus();
}

// Where it fails, as in a damaged table, cells settle all the same.
void SettlingSchedule::FreeSpace() {
  const absl::Time begin = absl::Now();
  if (!space_since_.has_value()) {
    const bool dropped = settling_->drops() != drops_known_ && begin >= space_from_;
    if (!space_due_ && !dropped) return;
    space_since_ = begin;
    space_due_ = false;
    drops_known_ = settling_->drops();
  }
  while (!IsStopping() && absl::Now() - begin < kSpaceTurn) {
    const absl::StatusOr<PageSpace::Progress> progress = space_.Step(MayGoOn());
    if (progress.ok() && *progress == PageSpace::Progress::kMore) continue;
    if (progress.ok() && *progress == PageSpace::Progress::kWaitsForReaders) return;
    if (options_.tell && !progress.ok() && !space_fails_) {
      options_.tell(TellLevel::kWarning,
                    fmt::format("The space of deleted pages cannot be given back, which is tried again after "
                                "the next visit to pages: {}",
                                progress.status().ToString()));
    }
    space_fails_ = !progress.ok();
    const absl::Time end = absl::Now();
    space_from_ = end + kSpaceRest * (end - *space_since_);
    space_since_.reset();
    return;
  }
}

void SettlingSchedule::Report(const absl::Status& status) {
  if (options_.tell && !status.ok() && !failing_) {
    options_.tell(TellLevel::kWarning,
                  fmt::format("Settling fails, and is tried again every {} s; nothing is lost: {}",
                              absl::ToInt64Seconds(kPauseAfterFailure), status.ToString()));
  }
  if (options_.tell && status.ok() && failing_) options_.tell(TellLevel::kInfo, "Settling works again");
  failing_ = !status.ok();
}

}  // namespace sonde
