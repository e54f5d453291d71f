// Classic histograms: series that differ in `le` only are the buckets of one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr char kBoundLabel[] = "le";

struct Bucket {
  double bound;
  double count;
};

// Buckets that fell.
struct Falls {
  bool has_any = false;
  double least = kInfinity;
  double most = -kInfinity;
  double difference = 0;
};

// Sorted, those of one bound as one.  False: the last is not infinite.
bool SortBuckets(std::vector<Bucket>* buckets) {
  std::stable_sort(buckets->begin(), buckets->end(),
                   [](const Bucket& a, const Bucket& b) { return a.bound < b.bound; });
  if (buckets->back().bound != kInfinity) return false;
  size_t last = 0;
  for (size_t i = 1; i < buckets->size(); ++i) {
    if ((*buckets)[i].bound == (*buckets)[last].bound) {
      (*buckets)[last].count += (*buckets)[i].count;
    } else {
      (*buckets)[++last] = (*buckets)[i];
    }
  }
  buckets->resize(last + 1);
  return true;
}

bool IsAlmostEqual(double a, double b) {
  constexpr double kTolerance = 1e-12;
  constexpr double kLeastNormal = std::numeric_limits<double>::min();
  if (std::isnan(a) && std::isnan(b)) return true;
  if (a == b) return true;
  const double sum = std::fabs(a) + std::fabs(b);
  const double difference = std::fabs(a - b);
  if (a == 0 || b == 0 || sum < kLeastNormal) return difference < kTolerance * kLeastNormal;
  return difference / std::min(sum, std::numeric_limits<double>::max()) < kTolerance;
}

Falls MakeRising(std::vector<Bucket>* buckets) {
  Falls falls;
  double before = buckets->front().count;
  for (size_t i = 1; i < buckets->size(); ++i) {
    Bucket& bucket = (*buckets)[i];
    if (bucket.count == before) continue;
    if (IsAlmostEqual(before, bucket.count)) {
      bucket.count = before;
      continue;
    }
    if (bucket.count < before) {
      falls.has_any = true;
      falls.least = std::min(falls.least, bucket.bound);
      falls.most = std::max(falls.most, bucket.bound);
      falls.difference = std::max(falls.difference, before - bucket.count);
      bucket.count = before;
      continue;
    }
    before = bucket.count;
  }
  return falls;
}

double BucketQuantile(double quantile, std::vector<Bucket> buckets, Falls* falls) {
  if (std::isnan(quantile)) return std::nan("");
  if (quantile < 0) return -kInfinity;
  if (quantile > 1) return kInfinity;
  if (!SortBuckets(&buckets)) return std::nan("");
  *falls = MakeRising(&buckets);
  if (buckets.size() < 2 || buckets.back().count == 0) return std::nan("");
  double rank = quantile * buckets.back().count;
  const size_t last = buckets.size() - 1;
  size_t index = 0;
  // By halves, as Go searches: with NaN among the counts that is another one than the first.
  for (size_t end = last; index < end;) {
    const size_t middle = (index + end) / 2;
    if (!(buckets[middle].count >= rank)) {
      index = middle + 1;
    } else {
      end = middle;
    }
  }
  if (index == last) return buckets[last - 1].bound;
  if (index == 0 && buckets[0].bound <= 0) return buckets[0].bound;
  double start = 0;
  double count = buckets[index].count;
  if (index > 0) {
    start = buckets[index - 1].bound;
    count -= buckets[index - 1].count;
    rank -= buckets[index - 1].count;
  }
  return start + (buckets[index].bound - start) * (rank / count);
}

double BucketFraction(double lower, double upper, std::vector<Bucket> buckets) {
  if (!SortBuckets(&buckets)) return std::nan("");
  const double count = buckets.back().count;
  if (count == 0 || std::isnan(lower) || std::isnan(upper)) return std::nan("");
  if (lower >= upper) return 0;
  double rank = 0;
  std::optional<double> lower_rank;
  std::optional<double> upper_rank;
  double lower_bound = buckets[0].bound <= 0 ? -kInfinity : 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (i > 0) lower_bound = buckets[i - 1].bound;
    const Bucket& bucket = buckets[i];
    const auto interpolated = [&](double value) {
      if (lower_bound == -kInfinity) return bucket.count;
      return rank + (bucket.count - rank) * (value - lower_bound) / (bucket.bound - lower_bound);
    };
    if (!lower_rank && lower_bound >= lower) lower_rank = rank;
    if (!upper_rank && lower_bound >= upper) upper_rank = rank;
    if (lower_rank && upper_rank) break;
    if (!lower_rank && lower_bound < lower && bucket.bound > lower) lower_rank = interpolated(lower);
    if (!upper_rank && lower_bound < upper && bucket.bound > upper) upper_rank = interpolated(upper);
    if (lower_rank && upper_rank) break;
    rank = bucket.count;
  }
  if (!lower_rank || *lower_rank > count) lower_rank = count;
  if (!upper_rank || *upper_rank > count) upper_rank = count;
  return (*upper_rank - *lower_rank) / count;
}

// The series of one histogram.
struct Histogram {
  Labels labels;  // without name and bound
  std::vector<std::pair<double, const Row*>> buckets;

  std::vector<Bucket> At(size_t step) const {
    std::vector<Bucket> result;
    for (const auto& [bound, row] : buckets) {
      if (row->present[step]) result.push_back({bound, row->values[step]});
    }
    return result;
  }
};

// Histograms are told apart by their names, too; series without a bound are left out and warned of.
std::vector<Histogram> HistogramsOf(const Matrix& rows, Range place, Annotations* annotations) {
  std::vector<Histogram> result;
  std::map<Labels, size_t> known;
  for (const Row& row : rows) {
    const std::string_view text = LabelOf(row.labels, kBoundLabel);
    const std::optional<double> bound = ReadFloat(text);
    if (!bound) {
      if (row.IsEmpty()) continue;
      annotations->Warn(
          fmt::format("bucket label \"le\" is missing or has a malformed value of {}", Quoted(text)), place);
      continue;
    }
    Labels labels = DropLabels(row.labels, {kBoundLabel});
    const auto [at, is_new] = known.try_emplace(labels, result.size());
    if (is_new) result.push_back({WithoutName(std::move(labels)), {}});
    result[at->second].buckets.emplace_back(*bound, &row);
  }
  return result;
}

void WarnOfQuantile(double quantile, Range place, Annotations* annotations) {
  if (quantile >= 0 && quantile <= 1) return;
  annotations->Warn(fmt::format("quantile value should be between 0 and 1, got {}", GeneralNumber(quantile)),
                    place);
}

// As OpenMetrics has numbers.
std::string MetricsNumber(double value) {
  if (value == 1) return "1.0";
  if (value == 0) return "0.0";
  if (value == -1) return "-1.0";
  std::string text = GeneralNumber(value);
  if (std::isfinite(value) && text.find_first_of("e.") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

absl::StatusOr<Matrix> Evaluator::HistogramCall(const Expression& node,
                                                const std::vector<Matrix>& arguments) {
  const std::string_view name = node.function->name;
  const bool is_fraction = name == "histogram_fraction";
  const bool is_one = name == "histogram_quantile";
  const bool is_many = name == "histogram_quantiles";
  // The others are functions of native histograms, which no series has.
  if (!is_fraction && !is_one && !is_many) return Matrix();
  const size_t vector = is_many ? 0 : is_one ? 1 : 2;
  Annotations* const annotations = &context_->annotations();
  const Range place = node.operands[vector]->place;
  const std::vector<Histogram> histograms = HistogramsOf(arguments[vector], place, annotations);
  Matrix result;
  const size_t first = is_many ? 2 : 0;
  const size_t last = is_many ? arguments.size() : 1;
  for (size_t parameter = first; parameter < last; ++parameter) {
    const Row& quantiles = arguments[parameter][0];
    if (!is_fraction) {
      for (const double quantile : quantiles.values) {
        WarnOfQuantile(quantile, node.operands[parameter]->place, annotations);
      }
    }
    for (const Histogram& histogram : histograms) {
      if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
      // A quantile that changes with the steps has a row a value.
      std::map<std::string, Row> rows;
      for (size_t step = 0; step < steps_; ++step) {
        std::vector<Bucket> buckets = histogram.At(step);
        if (buckets.empty()) continue;
        const std::string label = is_many ? MetricsNumber(quantiles.values[step]) : "";
        Row& row = rows.try_emplace(label, histogram.labels, steps_).first->second;
        if (is_many) SetLabel(node.operands[1]->text, label, &row.labels);
        if (is_fraction) {
          row.Set(step,
                  BucketFraction(quantiles.values[step], arguments[1][0].values[step], std::move(buckets)));
          continue;
        }
        Falls falls;
        row.Set(step, BucketQuantile(quantiles.values[step], std::move(buckets), &falls));
        if (falls.has_any) {
          annotations->InformOfFalls(place, TimeOf(step), falls.least, falls.most, falls.difference);
        }
      }
      for (auto& [label, row] : rows) result.push_back(std::move(row));
    }
  }
  return JoinSameLabels(std::move(result));
}

}  // namespace sonde::promql
