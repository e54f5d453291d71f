// The logical and materialized views of all instances, kept as the engine's records and served from memory.  They belong to the
// catalog, which alone knows which tables exist.
//
// Records: JSON with a version, so that a person can read them (docs/formats/data-directory.md).
// Ownership: views are shared and never changed; an altered view is a new record.
// Threads: it has no lock of its own; the catalog locks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/record_store.h"
#include "model/cell.h"
#include "model/table_schema.h"

namespace sonde {

// A table that a definition reads from, and the families of it that the definition needs.
struct ViewSource {
  std::string table;  // projects/P/instances/I/tables/T
  TableId table_id = 0;
  std::vector<FamilyId> families;

  bool operator==(const ViewSource&) const = default;
};

struct LogicalViewRecord {
  static constexpr std::string_view kRecordPrefix = "logicalView/";  // + name

  std::string name;   // projects/P/instances/I/logicalViews/V
  std::string query;  // as the client gave it, byte for byte
  bool deletion_protection = false;
  std::vector<ViewSource> tables;  // that the query itself reads from, each once
  std::vector<std::string>
      views;  // names of the logical and materialized views that it reads from, each once

  bool operator==(const LogicalViewRecord&) const = default;
};

struct MaterializedViewRecord {
  static constexpr std::string_view kRecordPrefix = "materializedView/";  // + name
  enum class State : uint8_t {
    kPopulating = 0,  // the rows that the source had when the view was created are not all in it yet
    kReady = 1,
  };

  std::string name;   // projects/P/instances/I/materializedViews/V
  std::string query;  // as the client gave it, byte for byte
  bool deletion_protection = false;
  ViewSource source;
  // How SQL shows its rows, as the items of a SELECT: each column, of the query's type, by the key and the cells of a row of `storage`.
  std::string shown_columns;
  // Set if the view's rows have times: the items of a SELECT over the rows with history.  UNPACK makes a row for each time of them, and
  // `shown_columns` read those.  Empty: `shown_columns` read the view's rows as they are.
  std::string unpacked_columns;
  State state = State::kPopulating;
  // Two tables of the engine that belong to the view: their ids are never used twice, the engine has them as long as the view
  // exists, and nobody finds them among the tables.  Both have the view's name.  The id of `storage` tells views apart that had one name.
  TableSchemaRef storage;   // the rows that the view shows
  TableSchemaRef workings;  // what it takes to keep them
};

using LogicalViewRef = std::shared_ptr<const LogicalViewRecord>;
using MaterializedViewRef = std::shared_ptr<const MaterializedViewRecord>;

// Returns a text that changes when what clients see of the view does, for clients that change only what they have seen.
std::string EtagOf(const LogicalViewRecord& view);
std::string EtagOf(const MaterializedViewRecord& view);

// The change of a record that stores a view.
RecordChange RecordOf(const LogicalViewRecord& view);
RecordChange RecordOf(const MaterializedViewRecord& view);

// Views of one kind by name.
template <typename View>
class ViewsByName {
 public:
  using Ref = std::shared_ptr<const View>;

  // Loads the views from all of their records.  DATA_LOSS: a record is damaged.
  absl::Status Load(const std::vector<Record>& records);

  // Returns null if there is no such view.
  Ref Find(std::string_view name) const;
  // Returns views whose names begin with `prefix` and are greater than prefix + after_id, by name, at most `count_max`.
  std::vector<Ref> List(std::string_view prefix, std::string_view after_id, size_t count_max) const;
  // Returns the first view that is so; null: none is.
  Ref FindIf(absl::FunctionRef<bool(const View& view)> is_so) const;
  size_t CountIf(absl::FunctionRef<bool(const View& view)> is_so) const;

  void Put(Ref view);
  void Erase(std::string_view name);

 private:
  std::map<std::string, Ref, std::less<>> views_;
};

struct SqlViews {
  ViewsByName<LogicalViewRecord> logical;
  ViewsByName<MaterializedViewRecord> materialized;

  // Returns the name of a view that reads from the table; empty: none does.
  std::string ReaderOf(TableId table) const;
  // Returns the name of a view that needs the family; empty: none does.
  std::string ReaderOf(TableId table, FamilyId family) const;
  // Returns the name of a view that reads from the view; empty: none does.
  std::string ReaderOf(std::string_view view_name) const;

  // RESOURCE_EXHAUSTED: all views would take more than kSqlViewsBytesMax with this one, in the place of one of its name.
  absl::Status CheckRoomFor(std::string_view view_name, std::string_view query) const;
};

}  // namespace sonde
