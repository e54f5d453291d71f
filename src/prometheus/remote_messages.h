// The messages of Prometheus's remote write (1.0 and 2.0) and remote read: bytes of a request to plain
// values, and back.  The bytes are a protocol buffer in one block of snappy.
//
// Errors: INVALID_ARGUMENT: not snappy, not such a message, or a label that is not there; RESOURCE_EXHAUSTED:
// more than kRemoteBytesMax when unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde::prometheus {

constexpr size_t kRemoteBytesMax = 64 << 20;

enum class WriteVersion : uint8_t { k1, k2 };

struct RemoteSample {
  double value = 0;  // may be NaN: a staleness marker, or a value of its own
  int64_t timestamp_millis = 0;
};

struct RemoteSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // __name__ is one of them
  std::vector<RemoteSample> samples;
};

struct RemoteWrite {
  std::vector<RemoteSeries> series;
  int64_t histograms = 0;  // that came, and are not here
  int64_t exemplars = 0;
};

absl::StatusOr<RemoteWrite> DecodeWrite(std::string_view bytes, WriteVersion version);
std::string EncodeWrite(const std::vector<RemoteSeries>& series, WriteVersion version);

struct RemoteMatcher {
  enum class Type : uint8_t { kEqual, kNotEqual, kMatches, kMatchesNot };
  Type type = Type::kEqual;
  std::string name;
  std::string value;
};

struct RemoteQuery {
  int64_t start_millis = 0;
  int64_t end_millis = 0;  // included
  std::vector<RemoteMatcher> matchers;
};

absl::StatusOr<std::vector<RemoteQuery>> DecodeRead(std::string_view bytes);
std::string EncodeRead(const std::vector<RemoteQuery>& queries);
// One list of series for each query.
std::string EncodeReadResponse(const std::vector<std::vector<RemoteSeries>>& results);
absl::StatusOr<std::vector<std::vector<RemoteSeries>>> DecodeReadResponse(std::string_view bytes);

}  // namespace sonde::prometheus
