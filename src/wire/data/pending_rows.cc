#include "wire/data/pending_rows.h"

#include <utility>

#include "wire/call/data_target.h"

namespace sonde {

struct PendingRows::Entries final : Memory {
  MutateRowsEntries entries;
};

void PendingRows::Add(CommitLine* line, std::unique_ptr<PendingRows> rows) {
  const bool is_long = rows->bytes() > kUncountedBytesMax;
  is_long ? line->AddAlone(std::move(rows), WhyAlone::kLarge) : line->Add(std::move(rows));
}

absl::Status PendingRows::FindTheTarget() {
  absl::StatusOr<DataTarget> found = FindTarget(tables_->catalog(), *message_);
  if (found.ok()) target_ = {std::move(found->schema), std::move(found->view)};
  return found.status();
}

// ReadAlone tells what is wrong with a message or its target.
WhyAlone PendingRows::Open() {
  if (!message_.emplace().OpenPlain(bytes_.view()) || !FindTheTarget().ok()) return WhyAlone::kNotPlain;
  return WhyAlone::kNot;
}

std::optional<absl::Span<const RowMutations>> PendingRows::ReadTogether(std::unique_ptr<Memory>* memory) {
  // The rows of a logged commit have to stay, and lent memory is lent again.
  if (target_.schema->IsLogged()) {
    if (!message_->ReadPlainEntries(&entries_)) return std::nullopt;
    return entries_.rows;
  }
  auto* lent = dynamic_cast<Entries*>(memory->get());
  if (lent == nullptr) {
    auto made = std::make_unique<Entries>();
    lent = made.get();
    *memory = std::move(made);
  }
  if (!message_->ReadPlainEntries(&lent->entries)) return std::nullopt;
  return lent->entries.rows;
}

absl::StatusOr<absl::Span<const RowMutations>> PendingRows::ReadAlone() {
  if (absl::Status status = message_.emplace().Parse(&bytes_, &place_); !status.ok()) return status;
  if (absl::Status status = FindTheTarget(); !status.ok()) return status;
  absl::StatusOr<MutateRowsEntries> entries = message_->TakeEntries();
  if (!entries.ok()) return entries.status();
  entries_ = *std::move(entries);
  return entries_.rows;
}

void PendingRows::Done(absl::StatusOr<std::vector<absl::Status>> statuses) {
  place_.large()->Shrink(0);  // here, and not where the client has its answer: that must not take long
  if (statuses.ok() && !entries_.statuses.empty()) {
    // Entries that are no rows have statuses already.
    for (size_t i = 0; i < statuses->size(); ++i)
      entries_.statuses[entries_.entry_of_row[i]] = std::move((*statuses)[i]);
    statuses = std::move(entries_.statuses);
  }
  message_.reset();
  bytes_.Clear();
  std::move(finish_)(std::move(statuses), std::move(place_), begun());
}

}  // namespace sonde
