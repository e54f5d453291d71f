// Rules that say which cells of a family may be forgotten (source: google.bigtable.admin.v2.GcRule).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace sonde {

struct GcRule {
  // Forgets every cell of a column but the newest `count` (>= 1).
  struct MaxVersions {
    int32_t count = 0;
    bool operator==(const MaxVersions&) const = default;
  };
  // Forgets cells whose timestamp is more than this long ago (>= 1 ms).
  struct MaxAge {
    int64_t micros = 0;
    bool operator==(const MaxAge&) const = default;
  };
  // Intersection forgets a cell if all of its rules forget it, Union if any does.
  struct Intersection {
    std::vector<GcRule> rules;
    bool operator==(const Intersection&) const = default;
  };
  struct Union {
    std::vector<GcRule> rules;
    bool operator==(const Union&) const = default;
  };

  // monostate: keeps everything.
  std::variant<std::monostate, MaxVersions, MaxAge, Intersection, Union> rule;

  bool KeepsEverything() const { return std::holds_alternative<std::monostate>(rule); }
  bool operator==(const GcRule&) const = default;
};

}  // namespace sonde
