// The tables that exist: names, families, rules.  They are kept as the engine's records and served from
// memory.
//
// The catalog gives ids of tables and families and never uses one twice, so data that an engine still holds
// of a dropped table is never taken for a new table's.  A drop is done when its record is written.  The
// engine is told then, so that it frees the space; telling it is repeated after a crash until it has worked.
//
// A table may be deleted so that its rows are kept.  Then its record is among those of deleted tables
// (deleted_tables.h), and the engine still has the table, which nobody finds until Undelete.
//
// Where several servers share the store (EngineTraits::is_shared), each of them has a catalog.  A change is
// written by compare-and-set, and begins anew if another server came between; so no id is given twice.  It is
// reported as done when every server follows it: after CatalogOptions::seen_within (records_lease.h).  A table
// that another server has made is found at once.  A server that cannot reach the store finds no table:
// UNAVAILABLE.  A caller that has written rows asks Confirm whether the schema that it used still held.
//
// Threads: all functions may be called at once; changes are made one by one, but for their waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "catalog/record/authorized_views.h"
#include "catalog/record/deleted_tables.h"
#include "catalog/record/schema_bundles.h"
#include "catalog/record/sql_views.h"
#include "catalog/records_lease.h"
#include "catalog/schema_journal.h"
#include "engine/engine.h"
#include "model/table_schema.h"

namespace sonde {

// A change of a table's families, google.bigtable.admin.v2.ModifyColumnFamiliesRequest.Modification, checked.
struct CreateFamily {
  FamilySchema family;  // its id is ignored
};
struct UpdateFamily {
  std::string name;
  std::optional<GcRule> gc_rule = std::nullopt;          // unset: it stays as it is
  std::optional<std::string> value_type = std::nullopt;  // unset: it stays as it is
  bool is_aggregate = false;                             // `value_type` is an aggregate, which is refused
};
struct DropFamily {
  std::string name;
};
using FamilyModification = std::variant<CreateFamily, UpdateFamily, DropFamily>;

struct CatalogOptions {
  // If several servers share the store: the time within which each of them follows a change of another one.
  // It must be the same for all of them.
  absl::Duration seen_within = absl::Seconds(2);
  // How the engine is to keep the cells of a new table of this name.  None: as it likes best.
  std::function<CellStorage(std::string_view table_name)> storage_of = {};
};

// Records that other parts of the server keep about a resource, and that are deleted with it: its policy.
//
// Threads: both functions are called with the catalog's changes held up.
class Companions {
 public:
  // The keys of all their records begin so.
  virtual std::string_view record_prefix() const = 0;
  // The changes that delete the records of a resource and of all below it.
  virtual std::vector<RecordChange> RecordsToDelete(std::string_view resource) = 0;
  // These changes have been made.
  virtual void OnDeleted(std::string_view resource) = 0;

 protected:
  ~Companions() = default;
};

class Catalog {
 public:
  // `engine` must outlive the catalog.  DATA_LOSS: a record cannot be read.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(Engine* engine, const CatalogOptions& options = {});

  // From now on the records of `companions`, which must outlive the catalog's last change, are deleted with their resources, in one
  // step.
  void Accompany(Companions* companions);
  // From now on each change leaves an event in `journal`, which must outlive the catalog's last change, and new tables whose rows it
  // wants are logged for it.
  void LogChanges(SchemaJournal* journal);
  // Runs `change` while nothing of the catalog changes.  It must not change the catalog itself.
  absl::Status WithoutChanges(absl::FunctionRef<absl::Status()> change);

  // NOT_FOUND: there is no such table.
  absl::StatusOr<TableSchemaRef> Find(std::string_view table_name) const;
  // Returns null if there is no such table.
  TableSchemaRef FindById(TableId id) const;
  // Returns tables of an instance (projects/P/instances/I) whose id is greater than `after_id`, by id, at
  // most `count_max`.
  std::vector<TableSchemaRef> List(std::string_view instance, std::string_view after_id,
                                   size_t count_max) const;
  std::vector<TableSchemaRef> ListAll() const;
  // To be called after rows were written by `schema`.  OK: the rows are not lost to another server's change,
  // which may have dropped a family of them or begun to log changes.  UNKNOWN: they may be lost.  Cheap, and
  // always OK if no other server shares the store.
  absl::Status Confirm(const TableSchema& schema) const;

  // Creates a table.  The ids of `schema` are ignored; its families may be in any order.  ALREADY_EXISTS: the
  // name is in use.  INVALID_ARGUMENT: a family is named twice, or as a field of the row keys.  RESOURCE_EXHAUSTED: more than kTablesMax or
  // kFamiliesPerTableMax.
  absl::StatusOr<TableSchemaRef> Create(TableSchema schema);
  // Gives an id to a table whose rows come before its name: the engine has the table when this returns, and the
  // catalog does not know it.  It is dropped by Abandon, or when a catalog of the store is opened next.
  absl::StatusOr<TableId> Reserve();
  // Creates the table with the id that Reserve gave.  The ids of `schema` and of its families are kept.  Errors: as
  // Create, but for the families' names.  After an error the id is still reserved, unless it is UNAVAILABLE: another server may have
  // opened a catalog of the store.
  absl::StatusOr<TableSchemaRef> CreateReserved(TableSchema schema);
  // Drops a table that was reserved.
  absl::Status Abandon(TableId id);
  // Deletes a table, its authorized views and its schema bundles.  NOT_FOUND: there is no such table.  FAILED_PRECONDITION: the
  // table or one of its views is protected, the table has a change stream, or a logical or materialized view reads from it.
  // `keep_from_micros`: the time since 1970 from which on its rows are kept; nullopt: they are dropped at once, but for those of a
  // journaled table, whose log may not have been copied yet.
  absl::Status Delete(std::string_view table_name, std::optional<int64_t> keep_from_micros = std::nullopt);
  // Brings back the table of this name that was deleted last, protected against deletion, without its views and bundles.
  // NOT_FOUND: no rows of such a table are kept.  ALREADY_EXISTS: the name is in use.  RESOURCE_EXHAUSTED: as Create.
  absl::StatusOr<TableSchemaRef> Undelete(std::string_view table_name);
  // Drops a table that was deleted.  NOT_FOUND: none of this id is kept.
  absl::Status Purge(TableId id);
  // Returns the deleted tables whose rows are kept, those that were deleted first at the front.  There are kDeletedTablesMax at
  // most: one more drops the first.
  std::vector<DeletedTableRef> ListDeleted() const;
  // Applies all modifications in order, or none.  ALREADY_EXISTS, NOT_FOUND: as the first failing
  // modification says. FAILED_PRECONDITION: a drop in a protected table, or of a family that a logical or materialized view
  // needs.  INVALID_ARGUMENT: another type for an aggregate, or a family that is named as a field of the row keys.
  absl::StatusOr<TableSchemaRef> Modify(std::string_view table_name,
                                        const std::vector<FamilyModification>& modifications);
  // Alters a schema, but not its families.  `change` gets a copy of the schema; name, id and families must
  // stay as they are.  NOT_FOUND: there is no such table.  INVALID_ARGUMENT: a field of the row keys is named as
  // a family.  FAILED_PRECONDITION: the row key schema of a table that a materialized view reads from is to change.
  // An error of `change` is the answer, and alters nothing.
  using SchemaChange = std::function<absl::Status(TableSchema* schema)>;
  absl::StatusOr<TableSchemaRef> Update(std::string_view table_name, const SchemaChange& change);

  // Random bytes that every server of the store knows under this name, and nobody else: the key of tokens that
  // must outlive a server.  They are made at the first call.  Errors: those of the engine.
  static constexpr size_t kSecretBytes = 32;
  absl::StatusOr<std::string> Secret(std::string_view name);

  // --- Authorized views.
  // NOT_FOUND: there is no such view.
  absl::StatusOr<AuthorizedViewRef> FindView(std::string_view view_name) const;
  // Returns views of a table whose id is greater than `after_id`, by id, at most `count_max`.
  std::vector<AuthorizedViewRef> ListViews(std::string_view table_name, std::string_view after_id,
                                           size_t count_max) const;
  // NOT_FOUND: the view's table does not exist.  ALREADY_EXISTS: the name is in use.  RESOURCE_EXHAUSTED:
  // more than kAuthorizedViewsMax.
  absl::StatusOr<AuthorizedViewRef> CreateView(AuthorizedView view);
  // `change` gets a copy of the view, whose name must stay as it is.  NOT_FOUND: there is no such view.
  // ABORTED: `etag` is neither empty nor that of the view as it was.
  using ViewChange = std::function<void(AuthorizedView* view)>;
  absl::StatusOr<AuthorizedViewRef> UpdateView(std::string_view view_name, std::string_view etag,
                                               const ViewChange& change);
  // NOT_FOUND: there is no such view.  ABORTED: as UpdateView.  FAILED_PRECONDITION: the view is protected.
  absl::Status DeleteView(std::string_view view_name, std::string_view etag);

  // --- Schema bundles.  The catalog does not look into their descriptors.
  // NOT_FOUND: there is no such bundle.
  absl::StatusOr<SchemaBundleRef> FindBundle(std::string_view bundle_name) const;
  // Returns the bundles of a table, by id.
  std::vector<SchemaBundleRef> ListBundles(std::string_view table_name) const;
  // The etag of `bundle` is ignored.  NOT_FOUND: the bundle's table does not exist.  ALREADY_EXISTS: the name is in use.
  // RESOURCE_EXHAUSTED: more than kSchemaBundlesPerTableMax.
  absl::StatusOr<SchemaBundleRef> CreateBundle(SchemaBundle bundle);
  // `change` gets a copy of the bundle, whose name must stay as it is; an error of it is the answer, and alters nothing.
  // NOT_FOUND: there is no such bundle.  ABORTED: `etag` is neither empty nor that of the bundle as it was.
  using BundleChange = std::function<absl::Status(SchemaBundle* bundle)>;
  absl::StatusOr<SchemaBundleRef> UpdateBundle(std::string_view bundle_name, std::string_view etag,
                                               const BundleChange& change);
  // NOT_FOUND: there is no such bundle.  ABORTED: as UpdateBundle.
  absl::Status DeleteBundle(std::string_view bundle_name, std::string_view etag);

  // --- Logical views.  The catalog does not look into their queries.
  // NOT_FOUND: there is no such view.
  absl::StatusOr<LogicalViewRef> FindLogicalView(std::string_view view_name) const;
  // Returns views of an instance whose id is greater than `after_id`, by id, at most `count_max`.
  std::vector<LogicalViewRef> ListLogicalViews(std::string_view instance, std::string_view after_id,
                                               size_t count_max) const;
  std::vector<LogicalViewRef> ListAllLogicalViews() const;
  // ALREADY_EXISTS: the name is in use.  ABORTED: a table or view that the definition reads from is no longer as it was when
  // the definition was bound.  RESOURCE_EXHAUSTED: more than kLogicalViewsPerInstanceMax or kSqlViewsBytesMax.
  absl::StatusOr<LogicalViewRef> CreateLogicalView(LogicalViewRecord view);
  // `change` gets a copy of the view, whose name must stay as it is.  NOT_FOUND: there is no such view.
  // ABORTED: as CreateLogicalView, or `etag` is neither empty nor that of the view as it was.  RESOURCE_EXHAUSTED: more than
  // kSqlViewsBytesMax.
  using LogicalViewChange = std::function<void(LogicalViewRecord* view)>;
  absl::StatusOr<LogicalViewRef> UpdateLogicalView(std::string_view view_name, std::string_view etag,
                                                   const LogicalViewChange& change);
  // NOT_FOUND: there is no such view.  ABORTED: the etag, as UpdateLogicalView.  FAILED_PRECONDITION: the view is protected, or a
  // view reads from it.
  absl::Status DeleteLogicalView(std::string_view view_name, std::string_view etag);

  // --- Materialized views.
  // NOT_FOUND: there is no such view.
  absl::StatusOr<MaterializedViewRef> FindMaterializedView(std::string_view view_name) const;
  // Returns views of an instance whose id is greater than `after_id`, by id, at most `count_max`.
  std::vector<MaterializedViewRef> ListMaterializedViews(std::string_view instance, std::string_view after_id,
                                                         size_t count_max) const;
  std::vector<MaterializedViewRef> ListAllMaterializedViews() const;
  // Another number after views were created, altered or deleted; for those who keep up with ListAllMaterializedViews.
  uint64_t MaterializedViewsVersion() const { return materialized_views_version_.load(); }
  // Gives the view's own tables their ids, and the ids of their families; the engine has them when this returns.
  // ALREADY_EXISTS, ABORTED: as CreateLogicalView.  RESOURCE_EXHAUSTED: more than kMaterializedViewsPerInstanceMax,
  // kMaterializedViewsPerTableMax or kSqlViewsBytesMax.
  absl::StatusOr<MaterializedViewRef> CreateMaterializedView(MaterializedViewRecord view);
  // `change` gets a copy of the view, and may alter its protection and its state.  NOT_FOUND: there is no such view.
  // ABORTED: `etag` is neither empty nor that of the view as it was.
  using MaterializedViewChange = std::function<void(MaterializedViewRecord* view)>;
  absl::StatusOr<MaterializedViewRef> UpdateMaterializedView(std::string_view view_name,
                                                             std::string_view etag,
                                                             const MaterializedViewChange& change);
  // Deletes a view and its own tables.  Errors: as DeleteLogicalView.
  absl::Status DeleteMaterializedView(std::string_view view_name, std::string_view etag);

  // Deletes all logical and materialized views of an instance in one step, whichever reads from which.  FAILED_PRECONDITION: one of
  // them is protected.
  absl::Status DeleteSqlViews(std::string_view instance);

 private:
  Catalog(Engine* engine, const CatalogOptions& options) : engine_(engine), storage_of_(options.storage_of) {}

  // A table: its schema, and the catalog's own facts.
  struct Table {
    TableSchemaRef schema;
    FamilyId next_family_id = 1;
  };
  // The tables, views and bundles that the catalog serves.
  struct State {
    std::map<std::string, Table, std::less<>> tables;
    absl::flat_hash_map<TableId, TableSchemaRef> by_id;  // those that materialized views own, too
    AuthorizedViews views;
    SchemaBundles bundles;
    SqlViews sql_views;
    DeletedTables deleted;
    TableId next_table_id = 1;
    std::map<std::string, int64_t, std::less<>> versions;  // by key of the record

    void Set(const TableSchemaRef& schema, FamilyId next_family_id);
    void Erase(const TableSchema& schema);
    // What the state has of a view, whose record was written or read.
    void Set(const LogicalViewRef& view);
    void Set(const MaterializedViewRef& view);
    void EraseSqlView(std::string_view view_name);
  };

  // Reads all records; tells the engine of the tables that this server did not know.
  absl::Status Load();
  absl::StatusOr<State> ReadState() const;
  absl::Status ReadSqlViews(State* state) const;
  absl::Status TellEngine(const TableSchema& schema);
  // Whether a record, of a table, of a deleted one or of a materialized view, has the id of this table.
  absl::StatusOr<bool> HasRecord(const TableSchema& schema) const;
  absl::StatusOr<bool> HasRecordOfView(const TableSchema& schema) const;
  absl::Status FinishDrops();
  absl::Status FinishDrop(const std::string& record_key);

  // Makes a change again and again, as long as another server comes between (`overtaken_`).
  template <typename Change>
  auto Repeat(const Change& change) -> decltype(change());
  // Writes all changes or none.  If the store is shared, writes only if no record has changed since it was
  // read. ABORTED, with `overtaken_` set: a record has changed; the served state is read anew.
  // `dropped`: a table whose log goes with the change.
  absl::Status Write(std::vector<RecordChange> changes, std::optional<DroppedLog> dropped = std::nullopt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::Status WriteShared(std::vector<RecordChange> changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // Whether the records are as these changes make them.
  absl::StatusOr<bool> AreWritten(const std::vector<RecordChange>& changes) const;
  // Waits until all servers have seen the last change.  Does not wait if there are no others.
  void WaitUntilSeen() const;

  absl::StatusOr<Table> FindTable(std::string_view table_name) const;
  absl::StatusOr<Table> LookUp(std::string_view table_name) const;
  absl::StatusOr<TableSchemaRef> TryCreate(TableSchema schema) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<TableId> TryReserve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<TableSchemaRef> TryCreateReserved(TableSchema schema)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // ALREADY_EXISTS, RESOURCE_EXHAUSTED: as Create.
  absl::Status CheckIsFree(std::string_view table_name) const;
  absl::StatusOr<TableSchemaRef> TryModify(std::string_view table_name,
                                           const std::vector<FamilyModification>& modifications,
                                           std::vector<std::string>* dropping)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<TableSchemaRef> TryUpdate(std::string_view table_name, const SchemaChange& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // FAILED_PRECONDITION: a logical or materialized view reads from the table, or needs the family.
  absl::Status CheckIsUnread(const TableSchema& schema, const FamilySchema* family) const;
  // FAILED_PRECONDITION: the row key schemas differ, and a materialized view reads from the table.
  absl::Status CheckMaySetKeySchema(const TableSchema& before, const TableSchema& after) const;
  // Writes the table's new schema, and tells the engine.
  absl::StatusOr<TableSchemaRef> WriteTable(TableSchema schema, FamilyId next_family_id,
                                            std::vector<RecordChange> records)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // Returns the key of the record of a drop; empty: the table is kept.
  absl::StatusOr<std::string> TryDelete(std::string_view table_name, std::optional<int64_t> keep_from_micros)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<TableSchemaRef> TryUndelete(std::string_view table_name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // Returns the key of the record of the drop.
  absl::StatusOr<std::string> TryPurge(TableId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<AuthorizedViewRef> TryCreateView(AuthorizedView view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<AuthorizedViewRef> TryUpdateView(std::string_view view_name, std::string_view etag,
                                                  const ViewChange& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::Status TryDeleteView(std::string_view view_name, std::string_view etag)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<AuthorizedViewRef> WriteView(AuthorizedView view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<SchemaBundleRef> TryCreateBundle(SchemaBundle bundle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<SchemaBundleRef> TryUpdateBundle(std::string_view bundle_name, std::string_view etag,
                                                  const BundleChange& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::Status TryDeleteBundle(std::string_view bundle_name, std::string_view etag)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<SchemaBundleRef> WriteBundle(SchemaBundle bundle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);

  // --- Logical and materialized views (catalog_sql_views.cc).
  template <typename View>
  absl::StatusOr<std::shared_ptr<const View>> FindSqlView(std::string_view view_name) const;
  template <typename View>
  std::vector<std::shared_ptr<const View>> ListSqlViews(std::string_view prefix, std::string_view after_id,
                                                        size_t count_max) const;
  absl::StatusOr<LogicalViewRef> TryCreateLogicalView(LogicalViewRecord view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<LogicalViewRef> TryUpdateLogicalView(std::string_view view_name, std::string_view etag,
                                                      const LogicalViewChange& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<MaterializedViewRef> TryCreateMaterializedView(MaterializedViewRecord view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<MaterializedViewRef> TryUpdateMaterializedView(std::string_view view_name,
                                                                std::string_view etag,
                                                                const MaterializedViewChange& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // Returns the keys of the records of drops.
  template <typename View>
  absl::StatusOr<std::vector<std::string>> TryDeleteSqlView(std::string_view view_name, std::string_view etag)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::StatusOr<std::vector<std::string>> TryDeleteSqlViews(std::string_view instance)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // Writes the end of these views.  Returns as TryDeleteSqlView.
  absl::StatusOr<std::vector<std::string>> EraseSqlViews(const std::vector<LogicalViewRef>& logical,
                                                         const std::vector<MaterializedViewRef>& materialized)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  template <typename View>
  absl::StatusOr<std::shared_ptr<const View>> WriteSqlView(View view, std::vector<RecordChange> records)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // ABORTED: a source is no longer as it was when the definition was bound.  Where servers share the store, adds changes that hold
  // the sources as they are.
  absl::Status HoldSource(const ViewSource& source, std::vector<RecordChange>* records)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::Status HoldSources(const LogicalViewRecord& view, std::vector<RecordChange>* records)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::Status FinishDropsOf(const absl::StatusOr<std::vector<std::string>>& dropping);

  // Adds the changes that delete the companions of a resource.
  void AddCompanions(std::string_view resource, std::vector<RecordChange>* changes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  void TellCompanions(std::string_view resource) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);

  Engine* const engine_;
  const std::function<CellStorage(std::string_view table_name)> storage_of_;  // of CatalogOptions
  absl::Mutex change_mutex_;  // held through a change, but for its waits
  bool overtaken_ ABSL_GUARDED_BY(change_mutex_) = false;
  Companions* companions_ ABSL_GUARDED_BY(change_mutex_) = nullptr;  // null: there are none
  std::atomic<uint64_t> materialized_views_version_ = 0;
  SchemaJournal* journal_ ABSL_GUARDED_BY(change_mutex_) = nullptr;  // null: changes leave no events

  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  // Null: no other server shares the store.  Last, since its thread uses the members above.
  std::unique_ptr<RecordsLease> lease_;
};

template <typename Change>
auto Catalog::Repeat(const Change& change) -> decltype(change()) {
  constexpr int kAttemptsMax = 100;
  const absl::MutexLock lock(&change_mutex_);
  for (int attempt = 1;; ++attempt) {
    overtaken_ = false;
    auto result = change();
    if (!overtaken_ || attempt == kAttemptsMax) return result;
  }
}

}  // namespace sonde
