#include "sql/scan/scan_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"
#include "base/varint.h"
#include "sql/plan/key_ranges.h"
#include "table/range_estimate.h"

namespace sonde::sql {
namespace {

enum class StartKind : uint8_t { kAll = 0, kBehindKey = 1, kAtKey = 2 };

}  // namespace

std::optional<ScanStart> StartOfPart(const Plan::Scan& scan, const ExecutionState& state) {
  // Scans in reverse are not divided.
  if (state.scan_ranges == nullptr || scan.reversed || state.scan_ranges->empty()) return std::nullopt;
  return ScanStart{state.scan_ranges->front().start, true};
}

void PutScanStart(const std::optional<ScanStart>& start, std::string* place) {
  StartKind kind = StartKind::kAll;
  if (start.has_value()) kind = start->takes_key ? StartKind::kAtKey : StartKind::kBehindKey;
  PutVarint(place, static_cast<uint64_t>(kind));
  if (start.has_value()) PutBytes(place, start->key);
}

bool GetScanStart(std::string_view* place, std::optional<ScanStart>* start) {
  uint64_t kind = 0;
  std::string_view key;
  if (!GetVarint(place, &kind) || kind > static_cast<uint64_t>(StartKind::kAtKey)) return false;
  if (kind == static_cast<uint64_t>(StartKind::kAll)) return true;
  if (!GetBytes(place, &key)) return false;
  *start = ScanStart{std::string(key), kind == static_cast<uint64_t>(StartKind::kAtKey)};
  return true;
}

absl::StatusOr<std::vector<RowRange>> ScanRanges(const Plan::Scan& scan, const ExecutionState& state,
                                                 const std::optional<ScanStart>& start) {
  absl::StatusOr<std::vector<RowRange>> ranges =
      state.scan_ranges != nullptr ? *state.scan_ranges : KeyRanges(scan, state.evaluation);
  if (!ranges.ok() || !start.has_value()) return ranges;
  RowRange rest;
  if (scan.reversed) {
    rest.end = start->takes_key ? Successor(start->key) : start->key;
    // The first key of all has none before it, and the end of a range cannot be empty.
    if (rest.end.empty()) return std::vector<RowRange>();
  } else {
    rest.start = start->takes_key ? start->key : Successor(start->key);
  }
  return ClipRanges(*ranges, rest);
}

std::optional<double> EstimateScan(const Plan::Scan& scan, const ExecutionState& state) {
  const absl::StatusOr<std::vector<RowRange>> ranges = ScanRanges(scan, state, std::nullopt);
  if (!ranges.ok()) return std::nullopt;
  const absl::StatusOr<std::optional<RangeEstimate>> estimate =
      EstimateRanges(&state.tables->engine(), scan.table->id, *ranges);
  // What keeps the engine from telling will keep the scan from reading, which says so.
  if (!estimate.ok() || !estimate->has_value()) return std::nullopt;
  return (*estimate)->rows;
}

std::string ScanText(const Plan::Scan& scan, const std::vector<RowRange>& ranges,
                     const std::optional<ScanCounts>& counts) {
  constexpr size_t kShown = 4;
  std::string text =
      fmt::format("{}{}, {} ranges", scan.table->name, scan.reversed ? " in reverse" : "", ranges.size());
  for (size_t i = 0; i < std::min(ranges.size(), kShown); ++i) {
    const RowRange& range = ranges[i];
    text +=
        fmt::format(" [{}, {})", Printable(range.start), range.end.empty() ? "..." : Printable(range.end));
  }
  if (counts.has_value()) {
    text += fmt::format("; {} rows read, {} cells, {} bytes of values", counts->rows, counts->cells,
                        counts->value_bytes);
  }
  return text;
}

}  // namespace sonde::sql
