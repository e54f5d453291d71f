#include "engine/row_store.h"

#include <utility>

namespace sonde {
namespace {

// One part.  Keeps the first refusal.
class OnePart final : public RowSource {
 public:
  explicit OnePart(absl::Span<const RowChange> changes) : changes_(changes) {}
  ~OnePart() = default;

  std::optional<absl::Span<const RowChange>> Next() override {
    if (std::exchange(is_taken_, true)) return std::nullopt;
    return changes_;
  }
  void OnRefused(size_t /*index*/, const absl::Status& why) override { refusal_.Update(why); }

  const absl::Status& refusal() const { return refusal_; }

 private:
  const absl::Span<const RowChange> changes_;
  bool is_taken_ = false;
  absl::Status refusal_;
};

}  // namespace

absl::Status RowStore::Apply(TableId table, absl::Span<const RowChange> changes,
                             const WriteOptions& options) {
  OnePart part(changes);
  absl::Status status = Apply(table, &part, options);
  status.Update(part.refusal());
  return status;
}

}  // namespace sonde
