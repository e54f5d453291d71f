#include "metrics/size_history.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sonde {

uint32_t SizeHistory::NumberOf(const std::string& name) {
  const auto [place, is_new] = numbers_.try_emplace(name, next_number_);
  if (is_new) ++next_number_;
  return place->second;
}

bool SizeHistory::Wants(int64_t now_seconds) const {
  const absl::MutexLock lock(&mutex_);
  return moments_.empty() || now_seconds >= moments_.back().seconds + kStep;
}

void SizeHistory::Note(std::vector<Size> sizes, int64_t now_seconds) {
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const Size& a, const Size& b) { return a.bytes > b.bytes; });
  const absl::MutexLock lock(&mutex_);
  if (!moments_.empty() && now_seconds < moments_.back().seconds + kStep) return;
  Moment moment{.seconds = now_seconds};
  for (const Size& size : sizes) {
    if (moment.bytes.size() == kNamesMax) {
      moment.others_max = size.bytes;
      break;
    }
    moment.bytes[NumberOf(size.name)] = size.bytes;
  }
  moments_.push_back(std::move(moment));
  if (moments_.front().seconds >= now_seconds - kKept) return;
  while (moments_.front().seconds < now_seconds - kKept) moments_.pop_front();
  std::set<uint32_t> used;
  for (const Moment& one : moments_) {
    for (const auto& [number, bytes] : one.bytes) used.insert(number);
  }
  std::erase_if(numbers_, [&](const auto& name) { return !used.contains(name.second); });
}

SizeHistory::Answer SizeHistory::Compare(const std::vector<Size>& now, int64_t now_seconds,
                                         int64_t seconds) const {
  Answer answer{.since_seconds = now_seconds};
  const absl::MutexLock lock(&mutex_);
  const Moment* then = nullptr;
  for (const Moment& moment : moments_) {
    if (then != nullptr && moment.seconds > now_seconds - seconds) break;
    then = &moment;
  }
  if (then != nullptr) answer.since_seconds = then->seconds;
  for (const Size& size : now) {
    uint64_t before = then == nullptr ? size.bytes : std::min(then->others_max, size.bytes);
    const auto number = numbers_.find(size.name);
    if (then != nullptr && number != numbers_.end()) {
      const auto noted = then->bytes.find(number->second);
      if (noted != then->bytes.end()) before = noted->second;
    }
    answer.sizes.push_back({.name = size.name,
                            .bytes = size.bytes,
                            .grew = static_cast<int64_t>(size.bytes) - static_cast<int64_t>(before)});
  }
  std::stable_sort(answer.sizes.begin(), answer.sizes.end(),
                   [](const Grown& a, const Grown& b) { return a.grew > b.grew; });
  return answer;
}

}  // namespace sonde
