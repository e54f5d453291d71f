#include "cellblock/page.h"

#include <algorithm>
#include <utility>

#include "base/varint.h"
#include "cellblock/page_format.h"

namespace sonde {

absl::StatusOr<PageHeader> ReadPageHeader(std::string_view page) {
  PageParts parts;
  if (absl::Status status = ParsePageHeader(page, &parts); !status.ok()) return status;
  return std::move(parts.header);
}

uint64_t ChecksumOfPage(std::string_view page) {
  uint64_t checksum = 0;
  std::string_view end = page.substr(page.size() - std::min(page.size(), kPageChecksumBytes));
  return GetFixed64(&end, &checksum) ? checksum : 0;
}

bool HasItsChecksum(std::string_view page) {
  return page.size() >= kPageChecksumBytes &&
         ChecksumOfPage(page) == PageChecksum(page.substr(0, page.size() - kPageChecksumBytes));
}

}  // namespace sonde
