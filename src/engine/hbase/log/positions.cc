#include "engine/hbase/log/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace sonde {
namespace {

constexpr char kSlotsRow[] = "change logs";
// A server waits no longer than this for a slot, or for the end of an outage.
constexpr absl::Duration kWaitMax = absl::Seconds(30);
// Between two beats, however many wait for one.
constexpr absl::Duration kRestMin = absl::Milliseconds(20);
// A change has at least so long to be sent, when it gets its position.
constexpr double kSendTimeShareMin = 0.2;
// The lease is long enough for changes of this size; larger ones have it written anew before they begin.
constexpr size_t kUsualBytesMax = size_t{40} << 20;

}  // namespace

LogPositions::LogPositions(hbase::Client* client, hbase::TableName catalog, LogPositionsOptions options)
    : options_(options), board_(client, std::move(catalog), kSlotsRow), owner_(NewSlotOwner()) {
  if (options_.clock == nullptr) options_.clock = &system_clock_;
}

LogPositions::~LogPositions() {
  std::thread thread;
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    thread = std::move(thread_);
  }
  changed_.SignalAll();
  if (thread.joinable()) thread.join();
}

void LogPositions::AbandonForTest() {
  const absl::MutexLock lock(&mutex_);
  is_abandoned_ = is_ending_ = true;
  changed_.SignalAll();
}

absl::Time LogPositions::CallEnd() const { return absl::Now() + options_.call_time; }

absl::Duration LogPositions::LeaseFor(size_t bytes) const {
  // Sending, the call, and as long again as sending for what nobody foresees.
  return 2 * options_.send_time + options_.call_time +
         absl::Seconds(static_cast<double>(bytes) / options_.bytes_a_second_min);
}

absl::Duration LogPositions::LeaseWanted() const {
  absl::Duration lease = LeaseFor(kUsualBytesMax);
  if (!leases_wanted_.empty()) lease = std::max(lease, *leases_wanted_.rbegin());
  for (const auto& [position, one] : under_way_) lease = std::max(lease, one.lease);
  return lease;
}

absl::Duration LogPositions::TimeLeft() const {
  if (!held_.has_value()) return absl::ZeroDuration();
  return options_.send_time - absl::FromChrono(SteadyClock::now() - held_->written);
}

bool LogPositions::MayGive(absl::Duration lease) const {
  return held_.has_value() && held_->slot.lease >= lease &&
         TimeLeft() > options_.send_time * kSendTimeShareMin;
}

absl::StatusOr<int64_t> LogPositions::Begin(int64_t newest_of_row, int64_t position_min, size_t bytes,
                                            absl::Time deadline) {
  const absl::Duration lease = LeaseFor(bytes);
  const absl::MutexLock lock(&mutex_);
  StartThread();
  if (!MayGive(lease)) {
    const auto wanted = leases_wanted_.insert(lease);
    is_wanted_now_ = true;
    changed_.SignalAll();
    const auto is_over = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return is_ending_ || MayGive(lease); };
    changed_.WaitFor(&mutex_, std::min(deadline - absl::Now(), kWaitMax), absl::Condition(&is_over));
    leases_wanted_.erase(wanted);
    if (!MayGive(lease)) {
      return absl::UnavailableError(
          fmt::format("A change cannot be logged, as this server has no slot of the change logs; nothing was "
                      "applied: {}",
                      std::string(last_beat_.message())));
    }
  }
  const int64_t above = std::max({last_, newest_of_row, floor_});
  const int64_t position = PositionOf(held_->number, std::max({above + 1, position_min, NowMicros()}));
  last_ = position;
  under_way_[position] = {.lease = lease};
  return position;
}

void LogPositions::End(int64_t position, bool is_known) {
  const absl::MutexLock lock(&mutex_);
  const auto at = under_way_.find(position);
  if (at == under_way_.end()) return;
  if (is_known) {
    under_way_.erase(at);
  } else {
    at->second.ends = SteadyClock::now() + absl::ToChronoNanoseconds(at->second.lease);
  }
}

absl::Duration LogPositions::TimeToSend(int64_t position) const {
  const absl::MutexLock lock(&mutex_);
  return under_way_.contains(position) ? TimeLeft() : absl::ZeroDuration();
}

bool LogPositions::MayBePassed(int64_t position) const {
  const absl::MutexLock lock(&mutex_);
  return !under_way_.contains(position) ||
         SteadyClock::now() - held_->written >= absl::ToChronoNanoseconds(held_->slot.lease);
}

absl::StatusOr<int64_t> LogPositions::Frontier(absl::Time deadline) {
  const absl::MutexLock lock(&mutex_);
  StartThread();
  if (!frontier_.has_value()) {
    const auto is_over = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return is_ending_ || frontier_.has_value(); };
    changed_.WaitFor(&mutex_, std::min(deadline - absl::Now(), kWaitMax), absl::Condition(&is_over));
  }
  if (frontier_.has_value()) return *frontier_;
  return absl::UnavailableError(fmt::format("Up to where change logs are complete is not known: {}",
                                            std::string(last_beat_.message())));
}

void LogPositions::StartThread() {
  if (thread_.joinable() || is_ending_) return;
  thread_ = std::thread([this] { Run(); });
}

void LogPositions::Run() {
  const auto must_go_on = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return is_ending_ || is_wanted_now_; };
  while (true) {
    const absl::Status status = Beat();
    const absl::MutexLock lock(&mutex_);
    last_beat_ = status;
    changed_.SignalAll();
    // Whoever could not be served by this beat asks again.
    is_wanted_now_ = is_wanted_now_ && !status.ok();
    const bool is_over = changed_.WaitFor(&mutex_, kRestMin, absl::Condition(&is_ending_));
    if (!is_over) changed_.WaitFor(&mutex_, options_.beat - kRestMin, absl::Condition(&must_go_on));
    if (is_ending_) break;
  }
  GiveSlotBack();
}

absl::Status LogPositions::Beat() {
  absl::Status status = MakeSure();
  bool has_slot = false;
  {
    const absl::MutexLock lock(&mutex_);
    has_slot = held_.has_value();
    if (is_abandoned_) return absl::OkStatus();
  }
  // A server that has no slot reads all the same.
  if (status.ok()) status = has_slot ? WriteSlot() : TakeSlot();
  status.Update(ReadSlots());
  return status;
}

int64_t LogPositions::NewLow() {
  const SteadyClock::time_point now = SteadyClock::now();
  std::erase_if(under_way_, [&](const auto& one) { return one.second.ends.value_or(now) < now; });
  int64_t low = std::max(floor_, NowMicros());
  if (!under_way_.empty()) low = std::min(low, under_way_.begin()->first - 1);
  floor_ = std::max(floor_, low);
  return floor_;
}

void LogPositions::LoseSlot() {
  held_.reset();
  under_way_.clear();
}

absl::Status LogPositions::WriteSlot() {
  const SteadyClock::time_point began = SteadyClock::now();
  Held held;
  std::string seen;
  {
    const absl::MutexLock lock(&mutex_);
    held = *held_;
    seen = EncodeSlot(held.slot);
    held.slot.low = NewLow();
    held.slot.lease = LeaseWanted();
    ++held.slot.changes;
  }
  held.written = began;
  const std::string value = EncodeSlot(held.slot);
  const absl::StatusOr<bool> put = board_.Replace(SlotName(held.number), seen, value, CallEnd());
  const absl::MutexLock lock(&mutex_);
  // From the end of the lease on others may count this server for gone, and pass what it has under way.
  const bool is_late = SteadyClock::now() - held_->written >= absl::ToChronoNanoseconds(held_->slot.lease);
  if (is_late || (put.ok() && !*put)) {
    LoseSlot();
    return absl::UnavailableError("The slot was written too late, and is lost");
  }
  if (put.ok()) held_ = std::move(held);
  if (absl::IsUnknown(put.status())) held_->unsure = value;
  return put.status();
}

absl::Status LogPositions::MakeSure() {
  std::string unsure, seen, name;
  {
    const absl::MutexLock lock(&mutex_);
    if (!held_.has_value() || held_->unsure.empty()) return absl::OkStatus();
    unsure = held_->unsure;
    seen = EncodeSlot(held_->slot);
    name = SlotName(held_->number);
  }
  const absl::StatusOr<Board::Entries> entries = board_.Look(CallEnd());
  if (!entries.ok()) return entries.status();
  const auto entry = entries->find(name);
  const std::string_view now = entry == entries->end() ? std::string_view() : entry->second.value;
  const absl::MutexLock lock(&mutex_);
  if (now == unsure) {
    absl::StatusOr<Slot> slot = DecodeSlot(now);
    if (!slot.ok()) return slot.status();
    held_->slot = *std::move(slot);  // and `written` stays what it was
  } else if (now != seen) {
    LoseSlot();
    return absl::OkStatus();
  }
  held_->unsure.clear();
  return absl::OkStatus();
}

absl::Status LogPositions::TakeSlot() {
  const absl::StatusOr<Board::Entries> entries = board_.Look(CallEnd());
  if (!entries.ok()) return entries.status();
  const absl::StatusOr<SlotsSeen> seen = LookAtSlots(*entries);
  if (!seen.ok()) return seen.status();
  std::vector<int> free;
  for (int number = 0; number < kSlotsMax; ++number) {
    const auto entry = entries->find(SlotName(number));
    const bool is_free =
        entry == entries->end() || HasEnded(*DecodeSlot(entry->second.value), entry->second.unchanged);
    if (is_free) free.push_back(number);
  }
  if (free.empty()) {
    return absl::UnavailableError(
        fmt::format("All {} slots of the change logs are taken by other servers of the store", kSlotsMax));
  }
  SystemRandom random;
  Held held{.number = free[random.Uniform(free.size())]};
  const auto entry = entries->find(SlotName(held.number));
  const std::string before = entry == entries->end() ? "" : entry->second.value;
  if (!before.empty()) held.slot = *DecodeSlot(before);
  held.slot.owner = owner_;
  held.slot.low = seen->low_max;
  ++held.slot.changes;
  {
    const absl::MutexLock lock(&mutex_);
    held.slot.lease = LeaseWanted();
  }
  held.written = SteadyClock::now();
  const absl::StatusOr<bool> put =
      board_.Replace(SlotName(held.number), before, EncodeSlot(held.slot), CallEnd());
  if (!put.ok()) return put.status();
  if (!*put) return absl::UnavailableError("Another server took the slot");
  // A frontier that somebody came to before the slot was there is not above what all slots say now.
  const absl::StatusOr<Board::Entries> after = board_.Look(CallEnd());
  if (!after.ok()) return after.status();
  const absl::StatusOr<SlotsSeen> seen_after = LookAtSlots(*after);
  if (!seen_after.ok()) return seen_after.status();
  const absl::MutexLock lock(&mutex_);
  floor_ = std::max(floor_, seen_after->low_max);
  held_ = std::move(held);
  return absl::OkStatus();
}

absl::Status LogPositions::ReadSlots() {
  const absl::StatusOr<Board::Entries> entries = board_.Look(CallEnd());
  if (!entries.ok()) return entries.status();
  const absl::StatusOr<SlotsSeen> seen = LookAtSlots(*entries);
  if (!seen.ok()) return seen.status();
  EndOthers(*entries);
  const absl::MutexLock lock(&mutex_);
  if (seen->frontier.has_value()) frontier_ = std::max(frontier_.value_or(0), *seen->frontier);
  return absl::OkStatus();
}

void LogPositions::EndOthers(const Board::Entries& entries) {
  for (const auto& [name, entry] : entries) {
    if (!SlotNumber(name).has_value()) continue;
    absl::StatusOr<Slot> slot = DecodeSlot(entry.value);
    if (!slot.ok() || slot->owner.empty() || !HasEnded(*slot, entry.unchanged)) continue;
    slot->owner.clear();
    ++slot->changes;
    // Whatever becomes of it: the next look tells.
    const absl::StatusOr<bool> put = board_.Replace(name, entry.value, EncodeSlot(*slot), CallEnd());
    if (put.ok() && *put) ++ended_slots_;
  }
}

void LogPositions::GiveSlotBack() {
  if (!MakeSure().ok()) return;
  int number = 0;
  std::string seen;
  Slot slot;
  {
    const absl::MutexLock lock(&mutex_);
    if (is_abandoned_ || !held_.has_value()) return;
    slot.low = NewLow();
    // Somebody's change may still be on its way: the slot ends with its lease.
    if (!under_way_.empty()) return;
    number = held_->number;
    seen = EncodeSlot(held_->slot);
    slot.changes = held_->slot.changes + 1;
  }
  board_.Replace(SlotName(number), seen, EncodeSlot(slot), CallEnd()).IgnoreError();
}

}  // namespace sonde
