#include "engine/rocks/store/key.h"

#include "base/varint.h"

namespace sonde {
namespace {

constexpr size_t kTableBytes = sizeof(TableId);
constexpr char kEscape = '\0';
constexpr char kEscapedZero = '\xff';
constexpr char kEnd = '\x01';
constexpr unsigned char kLongFamily = 0xFF;

}  // namespace

void AppendEscaped(std::string_view bytes, std::string* out) {
  for (size_t zero = bytes.find(kEscape); zero != std::string_view::npos; zero = bytes.find(kEscape)) {
    out->append(bytes.substr(0, zero + 1));
    out->push_back(kEscapedZero);
    bytes.remove_prefix(zero + 1);
  }
  out->append(bytes);
}

void AppendTerminated(std::string_view bytes, std::string* out) {
  AppendEscaped(bytes, out);
  out->push_back(kEscape);
  out->push_back(kEnd);
}

bool TakeTerminated(std::string_view* in, std::string* bytes) {
  bytes->clear();
  for (size_t zero = in->find(kEscape); zero != std::string_view::npos && zero + 1 < in->size();
       zero = in->find(kEscape)) {
    const char next = (*in)[zero + 1];
    bytes->append(in->substr(0, zero));
    in->remove_prefix(zero + 2);
    if (next == kEnd) return true;
    if (next != kEscapedZero) return false;
    bytes->push_back(kEscape);
  }
  return false;
}

void AppendRowStart(TableId table, std::string_view row_key, std::string* out) {
  PutFixed32(out, table);
  AppendEscaped(row_key, out);
}

void AppendRowPrefix(TableId table, std::string_view row_key, std::string* out) {
  PutFixed32(out, table);
  AppendTerminated(row_key, out);
}

void AppendFamily(FamilyId family, std::string* out) {
  if (family < kLongFamily) {
    out->push_back(static_cast<char>(family));
  } else {
    out->push_back(static_cast<char>(kLongFamily));
    PutFixed32(out, family);
  }
}

bool TakeFamily(std::string_view* in, FamilyId* family) {
  if (in->empty()) return false;
  const auto head = static_cast<unsigned char>((*in)[0]);
  in->remove_prefix(1);
  *family = head;
  return head != kLongFamily || GetFixed32(in, family);
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
  return TakeFamily(&family, &parsed->family) && family.empty();
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
