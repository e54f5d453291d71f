#include "base/arena.h"

#include <algorithm>
#include <utility>

namespace sonde {

void Arena::Grow(size_t bytes) {
  const size_t doubled = blocks_.empty() ? kBlockBytesMin : std::min(kBlockBytesMax, 2 * blocks_.back().size);
  const size_t size = std::max(bytes, doubled);
  // operator new[] aligns to what any type needs, which is kAlignment.
  static_assert(kAlignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  held_bytes_ += size;
  next_ = blocks_.back().bytes.get();
  left_ = size;
}

void Arena::Clear() {
  if (blocks_.empty()) return;
  const auto largest = std::max_element(blocks_.begin(), blocks_.end(),
                                        [](const Block& a, const Block& b) { return a.size < b.size; });
  Block kept = std::move(*largest);
  blocks_.clear();
  if (kept.size > kBlockBytesMax) kept = {};
  held_bytes_ = kept.size;
  next_ = kept.bytes.get();
  left_ = kept.size;
  if (kept.size > 0) blocks_.push_back(std::move(kept));
}

}  // namespace sonde
