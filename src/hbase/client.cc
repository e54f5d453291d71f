#include "hbase/client.h"

namespace sonde::hbase {

absl::StatusOr<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  if (options.roots.empty()) return absl::InvalidArgumentError("No master of HBase is named");
  absl::StatusOr<std::unique_ptr<Servers>> servers =
      Servers::Create({options.user, options.connect_timeout, options.tls});
  if (!servers.ok()) return servers.status();
  return std::unique_ptr<Client>(new Client(std::move(options), *std::move(servers)));
}

Client::Client(ClientOptions options, std::unique_ptr<Servers> servers)
    : options_(std::move(options)),
      servers_(std::move(servers)),
      regions_(servers_.get(), options_.roots, options_.timeout),
      rows_(servers_.get(), &regions_, {options_.timeout, options_.sync}),
      tables_(servers_.get(), &regions_, options_.timeout) {}

std::unique_ptr<RowScan> Client::Scan(TableName table, ScanRange range, CellChoice choice, ScanBounds bounds,
                                      absl::Time deadline) {
  return std::make_unique<RowScan>(servers_.get(), &regions_, std::move(table), std::move(range),
                                   std::move(choice), RowScanOptions{options_.timeout, bounds}, deadline);
}

}  // namespace sonde::hbase
