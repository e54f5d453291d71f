// How long things took: counts in buckets whose width grows with the value.
#pragma once

#include <array>
#include <cstdint>

namespace sonde::bench {

// Values below 2 * kSubBuckets are exact; any other is known to 1 part in kSubBuckets.  Not for several
// threads.
class Histogram {
 public:
  static constexpr int kSubBucketBits = 6;
  static constexpr uint64_t kSubBuckets = uint64_t{1} << kSubBucketBits;

  void Add(uint64_t value);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  // Exact; 0 when empty.
  uint64_t max() const { return max_; }
  // The smallest value that at least `fraction` (0 to 1) of the values do not exceed, rounded up to the end
  // of its bucket but not past the maximum; 0 when empty.
  uint64_t Quantile(double fraction) const;

 private:
  static constexpr int kBuckets = (64 - kSubBucketBits + 1) << kSubBucketBits;
  static int BucketOf(uint64_t value);
  static uint64_t LastOf(int bucket);

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace sonde::bench
