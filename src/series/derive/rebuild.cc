#include "series/derive/rebuild.h"

#include <string>
#include <string_view>
#include <vector>

#include "series/key/field_codec.h"
#include "series/known/complete_tables.h"
#include "series/known/declaration_check.h"
#include "series/known/point_scan.h"
#include "series/known/rollup_marks.h"
#include "series/known/series_tables.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kPointsPerProgress = 1 << 14;

void AddTotals(const PointWriter& writer, RebuildTotals* totals) {
  totals->rows = writer.totals().rows;
  if (writer.rollups() == nullptr) return;
  totals->pieces = writer.rollups()->pieces_refreshed();
  totals->pieces_too_old = writer.rollups()->pieces_too_old();
}

}  // namespace

absl::StatusOr<RebuildTotals> RebuildDerived(const SeriesSchema& schema, int64_t from_micros,
                                             int64_t to_micros, TableAccess* tables, const Clock& clock,
                                             const std::function<void(const RebuildTotals&)>& progress) {
  if (!schema.text.empty()) {
    if (absl::Status status = CheckAgainstStored(schema, tables); !status.ok()) return status;
  }
  SeriesSchema unstored = schema;  // the declaration that is stored stays as it is
  unstored.text.clear();
  if (absl::Status status = EnsureSeriesTables(unstored, tables, &clock); !status.ok()) return status;
  PointWriter writer(unstored, tables, {}, &clock, PointWriter::Target::kDerivedOnly);
  RebuildTotals totals;
  Selection selection;
  selection.from_micros = from_micros;
  selection.to_micros = to_micros;
  std::vector<std::string> texts(schema.fields.size());
  const absl::Status status = ScanPoints(
      schema, selection, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        const std::vector<std::string_view> tags(key.tags.begin(), key.tags.end());
        std::vector<std::string_view> fields(texts.size());
        for (size_t i = 0; i < texts.size(); ++i) {
          if (point.values[i].data() == nullptr) continue;
          texts[i] = TextOfValue(schema.fields[i], point.values[i]);
          fields[i] = texts[i];
        }
        if (absl::Status added = writer.Add({tags, point.time_micros, fields}); !added.ok()) return added;
        if (absl::Status flushed = writer.FlushIfFull(); !flushed.ok()) return flushed;
        if (++totals.points % kPointsPerProgress == 0 && progress) {
          AddTotals(writer, &totals);
          progress(totals);
        }
        return true;
      });
  if (!status.ok()) return status;
  if (absl::Status flushed = writer.Flush(); !flushed.ok()) return flushed;
  AddTotals(writer, &totals);
  if (!schema.text.empty() && from_micros <= kTimeBeginMicros && to_micros >= kTimeEndMicros) {
    if (absl::Status noted = NoteComplete(schema, tables, clock); !noted.ok()) return noted;
  }
  return totals;
}

absl::StatusOr<RebuildTotals> RefreshStaleRollups(const SeriesSchema& schema, TableAccess* tables,
                                                  const Clock& clock) {
  RebuildTotals totals;
  if (schema.rollups.empty()) return totals;
  if (absl::Status status = EnsureMarksTable(tables); !status.ok()) return status;
  RollupKeeper keeper(schema, tables, &clock);
  if (absl::Status status = keeper.RefreshStale(); !status.ok()) return status;
  totals.pieces = keeper.pieces_refreshed();
  totals.pieces_too_old = keeper.pieces_too_old();
  return totals;
}

}  // namespace sonde::series
