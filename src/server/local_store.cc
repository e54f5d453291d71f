#include "server/local_store.h"

#include "base/random.h"

namespace sonde {

absl::StatusOr<std::unique_ptr<LocalStore>> LocalStore::Open(const RocksOptions& options) {
  std::unique_ptr<LocalStore> store(new LocalStore());
  absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(options);
  if (!engine.ok()) return engine.status();
  store->engine_ = *std::move(engine);
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(store->engine_.get());
  if (!catalog.ok()) return catalog.status();
  store->catalog_ = *std::move(catalog);
  store->tables_ = std::make_unique<Tables>(store->engine_.get(), store->catalog_.get(), &store->clock_,
                                            SystemRandom().Next());
  return store;
}

}  // namespace sonde
