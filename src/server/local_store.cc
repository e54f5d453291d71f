#include "server/local_store.h"

#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "table/row_assembler.h"

namespace sonde {
absl::StatusOr<std::unique_ptr<LocalStore>> LocalStore::Open(const RocksOptions& options, bool watch) {
  std::unique_ptr<LocalStore> store(new LocalStore(options.large_room));
  absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(options);
  if (!engine.ok()) return engine.status();
  store->engine_ = *std::move(engine);
  absl::StatusOr<std::unique_ptr<PolicyStore>> policies = PolicyStore::Open(store->engine_.get());
  if (!policies.ok()) return policies.status();
  store->policies_ = *std::move(policies);
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(store->engine_.get());
  if (!catalog.ok()) return catalog.status();
  store->catalog_ = *std::move(catalog);
  store->catalog_->Accompany(store->policies_.get());
  if (watch) {
    LocalStore* const raw = store.get();
    absl::StatusOr<std::unique_ptr<KeyVisualizer>> key_visualizer = KeyVisualizer::Open(
        {.directory = std::filesystem::path(options.data_dir) / "keyviz",
         .measure_row = [raw](TableId table, const std::string& row_key,
                              uint64_t bytes_max) { return raw->MeasureRow(table, row_key, bytes_max); },
         .seed = SystemRandom().Next()},
        &store->clock_);
    if (!key_visualizer.ok()) return key_visualizer.status();
    store->key_visualizer_ = *std::move(key_visualizer);
    store->key_visualizer_->Start();
  }
  store->tables_ = std::make_unique<Tables>(store->engine_.get(), store->catalog_.get(), &store->clock_,
                                            SystemRandom().Next(), store->key_visualizer_.get());
  return store;
}

absl::StatusOr<uint64_t> LocalStore::MeasureRow(TableId table, const std::string& row_key,
                                                uint64_t bytes_max) {
  ReadHints hints;
  if (const TableSchemaRef schema = catalog_->FindById(table); schema != nullptr)
    hints.families = FamilyIds(*schema);
  absl::StatusOr<std::unique_ptr<RowStream>> stream = engine_->Scan(
      table, {{row_key, Successor(row_key)}},
      {.hints = std::move(hints),
       .take_large = large_room_ == nullptr ? nullptr : TakeForEntries(large_room_, WhenFull::kRefuse)});
  if (!stream.ok()) return stream.status();
  uint64_t bytes = 0;
  RowPiece piece;
  while (bytes < bytes_max) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) break;
    for (const CellView& cell : piece.cells) bytes += cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

}  // namespace sonde
