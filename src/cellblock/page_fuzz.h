// Support for fuzzers of pages: reads any bytes as a page, in every way there is.  For tests only.
#pragma once

#include <string>
#include <string_view>

#include "base/varint.h"
#include "cellblock/page_cursor.h"
#include "cellblock/page_format.h"
#include "cellblock/page_reader.h"

namespace sonde {

// Makes the checksums of changed bytes match again, as far as the bytes resemble a page, so that a fuzzer
// gets past them.
inline void SealPage(std::string* page) {
  if (page->empty()) return;
  std::string_view in = std::string_view(*page).substr(1);
  std::string_view header;
  if (!GetBytes(&in, &header) || in.size() < kHeaderChecksumBytes + kPageChecksumBytes) return;
  const size_t checked = page->size() - in.size();
  std::string checksum;
  PutFixed32(&checksum, static_cast<uint32_t>(PageChecksum(std::string_view(*page).substr(0, checked))));
  page->replace(checked, kHeaderChecksumBytes, checksum);
  page->resize(page->size() - kPageChecksumBytes);
  PutFixed64(page, PageChecksum(*page));
}

// Reads the page whole, in parts, backwards and as numbers.  Returns how many cells all these reads gave
// together.  DATA_LOSS: the bytes are no page.
inline absl::StatusOr<size_t> ReadAnyPage(std::string_view page) {
  absl::StatusOr<std::unique_ptr<PageReader>> reader = PageReader::Open(page);
  if (!reader.ok()) return reader.status();
  const PageHeader& header = (*reader)->header();
  std::vector<ReadHints> hints(6);
  hints[1].newest_per_column = 1;
  hints[1].time_range = {header.timestamp_micros_min, header.timestamp_micros_max};
  const std::vector<std::string_view>& columns = (*reader)->columns();
  hints[2].columns = {{std::string(columns.back()), ""}};
  hints[3].keys_only = true;
  const std::string first(columns.front()), last(columns.back());
  hints[4].columns = {{first, last}, {last, ""}};
  hints[4].numbers = {NumberBytes::kDecimalText, NumberBytes::kBigEndianDouble};
  hints[5].columns.emplace(1);
  hints[5].numbers = {NumberBytes::kDecimalText};
  size_t cells = 0;
  for (const ReadHints& some : hints) {
    for (const bool reverse : {false, true}) {
      PageCursor cursor(reader->get(), RowRange{header.first_row_key, header.last_row_key + '\0'}, some,
                        reverse);
      RowPiece piece;
      while (true) {
        absl::StatusOr<bool> more = cursor.Next(&piece);
        if (!more.ok()) return more.status();
        if (!*more) break;
        cells += piece.cells.size();
        for (const NumberColumn& column : piece.numbers) cells += column.numbers.size();
      }
    }
  }
  return cells;
}

}  // namespace sonde
