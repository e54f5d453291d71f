#include "engine/hbase/packed/packed_cells.h"

#include <fmt/format.h>

#include "absl/status/status.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

// Expiring families are never packed, so that their ids are free.
constexpr FamilyId kWritten = kExpiringFamilies;
constexpr size_t kPlaceBytes = 16;

std::string QualifierOf(FamilyId id) {
  std::string qualifier;
  PutFixed32(&qualifier, 0);
  PutFixed32(&qualifier, id);
  return qualifier;
}

hbase::QualifierRange RangeOf(FamilyId id) {
  std::string start = QualifierOf(id);
  std::string end = PrefixEnd(start);
  return {std::move(start), std::move(end)};
}

}  // namespace

std::string SettledQualifier(FamilyId family) { return QualifierOf(family); }

std::string WrittenQualifier(FamilyId family, int64_t now_micros, RandomSource* random) {
  std::string qualifier = QualifierOf(family | kWritten);
  PutFixed64(&qualifier, static_cast<uint64_t>(now_micros));
  PutFixed64(&qualifier, random->Next());
  return qualifier;
}

std::optional<int64_t> WrittenAt(std::string_view qualifier) {
  uint64_t micros = 0;
  if (qualifier.size() != 2 * sizeof(FamilyId) + kPlaceBytes) return std::nullopt;
  qualifier.remove_prefix(2 * sizeof(FamilyId));
  return GetFixed64(&qualifier, &micros) ? std::optional(static_cast<int64_t>(micros)) : std::nullopt;
}

std::vector<std::string> PackedFamilies(CellStorage storage) {
  switch (storage) {
    case CellStorage::kPlain:
      return {};
    case CellStorage::kPacked:
      return {kSettledFamily};
    case CellStorage::kPackedAtOnce:
      return {kSettledFamily, kWrittenFamily};
  }
  return {};
}

std::vector<hbase::QualifierRange> PackedRanges(FamilyId family, CellStorage storage) {
  std::vector<hbase::QualifierRange> ranges;
  if (HasPacked(storage)) ranges.push_back(RangeOf(family));
  if (storage == CellStorage::kPackedAtOnce) ranges.push_back(RangeOf(family | kWritten));
  return ranges;
}

hbase::QualifierRange AllPackedRange() {
  hbase::QualifierRange range;
  PutFixed32(&range.start, 0);
  range.end = PrefixEnd(range.start);
  return range;
}

bool IsPacked(const hbase::Cell& stored) {
  return stored.family == kSettledFamily || stored.family == kWrittenFamily;
}

absl::StatusOr<FamilyId> FamilyOfPacked(const hbase::Cell& stored) {
  std::string_view rest = stored.qualifier;
  uint32_t zeros = 0, id = 0;
  const bool is_written = stored.family == kWrittenFamily;
  if (!GetFixed32(&rest, &zeros) || !GetFixed32(&rest, &id) || zeros != 0 ||
      IsExpiringFamily(id) != is_written || rest.size() != (is_written ? kPlaceBytes : 0)) {
    return absl::DataLossError(
        fmt::format("HBase has a packed cell that Sonde did not put: row '{}', column '{}:{}'",
                    Printable(stored.row), Printable(stored.family), Printable(stored.qualifier)));
  }
  return is_written ? id & ~kWritten : id;
}

}  // namespace sonde
