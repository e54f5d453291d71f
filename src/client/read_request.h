// A RowRead as the request that the Bigtable API knows.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"

namespace sonde {

// `read` in parts, to be read one after the other: each names no more rows than a request may.  At least one.
std::vector<RowRead> PartsOf(const RowRead& read);

// `read` with its ranges in normal form, from after `last_row_key` on in the direction of the scan, with
// `rows_done` rows taken off its limit.  nullopt when nothing is left to read, which is also the case when
// read.ranges is empty: the API would take a request without ranges for one of all rows.
// INVALID_ARGUMENT: the filter that read.columns and the rest need is longer than kFilterBytesMax.
absl::StatusOr<std::optional<google::bigtable::v2::ReadRowsRequest>> MakeReadRowsRequest(
    std::string table_name, const RowRead& read, const std::optional<std::string>& last_row_key,
    int64_t rows_done);

}  // namespace sonde
