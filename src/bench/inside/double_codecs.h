// How many bits others' codecs of doubles would take: for page_bench, which compares ours with them.
//
// Sizes only, counted as the papers lay their streams out; nothing is encoded.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace sonde::bench {

// Gorilla (Pelkonen et al., VLDB 2015): exclusive or with the value before.
uint64_t GorillaBits(absl::Span<const double> values);

// ALP (Afroozeh et al., SIGMOD 2024): vectors of 1,024 as decimals, the best exponent and factor of each,
// less their least, in as many bits as the largest takes; what is no such decimal is an exception of 80 bits.
// Without ALP-RD: a vector for which this is worse than the doubles themselves takes 64 bits a value.
uint64_t AlpBits(absl::Span<const double> values);

}  // namespace sonde::bench
