// Known series as Prometheus sees them (series/metric), for remote read.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "prometheus/remote_messages.h"
#include "series/http/ingest_service.h"

namespace sonde::series {

// The limit of one query.
constexpr int64_t kRemoteSamplesMax = 5'000'000;

// `interrupted` and `hold`: as Query's; samples count as what they take until the answer is encoded.
// `tables`: the service's, as the one who asks sees them. INVALID_ARGUMENT: a pattern that is no regular
// expression; RESOURCE_EXHAUSTED: more than kRemoteSamplesMax samples.
absl::StatusOr<std::vector<prometheus::RemoteSeries>> ReadForPrometheus(
    IngestService* service, TableAccess* tables, const prometheus::RemoteQuery& query,
    std::function<absl::Status()> interrupted, std::function<absl::Status(int64_t)> hold);

}  // namespace sonde::series
