// Row shapes: ordered lists of qualifiers that many rows share, each known by a number.  A fragment names the
// number and need not spell ten or a hundred names for every row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace sonde {

// An id is given once.  It is never reused, and its shape never changes.
using ShapeId = uint32_t;

// A shape's qualifiers, strictly ascending.
using Shape = std::vector<std::string>;

// A source of shapes for fragments.  Safe for several threads at once.
class ShapeSource {
 public:
  virtual ~ShapeSource() = default;
  // Returns null for an unknown id; data that names such an id is damaged.  The pointer holds as long as the
  // source.
  virtual const Shape* Get(ShapeId id) const = 0;
  // Whether these qualifiers (strictly ascending) are a known shape that a fragment may name now.  Sets *id
  // if so.
  virtual bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const = 0;
};

// A source without shapes.
class NoShapes final : public ShapeSource {
 public:
  const Shape* Get(ShapeId) const override { return nullptr; }
  bool Find(absl::Span<const std::string_view>, ShapeId*) const override { return false; }
};

}  // namespace sonde
