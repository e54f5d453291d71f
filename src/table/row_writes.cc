#include "table/row_writes.h"

#include <algorithm>
#include <variant>

#include "changes/change_record.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "table/row_time.h"
#include "table/view_access.h"

namespace sonde {
namespace {

bool ChangesNothing(const Mutation& mutation) {
  const auto* merge = std::get_if<MergeToCell>(&mutation);
  return merge != nullptr && !merge->state.has_value();
}

}  // namespace

uint64_t BytesOf(absl::Span<const Mutation> mutations) {
  uint64_t bytes = 0;
  const auto add = [&bytes](const auto& one) {
    if constexpr (requires { one.qualifier; }) bytes += one.qualifier.size();
    if constexpr (requires { one.value; }) bytes += one.value.size();
  };
  for (const Mutation& mutation : mutations) std::visit(add, mutation);
  return bytes;
}

bool WantsServerTime(const RowMutations& row) {
  return std::any_of(row.mutations.begin(), row.mutations.end(), AsksForServerTime);
}

void ChangeLogger::Log(std::string_view row_key, absl::Span<const Mutation> mutations, RowDelta* delta) {
  if (!schema_.IsLogged() || std::all_of(mutations.begin(), mutations.end(), ChangesNothing)) return;
  // A vector may move its vectors, not what they hold.
  records_.push_back(EncodeChange(schema_, ChangeKind::kUser, row_key, mutations, now_micros_));
  delta->log = {std::max(now_micros_, schema_.LogPositionMin()), records_.back()};
}

RowWrites::RowWrites(const TableSchema& schema, Options options, NextRows next)
    : schema_(schema),
      options_(std::move(options)),
      next_(std::move(next)),
      logger_(schema, options_.now_micros) {}

RowWrites::~RowWrites() = default;

absl::Status RowWrites::Prepare(const RowMutations& row, RowChange* change) {
  if (options_.goes_along && !options_.goes_along(row)) {
    // Those that go along are refused, too, if its types do not match.
    absl::Status status = row.idempotency.has_value() ? absl::OkStatus()
                                                      : Normalize(schema_, row.row_key, row.mutations,
                                                                  options_.now_micros, &change->delta);
    return IsTypeMismatch(status) ? status : absl::AbortedError("The row waits for its turn");
  }
  if (options_.view != nullptr) {
    absl::Status status = CheckInView(*options_.view, schema_, row.row_key, row.mutations);
    if (!status.ok()) return status;
  }
  if (row.idempotency.has_value()) {
    if (absl::Status status = CheckStartTime(*row.idempotency, options_.now_micros); !status.ok())
      return status;
  }
  change->row_key = row.row_key;
  absl::Status status = Normalize(schema_, row.row_key, row.mutations, options_.now_micros, &change->delta);
  if (!status.ok()) return status;
  change->guard.reset();
  if (row.idempotency.has_value())
    change->guard = AddToken(row.idempotency->token, options_.now_micros, &change->delta);
  logger_.Log(row.row_key, row.mutations, &change->delta);
  return absl::OkStatus();
}

bool RowWrites::MayHaveHadIt(const RowMutations& row) const {
  return row.idempotency.has_value() && options_.has_token &&
         CheckStartTime(*row.idempotency, options_.now_micros).ok() &&
         (options_.view == nullptr || CheckInView(*options_.view, schema_, row.row_key, row.mutations).ok());
}

absl::Status RowWrites::Prepare(absl::Span<const RowMutations> rows, Write* write) {
  // Rows of this write that bring tokens, which the engine does not see when it looks for tokens.
  absl::flat_hash_map<std::pair<std::string_view, std::string_view>, size_t> tokens;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].idempotency.has_value()) {
      if (absl::Status stopped = CheckInterrupted(); !stopped.ok()) return stopped;
      const auto first = tokens.find({rows[i].row_key, rows[i].idempotency->token});
      if (first != tokens.end()) {
        write->repeats.emplace_back(i, first->second);
        continue;
      }
    }
    absl::Status status = Prepare(rows[i], &changes_[part_changes_ + write->row_of_change.size()]);
    if (!status.ok() && MayHaveHadIt(rows[i])) {
      const absl::StatusOr<bool> has_had_it = options_.has_token(rows[i]);
      if (!has_had_it.ok()) status = has_had_it.status();
      if (has_had_it.ok() && *has_had_it) continue;
    }
    // The request as a whole is refused for it.
    if (IsTypeMismatch(status)) return status;
    if (status.ok()) {
      write->row_of_change.push_back(i);
      if (rows[i].idempotency.has_value()) tokens[{rows[i].row_key, rows[i].idempotency->token}] = i;
    }
    write->statuses[i] = std::move(status);
  }
  return CheckInterrupted();
}

bool RowWrites::PrepareNext() {
  const std::optional<absl::Span<const RowMutations>> rows = next_();
  has_ended_ = !rows.has_value();
  if (has_ended_) return false;
  Write& write = writes_.emplace_back();
  write.statuses.resize(rows->size());
  write.row_of_change.reserve(rows->size());
  write.first_change = changes_count_;
  NoteAccess(*rows, &write);
  changes_.resize(std::max(changes_.size(), part_changes_ + rows->size()));
  if (const absl::Status status = Prepare(*rows, &write); !status.ok()) {
    write.statuses.assign(rows->size(), status);
    write.row_of_change.clear();
    write.repeats.clear();
  }
  part_changes_ += write.row_of_change.size();
  changes_count_ += write.row_of_change.size();
  return true;
}

bool RowWrites::PreparePart() {
  logger_.Clear();
  part_changes_ = 0;
  if (!PrepareNext()) return false;
  while (options_.one_part && PrepareNext()) continue;
  return true;
}

void RowWrites::PrepareFirst() { is_prepared_ = PreparePart(); }

std::optional<absl::Span<const RowChange>> RowWrites::Next() {
  if (!std::exchange(is_prepared_, false) && (has_ended_ || !PreparePart())) return std::nullopt;
  return absl::MakeSpan(changes_).first(part_changes_);
}

void RowWrites::OnRefused(size_t index, const absl::Status& why) { refused_.emplace_back(index, why); }

std::vector<std::vector<absl::Status>> RowWrites::Finish(const absl::Status& applied) {
  for (Write& write : writes_) {
    for (const size_t row : write.row_of_change) write.statuses[row] = applied;
  }
  for (auto& [index, why] : refused_) {
    const auto after =
        std::upper_bound(writes_.begin(), writes_.end(), index,
                         [](size_t change, const Write& write) { return change < write.first_change; });
    Write& write = *std::prev(after);
    // A row that has the token has had the change.
    write.statuses[write.row_of_change[index - write.first_change]] =
        absl::IsAlreadyExists(why) ? absl::OkStatus() : std::move(why);
  }
  std::vector<std::vector<absl::Status>> statuses;
  statuses.reserve(writes_.size());
  for (Write& write : writes_) {
    for (const auto& [row, first] : write.repeats) write.statuses[row] = write.statuses[first];
    TellAccess(&write);
    statuses.push_back(std::move(write.statuses));
  }
  return statuses;
}

void RowWrites::NoteAccess(absl::Span<const RowMutations> rows, Write* write) const {
  if (options_.observer == nullptr) return;
  write->accessed.reserve(rows.size());
  write->cells.reserve(rows.size());
  for (const RowMutations& row : rows) {
    write->accessed.push_back({row.row_key, BytesOf(row.mutations)});
    write->cells.push_back(static_cast<uint32_t>(row.mutations.size()));
  }
}

// Whoever writes the ABORTED rows later tells of them.
void RowWrites::TellAccess(Write* write) const {
  if (options_.observer == nullptr) return;
  AccessPart part{.kind = AccessKind::kWrite, .latency_micros = timer_.Micros()};
  size_t told = 0;
  for (size_t i = 0; i < write->statuses.size(); ++i) {
    if (absl::IsAborted(write->statuses[i])) continue;
    write->accessed[told++] = write->accessed[i];
    part.cells += write->cells[i];
    if (!write->statuses[i].ok()) ++part.errors;
  }
  if (told == 0) return;
  part.rows = absl::MakeSpan(write->accessed).first(told);
  options_.observer->OnAccess(schema_.id, part);
}

}  // namespace sonde
