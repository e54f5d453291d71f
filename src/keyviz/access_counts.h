// The accesses to a range of keys in a stretch of time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sonde {

struct AccessCounts {
  uint64_t reads = 0;   // rows
  uint64_t writes = 0;  // rows
  uint64_t read_bytes = 0;
  uint64_t write_bytes = 0;
  // Requests, each counted where its first row is.
  uint64_t requests = 0;
  uint64_t latency_micros = 0;      // sum
  uint64_t latency_micros_max = 0;  // of one
  uint64_t errors = 0;

  void Add(const AccessCounts& other) {
    reads += other.reads;
    writes += other.writes;
    read_bytes += other.read_bytes;
    write_bytes += other.write_bytes;
    requests += other.requests;
    latency_micros += other.latency_micros;
    latency_micros_max = std::max(latency_micros_max, other.latency_micros_max);
    errors += other.errors;
  }
  // The part `index` of `count` that are about equal and together are this.
  AccessCounts Part(uint64_t index, uint64_t count) const;

  uint64_t ops() const { return reads + writes; }
  bool IsZero() const { return ops() == 0 && requests == 0 && errors == 0; }
  bool operator==(const AccessCounts&) const = default;
};

}  // namespace sonde
