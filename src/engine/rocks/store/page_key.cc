#include "engine/rocks/store/page_key.h"

#include "base/bytes.h"
#include "base/varint.h"
#include "engine/rocks/store/key.h"

namespace sonde {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

}  // namespace

std::string StartOfPages(TableId table, FamilyId family) {
  std::string key;
  PutFixed32(&key, table);
  AppendFamily(family, &key);
  return key;
}

std::string EndOfPages(TableId table, FamilyId family) { return PrefixEnd(StartOfPages(table, family)); }

std::string StartOfPageRow(TableId table, FamilyId family, std::string_view row_key) {
  std::string key = StartOfPages(table, family);
  AppendEscaped(row_key, &key);
  return key;
}

std::string EndOfPageRow(TableId table, FamilyId family, std::string_view row_key) {
  std::string key = StartOfPages(table, family);
  AppendTerminated(row_key, &key);
  return PrefixEnd(key);
}

std::string PageKey(TableId table, FamilyId family, std::string_view row_key, std::string_view qualifier,
                    int64_t timestamp_micros) {
  std::string key = StartOfPages(table, family);
  AppendTerminated(row_key, &key);
  AppendTerminated(qualifier, &key);
  PutFixed64(&key, ~(static_cast<uint64_t>(timestamp_micros) ^ kSign));
  return key;
}

bool ParsePageKey(std::string_view key, ParsedPageKey* parsed) {
  uint64_t timestamp = 0;
  if (!GetFixed32(&key, &parsed->table) || !TakeFamily(&key, &parsed->family) ||
      !TakeTerminated(&key, &parsed->row_key) || !TakeTerminated(&key, &parsed->qualifier) ||
      !GetFixed64(&key, &timestamp) || !key.empty()) {
    return false;
  }
  parsed->timestamp_micros = static_cast<int64_t>(~timestamp ^ kSign);
  return true;
}

}  // namespace sonde
