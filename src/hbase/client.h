// A client of an HBase cluster, by HBase's own RPC with SIMPLE authentication, in plain text or by TLS.  Kerberos is not built.
//
// HBase 2.5 and later tell through any master or region server where things are, so ZooKeeper is not asked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hbase/call/servers.h"
#include "hbase/regions.h"
#include "hbase/row_scan.h"
#include "hbase/rows.h"
#include "hbase/tables.h"

namespace sonde::hbase {

struct ClientOptions {
  std::vector<ServerAddress> roots;  // masters or region servers; at least one
  std::string user = "sonde";
  // HBase opens the regions of a server that is away elsewhere: who still waits for a connection to that server comes late.
  absl::Duration connect_timeout = absl::Milliseconds(1'200);
  absl::Duration timeout = absl::Seconds(5);  // of one try, beside the time that its bytes take
  bool sync = false;                          // changes are answered when they are on disks
  std::optional<TlsToServers> tls = {};       // nullopt: plain text
};

// Threads: its parts may be used by many at once.  All calls and scans must have ended before it does.
class Client {
 public:
  // Asks nothing of the cluster yet.  INVALID_ARGUMENT: there are no roots.  RESOURCE_EXHAUSTED: there is no descriptor for the loop.  Those of
  // tls::ClientContext::Load.
  static absl::StatusOr<std::unique_ptr<Client>> Create(ClientOptions options);

  Rows* rows() { return &rows_; }
  Tables* tables() { return &tables_; }
  Regions* regions() { return &regions_; }
  Servers* servers() { return servers_.get(); }
  std::unique_ptr<RowScan> Scan(TableName table, ScanRange range, CellChoice choice, ScanBounds bounds,
                                absl::Time deadline);

 private:
  Client(ClientOptions options, std::unique_ptr<Servers> servers);

  const ClientOptions options_;
  const std::unique_ptr<Servers> servers_;
  Regions regions_;
  Rows rows_;
  Tables tables_;
};

}  // namespace sonde::hbase
