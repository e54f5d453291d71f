// The series that the path of a request names.
#pragma once

#include "absl/status/statusor.h"
#include "series/http/ingest_service.h"
#include "series/known/known_series.h"
#include "web/http/http_message.h"

namespace sonde::series {

// The one of the part {name}.  NOT_FOUND: there is none.
absl::StatusOr<KnownSeriesRef> FindSeries(IngestService* service, const HttpRequest& request);

// The same, and NAME@TABLE: a derived table as a series of its own.
absl::StatusOr<KnownSeriesRef> FindSeriesToAsk(IngestService* service, const HttpRequest& request);

}  // namespace sonde::series
