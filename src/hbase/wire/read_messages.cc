#include "hbase/wire/read_messages.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "hbase/wire/message_parts.h"

namespace sonde::hbase {
namespace {

constexpr char kFilterPackage[] = "org.apache.hadoop.hbase.filter.";
constexpr std::string_view kRegionInfoMagic = "PBUF";
constexpr int kMustPassAll = 1;
constexpr int kMustPassOne = 2;

template <typename Message>
void SetFilter(pb::Filter* filter, std::string_view class_name, const Message& body) {
  filter->set_name(kFilterPackage + std::string(class_name));
  filter->set_serialized_filter(body.SerializeAsString());
}

void SetRange(pb::Filter* filter, const QualifierRange& range) {
  pb::ColumnRangeFilter body;
  body.set_min_column(range.start);
  body.set_min_column_inclusive(true);
  if (!range.end.empty()) body.set_max_column(range.end);
  body.set_max_column_inclusive(false);
  SetFilter(filter, "ColumnRangeFilter", body);
}

void SetQualifiers(pb::Filter* filter, const std::vector<QualifierRange>& ranges) {
  if (ranges.size() == 1) return SetRange(filter, ranges[0]);
  pb::FilterList list;
  list.set_operator_(kMustPassOne);
  for (const QualifierRange& range : ranges) SetRange(list.add_filters(), range);
  SetFilter(filter, "FilterList", list);
}

void SetKeysOnly(pb::Filter* filter) {
  pb::KeyOnlyFilter body;
  body.set_len_as_val(false);
  SetFilter(filter, "KeyOnlyFilter", body);
}

// The cells of `whole` as they are; of the others keys alone.
void SetKeysOnlyBut(pb::Filter* filter, const CellChoice& choice) {
  std::vector<QualifierRange> others = choice.qualifiers;
  // A filter that lets all cells through would take the values of `whole`, too.
  if (others.empty()) others.push_back({choice.whole.back().end, ""});
  pb::FilterList keys;
  keys.set_operator_(kMustPassAll);
  SetQualifiers(keys.add_filters(), others);
  SetKeysOnly(keys.add_filters());
  pb::FilterList either;
  either.set_operator_(kMustPassOne);
  for (const QualifierRange& range : choice.whole) SetRange(either.add_filters(), range);
  SetFilter(either.add_filters(), "FilterList", keys);
  SetFilter(filter, "FilterList", either);
}

// `Read` is Get or Scan, whose fields for this have the same names.
template <typename Read>
void SetChoice(Read* read, const CellChoice& choice) {
  for (const std::string& family : choice.families) read->add_column()->set_family(family);
  read->set_max_versions(choice.newest_per_column);
  if (choice.time_start != 0 || choice.time_end != std::numeric_limits<int64_t>::max()) {
    pb::TimeRange* times = nullptr;
    if (choice.times_of_family.empty()) {
      times = read->mutable_time_range();
    } else {
      pb::ColumnFamilyTimeRange* const of_family = read->add_cf_time_range();
      of_family->set_column_family(choice.times_of_family);
      times = of_family->mutable_time_range();
    }
    times->set_from(static_cast<uint64_t>(choice.time_start));
    times->set_to(static_cast<uint64_t>(choice.time_end));
  }
  if (choice.keys_only && !choice.whole.empty()) {
    SetKeysOnlyBut(read->mutable_filter(), choice);
  } else if (!choice.qualifiers.empty() && choice.keys_only) {
    pb::FilterList list;
    list.set_operator_(kMustPassAll);
    SetQualifiers(list.add_filters(), choice.qualifiers);
    SetKeysOnly(list.add_filters());
    SetFilter(read->mutable_filter(), "FilterList", list);
  } else if (!choice.qualifiers.empty()) {
    SetQualifiers(read->mutable_filter(), choice.qualifiers);
  } else if (choice.keys_only) {
    SetKeysOnly(read->mutable_filter());
  }
}

void SetHandling(pb::ScanRequest* request) {
  request->set_client_handles_partials(true);
  request->set_client_handles_heartbeats(true);
}

absl::StatusOr<ServerAddress> AddressOf(const pb::ServerName& name) {
  if (name.host_name().empty() || name.port() == 0 || name.port() > UINT16_MAX)
    return BadMessage("a server has no address");
  return ServerAddress{name.host_name(), static_cast<uint16_t>(name.port())};
}

}  // namespace

absl::StatusOr<std::optional<ServerAddress>> ParseActiveMaster(std::string_view message) {
  pb::GetActiveMasterResponse answer;
  if (!Parse(message, &answer)) return BadMessage("GetActiveMaster does not parse");
  if (!answer.has_server_name()) return std::nullopt;
  return AddressOf(answer.server_name());
}

absl::StatusOr<std::optional<ServerAddress>> ParseMetaServer(std::string_view message) {
  pb::GetMetaRegionLocationsResponse answer;
  if (!Parse(message, &answer)) return BadMessage("GetMetaRegionLocations does not parse");
  for (const pb::RegionLocation& location : answer.meta_locations()) {
    if (location.region_info().replica_id() != 0 || !location.has_server_name()) continue;
    return AddressOf(location.server_name());
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<Region>> ParseMetaRow(const std::vector<Cell>& cells) {
  std::string_view info_bytes;
  std::string_view server;
  for (const Cell& cell : cells) {
    if (cell.family != kMetaFamily) continue;
    if (cell.qualifier == "regioninfo") info_bytes = cell.value;
    if (cell.qualifier == "server") server = cell.value;
  }
  if (info_bytes.empty() || server.empty()) return std::nullopt;
  pb::RegionInfo info;
  if (!info_bytes.starts_with(kRegionInfoMagic) ||
      !Parse(info_bytes.substr(kRegionInfoMagic.size()), &info)) {
    return BadMessage("a region of hbase:meta does not parse");
  }
  if (info.offline() || info.split() || info.replica_id() != 0) return std::nullopt;
  Region region;
  region.name = std::string(cells[0].row);
  region.table = {info.table_name().namespace_(), info.table_name().qualifier()};
  region.id = info.region_id();
  region.start_key = info.start_key();
  region.end_key = info.end_key();
  if (!region.end_key.empty() && region.end_key <= region.start_key)
    return BadMessage("a region ends before it starts");
  const size_t colon = server.rfind(':');
  const std::string_view digits = server.substr(colon + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), region.server.port);
  if (colon == std::string_view::npos || colon == 0 || parsed.ec != std::errc() ||
      parsed.ptr != digits.data() + digits.size() || region.server.port == 0) {
    return BadMessage("a region's server is no HOST:PORT");
  }
  region.server.host = std::string(server.substr(0, colon));
  return region;
}

std::string GetMessage(std::string_view region, std::string_view row, const CellChoice& choice) {
  pb::GetRequest request;
  SetRegion(request.mutable_region(), region);
  request.mutable_get()->set_row(std::string(row));
  SetChoice(request.mutable_get(), choice);
  return request.SerializeAsString();
}

absl::StatusOr<size_t> ParseGet(std::string_view message) {
  pb::GetResponse answer;
  if (!Parse(message, &answer)) return BadMessage("Get does not parse");
  if (answer.result().cell_size() > 0) return BadMessage("Get has cells outside of its block");
  return static_cast<size_t>(std::max(answer.result().associated_cell_count(), 0));
}

std::string OpenScanMessage(std::string_view region, const ScanRange& range, const CellChoice& choice,
                            const ScanBounds& bounds, bool closes) {
  pb::ScanRequest request;
  SetRegion(request.mutable_region(), region);
  pb::Scan* const scan = request.mutable_scan();
  SetChoice(scan, choice);
  scan->set_start_row(range.start);
  scan->set_stop_row(range.stop);
  scan->set_include_start_row(range.with_start);
  if (range.reverse) scan->set_reversed(true);
  scan->set_max_result_size(bounds.bytes_max);
  scan->set_allow_partial_results(true);
  request.set_number_of_rows(bounds.rows_max);
  if (bounds.rows_in_all > 0) request.set_limit_of_rows(bounds.rows_in_all);
  if (closes) request.set_close_scanner(true);
  SetHandling(&request);
  return request.SerializeAsString();
}

std::string NextScanMessage(uint64_t scanner, uint64_t sequence, const ScanBounds& bounds) {
  pb::ScanRequest request;
  request.set_scanner_id(scanner);
  request.set_number_of_rows(bounds.rows_max);
  request.set_next_call_seq(sequence);
  SetHandling(&request);
  return request.SerializeAsString();
}

std::string RenewScanMessage(uint64_t scanner) {
  pb::ScanRequest request;
  request.set_scanner_id(scanner);
  request.set_number_of_rows(0);
  request.set_renew(true);
  SetHandling(&request);
  return request.SerializeAsString();
}

std::string CloseScanMessage(uint64_t scanner) {
  pb::ScanRequest request;
  request.set_scanner_id(scanner);
  request.set_number_of_rows(0);
  request.set_close_scanner(true);
  return request.SerializeAsString();
}

absl::StatusOr<ScanAnswer> ParseScan(std::string_view message) {
  pb::ScanResponse response;
  if (!Parse(message, &response)) return BadMessage("Scan does not parse");
  if (response.results_size() > 0) return BadMessage("Scan has rows outside of its block");
  if (response.partial_flag_per_result_size() > response.cells_per_result_size()) {
    return BadMessage("Scan says more of rows than it has");
  }
  ScanAnswer answer;
  answer.parts.reserve(response.cells_per_result_size());
  for (int i = 0; i < response.cells_per_result_size(); ++i) {
    const bool may_go_on = i < response.partial_flag_per_result_size() && response.partial_flag_per_result(i);
    answer.parts.push_back({response.cells_per_result(i), may_go_on});
  }
  if (response.has_scanner_id()) answer.scanner = response.scanner_id();
  if (response.has_ttl()) answer.lease_ms = response.ttl();
  answer.has_more =
      response.more_results_in_region() && (!response.has_more_results() || response.more_results());
  return answer;
}

}  // namespace sonde::hbase
