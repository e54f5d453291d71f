// Histories run on servers and on the naive evaluator, and cut down to what is needed to see a difference.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "request.h"
#include "servers.h"

namespace sonde {

struct Difference {
  size_t step = 0;
  std::string server;
  Outcome expected;  // the naive evaluator's
  Outcome got;
  std::string error_text;  // what the server said, if it refused
};

class Comparison {
 public:
  // Servers on RocksDB, in `directory`, and on the memory engine: one that follows all hints, one that
  // follows none and gives a row cell by cell, and one whose store others might share.  `hbase` (an address as of --store): one server,
  // on this store in HBase, in place of these.
  explicit Comparison(std::string directory, std::string hbase = "")
      : directory_(std::move(directory)), hbase_(std::move(hbase)) {}

  // The first difference.
  std::optional<Difference> Run(const History& history);

  // The least that was found that still shows a difference of the same kind.
  History Shrink(History history, Difference* difference);

 private:
  using Servers = std::vector<std::unique_ptr<ServerUnderTest>>;
  Servers StartServers(const std::string& directory);
  Servers StartHBase();

  const std::string directory_;
  const std::string hbase_;
  SharedClock clock_;
  uint64_t runs_ = 0;
};

// As text protos, with what was expected and what came.
std::string Describe(const History& history, const Difference& difference);

}  // namespace sonde
