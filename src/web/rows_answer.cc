#include "web/rows_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "web/http/query_reader.h"

namespace sonde {

using RowJson = nlohmann::ordered_json;

namespace {

constexpr size_t kValueBytesShown = 1'024;
// Larger values are not decoded.
constexpr size_t kMeantBytesMax = 256 << 10;
constexpr size_t kCellsPerRowShown = 2'000;
constexpr size_t kRowsBytesMax = 8 << 20;
// A cell is added to a part that is shorter.
constexpr size_t kRowsPartBytes = 64 << 10;
constexpr int64_t kRowsPerStep = 1'000;

std::string TextOf(const RowJson& json) {
  return json.dump(-1, ' ', false, RowJson::error_handler_t::replace);
}

}  // namespace

absl::Status RowsAnswer::Begin() {
  do {
    const absl::StatusOr<RowReader::Step> step = reader_->Next(kRowsPerStep);
    if (!step.ok()) return step.status();
    first_step_ = *step;
  } while (*first_step_ == RowReader::Step::kPaused);
  return absl::OkStatus();
}

absl::StatusOr<bool> RowsAnswer::Next(std::string* part) {
  if (!std::exchange(has_begun_, true)) {
    *part += '{';
    if (meaning_ != nullptr) *part += fmt::format("\"series\":{},", TextOf(RowJson(meaning_->series())));
    *part += "\"rows\":[";
  }
  while (part->size() < kRowsPartBytes) {
    if (has_cells_) {
      WriteCells(part);
      continue;
    }
    const absl::StatusOr<bool> goes_on = TakeStep(part);
    if (!goes_on.ok() || !*goes_on) return goes_on;
  }
  return true;
}

absl::StatusOr<bool> RowsAnswer::TakeStep(std::string* part) {
  const absl::StatusOr<RowReader::Step> step =
      first_step_ ? *std::exchange(first_step_, std::nullopt) : reader_->Next(kRowsPerStep);
  if (!step.ok()) return step.status();
  if (*step == RowReader::Step::kPaused) return true;
  const bool is_end = *step == RowReader::Step::kEnd;
  if (is_end || (!in_row_ && (rows_ == rows_max_ || bytes_ > kRowsBytesMax))) {
    const RowJson next = is_end ? RowJson(nullptr) : RowJson(KeyToText(reader_->row_key()));
    *part += fmt::format("],\"next\":{}}}\n", TextOf(next));
    return false;
  }
  if (!std::exchange(in_row_, true)) BeginRow(part);
  has_cells_ = true;
  ends_row_ = *step == RowReader::Step::kRow;
  cell_ = 0;
  cells_count_ += reader_->cells().size();
  return true;
}

void RowsAnswer::AddPoints(const FilterCell& one, RowJson* json) {
  const CellView& cell = one.cell;
  RowJson points = RowJson::array();
  for (const MeantPoint& point :
       meaning_->PointsOf(reader_->family_name(one), cell.qualifier, cell.timestamp_micros, cell.value)) {
    RowJson values = RowJson::object();
    for (const auto& [field, value] : point.values) {
      values[field] = KeyToText(std::string_view(value).substr(0, kValueBytesShown));
      bytes_ += field.size() + std::min(value.size(), kValueBytesShown) + 50;
    }
    points.push_back({{"time_micros", point.time_micros}, {"values", std::move(values)}});
  }
  (*json)["points"] = std::move(points);
}

void RowsAnswer::BeginRow(std::string* part) {
  *part +=
      fmt::format("{}{{\"key\":{},", rows_ == 0 ? "" : ",", TextOf(RowJson(KeyToText(reader_->row_key()))));
  const auto tags = meaning_ == nullptr ? std::nullopt : meaning_->TakeKey(reader_->row_key());
  has_meaning_ = tags.has_value();
  if (has_meaning_) {
    RowJson json = RowJson::object();
    for (const auto& [name, value] : *tags) json[name] = KeyToText(value);
    *part += fmt::format("\"tags\":{},", TextOf(json));
  }
  *part += "\"cells\":[";
  ++rows_;
  cells_shown_ = cells_count_ = 0;
}

void RowsAnswer::WriteCells(std::string* part) {
  const std::vector<FilterCell>& cells = reader_->cells();
  for (; cell_ < cells.size() && cells_shown_ < kCellsPerRowShown; ++cell_, ++cells_shown_) {
    if (part->size() >= kRowsPartBytes) return;
    const FilterCell& one = cells[cell_];
    const CellView& cell = one.cell;
    if (cells_shown_ > 0) *part += ',';
    RowJson json = {{"family", reader_->family_name(one)},
                    {"qualifier", KeyToText(cell.qualifier)},
                    {"time_micros", cell.timestamp_micros},
                    {"value", KeyToText(cell.value.substr(0, kValueBytesShown))},
                    {"bytes", cell.value.size()}};
    if (has_meaning_ && cell.value.size() <= kMeantBytesMax) AddPoints(one, &json);
    *part += TextOf(json);
    bytes_ += cell.qualifier.size() + std::min(cell.value.size(), kValueBytesShown) + 100;
  }
  has_cells_ = false;
  if (!ends_row_) return;
  in_row_ = false;
  *part += fmt::format("],\"cells_count\":{}}}", cells_count_);
}

}  // namespace sonde
