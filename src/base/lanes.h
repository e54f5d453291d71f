// Several numbers in one register, for loops over arrays; GCC and clang make one instruction of an operation.
//
// Four lanes are one register of AVX2, and two of others.  A loop that is to run by AVX2 where there is such a processor
// is an always_inline function, which two functions call: one with SONDE_BY_AVX2, which HasAvx2() chooses.
#pragma once

#include <cstdint>

namespace sonde {

using DoublePair = double __attribute__((vector_size(16)));
using UintPair = uint64_t __attribute__((vector_size(16)));
using MaskPair = int64_t __attribute__((vector_size(16)));  // what comparing pairs gives: 0 or -1

using FourDoubles = double __attribute__((vector_size(32)));
using FourInts = int64_t __attribute__((vector_size(32)));  // also what comparing four gives: 0 or -1
using FourUints = uint64_t __attribute__((vector_size(32)));

#if defined(__x86_64__)
#define SONDE_BY_AVX2 __attribute__((target("avx2")))
inline bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#else
#define SONDE_BY_AVX2
inline bool HasAvx2() { return false; }
#endif

}  // namespace sonde
