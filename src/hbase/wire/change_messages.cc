#include "hbase/wire/change_messages.h"

#include <algorithm>

#include "hbase/wire/message_parts.h"

namespace sonde::hbase {
namespace {

constexpr int kPut = 2;
constexpr int kDelete = 3;
constexpr int kSyncedToDisk = 4;
constexpr int kEqual = 2;

void SetMutation(pb::MutationProto* mutation, std::string_view row, int type, const std::vector<Cell>& cells,
                 bool sync, std::string* block) {
  mutation->set_row(std::string(row));
  mutation->set_mutate_type(type);
  mutation->set_associated_cell_count(static_cast<int32_t>(cells.size()));
  if (sync) mutation->set_durability(kSyncedToDisk);
  for (Cell cell : cells) {
    cell.row = row;
    AppendCell(block, cell);
  }
}

void SetGuard(pb::Condition* condition, std::string_view row, const Guard& guard) {
  pb::BinaryComparator comparator;
  comparator.mutable_comparable()->set_value(guard.value);
  condition->set_row(std::string(row));
  condition->set_family(guard.family);
  condition->set_qualifier(guard.qualifier);
  condition->set_compare_type(kEqual);
  condition->mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
  condition->mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
}

Failure FailureOf(const pb::NameBytesPair& exception) {
  return FailureOfException(exception.name(), exception.value());
}

}  // namespace

size_t RowChange::Bytes() const {
  constexpr size_t kCellBytes = 64;  // lengths, time, message
  size_t bytes = kCellBytes;
  for (const std::vector<Cell>* cells : {&markers, &puts}) {
    for (const Cell& cell : *cells)
      bytes += kCellBytes + row.size() + cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

size_t RowChange::LargestCellBytes() const {
  constexpr size_t kCellBytes = 64;  // lengths, time, type: more than there are
  size_t largest = 0;
  for (const Cell& cell : puts) {
    largest = std::max(
        largest, kCellBytes + row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size());
  }
  return largest;
}

ChangesMessage::ChangesMessage(bool sync) : sync_(sync), request_(std::make_unique<pb::MultiRequest>()) {}

ChangesMessage::~ChangesMessage() = default;

void ChangesMessage::Add(std::string_view region, absl::Span<const RowChange* const> changes) {
  const size_t first = places_.size();
  places_.resize(first + changes.size());
  // One put is atomic by itself, so that many of them share an action; all else is an action of its own.  The server takes the
  // cells of all actions in the order of these, so the puts come first.
  const auto is_put = [](const RowChange& change) {
    return change.markers.empty() && !change.guard.has_value();
  };
  const int puts_at = request_->region_action_size();
  pb::RegionAction* puts = nullptr;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!is_put(*changes[i])) continue;
    if (puts == nullptr) {
      puts = request_->add_region_action();
      SetRegion(puts->mutable_region(), region);
    }
    places_[first + i] = {puts_at, puts->action_size()};
    AddPut(*changes[i], puts);
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!is_put(*changes[i])) places_[first + i] = AddWhole(region, *changes[i]);
  }
}

void ChangesMessage::AddPut(const RowChange& change, pb::RegionAction* puts) {
  const int index = puts->action_size();
  pb::Action* const action = puts->add_action();
  action->set_index(static_cast<uint32_t>(index));
  SetMutation(action->mutable_mutation(), change.row, kPut, change.puts, sync_, &cells_);
}

ChangesMessage::Place ChangesMessage::AddWhole(std::string_view region, const RowChange& change) {
  const Place place{request_->region_action_size(), 0, change.guard.has_value()};
  pb::RegionAction* const whole = request_->add_region_action();
  SetRegion(whole->mutable_region(), region);
  whole->set_atomic(true);
  for (const bool is_put : {false, true}) {
    const std::vector<Cell>& cells = is_put ? change.puts : change.markers;
    if (cells.empty()) continue;
    const int index = whole->action_size();
    pb::Action* const action = whole->add_action();
    action->set_index(static_cast<uint32_t>(index));
    SetMutation(action->mutable_mutation(), change.row, is_put ? kPut : kDelete, cells, sync_, &cells_);
  }
  if (change.guard.has_value()) SetGuard(whole->mutable_condition(), change.row, *change.guard);
  return place;
}

std::string ChangesMessage::Message() const { return request_->SerializeAsString(); }

absl::StatusOr<std::vector<ChangeOutcome>> ChangesMessage::ParseOutcomes(std::string_view message) const {
  pb::MultiResponse answer;
  if (!Parse(message, &answer)) return BadMessage("Multi does not parse");
  if (answer.region_action_result_size() != request_->region_action_size()) {
    return BadMessage("Multi has " + std::to_string(answer.region_action_result_size()) + " results of " +
                      std::to_string(request_->region_action_size()) + " actions");
  }
  std::vector<ChangeOutcome> outcomes(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) {
    const pb::RegionActionResult& result = answer.region_action_result(places_[i].region_action);
    if (result.has_exception()) outcomes[i].failure = FailureOf(result.exception());
    if (places_[i].is_guarded) outcomes[i].guard_held = result.processed();
  }
  // By region's action: its changes, in the order of its actions.
  std::vector<std::vector<size_t>> by_action(request_->region_action_size());
  for (size_t i = 0; i < places_.size(); ++i) by_action[places_[i].region_action].push_back(i);
  for (int r = 0; r < answer.region_action_result_size(); ++r) {
    const bool is_whole = request_->region_action(r).atomic();
    for (const pb::ResultOrException& one : answer.region_action_result(r).result_or_exception()) {
      if (!one.has_exception()) continue;
      const size_t at = is_whole ? 0 : one.index();
      if (at >= by_action[r].size())
        return BadMessage("Multi has a result of an action that was not asked for");
      outcomes[by_action[r][at]].failure = FailureOf(one.exception());
    }
  }
  return outcomes;
}

}  // namespace sonde::hbase
