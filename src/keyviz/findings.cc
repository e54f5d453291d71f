#include "keyviz/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

// Below these there is nothing to be said of a distribution.
constexpr double kKeysMin = 20;
constexpr double kOpsMin = 500;
// A hot range has this share of the load, and so many times its share of the keys.
constexpr double kHotLoadShare = 0.3;
constexpr double kHotDensity = 5;
constexpr double kHotRowShare = 0.2;
constexpr double kHotRowDensity = 10;
constexpr double kSlowMicrosMin = 5'000;
constexpr double kSlowRequestsMin = 50;
constexpr double kSlowTimes = 4;
// The part of the writes that must be in order, within this many seconds.
constexpr double kSequentialShare = 0.8;
constexpr uint64_t kSequentialSecondsMin = 5;
constexpr uint64_t kSequentialWritesMin = 100;
constexpr double kSuddenTimes = 4;
constexpr size_t kSuddenColumnsMin = 8;  // on each side
constexpr double kPeriodicCorrelation = 0.5;
constexpr double kPeriodicDip = 0.2;
constexpr double kPeriodicVariation = 0.25;
constexpr size_t kPeriodicColumnsMin = 24;
constexpr size_t kPeriodsMin = 3;
constexpr double kPeriodicOpsPerSecondMin = 10;  // on average

std::string Key(std::string_view key) { return "'" + Printable(key, 64) + "'"; }
std::string Percent(double share) { return fmt::format("{:.0f}%", 100 * share); }
std::string Times(double ratio) {
  return ratio < 10 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.0f}", ratio);
}

// 366,000
std::string Count(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) digits.insert(at -= 3, ",");
  return digits;
}
std::string Count(uint64_t value) { return Count(static_cast<double>(value)); }

std::string Bytes(uint64_t bytes) {
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
  return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

std::string Duration(int64_t seconds) {
  if (seconds % 86'400 == 0) return fmt::format("{} d", seconds / 86'400);
  if (seconds % 3600 == 0) return fmt::format("{} h", seconds / 3600);
  if (seconds >= 600) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{} s", seconds);
}

std::string RangeInWords(std::string_view start, std::string_view end) {
  if (start.empty() && end.empty()) return "all keys";
  if (end.empty()) return "keys from " + Key(start) + " on";
  if (start.empty()) return "keys before " + Key(end);
  return "keys from " + Key(start) + " to " + Key(end);
}

class Analysis {
 public:
  Analysis(const HeatMap& map, const TableFacts& facts) : map_(map), facts_(facts) {
    row_sums_.resize(map.rows());
    column_ops_.resize(map.columns);
    for (size_t column = 0; column < map.columns; ++column) {
      for (size_t row = 0; row < map.rows(); ++row) {
        const AccessCounts& counts = map.at(column, row);
        row_sums_[row].Add(counts);
        total_.Add(counts);
        column_ops_[column] += static_cast<double>(counts.ops());
      }
    }
    keys_ = std::accumulate(map.row_keys.begin(), map.row_keys.end(), 0.0);
  }

  std::vector<Finding> Run() {
    LargeRows();
    for (const ColumnFacts* facts : {&facts_.window, &facts_.recent}) {
      SequentialKeys(*facts);
      HotRows(*facts);
    }
    HotRanges();
    Latency();
    FullScans();
    if (!SuddenIncrease()) PeriodicUse();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    return std::move(findings_);
  }

 private:
  struct Segment {
    size_t first = 0, last = 0;  // inclusive
    double load_share = 0, key_share = 0;
  };

  std::string Series() const {
    return facts_.declared.has_value() ? fmt::format(" (series {})", facts_.declared->name) : "";
  }

  // The first of these that the series' declaration can take.
  std::optional<Cure> FindCure(std::initializer_list<CureKind> kinds) const {
    if (!facts_.declared.has_value() || !facts_.declared->find_cure) return std::nullopt;
    for (const CureKind kind : kinds) {
      if (std::optional<Cure> cure = facts_.declared->find_cure(kind); cure.has_value()) return cure;
    }
    return std::nullopt;
  }

  double KeyShare(size_t row) const {
    // A row of the map whose keys are not in the sample has some nevertheless.
    const double least = 0.1 / static_cast<double>(map_.rows());
    return keys_ == 0 ? least : std::max(map_.row_keys[row] / keys_, least);
  }

  // The rows side by side whose load exceeds `density` times their share of the keys the most.
  template <typename LoadOf>
  Segment Densest(LoadOf load_of, double total, double density) const {
    Segment best, current;
    double best_sum = -1, sum = 0;
    for (size_t row = 0; row < map_.rows(); ++row) {
      if (sum <= 0) {
        sum = 0;
        current = {row, row, 0, 0};
      }
      const double load = load_of(row) / total;
      sum += load - density * KeyShare(row);
      current.last = row;
      current.load_share += load;
      current.key_share += KeyShare(row);
      if (sum > best_sum) {
        best_sum = sum;
        best = current;
      }
    }
    return best;
  }

  void LargeRows() {
    for (const LargeRow& row : facts_.large_rows) {
      if (row.bytes < kLargeRowBytes) continue;
      const bool unreadable = row.bytes >= kUnreadableRowBytes;
      Finding finding{.pattern = Pattern::kLargeRow,
                      .severity = unreadable ? Severity::kCritical : Severity::kWarning,
                      .start_key = row.row_key,
                      .end_key = Successor(row.row_key)};
      finding.title = unreadable ? "Row too large to be read" : "Large row";
      finding.text = fmt::format("Row {} of {}{} has {}; {}.", Key(row.row_key), facts_.table, Series(),
                                 Bytes(row.bytes),
                                 unreadable ? "a row of more than 256 MiB can no longer be read whole"
                                            : "rows should stay below 100 MB");
      finding.remedy =
          "Put less time into a row: a shorter bucket in the row key (an hour instead of a day, say), or one "
          "row for each "
          "point; let a garbage-collection rule drop old cells; keep what is rarely read in a second table.";
      finding.cure = FindCure({CureKind::kShorterBucket, CureKind::kRowPerPoint});
      findings_.push_back(std::move(finding));
    }
  }

  // The time of the map, in words, or the last part of it.
  std::string View(const ColumnFacts& facts) const {
    if (&facts == &facts_.window) return "in this view";
    return fmt::format("in the last {} of this view", Duration(facts_.recent_seconds));
  }

  void SequentialKeys(const ColumnFacts& facts) {
    const WriteOrder& order = facts.order;
    if (sequential_ || order.seconds < kSequentialSecondsMin || order.writes < kSequentialWritesMin) return;
    const double above = static_cast<double>(order.above_all) / static_cast<double>(order.writes);
    const double below = static_cast<double>(order.below_all) / static_cast<double>(order.writes);
    if (std::max(above, below) < kSequentialShare) return;
    sequential_ = true;
    const bool ascending = above > below;
    Finding finding{
        .pattern = Pattern::kSequentialKeys, .severity = Severity::kWarning, .metric = HeatMetric::kWrites};
    // Where the keys went in the end: the last row of the map (the first, if they descend) that had writes.
    for (size_t i = 0; i < map_.rows(); ++i) {
      const size_t row = ascending ? map_.rows() - 1 - i : i;
      if (row_sums_[row].writes == 0) continue;
      finding.start_key = map_.row_starts[row];
      finding.end_key = map_.row_end(row);
      break;
    }
    finding.title = ascending ? "Sequential keys: every write goes to the end of the table"
                              : "Sequential keys: every write goes to the front of the table";
    finding.text = fmt::format(
        "{} of the {} rows written to {}{} {} had keys {} every key written before, in the end near "
        "{}: one tablet "
        "takes all writes, however many there are.",
        Percent(std::max(above, below)), Count(order.writes), facts_.table, Series(), View(facts),
        ascending ? "after" : "before", Key(finding.start_key));
    finding.remedy =
        "Promote a field: begin the key with what the writes are about (sensor, user, symbol), and put the "
        "time behind it. "
        "Where no field spreads the writes, salt the key with a small hash; reversing the time only moves "
        "the hot end.";
    finding.cure = FindCure({CureKind::kPromoteTags, CureKind::kSaltByTime});
    findings_.push_back(std::move(finding));
  }

  void HotRows(const ColumnFacts& facts) {
    const auto keys = static_cast<double>(facts.keys), ops = static_cast<double>(facts.ops);
    if (keys < kKeysMin || ops < kOpsMin) return;
    for (const HotRow& row : facts.rows) {
      const double share = row.ops() / ops;
      if (share < kHotRowShare || share * keys < kHotRowDensity) continue;
      if (std::find(hot_row_keys_.begin(), hot_row_keys_.end(), row.row_key) != hot_row_keys_.end()) continue;
      hot_row_keys_.push_back(row.row_key);
      Finding finding{.pattern = Pattern::kHotRow,
                      .severity = Severity::kWarning,
                      .metric = row.reads >= row.writes ? HeatMetric::kReads : HeatMetric::kWrites,
                      .start_key = row.row_key,
                      .end_key = Successor(row.row_key)};
      finding.title = fmt::format("Hot single row: {}", NameOf(*finding.metric));
      finding.text = fmt::format(
          "Row {} of {}{} takes {} of the load {} ({} of it {}), out of about {} rows in use.",
          Key(row.row_key), facts_.table, Series(), Percent(share), View(facts),
          Percent(std::max(row.reads, row.writes) / row.ops()), NameOf(*finding.metric), Count(facts.keys));
      finding.remedy =
          row.reads >= row.writes
              ? "Cache it where it is asked for, or copy it under a few salted keys and read any of them."
              : "Spread it: a field more in the key, or a salt, and add the parts up when reading; for a "
                "counter, an aggregate family takes the increments without reading first.";
      finding.cure = row.reads >= row.writes ? FindCure({CureKind::kRowPerPoint})
                                             : FindCure({CureKind::kRowPerPoint, CureKind::kSaltByTime});
      findings_.push_back(std::move(finding));
    }
  }

  bool IsHotRow(const Segment& segment) const {
    return std::any_of(hot_row_keys_.begin(), hot_row_keys_.end(), [&](const std::string& key) {
      return key >= map_.row_starts[segment.first] &&
             (map_.row_end(segment.last).empty() || key < map_.row_end(segment.last));
    });
  }

  // Whether the segment is hot most of the time, not in passing.
  bool Lasts(const Segment& segment, HeatMetric metric) const {
    size_t active = 0, hot = 0;
    for (size_t column = 0; column < map_.columns; ++column) {
      double all = 0, inside = 0;
      for (size_t row = 0; row < map_.rows(); ++row) {
        const double value = ValueOf(map_.at(column, row), metric);
        all += value;
        if (row >= segment.first && row <= segment.last) inside += value;
      }
      if (all == 0) continue;
      ++active;
      if (inside >= 0.5 * segment.load_share * all) ++hot;
    }
    return active >= 3 && 2 * hot >= active;
  }

  void HotRanges() {
    if (keys_ < kKeysMin || static_cast<double>(total_.ops()) < kOpsMin) return;
    std::vector<Segment> found;
    for (const HeatMetric metric : {HeatMetric::kReads, HeatMetric::kWrites, HeatMetric::kBytes}) {
      if (metric == HeatMetric::kWrites && sequential_) continue;
      if (metric == HeatMetric::kBytes && (sequential_ || !found.empty())) continue;
      const double total = ValueOf(total_, metric);
      if (total == 0 || (metric != HeatMetric::kBytes && total < kOpsMin)) continue;
      const Segment segment =
          Densest([&](size_t row) { return ValueOf(row_sums_[row], metric); }, total, kHotDensity);
      if (segment.load_share < kHotLoadShare || segment.load_share < kHotDensity * segment.key_share)
        continue;
      if (IsHotRow(segment) || !Lasts(segment, metric)) continue;
      found.push_back(segment);
      AddHotRange(segment, metric);
    }
  }

  void AddHotRange(const Segment& segment, HeatMetric metric) {
    Finding finding{.pattern = Pattern::kHotRange,
                    .severity = Severity::kWarning,
                    .metric = metric,
                    .start_key = map_.row_starts[segment.first],
                    .end_key = map_.row_end(segment.last)};
    finding.title = fmt::format("Hot key range: {}", NameOf(metric));
    finding.text = fmt::format(
        "{} of {}{}, {} of the keys in use, take {} of its {}: {} times their fair share.",
        RangeInWords(finding.start_key, finding.end_key), facts_.table, Series(),
        segment.key_share < 0.01 ? "less than 1%" : Percent(segment.key_share), Percent(segment.load_share),
        NameOf(metric), Times(segment.load_share / segment.key_share));
    finding.text[0] = static_cast<char>(std::toupper(finding.text[0]));
    finding.remedy = metric == HeatMetric::kReads ? "If it is the newest data that everyone asks for, keep "
                                                    "it in a second table of latest values; else promote a "
                                                    "field that spreads the readers, or salt the key."
                                                  : "Promote a field so that what is written at the same "
                                                    "time lies apart, or salt the key with a small hash of "
                                                    "what identifies the row.";
    finding.cure = metric == HeatMetric::kReads
                       ? FindCure({CureKind::kLatestTable, CureKind::kPromoteTags, CureKind::kSalt})
                       : FindCure({CureKind::kPromoteTags, CureKind::kSalt, CureKind::kSaltByTime});
    findings_.push_back(std::move(finding));
  }

  void Latency() {
    if (static_cast<double>(total_.requests) < kSlowRequestsMin) return;
    const Segment slow =
        Densest([&](size_t row) { return static_cast<double>(row_sums_[row].latency_micros); },
                std::max<double>(static_cast<double>(total_.latency_micros), 1), 2);
    AccessCounts inside;
    for (size_t row = slow.first; row <= slow.last; ++row) inside.Add(row_sums_[row]);
    const double requests_outside = static_cast<double>(total_.requests - inside.requests);
    if (static_cast<double>(inside.requests) < kSlowRequestsMin / 5 ||
        requests_outside < kSlowRequestsMin / 2)
      return;
    const double mean = ValueOf(inside, HeatMetric::kLatency);
    const double mean_outside =
        static_cast<double>(total_.latency_micros - inside.latency_micros) / requests_outside;
    if (mean < kSlowMicrosMin || mean < kSlowTimes * mean_outside || !Lasts(slow, HeatMetric::kLatencyMax))
      return;
    Finding finding{.pattern = Pattern::kHotRange,
                    .severity = Severity::kWarning,
                    .metric = HeatMetric::kLatency,
                    .start_key = map_.row_starts[slow.first],
                    .end_key = map_.row_end(slow.last)};
    finding.title = "Hot key range: latency";
    finding.text =
        fmt::format("Requests for {} of {}{} take {:.1f} ms on average, those for other keys {:.1f} ms.",
                    RangeInWords(finding.start_key, finding.end_key), facts_.table, Series(), mean / 1000,
                    mean_outside / 1000);
    finding.remedy =
        "Look at what is asked for there: large rows, cells of many versions, or filters that throw most of "
        "a row away. "
        "Shorter buckets, a garbage-collection rule, or a column range in the filter make these reads small.";
    finding.cure = FindCure({CureKind::kShorterBucket});
    findings_.push_back(std::move(finding));
  }

  void FullScans() {
    if (facts_.declared.has_value() && facts_.declared->is_read_whole) return;
    for (const Scanner& scanner : facts_.window.scanners) {
      Finding finding{
          .pattern = Pattern::kFullScan, .severity = Severity::kWarning, .metric = HeatMetric::kReads};
      finding.title = "Full table scan";
      finding.text =
          scanner.scans == 1
              ? fmt::format("{} has read {}{} from end to end once in this view, {} rows.", scanner.caller,
                            facts_.table, Series(), Count(scanner.rows))
              : fmt::format(
                    "{} has read {}{} from end to end {} times in this view, up to {} rows each time and {} "
                    "in all.",
                    scanner.caller, facts_.table, Series(), scanner.scans, Count(scanner.rows_max),
                    Count(scanner.rows));
      finding.remedy =
          "Design the key so that the question is one range of keys: what it asks by comes first. For a "
          "question of another "
          "kind, keep a second table with a key of its own; for a copy of everything, read by parts "
          "(SampleRowKeys).";
      finding.cure = FindCure({CureKind::kSecondTable});
      findings_.push_back(std::move(finding));
    }
  }

  // Without the first and the last column, which may be cut off.
  std::vector<double> Inner() const {
    if (column_ops_.size() < 3) return {};
    return {column_ops_.begin() + 1, column_ops_.end() - 1};
  }

  static double Quantile(std::vector<double> values, double q) {
    const auto at = static_cast<size_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(at), values.end());
    return values[at];
  }

  bool SuddenIncrease() {
    std::vector<double> ops = Inner();
    // From the first sign of life on: a load that begins is no increase.
    ops.erase(ops.begin(), std::find_if(ops.begin(), ops.end(), [](double value) { return value > 0; }));
    if (ops.size() < 2 * kSuddenColumnsMin || static_cast<double>(total_.ops()) < kOpsMin) return false;
    // Where means before and after lie apart the most.
    size_t at = 0;
    double best = 0, before_sum = 0;
    const double all = std::accumulate(ops.begin(), ops.end(), 0.0);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (i >= kSuddenColumnsMin && ops.size() - i >= kSuddenColumnsMin) {
        const auto n = static_cast<double>(i), m = static_cast<double>(ops.size() - i);
        const double apart = ((all - before_sum) / m - before_sum / n) * std::sqrt(n * m);
        if (apart > best) {
          best = apart;
          at = i;
        }
      }
      before_sum += ops[i];
    }
    if (at == 0) return false;
    const std::vector<double> before(ops.begin(), ops.begin() + static_cast<int64_t>(at));
    const std::vector<double> after(ops.begin() + static_cast<int64_t>(at), ops.end());
    const double usual = Quantile(before, 0.5), now = Quantile(after, 0.5);
    if (usual <= 0 || now < kSuddenTimes * usual || Quantile(after, 0.1) < 1.5 * Quantile(before, 0.9))
      return false;
    const size_t column = map_.columns - 1 - ops.size() + at;
    const int64_t ago =
        (static_cast<int64_t>(map_.columns) - static_cast<int64_t>(column)) * map_.column_seconds;
    Finding finding{
        .pattern = Pattern::kSuddenIncrease, .severity = Severity::kInfo, .metric = HeatMetric::kOps};
    finding.title = "Sudden increase";
    const auto per_second = [&](double value) { return value / static_cast<double>(map_.column_seconds); };
    finding.text = fmt::format(
        "The load of {}{} rose {}-fold about {} before the end of this view: from {} to {} "
        "rows a second.",
        facts_.table, Series(), Times(now / usual), Duration(ago), Count(per_second(usual)),
        Count(per_second(now)));
    finding.remedy =
        "If it is a batch job or a back-fill, let it ramp up slowly and keep its keys apart, so that tablets "
        "can be divided "
        "in time; if it is here to stay, look at which keys took it.";
    findings_.push_back(std::move(finding));
    return true;
  }

  // Whether in each of at least kPeriodsMin whole periods more happens at some time than on average; `ops`:
  // less that.
  static bool IsBusyInEach(const std::vector<double>& ops, size_t period) {
    if (ops.size() < kPeriodsMin * period) return false;
    for (size_t from = 0; from + period <= ops.size(); from += period) {
      const auto start = ops.begin() + static_cast<int64_t>(from);
      if (*std::max_element(start, start + static_cast<int64_t>(period)) <= 0) return false;
    }
    return true;
  }

  void PeriodicUse() {
    std::vector<double> ops = Inner();
    // Trailing and leading silence is no part of a rhythm.
    while (!ops.empty() && ops.front() == 0) ops.erase(ops.begin());
    while (!ops.empty() && ops.back() == 0) ops.pop_back();
    const size_t n = ops.size();
    if (n < kPeriodicColumnsMin || static_cast<double>(total_.ops()) < kOpsMin) return;
    const double mean = std::accumulate(ops.begin(), ops.end(), 0.0) / static_cast<double>(n);
    if (mean < kPeriodicOpsPerSecondMin * static_cast<double>(map_.column_seconds)) return;
    double variance = 0;
    for (double& value : ops) {
      value -= mean;
      variance += value * value;
    }
    if (std::sqrt(variance / static_cast<double>(n)) < kPeriodicVariation * mean) return;
    const auto correlation = [&](size_t lag) {
      double sum = 0;
      for (size_t i = 0; i + lag < n; ++i) sum += ops[i] * ops[i + lag];
      return sum / variance * static_cast<double>(n) / static_cast<double>(n - lag);
    };
    std::vector<double> r(n / kPeriodsMin + 2);
    for (size_t lag = 1; lag < r.size(); ++lag) r[lag] = correlation(lag);
    bool dipped = false;
    size_t period = 0;
    for (size_t lag = 1; lag + 1 < r.size(); ++lag) {
      dipped = dipped || r[lag] < kPeriodicDip;
      if (!dipped || r[lag] < kPeriodicCorrelation || r[lag] < r[lag + 1] || (lag > 1 && r[lag] < r[lag - 1]))
        continue;
      period = lag;
      break;
    }
    if (period < 2 || !IsBusyInEach(ops, period)) return;
    Finding finding{
        .pattern = Pattern::kPeriodicUse, .severity = Severity::kInfo, .metric = HeatMetric::kOps};
    finding.title = "Periodic use";
    double above = 0, busy_columns = 0;  // `ops` are what is over the mean
    for (const double value : ops) {
      above += std::max(value, 0.0);
      busy_columns += value > 0 ? 1 : 0;
    }
    const double busy = mean + above / busy_columns;
    const double quiet = mean - above / (static_cast<double>(n) - busy_columns);
    finding.text = fmt::format(
        "The load of {}{} comes and goes every {} or so (correlation {:.2f}), between about {} "
        "and {} rows a second.",
        facts_.table, Series(), Duration(static_cast<int64_t>(period) * map_.column_seconds), r[period],
        Count(quiet / static_cast<double>(map_.column_seconds)),
        Count(busy / static_cast<double>(map_.column_seconds)));
    finding.remedy =
        "Size for the peaks, or spread the jobs that make them over the time between; expiry and settling "
        "are best left to "
        "the quiet part.";
    findings_.push_back(std::move(finding));
  }

  const HeatMap& map_;
  const TableFacts& facts_;
  std::vector<AccessCounts> row_sums_;
  std::vector<double> column_ops_;
  AccessCounts total_;
  double keys_ = 0;
  bool sequential_ = false;
  std::vector<std::string> hot_row_keys_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view NameOf(Pattern pattern) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "hot_range", "hot_row", "sequential_keys", "sudden_increase", "periodic_use", "large_row", "full_scan"};
  return kNames[static_cast<size_t>(pattern)];
}

std::string_view NameOf(Severity severity) {
  static constexpr std::array<std::string_view, 3> kNames = {"info", "warning", "critical"};
  return kNames[static_cast<size_t>(severity)];
}

std::vector<Finding> FindPatterns(const HeatMap& map, const TableFacts& facts) {
  return Analysis(map, facts).Run();
}

}  // namespace sonde
