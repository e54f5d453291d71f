#include "series/http/sample_write.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "series/schema/calendar.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr size_t kNumberBytesMax = 32;

}  // namespace

SampleWrite::SampleWrite(IngestService* service, std::string_view sender, Refused refused)
    : declarations_(&service->declarations()),
      takes_undeclared_(service->ingest_settings().takes_undeclared),
      batch_(&service->declarations(), &service->tables(), service->ingest_settings(), &service->refresher(),
             &service->index_writer()),
      tally_(service->points(), sender),
      tell_(std::move(refused)),
      fields_({{kMetricField, LineValueType::kFloat, {}}}) {
  point_.labels = &labels_;
  point_.fields = &fields_;
}

void SampleWrite::Begin(const std::vector<std::pair<std::string_view, std::string_view>>& labels) {
  point_.series = {};
  labels_.clear();
  identity_.clear();
  int names = 0;
  for (const auto& [name, value] : labels) {
    if (name == kNameLabel) {
      point_.series = value;
      ++names;
    } else {
      labels_.emplace_back(name, value);
    }
    identity_.append(name).append(1, '\0').append(value).append(1, '\0');
  }
  is_identity_kept_ = false;
  problem_ = names > 1               ? "a series with more than one __name__"
             : point_.series.empty() ? "a series without __name__"
                                     : "";
}

absl::Status SampleWrite::Add(int64_t timestamp_millis, double value) {
  if (!problem_.empty()) {
    Refuse(PointCounts::Refusal::kUnreadable, problem_);
    return absl::OkStatus();
  }
  const std::optional<MetricMark> mark = MarkOf(value);
  absl::StatusOr<bool> is_taken = mark ? TakesMark(*mark) : absl::StatusOr<bool>(true);
  if (is_taken.ok() && !*is_taken) {
    ++passed_over_;
    return absl::OkStatus();
  }
  if (!std::exchange(is_identity_kept_, true)) point_.identity = identities_.emplace_back(identity_);
  char digits[kNumberBytesMax];
  const auto [end, error] = mark ? std::to_chars(digits, digits + kNumberBytesMax, static_cast<int>(*mark))
                                 : std::to_chars(digits, digits + kNumberBytesMax, value);
  const std::string_view text(digits, static_cast<size_t>(end - digits));
  fields_[0] = mark ? LineField{kStaleField, LineValueType::kInt, text}
                    : LineField{kMetricField, LineValueType::kFloat, text};
  const absl::Status status = is_taken.ok() ? AddPoint(timestamp_millis) : is_taken.status();
  if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
      absl::IsResourceExhausted(status)) {
    Refuse(PointCounts::RefusalOf(status),
           fmt::format("{}: {}", Printable(point_.series), TextOfStatus(status)));
  } else if (!status.ok()) {
    return status;
  }
  return batch_.IsFull() ? Flush() : absl::OkStatus();
}

absl::StatusOr<bool> SampleWrite::TakesMark(MetricMark mark) {
  const KnownSeriesRef known = declarations_->Find(point_.series);
  if (known != nullptr && !known->is_open()) return known->schema.FindField(kStaleField).has_value();
  if (mark == MetricMark::kEnded) return known != nullptr;
  // The metric is one by its field of numbers, though none has come yet.
  if (!takes_undeclared_ || (known != nullptr && known->schema.FindField(kMetricField))) return true;
  const absl::StatusOr<KnownSeriesRef> opened =
      declarations_->Extend(point_.series, {}, {{kMetricField, FieldType::kDouble}});
  if (!opened.ok()) return opened.status();
  return true;
}

absl::Status SampleWrite::Flush() {
  absl::Status status = batch_.Flush();
  if (status.ok()) tally_.Commit();
  identities_.clear();
  is_identity_kept_ = false;
  return status;
}

absl::Status SampleWrite::AddPoint(int64_t timestamp_millis) {
  if (timestamp_millis < kTimeBeginMicros / 1'000 || timestamp_millis >= kTimeEndMicros / 1'000) {
    return absl::InvalidArgumentError(
        fmt::format("time {} in ms since 1970; allowed: the years 0001 to 9999", timestamp_millis));
  }
  point_.time_micros = timestamp_millis * 1'000;
  absl::Status status = batch_.Add(point_);
  if (status.ok()) tally_.Add(point_.series, point_.time_micros);
  return status;
}

void SampleWrite::Refuse(PointCounts::Refusal kind, const std::string& why) {
  ++refused_;
  tally_.Refuse(kind);
  tell_(why);
}

}  // namespace sonde::series
