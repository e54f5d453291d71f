#include "engine/hbase/packed/packed_row.h"

#include <algorithm>
#include <utility>

#include "cellblock/shapes.h"
#include "engine/hbase/packed/packed_cells.h"

namespace sonde {

bool IsCellBefore(const CellView& a, const CellView& b) {
  const int order = a.qualifier.compare(b.qualifier);
  return order != 0 ? order < 0 : a.timestamp_micros > b.timestamp_micros;
}

absl::Status PackedRow::Add(const hbase::Cell& stored) {
  const absl::StatusOr<FamilyId> family = FamilyOfPacked(stored);
  if (!family.ok()) return family.status();
  auto at = std::lower_bound(families_.begin(), families_.end(), *family,
                             [](const auto& some, FamilyId id) { return some->family < id; });
  if (at == families_.end() || (*at)->family != *family) {
    at = families_.insert(at, std::make_unique<Family>());
    (*at)->family = *family;
  }
  (*at)->places.push_back({stored.family == kSettledFamily, std::string(stored.qualifier)});
  (*at)->values.push_back(bytes_.emplace_back(stored.value));
  return absl::OkStatus();
}

absl::Status PackedRow::Read(const ReadHints& hints) {
  for (const std::unique_ptr<Family>& family : families_) {
    absl::Status status = family->reader_.Read(family->values, NoShapes(), hints, &family->cells);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void PackedRow::Clear() {
  families_.clear();
  bytes_.clear();
}

std::string PackCells(FamilyId family, std::vector<CellView> cells) {
  std::string value;
  EncodeFragment(FamilyDelta{.family = family, .puts = std::move(cells)}, NoShapes(), &value);
  return value;
}

}  // namespace sonde
