// Tables of any Bigtable endpoint, over gRPC: TableAccess for `sonde serve`, an emulator, or whatever else
// speaks google.bigtable.v2 and google.bigtable.admin.v2.
//
//   RemoteOptions options{.endpoint = "127.0.0.1:8086"};
//   absl::StatusOr<std::unique_ptr<RemoteTables>> tables = RemoteTables::Connect(options);
//
// Errors carry the server's code and message, after the name of the call and of the table.  Calls that end in
// UNAVAILABLE or DEADLINE_EXCEEDED are made again as RetryPolicy says; every call has a deadline except
// ReadRows, whose length is the caller's matter.  Threads: all calls may be made at once.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/channel/channel.h"
#include "client/mutate_rows.h"
#include "client/retry.h"
#include "client/row_merger.h"
#include "model/copy_access.h"

namespace grpc {
class ClientContext;
}

namespace sonde {

struct RemoteOptions {
  std::string endpoint;  // HOST:PORT, and what else client/channel/endpoint.h reads
  std::string ca_file;   // PEM; empty: gRPC's roots
  std::string key_file;  // of an account; empty: as client/channel/client_key.h says
  std::string project = "sonde";
  std::string instance = "sonde";
  std::string program = "sonde";  // what the server is told asks
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds call_timeout{60'000};  // of one attempt
  RetryPolicy retry;
  MutateLimits mutate_limits;
  // The seed of the waits between attempts.  Without it the operating system gives one.
  std::optional<uint64_t> jitter_seed;
};

class RemoteTables final : public CopyAccess {
 public:
  // Waits until the endpoint answers.  INVALID_ARGUMENT: the project or the instance is not what it must be.  Further errors: those
  // of OpenChannels.
  static absl::StatusOr<std::unique_ptr<RemoteTables>> Connect(RemoteOptions options);
  // The channels that Connect makes, with its errors.
  static absl::StatusOr<Channels> Open(const RemoteOptions& options);

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override;
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override;
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override;
  // Sorted.
  absl::StatusOr<std::vector<std::string>> ListTables() override;
  absl::Status DropTable(const std::string& table) override;
  // See MutateRowsCall: more than mutate_limits is more than one commit.
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override;
  // A stream that breaks goes on after the last row seen, so each row comes once.  No ranges, no rows.
  // INTERNAL: the server broke the chunk protocol (see RowMerger).
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override;
  NumberAccess* numbers() override { return nullptr; }
  absl::StatusOr<Described> Describe(const std::string& table) override;
  absl::StatusOr<std::vector<std::string>> Create(const TableSchema& schema) override;
  absl::StatusOr<std::vector<absl::Status>> MergeRows(const std::string& table,
                                                      const std::vector<RowWrite>& rows,
                                                      const std::set<std::string>& merged) override;

 private:
  struct ReadProgress;

  RemoteTables(RemoteOptions options, const Channels& channels);

  std::string InstanceName() const;
  std::string TableName(const std::string& table) const;
  Backoff MakeBackoff();
  // Makes a call until it succeeds, fails for good, or has been tried often enough.
  absl::Status Call(const std::string& what, const std::function<grpc::Status(grpc::ClientContext*)>& call);

  absl::Status CreateTable(const std::string& table, const std::vector<FamilyRequest>& families);
  absl::Status GetTable(const std::string& table, google::bigtable::admin::v2::Table* found);
  // Makes these families, or gives them their rules.
  absl::Status ModifyFamilies(const std::string& table, const std::vector<FamilyRequest>& families,
                              bool creates);
  // Reads a part of `read` that one request may ask for, by as many streams as it takes.
  absl::Status ReadPart(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row, ReadProgress* progress);
  // One stream of ReadRows, up to its end or until the reader has enough.
  absl::Status ReadOnce(const google::bigtable::v2::ReadRowsRequest& request, const std::string& what,
                        const std::function<bool(ReadRow&&)>& row, ReadProgress* progress);

  const RemoteOptions options_;
  const uint64_t jitter_seed_;
  std::atomic<uint64_t> call_count_{0};
  std::unique_ptr<google::bigtable::v2::Bigtable::Stub> data_;
  std::unique_ptr<google::bigtable::admin::v2::BigtableTableAdmin::Stub> admin_;
};

}  // namespace sonde
