#include "engine/rocks/page_budget.h"

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
  lent_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  charges_.ReserveMem(bytes);
  return {this, bytes};
}

void PageBudget::Return(size_t bytes) {
  charges_.FreeMem(bytes);
  lent_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace sonde
