#include "wire/sql/spooled_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/varint.h"

namespace sonde {
namespace {

// The name that errors of the files give, where those of other files name their operator.
constexpr std::string_view kSpooler = "The result";

// Unused results are looked for so many times while they are kept.
constexpr int kSweepsWhileKept = 8;

}  // namespace

SpooledResult::~SpooledResult() {
  file_.reset();
  tally_->fetch_sub(told_bytes_, std::memory_order_relaxed);
}

absl::Status SpooledResult::Append(const SpooledBatch& batch) {
  if (file_ == nullptr) {
    absl::StatusOr<std::unique_ptr<sql::SpillFile>> file = sql::SpillFile::Create(&spill_, kSpooler);
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
  }
  const auto more = static_cast<int64_t>(batch.bytes.size());
  if (told_bytes_ + more > bounds_.own_bytes_max) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} needs {} more bytes on disk: it has {}; {} is the limit of a result that can be resumed",
        kSpooler, more, told_bytes_, bounds_.own_bytes_max));
  }
  told_bytes_ += more;
  const int64_t all = tally_->fetch_add(more, std::memory_order_relaxed);
  if (all + more > bounds_.bytes_max) {
    return absl::ResourceExhaustedError(
        fmt::format("{} needs {} more bytes on disk: all results have {}; {} is the limit of all results",
                    kSpooler, more, all, bounds_.bytes_max));
  }
  std::string block;
  PutVarint(&block, batch.rows);
  block += batch.bytes;
  absl::Status status = file_->Append(block);
  if (status.ok()) end_ = file_->bytes();
  return status;
}

absl::StatusOr<bool> SpooledResult::Read(int64_t* place, SpooledBatch* batch) const {
  if (IsEnd(*place)) return false;
  const absl::StatusOr<bool> more = file_->ReadFrom(place, &batch->bytes);
  if (!more.ok() || !*more) return more;
  std::string_view rest = batch->bytes;
  if (!GetVarint(&rest, &batch->rows)) return absl::DataLossError("The result has a batch without a head");
  batch->bytes.erase(0, batch->bytes.size() - rest.size());
  return true;
}

SpooledResults::SpooledResults(sql::SpillSpace* space, Limits limits)
    : space_(space), limits_(limits), thread_([this] { Run(); }) {}

SpooledResults::~SpooledResults() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
  }
  end_.SignalAll();
  thread_.join();
}

absl::Status SpooledResults::MakeRoom(SpooledResultRef* gone) {
  if (results_.size() < limits_.results_max) return absl::OkStatus();
  for (auto each = results_.begin(); each != results_.end(); ++each) {
    const SpooledResultRef& result = each->second.result;
    if (result.use_count() > 1 || !result->is_given_whole_) continue;
    *gone = result;
    results_.erase(each);
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      fmt::format("{} cannot be kept for resumption: {} others are; {} is the limit", kSpooler,
                  results_.size(), limits_.results_max));
}

absl::StatusOr<std::shared_ptr<SpooledResult>> SpooledResults::Begin() {
  if (space_ == nullptr) {
    return absl::ResourceExhaustedError(
        fmt::format("{} cannot be kept for resumption: there is no directory for it", kSpooler));
  }
  SpooledResultRef gone;
  const absl::MutexLock lock(&mutex_);
  if (absl::Status status = MakeRoom(&gone); !status.ok()) return status;
  std::string id;
  PutFixed64(&id, random_.Next());
  PutFixed64(&id, random_.Next());
  return std::shared_ptr<SpooledResult>(
      new SpooledResult(std::move(id), space_,
                        {.bytes_max = limits_.bytes_max, .own_bytes_max = limits_.result_bytes_max}, tally_));
}

bool SpooledResults::Publish(SpooledResultRef result) {
  SpooledResultRef gone;
  const absl::MutexLock lock(&mutex_);
  if (!MakeRoom(&gone).ok()) return false;
  const std::string& id = result->id();
  results_.emplace(id, Entry{std::move(result)});
  return true;
}

absl::StatusOr<SpooledResultRef> SpooledResults::Find(const std::string& id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = results_.find(id);
  if (found == results_.end()) {
    return absl::AbortedError(fmt::format(
        "The rows behind the resume token are gone: results of more than {} bytes are kept for {} behind "
        "their streams' end, and not beyond a restart of the server; execute the query again from its "
        "beginning",
        limits_.begin_bytes, absl::FormatDuration(limits_.kept)));
  }
  found->second.unused_since.reset();
  found->second.result->is_given_whole_ = false;  // whoever asks for it has not got all
  return found->second.result;
}

std::vector<SpooledResultRef> SpooledResults::Sweep(Clock::time_point now) {
  std::vector<SpooledResultRef> gone;
  for (auto each = results_.begin(); each != results_.end();) {
    Entry& entry = each->second;
    // Only Find makes further holders of a result that nobody else holds, and it needs the lock.
    if (entry.result.use_count() > 1) {
      entry.unused_since.reset();
    } else if (!entry.unused_since.has_value()) {
      entry.unused_since = now;
    } else if (now - *entry.unused_since >= absl::ToChronoNanoseconds(limits_.kept)) {
      gone.push_back(std::move(entry.result));
      each = results_.erase(each);
      continue;
    }
    ++each;
  }
  return gone;
}

void SpooledResults::Run() {
  while (true) {
    std::vector<SpooledResultRef> gone;  // their files take a while to close, in which nobody is to wait
    const absl::MutexLock lock(&mutex_);
    if (end_.WaitFor(&mutex_, limits_.kept / kSweepsWhileKept, absl::Condition(&is_ending_))) return;
    gone = Sweep(Clock::now());
  }
}

}  // namespace sonde
