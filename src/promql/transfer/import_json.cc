#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/base/casts.h"
#include "base/bytes.h"
#include "promql/samples/samples.h"
#include "promql/transfer/import_line.h"

namespace sonde::promql {
namespace {

using nlohmann::json;

// Takes a line as it is parsed: no tree of values is made.
class LineReader final : public nlohmann::json_sax<json> {
 public:
  explicit LineReader(ImportedSeries* series) : series_(series) {}

  absl::Status Finish() const {
    if (!why_.empty()) return absl::InvalidArgumentError(why_);
    if (!has_metric_) return absl::InvalidArgumentError("there is no \"metric\"");
    const size_t values = series_->run.values.size();
    const size_t times = series_->run.times.size();
    if (values == times) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("{} values and {} timestamps; there must be as many of both", values, times));
  }

  bool null() override {
    if (place_ != Place::kValues) return Unfit("null");
    return AddValue(std::numeric_limits<double>::quiet_NaN());
  }
  bool boolean(bool /*value*/) override { return Unfit("a boolean"); }
  bool number_integer(number_integer_t value) override {
    if (place_ == Place::kTimes) return AddTime(value);
    return place_ == Place::kValues ? AddValue(static_cast<double>(value)) : Unfit("a number");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::kValues) return AddValue(static_cast<double>(value));
    if (place_ != Place::kTimes || value > static_cast<uint64_t>(INT64_MAX)) return Unfit("a number");
    return AddTime(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return place_ == Place::kValues ? AddValue(value) : Unfit("a number that is not whole");
  }
  bool string(string_t& value) override {
    if (place_ == Place::kMetric) {
      series_->labels.back().second = value;
      return true;
    }
    return place_ == Place::kValues ? AddText(value) : Unfit("a text");
  }
  bool binary(binary_t& /*value*/) override { return Unfit("bytes"); }

  bool start_object(size_t /*elements*/) override {
    ++depth_;
    if (depth_ == 1) return true;
    return depth_ == 2 && member_ == "metric" && place_ == Place::kMember ? Enter(Place::kMetric)
                                                                          : Unfit("an object");
  }
  bool end_object() override {
    --depth_;
    place_ = Place::kMember;
    return true;
  }
  bool start_array(size_t /*elements*/) override {
    if (place_ == Place::kMember && member_ == "values") return Enter(Place::kValues);
    if (place_ == Place::kMember && member_ == "timestamps") return Enter(Place::kTimes);
    return Unfit("a list");
  }
  bool end_array() override {
    place_ = Place::kMember;
    return true;
  }
  bool key(string_t& name) override {
    if (place_ == Place::kMember) {
      member_ = name;
      if (member_ == "metric" || member_ == "values" || member_ == "timestamps") return true;
      return Refuse(fmt::format("unknown member '{}'; allowed: metric, values, timestamps", Printable(name)));
    }
    for (const auto& [label, value] : series_->labels) {
      if (label == name) return Refuse(fmt::format("label '{}' comes twice", Printable(name)));
    }
    if (series_->labels.size() == kImportLabelsMax) {
      return Refuse(fmt::format("the series has more than {} labels, the limit", kImportLabelsMax));
    }
    series_->labels.emplace_back(name, "");
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return Refuse(fmt::format("the line is no JSON, from byte {} on", position));
  }

 private:
  enum class Place : uint8_t { kMember, kMetric, kValues, kTimes };

  bool Enter(Place place) {
    const bool is_again = place == Place::kMetric   ? has_metric_
                          : place == Place::kValues ? !series_->run.values.empty()
                                                    : !series_->run.times.empty();
    if (is_again) return Refuse(fmt::format("member '{}' comes twice", member_));
    has_metric_ |= place == Place::kMetric;
    place_ = place;
    return true;
  }
  bool AddValue(double value) {
    series_->run.values.push_back(value);
    return true;
  }
  bool AddTime(int64_t millis) {
    series_->run.times.push_back(millis);
    return true;
  }
  bool AddText(std::string_view text) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    if (text == kStaleText) return AddValue(absl::bit_cast<double>(kStaleBits));
    if (text == "NaN") return AddValue(std::numeric_limits<double>::quiet_NaN());
    if (text == "+Inf" || text == "Infinity") return AddValue(kInfinite);
    if (text == "-Inf" || text == "-Infinity") return AddValue(-kInfinite);
    return Refuse(fmt::format("value '{}'; allowed: numbers, \"NaN\", \"+Inf\", \"-Inf\", \"stale\"",
                              Printable(text, 40)));
  }
  bool Unfit(std::string_view what) {
    if (depth_ == 0) return Refuse("the line is not an object of JSON");
    return Refuse(fmt::format("'{}' must not hold {}", Printable(member_, 40), what));
  }
  // Ends the parsing.
  bool Refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
  }

  ImportedSeries* const series_;
  std::string why_;  // not empty: the line is refused
  Place place_ = Place::kMember;
  std::string member_;
  int depth_ = 0;
  bool has_metric_ = false;
};

}  // namespace

absl::Status ParseJsonLine(std::string_view line, ImportedSeries* series) {
  *series = {};
  LineReader reader(series);
  json::sax_parse(line.begin(), line.end(), &reader);
  return reader.Finish();
}

}  // namespace sonde::promql
