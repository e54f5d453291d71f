#include "cellblock/page_format.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "base/varint.h"

namespace sonde {

absl::Status DamagedPage(std::string_view what) {
  return absl::DataLossError(fmt::format("A stored page is damaged: {}", what));
}

uint64_t PageChecksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void AppendPageHeader(const PageParts& parts, std::string* out) {
  const PageHeader& header = parts.header;
  std::string bytes;
  PutVarint(&bytes, header.rows);
  PutVarint(&bytes, header.cells);
  PutVarint(&bytes, header.columns);
  PutVarint(&bytes, ZigZag(header.timestamp_micros_min));
  PutVarint(&bytes, static_cast<uint64_t>(header.timestamp_micros_max) -
                        static_cast<uint64_t>(header.timestamp_micros_min));
  PutBytes(&bytes, header.first_row_key);
  const auto shared = std::mismatch(header.first_row_key.begin(), header.first_row_key.end(),
                                    header.last_row_key.begin(), header.last_row_key.end())
                          .first -
                      header.first_row_key.begin();
  PutVarint(&bytes, shared);
  PutBytes(&bytes, std::string_view(header.last_row_key).substr(shared));
  bytes.push_back(static_cast<char>(parts.order));
  const PageSections& sections = parts.sections;
  for (const uint64_t size :
       {sections.keys, sections.columns, sections.shape, sections.times, sections.values}) {
    PutVarint(&bytes, size);
  }
  const size_t start = out->size();
  out->push_back(kPageFormat);
  PutBytes(out, bytes);
  PutFixed32(out, static_cast<uint32_t>(PageChecksum(std::string_view(*out).substr(start))));
}

absl::Status ParsePageHeader(std::string_view page, PageParts* parts) {
  if (page.empty() || page[0] != kPageFormat) return DamagedPage("unknown format");
  std::string_view in = page.substr(1);
  std::string_view bytes;
  if (!GetBytes(&in, &bytes)) return DamagedPage("header cut short");
  const size_t checked = page.size() - in.size();
  uint32_t checksum = 0;
  if (!GetFixed32(&in, &checksum)) return DamagedPage("header cut short");
  if (checksum != static_cast<uint32_t>(PageChecksum(page.substr(0, checked)))) {
    return DamagedPage("the header's checksum does not match");
  }

  PageHeader& header = parts->header;
  header.header_bytes = checked + kHeaderChecksumBytes;
  uint64_t rows = 0, cells = 0, columns = 0, time_min = 0, time_width = 0, shared = 0;
  std::string_view first, rest;
  if (!GetVarint(&bytes, &rows) || !GetVarint(&bytes, &cells) || !GetVarint(&bytes, &columns) ||
      !GetVarint(&bytes, &time_min) || !GetVarint(&bytes, &time_width) || !GetBytes(&bytes, &first) ||
      !GetVarint(&bytes, &shared) || shared > first.size() || !GetBytes(&bytes, &rest)) {
    return DamagedPage("header");
  }
  if (cells == 0 || cells > kPageCellsMax || rows == 0 || rows > cells || columns == 0 || columns > cells) {
    return DamagedPage("counts");
  }
  header.rows = rows;
  header.cells = cells;
  header.columns = columns;
  header.timestamp_micros_min = UnZigZag(time_min);
  header.timestamp_micros_max =
      static_cast<int64_t>(static_cast<uint64_t>(header.timestamp_micros_min) + time_width);
  if (header.timestamp_micros_max < header.timestamp_micros_min) return DamagedPage("times");
  header.first_row_key = first;
  header.last_row_key = first.substr(0, shared);
  header.last_row_key += rest;
  if (bytes.empty() || static_cast<unsigned char>(bytes[0]) > static_cast<unsigned char>(PageOrder::kByRow)) {
    return DamagedPage("order of values");
  }
  parts->order = static_cast<PageOrder>(bytes[0]);
  bytes.remove_prefix(1);
  PageSections& sections = parts->sections;
  for (uint64_t* size :
       {&sections.keys, &sections.columns, &sections.shape, &sections.times, &sections.values}) {
    if (!GetVarint(&bytes, size) || *size > kPageBytesMax) return DamagedPage("sections");
  }
  if (!bytes.empty()) return DamagedPage("header");
  header.page_bytes = header.header_bytes + sections.keys + sections.columns + sections.shape +
                      sections.times + sections.values + kPageChecksumBytes;
  return absl::OkStatus();
}

}  // namespace sonde
