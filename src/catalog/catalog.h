// The tables that there are: names, families, rules; kept as the engine's records, served from memory.
//
// Ids of tables and families are given here and never used twice, so what an engine still holds of something
// that was dropped can never be taken for something new.  A drop is done when its record is written; telling
// the engine, so that it frees the space, is repeated after a crash until it has worked.
//
// Threads: all functions may be called at once; changes go one by one.
#pragma once

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
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "catalog/authorized_views.h"
#include "engine/engine.h"
#include "model/table_schema.h"

namespace sonde {

using TableSchemaRef = std::shared_ptr<const TableSchema>;

// A change of a table's families, google.bigtable.admin.v2.ModifyColumnFamiliesRequest.Modification, checked.
struct CreateFamily {
  FamilySchema family;  // its id is ignored
};
struct UpdateFamily {
  std::string name;
  std::optional<GcRule> gc_rule = std::nullopt;          // unset: it stays
  std::optional<std::string> value_type = std::nullopt;  // unset: it stays
  bool is_aggregate = false;                             // what value_type is: refused
};
struct DropFamily {
  std::string name;
};
using FamilyModification = std::variant<CreateFamily, UpdateFamily, DropFamily>;

class Catalog {
 public:
  // `engine` must outlive the catalog.  DATA_LOSS when a record cannot be read.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(Engine* engine);

  // NOT_FOUND.
  absl::StatusOr<TableSchemaRef> Find(std::string_view table_name) const;
  // Null: there is none.
  TableSchemaRef FindById(TableId id) const;
  // Tables of an instance (projects/P/instances/I) whose id is greater than `after_id`, by id, at most so
  // many.
  std::vector<TableSchemaRef> List(std::string_view instance, std::string_view after_id,
                                   size_t count_max) const;
  std::vector<TableSchemaRef> ListAll() const;

  // The ids of `schema` are ignored; families in any order.  ALREADY_EXISTS; INVALID_ARGUMENT for families
  // named twice; RESOURCE_EXHAUSTED past kTablesMax or kFamiliesPerTableMax.
  absl::StatusOr<TableSchemaRef> Create(TableSchema schema);
  // With its authorized views.  NOT_FOUND; FAILED_PRECONDITION when it or one of them is protected, or when
  // it has a change stream.
  absl::Status Delete(std::string_view table_name);
  // All or nothing, in order.  ALREADY_EXISTS, NOT_FOUND as the first modification that fails says;
  // FAILED_PRECONDITION for a drop in a protected table; INVALID_ARGUMENT for another type of an aggregate.
  absl::StatusOr<TableSchemaRef> Modify(std::string_view table_name,
                                        const std::vector<FamilyModification>& modifications);
  // Alters what is not families: `change` gets a copy of the schema, of which name, id and families must stay
  // as they are.  NOT_FOUND; an error of `change` is the answer and alters nothing.
  using SchemaChange = std::function<absl::Status(TableSchema* schema)>;
  absl::StatusOr<TableSchemaRef> Update(std::string_view table_name, const SchemaChange& change);

  // --- Authorized views.
  // NOT_FOUND.
  absl::StatusOr<AuthorizedViewRef> FindView(std::string_view view_name) const;
  // Views of a table whose id is greater than `after_id`, by id, at most so many.
  std::vector<AuthorizedViewRef> ListViews(std::string_view table_name, std::string_view after_id,
                                           size_t count_max) const;
  // NOT_FOUND: its table is not there; ALREADY_EXISTS; RESOURCE_EXHAUSTED past kAuthorizedViewsMax.
  absl::StatusOr<AuthorizedViewRef> CreateView(AuthorizedView view);
  // `change` gets a copy of the view, whose name must stay as it is.  NOT_FOUND; ABORTED unless `etag` is
  // empty or that of the view as it was.
  using ViewChange = std::function<void(AuthorizedView* view)>;
  absl::StatusOr<AuthorizedViewRef> UpdateView(std::string_view view_name, std::string_view etag,
                                               const ViewChange& change);
  // NOT_FOUND; ABORTED likewise; FAILED_PRECONDITION when it is protected.
  absl::Status DeleteView(std::string_view view_name, std::string_view etag);

 private:
  explicit Catalog(Engine* engine) : engine_(engine) {}
  // Before anybody else has the catalog.
  absl::Status Load() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  absl::Status FinishDrops();

  // What is kept of a table besides its schema.
  struct Table {
    TableSchemaRef schema;
    FamilyId next_family_id = 1;
  };

  absl::Status FinishDrop(const std::string& record_key);
  absl::StatusOr<AuthorizedViewRef> WriteView(AuthorizedView view);
  size_t CountTables() const ABSL_LOCKS_EXCLUDED(mutex_);
  size_t CountViews() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Of a table that is there.
  FamilyId NextFamilyId(std::string_view table_name) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Tells readers of the table as it is from now on.
  void Set(const TableSchemaRef& schema, FamilyId next_family_id);

  Engine* const engine_;
  absl::Mutex change_mutex_;  // held through a change
  TableId next_table_id_ ABSL_GUARDED_BY(change_mutex_) = 1;

  mutable absl::Mutex mutex_;
  std::map<std::string, Table, std::less<>> tables_
      ABSL_GUARDED_BY(mutex_);  // changed only with change_mutex_ held, as are the next
  absl::flat_hash_map<TableId, TableSchemaRef> by_id_ ABSL_GUARDED_BY(mutex_);
  AuthorizedViews views_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
