#include "engine/rocks/store/page_budget.h"

#include <fmt/format.h>

namespace sonde {

absl::Status PageBudget::CheckRoom() const {
  const size_t lent = lent_bytes();
  if (lent == 0 || lent < bytes_max_) return absl::OkStatus();
  return absl::UnavailableError(fmt::format(
      "The server is busy: reads that are under way hold {} bytes of opened pages, and the limit is {}; try "
      "again",
      lent, bytes_max_));
}

PageBudget::Loan PageBudget::Lend(size_t bytes) {
  if (lent_bytes_.fetch_add(bytes) + bytes > charged_bytes_) Charge();
  return {this, bytes};
}

void PageBudget::Return(size_t bytes) {
  if (lent_bytes_.fetch_sub(bytes) - bytes + 2 * charge_step_ < charged_bytes_) Charge();
}

void PageBudget::Charge() {
  const absl::MutexLock lock(&mutex_);
  // A thread that lends while less is charged may have seen the charge as it was.
  do {
    const size_t wanted = (lent_bytes_ / charge_step_ + 1) * charge_step_;
    const size_t charged = charged_bytes_;
    if (wanted > charged) {
      charges_.ReserveMem(wanted - charged);
    } else {
      charges_.FreeMem(charged - wanted);
    }
    charged_bytes_ = wanted;
  } while (lent_bytes_ > charged_bytes_);
}

}  // namespace sonde
