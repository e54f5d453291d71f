// What the functions of PointFunctions are carried out by.
#pragma once

#include <memory>

#include "sql/function/aggregator.h"

namespace sonde::sql {

// picked_aggregates.cc
std::unique_ptr<Aggregator> MakeFirst(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeLast(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeMinBy(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeMaxBy(const AggregateSite& site);

// change_aggregates.cc.  The type of the first argument says which numbers change.
std::unique_ptr<Aggregator> MakeDelta(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeIncrease(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeRate(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeIrate(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeTimeWeightedAvg(const AggregateSite& site);

// percentile_aggregates.cc
std::unique_ptr<Aggregator> MakePercentileCont(const AggregateSite& site);
std::unique_ptr<Aggregator> MakePercentileDisc(const AggregateSite& site);

}  // namespace sonde::sql
