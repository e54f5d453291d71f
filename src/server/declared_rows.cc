#include "server/declared_rows.h"

#include <numeric>
#include <utility>

#include "model/table_access.h"
#include "series/key/field_codec.h"
#include "series/key/key_codec.h"
#include "series/key/row_points.h"

namespace sonde {
namespace {

using series::DecodedKey;
using series::RowPoint;

// A cell may have all points of a row; more of them are not shown.
constexpr size_t kPointsMax = 100;

std::vector<size_t> AllFields(const series::SeriesSchema& schema) {
  std::vector<size_t> fields(schema.fields.size());
  std::iota(fields.begin(), fields.end(), 0);
  return fields;
}

class DeclaredRows final : public RowMeaning {
 public:
  DeclaredRows(std::string series_name, const series::SeriesSchema& schema)
      : series_(std::move(series_name)), codec_(schema), points_(codec_.schema(), AllFields(schema)) {}

  const std::string& series() const override { return series_; }

  std::optional<std::vector<std::pair<std::string, std::string>>> TakeKey(std::string_view row_key) override {
    row_.row_key = row_key;
    has_key_ = codec_.Decode(row_key, &key_).ok();
    if (!has_key_) return std::nullopt;
    std::vector<std::pair<std::string, std::string>> tags;
    for (size_t i = 0; i < key_.tags.size(); ++i) tags.emplace_back(schema().tags[i].name, key_.tags[i]);
    return tags;
  }

  std::vector<MeantPoint> PointsOf(std::string_view family, std::string_view qualifier,
                                   int64_t timestamp_micros, std::string_view value) override {
    std::vector<MeantPoint> found;
    if (!has_key_) return found;
    row_.cells = {
        ReadCell{std::string(family), std::string(qualifier), timestamp_micros, std::string(value)}};
    if (!points_.Read(row_, key_, series::kTimeBeginMicros, series::kTimeEndMicros).ok()) return found;
    for (size_t i = 0; i < points_.Count() && i < kPointsMax; ++i) {
      const RowPoint& point = points_.Get(i);
      MeantPoint meant{.time_micros = point.time_micros, .values = {}};
      for (size_t field = 0; field < point.values.size(); ++field) {
        if (point.values[field].data() == nullptr) continue;
        const absl::StatusOr<series::FieldValue> number =
            series::DecodeValue(schema().fields[field], point.values[field]);
        // Bytes that are no value of the field are seen in the cell itself.
        if (number.ok()) meant.values.emplace_back(schema().fields[field].name, series::ValueText(*number));
      }
      if (!meant.values.empty()) found.push_back(std::move(meant));
    }
    return found;
  }

 private:
  const series::SeriesSchema& schema() const { return codec_.schema(); }

  const std::string series_;
  const series::KeyCodec codec_;
  series::RowPoints points_;
  bool has_key_ = false;
  DecodedKey key_;
  ReadRow row_;
};

}  // namespace

std::unique_ptr<RowMeaning> MakeDeclaredRows(std::string series_name, const series::SeriesSchema& schema) {
  return std::make_unique<DeclaredRows>(std::move(series_name), schema);
}

}  // namespace sonde
