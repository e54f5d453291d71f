// Kernels of timestamps that several functions share: DATE_TRUNC takes timestamps, too.
#pragma once

#include <vector>

#include "sql/function/call.h"
#include "sql/function/function.h"

namespace sonde::sql {

Kernel TimestampAddKernel();
Kernel TimestampSubKernel();
Kernel TimestampDiffKernel();
// (TIMESTAMP, PART) and (TIMESTAMP, PART, zone).
Kernel TimestampTruncKernel();

// The functions that TimestampFunctions and DateFunctions collect from other files.
Function TimestampBucketFunction();
Function DateBucketFunction();
Function TimeBucketFunction();
Function DateBinFunction();
Function ExtractFunction();
std::vector<Function> TimeFormatFunctions();  // FORMAT_DATE, PARSE_TIMESTAMP...
Function GenerateDateArrayFunction();
Function GenerateTimestampArrayFunction();

}  // namespace sonde::sql
