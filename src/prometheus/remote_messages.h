// The messages of Prometheus's remote write (1.0 and 2.0) and remote read: bytes of a request to plain
// values, and back.  The bytes are a protocol buffer in one block of snappy.
//
// Messages from outside are never held parsed: messages of two bytes each would take fifty times as much.
//
// Threads: the functions are pure; a RemoteSamples is not for several threads.
// Errors: INVALID_ARGUMENT: not snappy, not such a message, or a label that is not there, or more of
// something than is allowed; RESOURCE_EXHAUSTED: too many bytes when unpacked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde::prometheus {

// Unpacked: of a write, and of a read, which has just some queries.
constexpr size_t kRemoteBytesMax = 64 << 20;
constexpr size_t kRemoteReadBytesMax = 1 << 20;
constexpr size_t kRemoteLabelsMax = 1'000;       // of a series
constexpr size_t kRemoteSymbolsMax = 1'000'000;  // of a write
constexpr size_t kRemoteReadPartsMax = 10'000;   // queries and matchers, of a read

enum class WriteVersion : uint8_t { k1, k2 };

struct RemoteSample {
  double value = 0;  // may be NaN: a staleness marker, or a value of its own
  int64_t timestamp_millis = 0;
};

struct RemoteSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // __name__ is one of them
  std::vector<RemoteSample> samples;
};

// The samples of a series that came, one after the other.
class RemoteSamples {
 public:
  explicit RemoteSamples(std::string_view series) : rest_(series) {}
  // False: there are no more.
  bool Next(RemoteSample* sample);

 private:
  std::string_view rest_;
};

// Counts of a write beside its samples.
struct RemoteCounts {
  int64_t samples = 0;
  int64_t histograms = 0;  // that came, and are passed over
  int64_t exemplars = 0;
};

// What a sender says about a metric.  Views of the message.
struct RemoteMetadata {
  std::string_view
      family;  // 1.0: the metric, without _bucket, _sum and _count.  2.0: empty, it is about the series at hand.
  uint64_t type = 0;  // by its number: an index into kMetricTypes, or beyond them
  std::string_view help;
  std::string_view unit;
};
inline constexpr std::array<std::string_view, 8> kMetricTypes = {
    "unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset"};

// Views of the message.
using RemoteLabels = std::vector<std::pair<std::string_view, std::string_view>>;
// An error ends the reading.
using TakeSeries = std::function<absl::Status(const RemoteLabels& labels, RemoteSamples samples)>;
// `labels`: of 2.0, of the series that it stands in; of 1.0 there are none.
using TakeMetadata = std::function<void(const RemoteLabels& labels, const RemoteMetadata& metadata)>;

// How many bytes a body says that it has when it is unpacked.
absl::StatusOr<size_t> UnpackedBytes(std::string_view packed);
// The message that is in a body of a write.
absl::StatusOr<std::string> UnpackWrite(std::string_view packed);
// Gives all series of an unpacked write, in order; none of a message that is not whole and right.  Holds the
// labels of one series at a time, and a view of each symbol.  `metadata`: null: what is said about metrics is passed over.
absl::StatusOr<RemoteCounts> ReadWrite(std::string_view message, WriteVersion version, const TakeSeries& take,
                                       const TakeMetadata& metadata = nullptr);
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

absl::StatusOr<std::vector<RemoteQuery>> DecodeRead(std::string_view packed);
std::string EncodeRead(const std::vector<RemoteQuery>& queries);
// One list of series for each query.
std::string EncodeReadResponse(const std::vector<std::vector<RemoteSeries>>& results);
absl::StatusOr<std::vector<std::vector<RemoteSeries>>> DecodeReadResponse(std::string_view packed);

}  // namespace sonde::prometheus
