#include "series/index/entity_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/time/clock.h"
#include "series/index/block_match.h"
#include "series/schema/calendar.h"
#include "series/schema/schema.h"

namespace sonde::series {
namespace {

absl::Status Ask(const std::function<absl::Status()>& interrupted) {
  return interrupted ? interrupted() : absl::OkStatus();
}

// The days of the question, both included; nothing: all.
std::optional<std::pair<int64_t, int64_t>> DaysAskedFor(const EntityQuestion& question) {
  const int64_t from_micros = std::max<int64_t>(question.from_micros, 0);
  const int64_t to_micros = std::min(question.to_micros, kTimeEndMicros);
  if (from_micros >= to_micros) return std::pair<int64_t, int64_t>(0, 0);
  const int64_t first = from_micros / kMicrosPerDay;
  const int64_t last = (to_micros - 1) / kMicrosPerDay;
  if (last - first >= EntityIndex::kDaysMax) return std::nullopt;
  return std::pair(first, last);
}

void MakeSet(std::vector<std::string>* texts) {
  std::sort(texts->begin(), texts->end());
  texts->erase(std::unique(texts->begin(), texts->end()), texts->end());
}

PositionSet Narrowed(PositionSet positions, const IndexState::Sets& sets, const std::string& block) {
  const auto found = sets.find(block);
  if (found == sets.end()) return {};
  positions.And(found->second);
  return positions;
}

}  // namespace

std::shared_ptr<const EntityBlock> EntityIndex::FindHeld(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = place_of_.find(key);
  if (found == place_of_.end()) return nullptr;
  held_.splice(held_.begin(), held_, found->second);
  return found->second->block;
}

void EntityIndex::Hold(const std::string& key, std::shared_ptr<const EntityBlock> block) {
  const size_t bytes = block->bytes() + 2 * key.size() + sizeof(Held);
  const absl::MutexLock lock(&mutex_);
  if (const auto found = place_of_.find(key); found != place_of_.end()) {
    held_bytes_ -= found->second->bytes;
    held_.erase(found->second);
    place_of_.erase(found);
  }
  held_.push_front({key, std::move(block), bytes});
  place_of_[key] = held_.begin();
  held_bytes_ += bytes;
  while (held_bytes_ > cache_bytes_max_ && !held_.empty()) {
    held_bytes_ -= held_.back().bytes;
    place_of_.erase(held_.back().key);
    held_.pop_back();
  }
}

absl::StatusOr<std::vector<EntityIndex::NamedBlock>> EntityIndex::FindBlocks(const KnownSeries& series,
                                                                             const IndexDirectory& directory,
                                                                             TableAccess* tables) {
  const std::string& name = series.schema.name;
  std::vector<NamedBlock> blocks;
  std::map<std::string, size_t> ends;
  for (const auto& [block, count] : directory.sealed) {
    const std::string key = BlockKey(name, block);
    std::shared_ptr<const EntityBlock> found = FindHeld(key);
    if (found == nullptr || found->end() < count) {
      absl::StatusOr<std::shared_ptr<const EntityBlock>> read = ReadBlock(name, block, tables);
      if (!read.ok()) return read.status();
      if ((*read)->end() < count) {
        return absl::DataLossError(
            fmt::format("block {} has {} entities; its directory says {}", block, (*read)->end(), count));
      }
      found = *std::move(read);
      Hold(key, found);
    }
    ends[block] = found->end();
    blocks.push_back({block, std::move(found)});
  }
  // The tails of one block that follow each other make one part.
  for (size_t begin = 0; begin < directory.tails.size();) {
    const std::string& block = directory.tails[begin].block;
    const size_t first = directory.tails[begin].first;
    size_t last = first;
    size_t end = begin;
    while (end < directory.tails.size() && directory.tails[end].block == block &&
           directory.tails[end].first == last) {
      last += directory.tails[end++].texts.size();
    }
    const auto sealed = ends.find(block);
    if (end > begin && (sealed == ends.end() || sealed->second < last)) {
      const std::string key = fmt::format("{}#{}#{}", BlockKey(name, block), first, last);
      std::shared_ptr<const EntityBlock> part = FindHeld(key);
      if (part == nullptr) {
        std::vector<std::string> texts;
        for (size_t i = begin; i < end; ++i) {
          texts.insert(texts.end(), directory.tails[i].texts.begin(), directory.tails[i].texts.end());
        }
        part = EntityBlock::Make(series.labels, texts, first);
        if (part == nullptr)
          return absl::DataLossError(fmt::format("the tails of block {} make no block", block));
        Hold(key, part);
      }
      blocks.push_back({block, std::move(part)});
    }
    begin = std::max(end, begin + 1);
  }
  return blocks;
}

absl::StatusOr<EntityIndex::Days> EntityIndex::DaysOf(const std::string& series, TableAccess* tables) {
  const absl::Time now = absl::Now();
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = days_.find(series);
    if (found != days_.end() && now - found->second.read < kDaysKept) return found->second.days;
  }
  const absl::StatusOr<Days> days = ReadDaysOf(series, tables);
  if (!days.ok()) return days;
  const absl::MutexLock lock(&mutex_);
  if (days_.size() >= kDaysKnownMax) days_.clear();
  days_[series] = {now, *days};
  return days;
}

EntityIndexCounts EntityIndex::counts() const {
  const absl::MutexLock lock(&mutex_);
  return {.answered = answered_.load(std::memory_order_relaxed),
          .unanswered = unanswered_.load(std::memory_order_relaxed),
          .held_bytes = held_bytes_};
}

absl::StatusOr<std::optional<EntityAnswer>> EntityIndex::Select(const KnownSeries& series,
                                                                const EntityQuestion& question,
                                                                TableAccess* tables) {
  absl::StatusOr<std::optional<EntityAnswer>> answer = Answer(series, question, tables);
  if (answer.ok()) ++(answer->has_value() ? answered_ : unanswered_);
  return answer;
}

absl::StatusOr<std::optional<EntityAnswer>> EntityIndex::Answer(const KnownSeries& series,
                                                                const EntityQuestion& question,
                                                                TableAccess* tables) {
  const std::string& name = series.schema.name;
  const auto unless_damaged = [](const absl::Status& status) -> absl::StatusOr<std::optional<EntityAnswer>> {
    if (absl::IsDataLoss(status)) return std::optional<EntityAnswer>();
    return status;
  };
  const std::optional<std::pair<int64_t, int64_t>> days = DaysAskedFor(question);
  const absl::StatusOr<IndexState> state =
      ReadIndex(name, {.days = days, .fields = question.fields}, tables, question.interrupted);
  if (!state.ok()) return unless_damaged(state.status());
  if (!state->directory.is_whole || state->directory.is_given_up) return std::optional<EntityAnswer>();
  absl::StatusOr<std::vector<NamedBlock>> blocks = FindBlocks(series, state->directory, tables);
  if (!blocks.ok()) return unless_damaged(blocks.status());
  EntityAnswer answer;
  answer.has_deleted = state->directory.has_deleted;
  for (NamedBlock& block : *blocks) {
    if (absl::Status status = Ask(question.interrupted); !status.ok()) return status;
    answer.total += block.block->count();
    PositionSet positions = MatchBlock(*block.block, question.matchers);
    if (days) positions = Narrowed(std::move(positions), state->of_days, block.name);
    EntityAnswer::Part part;
    PositionSet any;
    for (const IndexState::Sets& sets : state->of_fields) {
      part.of_fields.push_back(Narrowed(positions, sets, block.name));
      any.Or(part.of_fields.back());
    }
    part.positions = question.fields.empty() ? std::move(positions) : std::move(any);
    if (part.positions.IsEmpty()) continue;
    answer.count += part.positions.Count();
    part.block = std::move(block.block);
    answer.parts.push_back(std::move(part));
  }
  return std::optional<EntityAnswer>(std::move(answer));
}

absl::StatusOr<std::optional<Cardinality>> EntityIndex::Count(const KnownSeries& series, size_t top_max,
                                                              TableAccess* tables) {
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(series.schema.name, tables);
  if (absl::IsDataLoss(directory.status())) return std::optional<Cardinality>();
  if (!directory.ok()) return directory.status();
  if (!directory->is_whole || directory->is_given_up) return std::optional<Cardinality>();
  absl::StatusOr<std::vector<NamedBlock>> blocks = FindBlocks(series, *directory, tables);
  if (absl::IsDataLoss(blocks.status())) return std::optional<Cardinality>();
  if (!blocks.ok()) return blocks.status();
  Cardinality result;
  std::map<std::string, std::map<std::string, size_t, std::less<>>, std::less<>> counts;
  for (const NamedBlock& block : *blocks) {
    result.entities += block.block->count();
    for (const std::string& name : block.block->names()) {
      const LabelColumn& column = *block.block->Find(name);
      std::vector<size_t> of_code(column.values_count() + 1);
      for (const uint16_t code : column.codes()) ++of_code[code];
      auto& of_value = counts[name];
      for (size_t place = 0; place < column.values_count(); ++place) {
        of_value[std::string(column.value(place))] += of_code[place + 1];
      }
    }
  }
  for (auto& [name, of_value] : counts) {
    Cardinality::Label& label = result.labels.emplace_back();
    label.name = name;
    label.values = of_value.size();
    label.top_values.assign(of_value.begin(), of_value.end());
    for (const auto& [value, entities] : of_value) {
      label.entities += entities;
      label.value_bytes += value.size();
    }
    std::stable_sort(label.top_values.begin(), label.top_values.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (label.top_values.size() > top_max) label.top_values.resize(top_max);
  }
  return std::optional<Cardinality>(std::move(result));
}

std::vector<std::string> TextsOf(const EntityAnswer::Part& part) {
  std::vector<std::string> texts;
  part.positions.ForEach([&](size_t position) { part.block->AppendText(position, &texts.emplace_back()); });
  MakeSet(&texts);
  return texts;
}

std::vector<std::string> TextsOf(const EntityAnswer& answer) {
  std::vector<std::string> texts;
  for (const EntityAnswer::Part& part : answer.parts) {
    std::vector<std::string> more = TextsOf(part);
    texts.insert(texts.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  MakeSet(&texts);
  return texts;
}

}  // namespace sonde::series
