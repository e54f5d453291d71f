// The tables that exist: names, families, rules.  They are kept as the engine's records and served from
// memory.
//
// The catalog gives ids of tables and families and never uses one twice, so data that an engine still holds
// of a dropped table is never taken for a new table's.  A drop is done when its record is written.  The
// engine is told then, so that it frees the space; telling it is repeated after a crash until it has worked.
//
// Threads: all functions may be called at once; changes go one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  std::optional<GcRule> gc_rule = std::nullopt;          // unset: it stays as it is
  std::optional<std::string> value_type = std::nullopt;  // unset: it stays as it is
  bool is_aggregate = false;                             // `value_type` is an aggregate, which is refused
};
struct DropFamily {
  std::string name;
};
using FamilyModification = std::variant<CreateFamily, UpdateFamily, DropFamily>;

class Catalog {
 public:
  // `engine` must outlive the catalog.  DATA_LOSS when a record cannot be read.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(Engine* engine);

  // NOT_FOUND: there is no such table.
  absl::StatusOr<TableSchemaRef> Find(std::string_view table_name) const;
  // Returns null if there is no such table.
  TableSchemaRef FindById(TableId id) const;
  // Returns tables of an instance (projects/P/instances/I) whose id is greater than `after_id`, by id, at
  // most `count_max`.
  std::vector<TableSchemaRef> List(std::string_view instance, std::string_view after_id,
                                   size_t count_max) const;
  std::vector<TableSchemaRef> ListAll() const;

  // Creates a table.  The ids of `schema` are ignored; its families may be in any order.  ALREADY_EXISTS: the
  // name is in use.  INVALID_ARGUMENT: a family is named twice.  RESOURCE_EXHAUSTED: more than kTablesMax or
  // kFamiliesPerTableMax.
  absl::StatusOr<TableSchemaRef> Create(TableSchema schema);
  // Deletes a table and its authorized views.  NOT_FOUND: there is no such table.  FAILED_PRECONDITION: the
  // table or one of its views is protected, or the table has a change stream.
  absl::Status Delete(std::string_view table_name);
  // Applies all modifications in order, or none.  ALREADY_EXISTS, NOT_FOUND: as the first failing
  // modification says. FAILED_PRECONDITION: a drop in a protected table.  INVALID_ARGUMENT: another type for
  // an aggregate.
  absl::StatusOr<TableSchemaRef> Modify(std::string_view table_name,
                                        const std::vector<FamilyModification>& modifications);
  // Alters a schema, but not its families.  `change` gets a copy of the schema; name, id and families must
  // stay as they are.  NOT_FOUND: there is no such table.  An error of `change` is the answer, and alters
  // nothing.
  using SchemaChange = std::function<absl::Status(TableSchema* schema)>;
  absl::StatusOr<TableSchemaRef> Update(std::string_view table_name, const SchemaChange& change);

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

 private:
  explicit Catalog(Engine* engine) : engine_(engine) {}
  absl::Status Load();
  absl::Status FinishDrops();

  // A table: its schema, and the catalog's own facts.
  struct Table {
    TableSchemaRef schema;
    FamilyId next_family_id = 1;
  };

  absl::Status FinishDrop(const std::string& record_key);
  absl::StatusOr<AuthorizedViewRef> WriteView(AuthorizedView view);
  // Tells readers of the table as it is from now on.
  void Set(const TableSchemaRef& schema, FamilyId next_family_id);

  Engine* const engine_;
  std::mutex change_mutex_;    // held through a change
  TableId next_table_id_ = 1;  // guarded by change_mutex_

  mutable std::shared_mutex mutex_;
  std::map<std::string, Table, std::less<>>
      tables_;  // guarded by mutex_; changed only with change_mutex_ held
  absl::flat_hash_map<TableId, TableSchemaRef> by_id_;  // likewise
  AuthorizedViews views_;                               // likewise
};

}  // namespace sonde
