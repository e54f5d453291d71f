// Preconditions that a header states, asked for where a broken one would be seen too late (STYLE 9).
//
// A broken one is a bug of ours, so the program ends, with the place and the condition on stderr. Nothing that comes from outside
// may reach one: bytes of requests, files and disks are checked, and refused by a Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace sonde {

[[noreturn]] inline void FailCheck(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace sonde

// Always asked: what would corrupt data, and is cheap beside what follows.
#define CHECK(condition)                                       \
  (__builtin_expect(static_cast<bool>(condition), 1) ? void(0) \
                                                     : ::sonde::FailCheck(__FILE__, __LINE__, #condition))

// Asked in builds with assertions: all presets but `release`. sanitize.asan, which runs with the tests, is one.
#ifdef NDEBUG
#define DCHECK(condition) (false ? void(static_cast<bool>(condition)) : void(0))
#else
#define DCHECK(condition) CHECK(condition)
#endif
