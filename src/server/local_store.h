// The embedded engine with all that stands on it, opened as one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "table/tables.h"

namespace sonde {

class LocalStore {
 public:
  // Errors as RocksEngine::Open and Catalog::Open.
  static absl::StatusOr<std::unique_ptr<LocalStore>> Open(const RocksOptions& options);

  ~LocalStore();

  Tables& tables() { return *tables_; }
  RocksEngine& engine() { return *engine_; }

 private:
  LocalStore() = default;

  SystemClock clock_;
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sonde
