// The keys of the cells' database: they come back as they were, in the order of what they stand for; any
// bytes parse or do not.
//   table 4 bytes, two families 4 each, length of the first row key 1, then both row keys.
#include <tuple>

#include "engine/rocks/store/key.h"
#include "target.h"

namespace sonde {
namespace {

constexpr TableId kTableIdMax = UINT32_MAX - 2;

std::string KeyOf(TableId table, std::string_view row_key, FamilyId family) {
  std::string key;
  AppendCellsKey(table, row_key, family, &key);
  return key;
}

void CheckOne(TableId table, std::string_view row_key, FamilyId family) {
  const std::string key = KeyOf(table, row_key, family);
  std::string prefix;
  AppendRowPrefix(table, row_key, &prefix);
  ParsedKey parsed;
  Require(ParseKey(key, &parsed), "a key parses");
  Require(parsed.table == table && parsed.family == family && parsed.row_prefix == prefix, "its parts");
  Require(TableOfKey(key) == table && RowPrefixBytes(key) == prefix.size(), "its table and prefix");
  std::string decoded;
  DecodeRowKey(parsed.row_prefix, &decoded);
  Require(decoded == row_key, "its row key");
}

void CheckTwo(TableId table, std::string_view row_a, FamilyId family_a, std::string_view row_b,
              FamilyId family_b) {
  const std::string a = KeyOf(table, row_a, family_a);
  const std::string b = KeyOf(table, row_b, family_b);
  Require((a < b) == (std::tie(row_a, family_a) < std::tie(row_b, family_b)), "the order of keys");
  Require(b < KeyOf(table + 1, "", 0), "the order of tables");
  std::string prefix;
  AppendRowPrefix(table, row_a, &prefix);
  Require((b < EndOfRowPrefix(prefix)) == (row_b <= row_a), "the end of a row's keys");
  const RowRange range{std::string(row_a), std::string(row_b)};
  for (const std::string_view row : {row_a, row_b, std::string_view()}) {
    const std::string key = KeyOf(table, row, family_a);
    const bool is_inside = key >= StartOfRange(table, range) && key < EndOfRange(table, range);
    Require(is_inside == range.Contains(row), "the ends of a range");
  }
}

void CheckAny(std::string_view bytes) {
  ParsedKey parsed;
  if (!ParseKey(bytes, &parsed)) return;
  std::string row_key;
  DecodeRowKey(parsed.row_prefix, &row_key);
  Require(row_key.size() < bytes.size(), "a decoded row key is no longer than its key");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;  // NOLINT: a main of sorts
  CheckAny({reinterpret_cast<const char*>(data), size});
  InputReader input(data, size);
  const TableId table = 1 + input.Number() % kTableIdMax;
  const FamilyId family_a = input.Number();
  const FamilyId family_b = input.Number();
  const size_t row_a_bytes = input.Byte();
  const std::string_view row_a = input.Bytes(row_a_bytes);
  const std::string_view row_b = input.Rest();
  CheckOne(table, row_a, family_a);
  CheckOne(table, row_b, family_b);
  CheckTwo(table, row_a, family_a, row_b, family_b);
  CheckTwo(table, row_b, family_b, row_a, family_a);
  return 0;
}
