#include "promql/http/query_answer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "base/format.h"
#include "promql/syntax/function_table.h"

namespace sonde::promql {
namespace {

constexpr size_t kPartBytes = size_t{64} << 10;

// [TIME,"VALUE"]
void AppendPoint(std::string_view time, double value, std::string* out) {
  out->push_back('[');
  out->append(time);
  out->append(",\"");
  AppendApiNumber(value, out);
  out->append("\"]");
}

std::string TimeText(int64_t millis) {
  std::string text;
  AppendApiTime(millis, &text);
  return text;
}

}  // namespace

void AppendApiNumber(double value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
  } else if (std::isinf(value)) {
    out->append(value > 0 ? "+Inf" : "-Inf");
  } else {
    const double size = std::fabs(value);
    const bool is_scientific = size != 0 && (size < 1e-6 || size >= 1e21);
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value,
                                   is_scientific ? std::chars_format::scientific : std::chars_format::fixed);
    out->append(digits, end.ptr);
  }
}

void AppendApiTime(int64_t millis, std::string* out) {
  const int64_t size = std::abs(millis);
  if (millis < 0) out->push_back('-');
  fmt::format_to(std::back_inserter(*out), "{}", size / 1'000);
  if (size % 1'000 != 0) fmt::format_to(std::back_inserter(*out), ".{:03}", size % 1'000);
}

QueryAnswerText::QueryAnswerText(QueryAnswer answer, Notices notices, size_t limit, std::string stats,
                                 std::shared_ptr<series::QueryMemory> memory)
    : answer_(std::move(answer)),
      notices_(std::move(notices)),
      stats_(std::move(stats)),
      memory_(std::move(memory)),
      is_instant_(answer_.type != ValueType::kMatrix) {
  const bool has_series = answer_.type == ValueType::kVector || answer_.type == ValueType::kMatrix;
  if (has_series && limit > 0 && series_count() > limit) {
    if (answer_.rows.size() > limit) answer_.rows.erase(answer_.rows.begin() + limit, answer_.rows.end());
    if (answer_.raw.size() > limit) answer_.raw.erase(answer_.raw.begin() + limit, answer_.raw.end());
    notices_.warnings.emplace_back(kTruncated);
  }
  for (const int64_t millis : answer_.times) times_.push_back(TimeText(millis));
}

size_t QueryAnswerText::series_count() const {
  return answer_.raw.empty() ? answer_.rows.size() : answer_.raw.size();
}

void QueryAnswerText::Begin(std::string* part) {
  part->append(kAnswerBegin);
  fmt::format_to(std::back_inserter(*part), R"({{"resultType":"{}","result":)", ShortName(answer_.type));
  if (answer_.type == ValueType::kString) {
    fmt::format_to(std::back_inserter(*part), "[{},", times_[0]);
    AppendJsonText(answer_.text, part);
    part->push_back(']');
  } else if (answer_.type == ValueType::kScalar) {
    AppendPoint(times_[0], answer_.rows[0].values[0], part);
  } else {
    part->push_back('[');
  }
}

void QueryAnswerText::AppendSeries(std::string* part) {
  if (next_ > 0) part->push_back(',');
  part->append("{\"metric\":");
  if (!answer_.raw.empty()) {
    SampleSeries& series = answer_.raw[next_];
    AppendLabels(series.labels, part);
    part->append(",\"values\":[");
    for (size_t i = 0; i < series.times.size(); ++i) {
      if (i > 0) part->push_back(',');
      AppendPoint(TimeText(series.times[i]), series.values[i], part);
    }
    part->append("]}");
    series = {};
    return;
  }
  Row& row = answer_.rows[next_];
  AppendLabels(row.labels, part);
  part->append(is_instant_ ? ",\"value\":" : ",\"values\":[");
  bool is_first = true;
  for (size_t step = 0; step < row.values.size(); ++step) {
    if (!row.present[step]) continue;
    if (!is_first) part->push_back(',');
    is_first = false;
    AppendPoint(times_[step], row.values[step], part);
  }
  part->append(is_instant_ ? "}" : "]}");
  row = Row({}, 0);
}

bool QueryAnswerText::Next(std::string* part) {
  if (has_ended_) return false;
  const size_t before = part->size();
  if (!has_begun_) Begin(part);
  has_begun_ = true;
  const bool has_series = answer_.type == ValueType::kVector || answer_.type == ValueType::kMatrix;
  if (has_series) {
    for (; next_ < series_count(); ++next_) {
      if (part->size() - before >= kPartBytes) return true;
      AppendSeries(part);
    }
    part->push_back(']');
  }
  if (!stats_.empty()) part->append(",\"stats\":").append(stats_);
  part->push_back('}');
  part->append(AnswerEnd(notices_));
  has_ended_ = true;
  return true;
}

}  // namespace sonde::promql
