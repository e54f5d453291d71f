// Changes by Engine::ApplyParts.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/engine.h"

namespace sonde {

// As engine->Apply of `changes`, in parts of `count(left)` changes each, 0 to `left`.  What a part views, but
// for its row keys, is overwritten when the next one is asked for.
inline absl::Status ApplyInParts(Engine* engine, TableId table, absl::Span<const RowChange> changes,
                                 const std::function<size_t(size_t left)>& count) {
  std::deque<std::string> bytes;
  std::vector<RowChange> part;
  const auto copy = [&bytes](std::string_view& view) { view = bytes.emplace_back(view); };
  return engine->ApplyParts(table, [&]() -> std::optional<absl::Span<const RowChange>> {
    for (std::string& old : bytes) std::fill(old.begin(), old.end(), '#');
    if (changes.empty()) return std::nullopt;
    bytes.clear();
    const size_t taken = std::min(count(changes.size()), changes.size());
    part.assign(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(taken));
    changes.remove_prefix(taken);
    for (RowChange& change : part) {
      for (FamilyDelta& family : change.delta.families) {
        for (FamilyDelta::ColumnDelete& remove : family.deletes) copy(remove.qualifier);
        for (FamilyDelta::Add& add : family.adds) copy(add.qualifier);
        for (CellView& put : family.puts) {
          copy(put.qualifier);
          copy(put.value);
        }
      }
    }
    return part;
  });
}

}  // namespace sonde
