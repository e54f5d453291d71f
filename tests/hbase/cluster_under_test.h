// The cluster that tests/hbase/run has brought up, and tables in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "hbase/client.h"

namespace sonde::hbase {

inline absl::Time InAMinute() { return absl::Now() + absl::Minutes(1); }

// How that cluster is reached.
inline std::optional<TlsToServers> TlsOfCluster() {
  const auto path_of = [](const char* name) {
    const char* const path = std::getenv(name);
    return std::string(path == nullptr ? "" : path);
  };
  TlsToServers tls;
  tls.files = {path_of("SONDE_STORE_TLS_CA"), path_of("SONDE_STORE_TLS_CERTIFICATE"),
               path_of("SONDE_STORE_TLS_KEY")};
  return tls.files.ca.empty() ? std::nullopt : std::optional(tls);
}

class ClusterTest : public testing::Test {
 protected:
  // Options that name the first master.
  static ClientOptions RootsOfCluster() {
    const char* const masters = std::getenv("SONDE_HBASE_MASTER");
    ClientOptions options;
    if (masters == nullptr) return options;
    const std::string all = masters;
    const std::string text = all.substr(0, all.find(','));
    const size_t colon = text.rfind(':');
    options.roots = {{text.substr(0, colon), static_cast<uint16_t>(std::stoi(text.substr(colon + 1)))}};
    return options;
  }
  static std::unique_ptr<Client> Connect() {
    ClientOptions options = RootsOfCluster();
    if (options.roots.empty()) return nullptr;
    options.tls = TlsOfCluster();
    return *Client::Create(std::move(options));
  }

  void SetUp() override {
    client_ = Connect();
    ASSERT_NE(client_, nullptr) << "SONDE_HBASE_MASTER is not set: run this by tests/hbase/run";
    const absl::Status made = client_->tables()->CreateNamespace("sonde_test", InAMinute());
    ASSERT_TRUE(made.ok() || absl::IsAlreadyExists(made)) << made;
    Drop();
  }
  void TearDown() override {
    if (client_ != nullptr) Drop();
  }
  void Drop() {
    const absl::Status dropped = client_->tables()->Drop(table_, InAMinute());
    ASSERT_TRUE(dropped.ok() || absl::IsNotFound(dropped)) << dropped;
  }

  // As the engine makes its tables: markers hide only what was put before them.
  static FamilySchema Family(const std::string& name, const std::string& versions = "2147483647") {
    return {name,
            {{"NEW_VERSION_BEHAVIOR", "true"},
             {"VERSIONS", versions},
             {"BLOOMFILTER", "ROW"},
             {"DATA_BLOCK_ENCODING", "FAST_DIFF"}}};
  }
  void Create(const std::vector<std::string>& split_keys) {
    const TableSchema schema{
        table_, {Family("d"), Family("v", "1")}, {{"hbase.server.keyvalue.maxsize", "110000000"}}};
    const absl::Status made = client_->tables()->Create(schema, split_keys, InAMinute());
    ASSERT_TRUE(made.ok()) << made;
  }
  absl::Status Apply(const RowChange& change) {
    return client_->rows()->Apply(table_, {&change, 1}, InAMinute())[0];
  }

  const TableName table_{"sonde_test", "cells"};
  std::unique_ptr<Client> client_;
};

}  // namespace sonde::hbase
