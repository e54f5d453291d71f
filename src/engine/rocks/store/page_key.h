// Keys of pages: the place of a page's first cell.
//
//   table id       4 bytes, big-endian
//   family id      1 byte below 0xFF; or 0xFF and 4 bytes, big-endian
//   row key        0x00 written as 0x00 0xFF, then 0x00 0x01
//   qualifier      escaped and ended like the row key
//   timestamp      8 bytes, big-endian, so that newer ones come first
//
// So the pages of a family lie together, in the order of its cells.  docs/formats/data-directory.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/cell.h"

namespace sonde {

// The keys of a family's pages are [StartOfPages, EndOfPages).
std::string StartOfPages(TableId table, FamilyId family);
std::string EndOfPages(TableId table, FamilyId family);

// The least key of a page that begins in a row >= row_key.
std::string StartOfPageRow(TableId table, FamilyId family, std::string_view row_key);
// The least key of a page that begins after the row.
std::string EndOfPageRow(TableId table, FamilyId family, std::string_view row_key);

std::string PageKey(TableId table, FamilyId family, std::string_view row_key, std::string_view qualifier,
                    int64_t timestamp_micros);

struct ParsedPageKey {
  TableId table = 0;
  FamilyId family = 0;
  std::string row_key;
  std::string qualifier;
  int64_t timestamp_micros = 0;
};
// Returns false if the key is damaged.
[[nodiscard]] bool ParsePageKey(std::string_view key, ParsedPageKey* parsed);

}  // namespace sonde
