// Changes that are applied part by part.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/engine.h"

namespace sonde {

// Changes in parts of `count(left)` changes each, 0 to `left`.  What a part views, but for its row keys, is
// overwritten when the next one is asked for.
class ChangesInParts final : public RowSource {
 public:
  ChangesInParts(absl::Span<const RowChange> changes, std::function<size_t(size_t left)> count)
      : changes_(changes), count_(std::move(count)) {}
  ~ChangesInParts() = default;

  std::optional<absl::Span<const RowChange>> Next() override {
    for (std::string& old : bytes_) std::fill(old.begin(), old.end(), '#');
    if (changes_.empty()) return std::nullopt;
    bytes_.clear();
    const size_t taken = std::min(count_(changes_.size()), changes_.size());
    part_.assign(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(taken));
    changes_.remove_prefix(taken);
    for (RowChange& change : part_) {
      for (FamilyDelta& family : change.delta.families) {
        for (FamilyDelta::ColumnDelete& remove : family.deletes) Copy(&remove.qualifier);
        for (FamilyDelta::Add& add : family.adds) Copy(&add.qualifier);
        for (CellView& put : family.puts) {
          Copy(&put.qualifier);
          Copy(&put.value);
        }
      }
    }
    return part_;
  }
  void OnRefused(size_t index, const absl::Status& why) override { refused.emplace_back(index, why); }

  std::vector<std::pair<size_t, absl::Status>> refused;

 private:
  void Copy(std::string_view* view) { *view = bytes_.emplace_back(*view); }

  absl::Span<const RowChange> changes_;
  const std::function<size_t(size_t left)> count_;
  std::deque<std::string> bytes_;
  std::vector<RowChange> part_;
};

// As engine->Apply of `changes`, in such parts, none of which may wait; what has to wait is applied by itself.
inline absl::Status ApplyInParts(Engine* engine, TableId table, absl::Span<const RowChange> changes,
                                 const std::function<size_t(size_t left)>& count) {
  ChangesInParts parts(changes, count);
  absl::Status status = engine->Apply(table, &parts, {.may_wait = false});
  for (const auto& [index, why] : parts.refused)
    status.Update(absl::IsAborted(why) ? engine->Apply(table, changes.subspan(index, 1)) : why);
  return status;
}

}  // namespace sonde
