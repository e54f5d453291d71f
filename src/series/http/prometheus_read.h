// Known series as Prometheus sees them, for remote read.
//
// A numeric field is a metric: `value` has the name of its series, other fields SERIES_FIELD, those of a
// derived table SERIES_TABLE_FIELD.  Tags are labels.  Names are as they were written, whatever signs they
// have.
//
// Two fields may so be one metric: `usage` of series `pg`, and `value` of series `pg_usage`.  Where their
// labels are the same, too, they are one series, as Prometheus has it for two storages.  It has one sample of
// a time: that of the series with the longer name, here the one that was written as this metric.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "prometheus/remote_messages.h"
#include "series/http/ingest_service.h"

namespace sonde::series {

// The limit of one query.
constexpr size_t kRemoteSamplesMax = 5'000'000;

// `interrupted` and `hold`: as Query's; samples count as what they take until the answer is encoded.
// `tables`: the service's, as the one who asks sees them. INVALID_ARGUMENT: a pattern that is no regular
// expression, or more than kRemoteSamplesMax samples.
absl::StatusOr<std::vector<prometheus::RemoteSeries>> ReadForPrometheus(
    IngestService* service, TableAccess* tables, const prometheus::RemoteQuery& query,
    std::function<absl::Status()> interrupted, std::function<absl::Status(int64_t)> hold);

}  // namespace sonde::series
