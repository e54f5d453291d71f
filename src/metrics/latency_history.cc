#include "metrics/latency_history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/crc32c.h"
#include "base/format.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr int64_t kDaySeconds = 24 * 3'600;
constexpr std::string_view kMagic = "sonde-latency-1\n";
constexpr std::string_view kFilePrefix = "day-", kFileSuffix = ".log";
constexpr std::string_view kOtherMethods = "other";
// A file that is larger was not written by this program: two weeks of 64 methods are less.
constexpr std::uintmax_t kFileBytesMax = std::uintmax_t{64} << 20;
constexpr size_t kNameBytesMax = 256;

int64_t StartOf(int64_t seconds, int64_t step) { return seconds - seconds % step; }

// Start, then for each method its name, its errors, a mask of buckets, and the counts of these.
std::string Pack(int64_t start_seconds, const std::map<std::string, LatencyCounts, std::less<>>& methods) {
  std::string out;
  PutVarint(&out, static_cast<uint64_t>(start_seconds));
  for (const auto& [name, counts] : methods) {
    PutBytes(&out, name);
    PutVarint(&out, counts.errors);
    uint64_t mask = 0;
    for (size_t i = 0; i < counts.buckets.size(); ++i) mask |= uint64_t{counts.buckets[i] != 0} << i;
    PutVarint(&out, mask);
    for (const uint64_t count : counts.buckets) {
      if (count != 0) PutVarint(&out, count);
    }
  }
  return out;
}

// Calls `visit(name, counts)`.  False: `in` is not what Pack makes.
template <typename Visit>
bool Unpack(std::string_view in, int64_t* start_seconds, const Visit& visit) {
  uint64_t start = 0;
  if (!GetVarint(&in, &start) || start > uint64_t{1} << 40) return false;
  *start_seconds = static_cast<int64_t>(start);
  while (!in.empty()) {
    std::string_view name;
    LatencyCounts counts;
    uint64_t mask = 0;
    if (!GetBytes(&in, &name) || name.size() > kNameBytesMax || !GetVarint(&in, &counts.errors) ||
        !GetVarint(&in, &mask) || mask >> counts.buckets.size() != 0)
      return false;
    for (size_t i = 0; i < counts.buckets.size(); ++i) {
      if ((mask >> i & 1) != 0 && !GetVarint(&in, &counts.buckets[i])) return false;
    }
    visit(name, counts);
  }
  return true;
}

bool IsOfPage(std::string_view method) {
  return method.starts_with("GET /") && method.find("query") == std::string_view::npos;
}

constexpr auto kNothing = [](std::string_view, const LatencyCounts&) {};

void PutRecord(std::string* out, std::string_view payload) {
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  PutFixed32(out, Crc32c(payload));
  out->append(payload);
}

bool GetRecord(std::string_view* in, std::string_view* payload) {
  uint32_t size = 0, crc = 0;
  if (!GetFixed32(in, &size) || !GetFixed32(in, &crc) || size > in->size()) return false;
  *payload = in->substr(0, size);
  in->remove_prefix(size);
  return Crc32c(*payload) == crc;
}

// The first second of the day that a file is of; nothing: it is no file of ours.
std::optional<int64_t> DayOf(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kFilePrefix) || !name.ends_with(kFileSuffix)) return std::nullopt;
  int64_t day = 0;
  const char* const end = name.data() + name.size() - kFileSuffix.size();
  const auto [at, error] = std::from_chars(name.data() + kFilePrefix.size(), end, day);
  if (error != std::errc() || at != end || day < 0 || day > (int64_t{1} << 40)) return std::nullopt;
  return day;
}

std::filesystem::path PathOf(const std::filesystem::path& directory, int64_t start_seconds) {
  return directory / fmt::format("{}{}{}", kFilePrefix, StartOf(start_seconds, kDaySeconds), kFileSuffix);
}

}  // namespace

uint64_t LatencyCounts::requests() const {
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

void LatencyCounts::Add(const LatencyCounts& other) {
  errors += other.errors;
  for (size_t i = 0; i < buckets.size(); ++i) buckets[i] += other.buckets[i];
}

absl::StatusOr<std::unique_ptr<LatencyHistory>> LatencyHistory::Open(std::filesystem::path directory,
                                                                     int64_t now_seconds) {
  std::unique_ptr<LatencyHistory> history(new LatencyHistory(std::move(directory)));
  if (history->directory_.empty()) return history;
  std::error_code error;
  std::filesystem::create_directories(history->directory_, error);
  if (error) return absl::ErrnoToStatus(error.value(), "Making " + history->directory_.string());
  const absl::MutexLock lock(&history->mutex_);
  history->Load(now_seconds);
  return history;
}

LatencyHistory::~LatencyHistory() {
  const absl::MutexLock lock(&mutex_);
  EndMinute();
}

void LatencyHistory::Load(int64_t now_seconds) {
  Expire(now_seconds);
  std::set<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (DayOf(entry.path()).has_value()) paths.insert(entry.path());
  }
  for (const std::filesystem::path& path : paths) {
    if (std::filesystem::file_size(path, error) > kFileBytesMax || error) continue;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::string_view rest = bytes;
    if (!rest.starts_with(kMagic)) continue;
    rest.remove_prefix(kMagic.size());
    std::string_view payload;
    size_t whole = kMagic.size();
    while (GetRecord(&rest, &payload)) {
      whole = bytes.size() - rest.size();
      int64_t start = 0;
      const bool is_slot = Unpack(payload, &start, kNothing);
      if (is_slot && start > now_seconds - kLongKept && start <= now_seconds) long_.emplace_back(payload);
    }
    // What is torn would hide what comes after it.
    if (whole < bytes.size()) std::filesystem::resize_file(path, whole, error);
  }
}

void LatencyHistory::Expire(int64_t now_seconds) {
  while (!short_.empty() && short_.front().start_seconds + kShortKept < now_seconds) short_.pop_front();
  while (!long_.empty()) {
    int64_t start = 0;
    if (Unpack(long_.front(), &start, kNothing) && start + kLongKept >= now_seconds) break;
    long_.pop_front();
  }
  if (directory_.empty()) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    const std::optional<int64_t> day = DayOf(entry.path());
    if (day.has_value() && *day + kDaySeconds + kLongKept < now_seconds)
      std::filesystem::remove(entry.path(), error);
  }
}

void LatencyHistory::Write(const Slot& slot) {
  long_.push_back(Pack(slot.start_seconds, slot.methods));
  if (directory_.empty()) return;
  const std::filesystem::path path = PathOf(directory_, slot.start_seconds);
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return spdlog::warn("latency: {}: {}", path.string(),
                        std::error_code(errno, std::system_category()).message());
  std::string out;
  if (lseek(file, 0, SEEK_END) == 0) out = kMagic;
  PutRecord(&out, long_.back());
  // A disk that is full stops the history, not the database.
  if (write(file, out.data(), out.size()) != static_cast<ssize_t>(out.size()))
    spdlog::warn("latency: {} was not written; a minute is missing", path.string());
  close(file);
}

void LatencyHistory::EndMinute() {
  if (!minute_.methods.empty()) Write(minute_);
  minute_.methods.clear();
}

void LatencyHistory::Tick(const RequestMetrics& requests, int64_t now_seconds) {
  const std::vector<RequestMetrics::Method> methods = requests.Snapshot();
  const absl::MutexLock lock(&mutex_);
  // What has ended since the last tick ended just before now.
  const int64_t start = StartOf(std::max<int64_t>(now_seconds - 1, 0), kShortStep);
  if (const int64_t minute = StartOf(start, kLongStep); minute != minute_.start_seconds) {
    EndMinute();
    minute_.start_seconds = minute;
    Expire(now_seconds);
  }
  if (short_.empty() || short_.back().start_seconds != start) short_.push_back({.start_seconds = start});
  for (const RequestMetrics::Method& method : methods) {
    const LatencyCounts sums{.errors = method.requests() - std::min(method.by_code[0], method.requests()),
                             .buckets = method.buckets};
    LatencyCounts& before = before_[method.name];
    LatencyCounts since{.errors = sums.errors - std::min(before.errors, sums.errors)};
    for (size_t i = 0; i < sums.buckets.size(); ++i) since.buckets[i] = sums.buckets[i] - before.buckets[i];
    before = sums;
    if (since.requests() == 0) continue;
    for (Slot* const slot : {&short_.back(), &minute_}) {
      const bool is_full = slot->methods.size() >= kMethodsMax && !slot->methods.contains(method.name);
      slot->methods[is_full ? std::string(kOtherMethods) : method.name.substr(0, kNameBytesMax)].Add(since);
    }
  }
}

template <typename See>
void LatencyHistory::Visit(int64_t end_seconds, int64_t seconds, const See& visit) const {
  const int64_t begin = end_seconds - seconds;
  const auto is_wanted = [&](int64_t start) { return start >= begin && start < end_seconds; };
  const auto visit_slot = [&](const Slot& slot) {
    if (!is_wanted(slot.start_seconds)) return;
    for (const auto& [name, counts] : slot.methods) visit(slot.start_seconds, std::string_view(name), counts);
  };
  if (seconds <= kShortKept) {
    for (const Slot& slot : short_) visit_slot(slot);
    // What an earlier run has counted is known by the minute only.
  }
  const int64_t short_begin = seconds <= kShortKept && !short_.empty()
                                  ? StartOf(short_.front().start_seconds, kLongStep)
                                  : end_seconds;
  for (const std::string& packed : long_) {
    int64_t start = 0;
    std::string_view head = packed;
    uint64_t number = 0;
    if (!GetVarint(&head, &number)) continue;
    start = static_cast<int64_t>(number);
    if (!is_wanted(start) || start >= short_begin) continue;
    (void)Unpack(packed, &start,
                 [&](std::string_view name, const LatencyCounts& counts) { visit(start, name, counts); });
  }
  if (seconds > kShortKept) visit_slot(minute_);
}

LatencyHistory::Answer LatencyHistory::Read(int64_t end_seconds, int64_t seconds,
                                            std::string_view method) const {
  Answer answer;
  const int64_t finest = seconds <= kShortKept ? kShortStep : kLongStep;
  const int64_t most = static_cast<int64_t>(kPointsMax);
  answer.step_seconds = (std::max<int64_t>(seconds, 1) + finest * most - 1) / (finest * most) * finest;
  std::map<int64_t, LatencyCounts> points;
  const absl::ReaderMutexLock lock(&mutex_);
  Visit(end_seconds, seconds, [&](int64_t start, std::string_view name, const LatencyCounts& counts) {
    if (method.empty() ? !IsOfPage(name) : name == method)
      points[StartOf(start, answer.step_seconds)].Add(counts);
  });
  for (const auto& [start, counts] : points) answer.points.push_back({start, counts});
  return answer;
}

std::vector<std::string> LatencyHistory::ListMethods(int64_t end_seconds, int64_t seconds) const {
  std::set<std::string, std::less<>> names;
  const absl::ReaderMutexLock lock(&mutex_);
  Visit(end_seconds, seconds, [&](int64_t, std::string_view name, const LatencyCounts&) {
    if (!names.contains(name)) names.emplace(name);
  });
  return {names.begin(), names.end()};
}

}  // namespace sonde
