// The parts of the page format that the writer and the reader share.  Only they include this header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cellblock/page_header.h"

namespace sonde {

constexpr size_t kHeaderChecksumBytes = 4;
constexpr size_t kPageChecksumBytes = 8;

// The order in which the values of a page lie.
enum class PageOrder : uint8_t {
  // Column by column: a stream for each large column, and one stream for all columns with few cells.
  kByColumn = 0,
  // Row by row: one stream, in the order of the cells.
  kByRow = 1,
};

// How the timestamps of a row are written.
enum class TimeMode : uint8_t {
  kShared = 0,    // one list, which holds for each column
  kSubset = 1,    // one list, and what each column lacks of it
  kSeparate = 2,  // a list for each column
};
constexpr int64_t kTimeModeMax = static_cast<int64_t>(TimeMode::kSeparate);

// Bytes of each section of a page.
struct PageSections {
  uint64_t keys = 0, columns = 0, shape = 0, times = 0, values = 0;
};

struct PageParts {
  PageHeader header;
  PageOrder order = PageOrder::kByColumn;
  PageSections sections;
};

absl::Status DamagedPage(std::string_view what);
uint64_t PageChecksum(std::string_view bytes);
// Appends format, header and the header's checksum.
void AppendPageHeader(const PageParts& parts, std::string* out);
absl::Status ParsePageHeader(std::string_view page, PageParts* parts);

}  // namespace sonde
