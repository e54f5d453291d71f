#include "server/local_store.h"

#include "base/random.h"

namespace sonde {
namespace {

// What the engine may drop.  Where changes are logged, what is collected is, too: by a delete
// (table/collect_garbage.h).
GcRuleEvaluator GcRuleOf(const Catalog& catalog, TableId table, FamilyId family_id, int64_t now_micros) {
  for (const TableSchemaRef& schema : catalog.ListAll()) {
    if (schema->id != table || schema->change_stream.has_value()) continue;
    const FamilySchema* const family = schema->FindFamily(family_id);
    if (family != nullptr) return {family->gc_rule, now_micros};
  }
  return {};
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalStore>> LocalStore::Open(const RocksOptions& options) {
  std::unique_ptr<LocalStore> store(new LocalStore());
  absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(options);
  if (!engine.ok()) return engine.status();
  store->engine_ = *std::move(engine);
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(store->engine_.get());
  if (!catalog.ok()) return catalog.status();
  store->catalog_ = *std::move(catalog);
  store->engine_->SetGcRules([store = store.get()](TableId table, FamilyId family) {
    return GcRuleOf(*store->catalog_, table, family, store->clock_.NowMicros());
  });
  store->tables_ = std::make_unique<Tables>(store->engine_.get(), store->catalog_.get(), &store->clock_,
                                            SystemRandom().Next());
  return store;
}

LocalStore::~LocalStore() {
  if (engine_ != nullptr) engine_->SetGcRules(nullptr);  // they use the catalog
}

}  // namespace sonde
