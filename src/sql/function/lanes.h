// Two numbers in one register, for loops over columns; GCC and clang make one instruction of an operation.
#pragma once

#include <cstdint>

namespace sonde::sql {

using DoublePair = double __attribute__((vector_size(16)));
using UintPair = uint64_t __attribute__((vector_size(16)));
using MaskPair = int64_t __attribute__((vector_size(16)));  // what comparing pairs gives: 0 or -1

}  // namespace sonde::sql
