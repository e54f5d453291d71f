// Keys of the cells' database: one a (table, row, family), sorted by table, then row, then family id.
//
//   table id    4 bytes, big-endian
//   row key     0x00 written as 0x00 0xFF
//   0x00 0x01   the end of the row key: sorts before every continuation
//   family id   1 byte below 0xFF; or 0xFF and 4 bytes, big-endian
//
// docs/formats/data-directory.md.
#pragma once

#include <string>
#include <string_view>

#include "model/cell.h"
#include "model/row_range.h"

namespace sonde {

// AppendEscaped writes 0x00 as 0x00 0xFF, so that an end mark sorts before every continuation.
// AppendTerminated adds the end mark.
void AppendEscaped(std::string_view bytes, std::string* out);
void AppendTerminated(std::string_view bytes, std::string* out);
// Takes bytes that AppendTerminated wrote from the front.  Returns false if they are damaged.
[[nodiscard]] bool TakeTerminated(std::string_view* in, std::string* bytes);

// Appends table id and row key without the end mark: the least key of every row >= row_key.
void AppendRowStart(TableId table, std::string_view row_key, std::string* out);
// Appends the common part of all keys of a row.
void AppendRowPrefix(TableId table, std::string_view row_key, std::string* out);
void AppendFamily(FamilyId family, std::string* out);
// Takes bytes that AppendFamily wrote from the front.  Returns false if they are damaged.
[[nodiscard]] bool TakeFamily(std::string_view* in, FamilyId* family);
inline void AppendCellsKey(TableId table, std::string_view row_key, FamilyId family, std::string* out) {
  AppendRowPrefix(table, row_key, out);
  AppendFamily(family, out);
}

// Keys [start, end) of the rows of a range; an infinite range ends where the next table starts.
std::string StartOfRange(TableId table, const RowRange& range);
std::string EndOfRange(TableId table, const RowRange& range);

// The least key that is greater than every key with this row prefix.
std::string EndOfRowPrefix(std::string_view row_prefix);

struct ParsedKey {
  TableId table = 0;
  std::string_view row_prefix;  // as AppendRowPrefix wrote it
  FamilyId family = 0;
};
// Returns false if the key is damaged.
[[nodiscard]] bool ParseKey(std::string_view key, ParsedKey* parsed);
// The table id that a key begins with; 0 (never a table) if the key is too short.
TableId TableOfKey(std::string_view key);
// How many bytes of the key are its row prefix; all of them if there is none.
size_t RowPrefixBytes(std::string_view key);
// The row key of a row prefix that ParseKey gave.
void DecodeRowKey(std::string_view row_prefix, std::string* row_key);

}  // namespace sonde
