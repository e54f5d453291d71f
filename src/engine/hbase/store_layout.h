// A store of Sonde's as tables of an HBase namespace.
//
//   NAMESPACE:catalog     one row, "records" (records.h)
//   NAMESPACE:t00000007   the table with the id 7, in hexadecimal; its cells are as stored_cells.h says
// A namespace is a store's if it has the table `catalog`, or no table at all.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/row_store.h"
#include "hbase/client.h"
#include "model/cell.h"

namespace sonde {

// hbase://HOST[:PORT][,HOST[:PORT]...]/NAMESPACE: masters of the cluster (port 16000 without one), and where the store is.
struct HBaseStoreAddress {
  std::vector<hbase::ServerAddress> masters;
  std::string space;
};
constexpr uint16_t kHBaseMasterPort = 16000;
constexpr std::string_view kHBaseScheme = "hbase://";

// INVALID_ARGUMENT: it is no such address.
absl::StatusOr<HBaseStoreAddress> ParseHBaseStore(std::string_view text);

// How the cluster is reached, of the values of the flags FLAG-ca, FLAG-certificate, FLAG-key and FLAG-server-name; empty: not given.
// nullopt: in plain text.  INVALID_ARGUMENT, naming the flags: some are given without one that they need.
absl::StatusOr<std::optional<hbase::TlsToServers>> StoreTlsOf(std::string_view flag,
                                                              const hbase::TlsToServers& given);

hbase::TableName CatalogTable(std::string_view space);
hbase::TableName CellsTable(std::string_view space, TableId table);
// nullopt: it is no table of cells.
std::optional<TableId> CellsTableId(const hbase::TableName& table);

// Of a cell with its key and names: room for a value of 100 MiB.  A table says so itself, whatever the cluster's
// hbase.server.keyvalue.maxsize is.
constexpr size_t kCellBytesMax = 110'000'000;
constexpr char kCellBytesAttribute[] = "hbase.server.keyvalue.maxsize";

// How the store makes its tables; beside it a table may have the family of change logs (log/stored_log.h).  The families of
// HBase's tell how a table keeps its cells (packed/packed_cells.h).
hbase::TableSchema SchemaOf(const hbase::TableName& table, CellStorage storage);
CellStorage StorageOf(const hbase::TableSchema& schema);

// Makes a table as `spec` says, or waits until the one is there that another server makes at this moment.  Errors: those of hbase::Tables.
absl::Status MakeTable(hbase::Client* client, const hbase::TableName& table, const TableSpec& spec,
                       absl::Time deadline);

// What a namespace has, as it was found; nothing is written.
struct StoreFacts {
  std::string hbase_version;
  size_t servers_count = 0;
  bool has_namespace = false;
  bool has_catalog = false;
  std::vector<TableId> tables;              // those of cells
  std::map<TableId, CellStorage> storages;  // the same tables
  std::vector<std::string> faults;  // why it is no store of Sonde's, or not as Sonde made it: a sentence each
  std::vector<std::string> notices;  // what a store may live with
};
// UNAVAILABLE: the cluster does not answer, or has no region server.
absl::StatusOr<StoreFacts> LookAtStore(hbase::Client* client, const HBaseStoreAddress& address,
                                       absl::Time deadline);

// Finds the store in the namespace, or makes it where there is nothing.
//  FAILED_PRECONDITION  HBase's version is another, or the namespace has tables that are not Sonde's, or are not as Sonde made them
//  UNAVAILABLE          the cluster does not answer, or has no region server
absl::Status PrepareStore(hbase::Client* client, const HBaseStoreAddress& address, absl::Time deadline);

}  // namespace sonde
