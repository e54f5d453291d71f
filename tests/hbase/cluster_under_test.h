// The cluster that tests/hbase/run has brought up, and tables in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "hbase/client.h"

namespace sonde::hbase {

inline absl::Time InAMinute() { return absl::Now() + absl::Minutes(1); }

class ClusterTest : public testing::Test {
 protected:
  static std::unique_ptr<Client> Connect() {
    const char* const master = std::getenv("SONDE_HBASE_MASTER");
    if (master == nullptr) return nullptr;
    const std::string text = master;
    const size_t colon = text.rfind(':');
    ClientOptions options;
    options.roots = {{text.substr(0, colon), static_cast<uint16_t>(std::stoi(text.substr(colon + 1)))}};
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
