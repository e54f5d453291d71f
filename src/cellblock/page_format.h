// What the writer and the reader of pages agree on; only they include it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cellblock/page_header.h"

namespace sonde {

constexpr size_t kHeaderChecksumBytes = 4;
constexpr size_t kPageChecksumBytes = 8;

// Where the values of a page lie.
enum class PageOrder : uint8_t {
  // A stream for each column of its own, and one for those with few cells, column by column.
  kByColumn = 0,
  // One stream, in the order of the cells.
  kByRow = 1,
};

// How the timestamps of a row are written.
enum class TimeMode : uint8_t {
  kShared = 0,    // one list, which each column has
  kSubset = 1,    // one list, of which each column lacks some
  kSeparate = 2,  // a list for each column
};
constexpr int64_t kTimeModeMax = static_cast<int64_t>(TimeMode::kSeparate);

// Sizes of a page's sections.
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
// Appends format, header and its checksum.
void AppendPageHeader(const PageParts& parts, std::string* out);
absl::Status ParsePageHeader(std::string_view page, PageParts* parts);

}  // namespace sonde
