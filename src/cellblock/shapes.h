// Row shapes: the ordered lists of qualifiers that rows carry again and again, known by a number, so that a
// fragment need not spell the same ten or hundred names with every row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace sonde {

// Given once, never reused, never changed.
using ShapeId = uint32_t;

// Qualifiers, strictly ascending.
using Shape = std::vector<std::string>;

// Where fragments find shapes.  Safe for several threads at once.
class ShapeSource {
 public:
  virtual ~ShapeSource() = default;
  // Null for an unknown id: the data that names it is damaged.  The pointer holds as long as the source.
  virtual const Shape* Get(ShapeId id) const = 0;
  // Whether these qualifiers (strictly ascending) are a known shape that a fragment may name now.
  virtual bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const = 0;
};

// Knows none.
class NoShapes final : public ShapeSource {
 public:
  const Shape* Get(ShapeId) const override { return nullptr; }
  bool Find(absl::Span<const std::string_view>, ShapeId*) const override { return false; }
};

}  // namespace sonde
