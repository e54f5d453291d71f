// Bytes of a file, a pipe or a terminal as they come, for readers that must not wait for a full buffer.
//
// Whoever gathers what it reads is told when it is time to write it: before a wait for bytes that are not
// there yet, and once in a while when they never cease to come.  So what has come is written soon, though the
// other end stays open.
#pragma once

#include <chrono>
#include <functional>

#include "absl/status/status.h"
#include "series/input/csv_reader.h"

namespace sonde::series {

struct StreamPatience {
  std::chrono::milliseconds idle_max{100};  // without a byte
  std::chrono::milliseconds busy_max{1'000};
};

// `descriptor` must stay open as long as the source is used.  `flush` may be null; its error is the source's.
// DATA_LOSS: it can't be read.
ByteSource SourceOfDescriptor(int descriptor, std::function<absl::Status()> flush,
                              StreamPatience patience = {});

}  // namespace sonde::series
