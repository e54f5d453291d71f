#include "server/local_store.h"

#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "table/row_assembler.h"

namespace sonde {
absl::StatusOr<std::unique_ptr<LocalStore>> LocalStore::Open(const RocksOptions& options, bool watch) {
  std::unique_ptr<LocalStore> store(new LocalStore(options.large_room));
  absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(options);
  if (!engine.ok()) return engine.status();
  store->rocks_ = engine->get();
  store->engine_ = *std::move(engine);
  if (absl::Status status = store->OpenRest(options.data_dir, watch); !status.ok()) return status;
  return store;
}

absl::StatusOr<std::unique_ptr<LocalStore>> LocalStore::OpenHBase(ClusterStoreOptions options,
                                                                  const std::string& directory,
                                                                  LargeRoom* large_room, bool watch) {
  std::unique_ptr<LocalStore> store(new LocalStore(large_room));
  absl::StatusOr<std::unique_ptr<StateDirectory>> taken = StateDirectory::Take(directory);
  if (!taken.ok()) return taken.status();
  store->directory_ = *std::move(taken);
  absl::StatusOr<std::unique_ptr<HBaseEngine>> engine = HBaseEngine::Open(options.engine);
  if (!engine.ok()) return engine.status();
  hbase::Client* const client = (*engine)->client();
  store->engine_ = *std::move(engine);
  const CatalogOptions catalog_options{.storage_of = std::move(options.storage_of)};
  if (absl::Status status = store->OpenRest(directory, watch, catalog_options); !status.ok()) return status;
  if (options.settler.has_value()) {
    store->settler_ = std::make_unique<Settler>(client, options.engine.address.space, *options.settler);
    store->settler_->Start(std::move(options.tell_error));
  }
  return store;
}

absl::Status LocalStore::OpenRest(const std::string& directory, bool watch,
                                  const CatalogOptions& catalog_options) {
  absl::StatusOr<std::unique_ptr<PolicyStore>> policies = PolicyStore::Open(engine_.get());
  if (!policies.ok()) return policies.status();
  policies_ = *std::move(policies);
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(engine_.get(), catalog_options);
  if (!catalog.ok()) return catalog.status();
  catalog_ = *std::move(catalog);
  catalog_->Accompany(policies_.get());
  if (watch) {
    absl::StatusOr<std::unique_ptr<KeyVisualizer>> key_visualizer = KeyVisualizer::Open(
        {.directory = std::filesystem::path(directory) / "keyviz",
         .measure_row = [this](TableId table, const std::string& row_key,
                               uint64_t bytes_max) { return MeasureRow(table, row_key, bytes_max); },
         .seed = SystemRandom().Next()},
        &clock_);
    if (!key_visualizer.ok()) return key_visualizer.status();
    key_visualizer_ = *std::move(key_visualizer);
    key_visualizer_->Start();
  }
  tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, SystemRandom().Next(),
                                     key_visualizer_.get());
  return absl::OkStatus();
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
