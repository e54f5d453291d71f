// The header of a page (page.h), and the limits of a page's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sonde {

constexpr char kPageFormat = 1;

// A larger page is not written, and is refused when it is read.
constexpr size_t kPageCellsMax = size_t{1} << 20;
constexpr size_t kPageBytesMax = size_t{1} << 29;

struct PageHeader {
  size_t rows = 0;     // a row that is cut at an end of the page counts as a row
  size_t cells = 0;    // never 0
  size_t columns = 0;  // distinct qualifiers
  int64_t timestamp_micros_min = 0;
  int64_t timestamp_micros_max = 0;
  std::string first_row_key;
  std::string last_row_key;
  size_t header_bytes = 0;  // from the start of the page to the end of the header's checksum
  size_t page_bytes = 0;    // the whole page
};

}  // namespace sonde
