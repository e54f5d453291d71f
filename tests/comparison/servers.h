// Servers of this process, which requests reach as any client's do.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "request.h"
#include "table/tables.h"
#include "wire/grpc_server.h"

namespace sonde {

// A clock that a test sets while a server's threads read it.
class SharedClock final : public Clock {
 public:
  int64_t NowMicros() const override { return now_micros_; }
  void Set(int64_t now_micros) { now_micros_ = now_micros; }

 private:
  std::atomic<int64_t> now_micros_ = 0;
};

class ServerUnderTest {
 public:
  // `clock` must outlive it.  `compact` may be empty.  `seen_within` is that of CatalogOptions, short, as no other server uses the
  // store.  Throws std::runtime_error when it cannot start.
  ServerUnderTest(std::string name, std::unique_ptr<Engine> engine, std::function<void()> compact,
                  const Clock* clock, absl::Duration seen_within = absl::Milliseconds(100));
  // Drops its table, for an engine that is used again.
  ~ServerUnderTest();

  const std::string& name() const { return name_; }
  bool is_shared() const { return engine_->traits().is_shared; }

  // Makes the table, named `table_id`; the history's requests then go to it.
  absl::Status CreateTable(const google::bigtable::admin::v2::CreateTableRequest& request,
                           const std::string& table_id);
  void Compact();
  // `error_text` is what the server said to an error.
  Outcome Do(const Request& request, std::string* error_text);

 private:
  Outcome Send(google::bigtable::v2::MutateRowRequest request, std::string* error_text);
  Outcome Send(google::bigtable::v2::MutateRowsRequest request, std::string* error_text);
  Outcome Send(google::bigtable::v2::CheckAndMutateRowRequest request, std::string* error_text);
  Outcome Send(google::bigtable::v2::ReadModifyWriteRowRequest request, std::string* error_text);
  Outcome Send(google::bigtable::v2::ReadRowsRequest request, std::string* error_text);
  Outcome Send(google::bigtable::admin::v2::DropRowRangeRequest request, std::string* error_text);
  Outcome Send(google::bigtable::admin::v2::ModifyColumnFamiliesRequest request, std::string* error_text);

  const std::string name_;
  const std::unique_ptr<Engine> engine_;
  const std::function<void()> compact_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<google::bigtable::v2::Bigtable::Stub> data_;
  std::unique_ptr<google::bigtable::admin::v2::BigtableTableAdmin::Stub> admin_;
  std::string table_name_;
};

}  // namespace sonde
