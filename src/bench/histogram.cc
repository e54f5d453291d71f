#include "bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde::bench {

// The first 2 * kSubBuckets values have a bucket each; above, the values with the same highest bit share
// kSubBuckets buckets, by the bits that follow it.
int Histogram::BucketOf(uint64_t value) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (kSubBucketBits + 1));
  return (shift << kSubBucketBits) + static_cast<int>(value >> shift);
}

uint64_t Histogram::LastOf(int bucket) {
  if (bucket < static_cast<int>(2 * kSubBuckets)) return bucket;
  const int shift = (bucket >> kSubBucketBits) - 1;
  const uint64_t top = (bucket & (kSubBuckets - 1)) + kSubBuckets;
  return (top << shift) + ((uint64_t{1} << shift) - 1);
}

void Histogram::Add(uint64_t value) {
  ++counts_[BucketOf(value)];
  ++count_;
  max_ = std::max(max_, value);
}

void Histogram::Merge(const Histogram& other) {
  for (int i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

uint64_t Histogram::Quantile(double fraction) const {
  if (count_ == 0) return 0;
  const auto wanted =
      static_cast<uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (int i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= std::max<uint64_t>(wanted, 1)) return std::min(LastOf(i), max_);
  }
  return max_;
}

}  // namespace sonde::bench
