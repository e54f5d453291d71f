#include "observed_rows.h"

#include <algorithm>

#include "base/bytes.h"
#include "fmt/format.h"

namespace sonde {
namespace {

constexpr size_t kShownBytesMax = 24;

std::string Shown(std::string_view bytes) { return fmt::format("'{}'", Printable(bytes, kShownBytesMax)); }

std::string Describe(const ObservedCell& cell) {
  return fmt::format("{}@{}={}", Shown(cell.qualifier), cell.timestamp_micros, Shown(cell.value));
}

bool IsBefore(const ObservedCell& a, const ObservedCell& b) {
  return a.qualifier != b.qualifier ? a.qualifier < b.qualifier : a.timestamp_micros > b.timestamp_micros;
}

// Appends; INTERNAL when the cells are not in order.
absl::Status AppendCells(const std::vector<CellView>& cells, std::vector<ObservedCell>* to) {
  for (const CellView& view : cells) {
    ObservedCell cell{std::string(view.qualifier), view.timestamp_micros, std::string(view.value)};
    if (!to->empty() && !IsBefore(to->back(), cell)) {
      return absl::InternalError(fmt::format("cell {} came after {}", Describe(cell), Describe(to->back())));
    }
    to->push_back(std::move(cell));
  }
  return absl::OkStatus();
}

std::vector<ObservedCell> FilterCells(const std::vector<ObservedCell>& cells, const ReadHints& hints) {
  std::map<std::string, int64_t> count;  // by qualifier
  std::vector<ObservedCell> result;
  for (const ObservedCell& cell : cells) {
    bool wanted = !hints.columns.has_value();
    if (!wanted) {
      for (const ReadHints::ColumnRange& range : *hints.columns) {
        wanted |= cell.qualifier >= range.start && (range.end.empty() || cell.qualifier < range.end);
      }
    }
    wanted = wanted && hints.time_range.Contains(cell.timestamp_micros);
    if (wanted && hints.newest_per_column.has_value())
      wanted = ++count[cell.qualifier] <= *hints.newest_per_column;
    if (!wanted) continue;
    result.push_back(cell);
    if (hints.keys_only) result.back().value.clear();
  }
  if (hints.newest_of_row && !result.empty()) {
    result = {*std::ranges::max_element(result, {}, &ObservedCell::timestamp_micros)};
  }
  return result;
}

// Whether `part` is in `whole`; values may be missing if `keys_only`.
bool HasCells(const std::vector<ObservedCell>& whole, const std::vector<ObservedCell>& part, bool keys_only) {
  auto at = whole.begin();
  for (const ObservedCell& cell : part) {
    at = std::find_if(at, whole.end(), [&](const ObservedCell& other) {
      return other.qualifier == cell.qualifier && other.timestamp_micros == cell.timestamp_micros;
    });
    if (at == whole.end()) return false;
    if (at->value != cell.value && !(keys_only && cell.value.empty())) return false;
  }
  return true;
}

absl::Status CheckIsPart(const std::vector<ObservedRow>& truth, const ObservedRow& row, bool keys_only) {
  const auto true_row = std::find_if(truth.begin(), truth.end(),
                                     [&](const ObservedRow& other) { return other.row_key == row.row_key; });
  if (true_row == truth.end()) {
    return absl::InternalError(fmt::format("there is no such row, but it was returned: {}", Describe(row)));
  }
  for (const auto& [family, cells] : row.families) {
    const auto true_family = true_row->families.find(family);
    if (true_family == true_row->families.end() || !HasCells(true_family->second, cells, keys_only)) {
      return absl::InternalError(fmt::format("row has other cells.\n  is:     {}\n  should: {}",
                                             Describe(row), Describe(*true_row)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string Describe(const ObservedRow& row) {
  std::string text = Shown(row.row_key);
  for (const auto& [family, cells] : row.families) {
    text += fmt::format(" | {}:", family);
    for (const ObservedCell& cell : cells) text += fmt::format(" {}", Describe(cell));
  }
  return text;
}

std::string Describe(const std::vector<ObservedRow>& rows) {
  std::string text;
  for (const ObservedRow& row : rows) text += fmt::format("  {}\n", Describe(row));
  return text;
}

std::string Describe(const ReadHints& hints) {
  std::string text;
  if (hints.families.has_value()) {
    text += " families=";
    for (const FamilyId family : *hints.families) text += fmt::format("{},", family);
  }
  if (hints.columns.has_value()) {
    text += " columns=";
    for (const auto& range : *hints.columns)
      text += fmt::format("[{},{})", Shown(range.start), Shown(range.end));
  }
  if (!hints.time_range.IsAll()) {
    text += fmt::format(" time=[{},{})", hints.time_range.start_micros, hints.time_range.end_micros);
  }
  if (hints.newest_per_column.has_value()) text += fmt::format(" newest={}", *hints.newest_per_column);
  if (hints.keys_only) text += " keys_only";
  if (hints.newest_of_row) text += " newest_of_row";
  if (hints.rows_max.has_value()) text += fmt::format(" rows_max={}", *hints.rows_max);
  return text.empty() ? " none" : text;
}

std::string Describe(const std::vector<RowRange>& ranges) {
  std::string text;
  for (const RowRange& range : ranges) text += fmt::format("[{},{})", Shown(range.start), Shown(range.end));
  return text;
}

absl::Status RowGatherer::StartRow(const std::string& row_key) {
  const bool is_inside = std::any_of(ranges_.begin(), ranges_.end(),
                                     [&](const RowRange& range) { return range.Contains(row_key); });
  if (!is_inside) {
    return absl::InternalError(fmt::format("row {} is in none of {}", Shown(row_key), Describe(ranges_)));
  }
  if (!rows_.empty() && (reverse_ ? row_key > rows_.back().row_key : row_key < rows_.back().row_key)) {
    return absl::InternalError(
        fmt::format("row {} came after {}", Shown(row_key), Shown(rows_.back().row_key)));
  }
  rows_.push_back({.row_key = row_key});
  return absl::OkStatus();
}

absl::Status RowGatherer::Add(const RowPiece& piece) {
  if (piece.cells.empty())
    return absl::InternalError("a piece without cells, of row " + Shown(piece.row_key));
  if (rows_.empty() || rows_.back().row_key != piece.row_key) {
    is_row_over_ = false;
    if (absl::Status status = StartRow(piece.row_key); !status.ok()) return status;
  } else if (family_ != piece.family && rows_.back().families.contains(piece.family)) {
    return absl::InternalError(fmt::format("family {} of row {} came in parts with another between",
                                           piece.family, Shown(piece.row_key)));
  } else if (!reverse_ && piece.family < family_) {
    return absl::InternalError(
        fmt::format("family {} of row {} came after {}", piece.family, Shown(piece.row_key), family_));
  }
  if (is_row_over_) {
    return absl::InternalError(fmt::format("row {} went on after its last piece", Shown(piece.row_key)));
  }
  family_ = piece.family;
  is_row_over_ = piece.last_of_row;
  return AppendCells(piece.cells, &rows_.back().families[piece.family]);
}

absl::StatusOr<std::vector<ObservedRow>> ScanRows(Engine* engine, TableId table, std::vector<RowRange> ranges,
                                                  Engine::ScanOptions options) {
  RowGatherer gatherer(ranges, options.reverse);
  auto stream = engine->Scan(table, std::move(ranges), std::move(options));
  if (!stream.ok()) return stream.status();
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) return gatherer.rows();
    if (absl::Status status = gatherer.Add(piece); !status.ok()) return status;
  }
}

absl::StatusOr<ObservedRow> ObserveRow(std::string_view row_key, const std::vector<RowFamily>& row) {
  ObservedRow result{.row_key = std::string(row_key)};
  for (const RowFamily& family : row) {
    if (family.cells.empty() || result.families.contains(family.family)) {
      return absl::InternalError(fmt::format("family {} came without cells or twice", family.family));
    }
    if (absl::Status status = AppendCells(family.cells, &result.families[family.family]); !status.ok()) {
      return status;
    }
  }
  return result;
}

std::vector<ObservedRow> FilterRows(const std::vector<ObservedRow>& rows, const ReadHints& hints) {
  std::vector<ObservedRow> result;
  for (const ObservedRow& row : rows) {
    if (hints.rows_max.has_value() && static_cast<int64_t>(result.size()) >= *hints.rows_max) break;
    ObservedRow filtered{.row_key = row.row_key};
    for (const auto& [family, cells] : row.families) {
      if (hints.families.has_value() &&
          std::count(hints.families->begin(), hints.families->end(), family) == 0) {
        continue;
      }
      std::vector<ObservedCell> left = FilterCells(cells, hints);
      if (!left.empty()) filtered.families[family] = std::move(left);
    }
    if (!filtered.families.empty()) result.push_back(std::move(filtered));
  }
  return result;
}

absl::Status CheckRows(const std::vector<ObservedRow>& truth, const std::vector<ObservedRow>& observed,
                       const ReadHints& hints) {
  for (const ObservedRow& row : observed) {
    if (absl::Status status = CheckIsPart(truth, row, hints.keys_only); !status.ok()) return status;
  }
  const std::vector<ObservedRow> should = FilterRows(truth, hints);
  const std::vector<ObservedRow> is = FilterRows(observed, hints);
  if (is == should) return absl::OkStatus();
  size_t same = 0;
  while (same < is.size() && same < should.size() && is[same] == should[same]) ++same;
  return absl::InternalError(fmt::format(
      "after filtering by hints{}: {} rows, should be {}; from the first difference:\n  is:     {}\n  "
      "should: {}",
      Describe(hints), is.size(), should.size(), same < is.size() ? Describe(is[same]) : "(nothing)",
      same < should.size() ? Describe(should[same]) : "(nothing)"));
}

}  // namespace sonde
