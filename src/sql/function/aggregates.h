// What the functions of AggregateFunctions are carried out by.
#pragma once

#include <memory>

#include "sql/function/aggregator.h"

namespace sonde::sql {

// number_aggregates.cc.  The type of the argument says which numbers are summed.
std::unique_ptr<Aggregator> MakeCount(const AggregateSite& site);  // of no argument: of rows
std::unique_ptr<Aggregator> MakeCountIf(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeSum(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeAvg(const AggregateSite& site);

// bit_aggregates.cc
std::unique_ptr<Aggregator> MakeBitAnd(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeBitOr(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeBitXor(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeLogicalAnd(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeLogicalOr(const AggregateSite& site);

// extreme_aggregates.cc
std::unique_ptr<Aggregator> MakeMin(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeMax(const AggregateSite& site);

// list_aggregates.cc
std::unique_ptr<Aggregator> MakeAnyValue(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeArrayAgg(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeArrayConcatAgg(const AggregateSite& site);
std::unique_ptr<Aggregator> MakeStringAgg(const AggregateSite& site);

}  // namespace sonde::sql
