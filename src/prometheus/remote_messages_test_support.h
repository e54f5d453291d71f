// A write as plain values, for tests that look at all of it.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "prometheus/remote_messages.h"

namespace sonde::prometheus {

inline absl::StatusOr<std::vector<RemoteSeries>> DecodeWrite(std::string_view packed, WriteVersion version) {
  const absl::StatusOr<std::string> message = UnpackWrite(packed);
  if (!message.ok()) return message.status();
  std::vector<RemoteSeries> all;
  const absl::StatusOr<RemoteCounts> counts =
      ReadWrite(*message, version, [&](const RemoteLabels& labels, RemoteSamples samples) {
        RemoteSeries& series = all.emplace_back();
        series.labels.assign(labels.begin(), labels.end());
        for (RemoteSample sample; samples.Next(&sample);) series.samples.push_back(sample);
        return absl::OkStatus();
      });
  if (!counts.ok()) return counts.status();
  return all;
}

}  // namespace sonde::prometheus
