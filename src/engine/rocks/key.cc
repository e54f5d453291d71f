#include "engine/rocks/key.h"

#include "base/varint.h"

namespace sonde {
namespace {

constexpr size_t kTableBytes = sizeof(TableId);
constexpr char kEscape = '\0';
constexpr char kEscapedZero = '\xff';
constexpr char kEnd = '\x01';
constexpr unsigned char kLongFamily = 0xFF;

}  // namespace

void AppendRowStart(TableId table, std::string_view row_key, std::string* out) {
  PutFixed32(out, table);
  for (size_t zero = row_key.find(kEscape); zero != std::string_view::npos; zero = row_key.find(kEscape)) {
    out->append(row_key.substr(0, zero + 1));
    out->push_back(kEscapedZero);
    row_key.remove_prefix(zero + 1);
  }
  out->append(row_key);
}

void AppendRowPrefix(TableId table, std::string_view row_key, std::string* out) {
  AppendRowStart(table, row_key, out);
  out->push_back(kEscape);
  out->push_back(kEnd);
}

void AppendFamily(FamilyId family, std::string* out) {
  if (family < kLongFamily) {
    out->push_back(static_cast<char>(family));
  } else {
    out->push_back(static_cast<char>(kLongFamily));
    PutFixed32(out, family);
  }
}

std::string StartOfRange(TableId table, const RowRange& range) {
  std::string result;
  AppendRowStart(table, range.start, &result);
  return result;
}

std::string EndOfRange(TableId table, const RowRange& range) {
  std::string result;
  if (range.end.empty()) {
    AppendRowStart(table + 1, "", &result);
  } else {
    AppendRowStart(table, range.end, &result);
  }
  return result;
}

std::string EndOfRowPrefix(std::string_view row_prefix) {
  std::string result(row_prefix);
  result.back() = static_cast<char>(kEnd + 1);
  return result;
}

size_t RowPrefixBytes(std::string_view key) {
  for (size_t at = key.find(kEscape, kTableBytes); at != std::string_view::npos && at + 1 < key.size();
       at = key.find(kEscape, at + 2)) {
    if (key[at + 1] == kEnd) return at + 2;
  }
  return key.size();
}

bool ParseKey(std::string_view key, ParsedKey* parsed) {
  std::string_view table = key;
  if (!GetFixed32(&table, &parsed->table)) return false;
  const size_t prefix_bytes = RowPrefixBytes(key);
  if (prefix_bytes >= key.size()) return false;
  parsed->row_prefix = key.substr(0, prefix_bytes);
  std::string_view family = key.substr(prefix_bytes);
  const auto head = static_cast<unsigned char>(family[0]);
  family.remove_prefix(1);
  parsed->family = head;
  if (head == kLongFamily && !GetFixed32(&family, &parsed->family)) return false;
  return family.empty();
}

TableId TableOfKey(std::string_view key) {
  TableId table = 0;
  return GetFixed32(&key, &table) ? table : 0;
}

void DecodeRowKey(std::string_view row_prefix, std::string* row_key) {
  std::string_view rest = row_prefix.substr(kTableBytes, row_prefix.size() - kTableBytes - 2);
  row_key->clear();
  for (size_t zero = rest.find(kEscape); zero != std::string_view::npos; zero = rest.find(kEscape)) {
    row_key->append(rest.substr(0, zero + 1));
    rest.remove_prefix(zero + 2);
  }
  row_key->append(rest);
}

}  // namespace sonde
