// What the functions of SketchFunctions are carried out by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "sql/function/aggregator.h"
#include "sql/function/call.h"

namespace sonde::sql {

// hll_aggregates.cc
std::unique_ptr<Aggregator> MakeApproxCountDistinct(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeHllInit(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeHllMerge(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeHllMergePartial(const AggregateSite& site);
// HLL_COUNT.EXTRACT.
absl::StatusOr<int64_t> ExtractFromHll(Call& call, std::optional<std::string_view> sketch);

// approximate_aggregates.cc
std::unique_ptr<Aggregator> MakeApproxQuantiles(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeApproxTopCount(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeApproxTopSum(const AggregateSite& site);

}  // namespace sonde::sql
