#include "sql/aggregate/aggregator_states.h"

#include <bit>

#include "base/varint.h"

namespace sonde::sql {

void SaveNumber(uint64_t number, std::string* bytes) { PutFixed64(bytes, number); }
void SaveNumber(double number, std::string* bytes) { PutFixed64(bytes, std::bit_cast<uint64_t>(number)); }

bool LoadNumber(std::string_view* bytes, uint64_t* number) { return GetFixed64(bytes, number); }

bool LoadNumber(std::string_view* bytes, int64_t* number) {
  uint64_t bits = 0;
  if (!GetFixed64(bytes, &bits)) return false;
  *number = static_cast<int64_t>(bits);
  return true;
}

bool LoadCount(std::string_view* bytes, int64_t* count) {
  constexpr int64_t kCountMax = int64_t{1} << 48;
  return LoadNumber(bytes, count) && *count >= 0 && *count <= kCountMax;
}

bool LoadNumber(std::string_view* bytes, double* number) {
  uint64_t bits = 0;
  if (!GetFixed64(bytes, &bits)) return false;
  *number = std::bit_cast<double>(bits);
  return true;
}

}  // namespace sonde::sql
