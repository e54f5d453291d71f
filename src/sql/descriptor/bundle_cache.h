// Schema bundles that were parsed, so that not every query parses them.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "sql/descriptor/bundle_parser.h"

namespace sonde::sql {

// Threads: all functions may be called at once.
class BundleCache {
 public:
  // `etag`: of the bundle of this name; another one is parsed anew.  Errors: those of ParseBundle.
  absl::StatusOr<BundleTypesRef> Find(std::string_view name, std::string_view id, std::string_view etag,
                                      std::string_view descriptors);

 private:
  // The limit of the serialized bundles; descriptions take some times as much.
  static constexpr size_t kDescriptorBytesMax = 16 << 20;
  static constexpr size_t kBundlesMax = 100;

  struct Entry {
    std::string name;
    std::string etag;
    size_t bytes = 0;
    BundleTypesRef types;
  };

  absl::Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the one that was used last comes first
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde::sql
