#include "counted_memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> held_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;

}  // namespace

namespace sonde {

int64_t HeldBytes() { return held_bytes; }
int64_t PeakBytes() { return peak_bytes; }
void ForgetPeak() { peak_bytes = held_bytes.load(); }

}  // namespace sonde

// Sanitizers bring an operator new of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  const int64_t held = held_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  if (held > peak_bytes) peak_bytes = held;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) held_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, size_t) noexcept { operator delete(memory); }

#endif
