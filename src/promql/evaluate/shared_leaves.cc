#include "promql/evaluate/shared_leaves.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "promql/samples/labels.h"

namespace sonde::promql {
namespace {

// The metric that a selector names; nothing: it may mean several.
std::optional<std::string> MetricOf(const std::vector<Matcher>& matchers) {
  std::optional<std::string> metric;
  for (const Matcher& matcher : matchers) {
    if (matcher.name() != kMetricLabel) continue;
    if (metric || matcher.kind() != MatchKind::kEqual || matcher.value().empty()) return std::nullopt;
    metric = matcher.value();
  }
  return metric;
}

std::vector<Matcher> WithoutMetric(std::vector<Matcher> matchers) {
  std::erase_if(matchers, [](const Matcher& matcher) { return matcher.name() == kMetricLabel; });
  return matchers;
}

// The same for leaves that one read serves.
std::string KeyOf(const Leaf& leaf, const std::string& rows) {
  std::string key = fmt::format("{} {} {}", rows, leaf.start_millis, leaf.end_millis);
  for (const Matcher& matcher : *leaf.matchers) {
    if (matcher.name() != kMetricLabel) key.append(1, ',').append(matcher.Text());
  }
  return key;
}

}  // namespace

// Series of a part, for all leaves that are read together.
class SharedLeaves::Sink final : public SeriesSink {
 public:
  Sink(SharedLeaves* all, const std::vector<Member*>& members)
      : all_(all), members_(members), made_(members.size()) {}

  absl::Status Take(SampleSeries* series) override {
    const std::string metric(LabelOf(series->labels, kMetricLabel));
    size_t last = members_.size();
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i]->metric != metric) continue;
      // A leaf changes the series that it gets.
      if (last < members_.size()) {
        SampleSeries copy = *series;
        if (absl::Status status = Give(last, &copy); !status.ok()) return status;
      }
      last = i;
    }
    return last == members_.size() ? absl::OkStatus() : Give(last, series);
  }

  void GiveRows() {
    for (size_t i = 0; i < members_.size(); ++i) members_[i]->made->Add(std::move(made_[i]));
  }

 private:
  absl::Status Give(size_t member, SampleSeries* series) {
    SeriesRows& made = made_[member];
    ++made.series;
    const size_t rows = made.rows.size();
    if (absl::Status status = members_[member]->leaf.work(series, &made); !status.ok()) return status;
    return all_->Hold(static_cast<int64_t>((made.rows.size() - rows) * all_->steps_));
  }

  SharedLeaves* const all_;
  const std::vector<Member*>& members_;
  std::vector<SeriesRows> made_;  // one a member
};

void SeriesRows::Add(SeriesRows later) {
  std::ranges::move(later.rows, std::back_inserter(rows));
  annotations.Add(later.annotations);
  series += later.series;
  samples_read += later.samples_read;
  samples += later.samples;
}

SharedLeaves::SharedLeaves(std::vector<Leaf> leaves, size_t steps, const EvaluateSettings& settings,
                           SampleSource* source)
    : steps_(steps),
      waiting_max_(std::min(kWaitingMax, settings.samples_max)),
      settings_(settings),
      source_(source) {
  absl::flat_hash_map<std::string, size_t> group_of;
  for (Leaf& leaf : leaves) {
    std::optional<std::string> metric = MetricOf(*leaf.matchers);
    if (!metric) continue;
    const std::optional<std::string> rows = source->RowsOf(*metric);
    if (!rows) continue;
    const size_t group = group_of.try_emplace(KeyOf(leaf, *rows), groups_.size()).first->second;
    if (group == groups_.size()) groups_.emplace_back();
    groups_[group].members.push_back(members_.size());
    member_of_[leaf.node] = members_.size();
    members_.push_back({.leaf = std::move(leaf), .metric = *std::move(metric), .group = group, .made = {}});
  }
  for (Group& group : groups_) group.together_max = group.members.size();
}

std::optional<SeriesRows> SharedLeaves::Take(const Expression& node) {
  const auto found = member_of_.find(&node);
  if (found == member_of_.end()) return std::nullopt;
  Member& member = members_[found->second];
  if (!member.made && !ReadFrom(&member)) {
    member.is_done = true;
    return std::nullopt;
  }
  member.is_done = true;
  std::optional<SeriesRows> made = std::exchange(member.made, std::nullopt);
  CountWaiting();
  return made;
}

void SharedLeaves::NoteAlone(const Expression& node, size_t rows) {
  const auto found = member_of_.find(&node);
  if (found == member_of_.end()) return;
  Group& group = groups_[members_[found->second].group];
  if (!group.is_large) return;
  const auto values = std::max<int64_t>(static_cast<int64_t>(rows * steps_), 1);
  group.together_max = static_cast<size_t>(waiting_max_ / values);
}

bool SharedLeaves::ReadFrom(Member* first) {
  Group& group = groups_[first->group];
  std::vector<Member*> together;
  for (const size_t place : group.members) {
    Member& member = members_[place];
    if (member.is_done || member.made || together.size() >= group.together_max) continue;
    if (!together.empty() || &member == first) together.push_back(&member);
  }
  if (together.size() < 2) return false;
  is_too_much_ = false;
  const bool is_read = ReadTogether(together).ok();
  if (!is_read) {
    for (Member* member : together) member->made.reset();
    group.together_max = 0;
    group.is_large = is_too_much_;
  }
  CountWaiting();
  return is_read;
}

void SharedLeaves::CountWaiting() {
  int64_t waiting = 0;
  for (const Member& member : members_) {
    if (member.made) waiting += static_cast<int64_t>(member.made->rows.size() * steps_);
  }
  waiting_ = waiting;
  if (waiting == 0) GiveBack();
}

absl::Status SharedLeaves::ReadTogether(const std::vector<Member*>& members) {
  std::vector<std::string> metrics;
  for (Member* member : members) {
    member->made.emplace();
    if (std::find(metrics.begin(), metrics.end(), member->metric) == metrics.end()) {
      metrics.push_back(member->metric);
    }
  }
  SeriesVisit visit;
  visit.make = [&] { return std::make_unique<Sink>(this, members); };
  visit.take = [](SeriesSink* sink) {
    static_cast<Sink*>(sink)->GiveRows();
    return absl::OkStatus();
  };
  visit.series_work = SeriesWork(steps_);
  visit.idle_workers = settings_.idle_workers;
  const Leaf& leaf = members[0]->leaf;
  return source_->ForEachOf(metrics, WithoutMetric(*leaf.matchers), leaf.start_millis, leaf.end_millis,
                            visit);
}

absl::Status SharedLeaves::Hold(int64_t values) {
  const int64_t waiting = waiting_ += values;
  if (waiting > waiting_max_) {
    is_too_much_ = true;
    return absl::ResourceExhaustedError("too many values would wait for their turn");
  }
  if (!settings_.hold) return absl::OkStatus();
  constexpr int64_t kStepBytes = int64_t{1} << 20;
  int64_t told = told_bytes_;
  const int64_t more = waiting * kValueBytes - told;
  if (more < kStepBytes || !told_bytes_.compare_exchange_strong(told, told + more)) return absl::OkStatus();
  absl::Status status = settings_.hold(more);
  if (!status.ok()) told_bytes_ -= more;
  return status;
}

void SharedLeaves::GiveBack() {
  const int64_t told = told_bytes_.exchange(0);
  if (told > 0) settings_.hold(-told).IgnoreError();
}

}  // namespace sonde::promql
