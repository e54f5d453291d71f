// What a page's header says of it (page.h), and what no page is larger than.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sonde {

constexpr char kPageFormat = 1;

// A page of more is not written, and refused when it is read.
constexpr size_t kPageCellsMax = size_t{1} << 20;
constexpr size_t kPageBytesMax = size_t{1} << 29;

// What a page's header says of it.
struct PageHeader {
  size_t rows = 0;     // the parts of rows at its ends count as rows
  size_t cells = 0;    // never 0
  size_t columns = 0;  // different qualifiers
  int64_t timestamp_micros_min = 0;
  int64_t timestamp_micros_max = 0;
  std::string first_row_key;
  std::string last_row_key;
  size_t header_bytes = 0;  // from the start of the page up to and with the header's checksum
  size_t page_bytes = 0;    // of all of the page
};

}  // namespace sonde
