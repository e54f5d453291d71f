// SQL of a Bigtable endpoint: PrepareQuery and ExecuteQuery over gRPC.
//
// A stream that breaks goes on behind its last token; rows are given out only once a token says that they stay.
// A query that has expired between its two calls is prepared once more.
// Threads: all functions may be called at once.
#pragma once

#include <google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/remote_tables.h"
#include "sql/access/sql_access.h"

namespace sonde {

class RemoteSql final : public sql::SqlAccess {
 public:
  // Errors: those of RemoteTables::Connect.
  static absl::StatusOr<std::unique_ptr<RemoteSql>> Connect(const RemoteOptions& options);

  // INTERNAL: the server broke the protocol.
  absl::Status Ask(const sql::Question& question, sql::AnswerSink* sink) override;
  absl::StatusOr<std::vector<std::string>> ListViews() override;

 private:
  struct Stream;

  RemoteSql(const RemoteOptions& options, std::unique_ptr<google::bigtable::v2::Bigtable::Stub> stub,
            std::unique_ptr<google::bigtable::admin::v2::BigtableInstanceAdmin::Stub> admin);

  absl::StatusOr<google::bigtable::v2::PrepareQueryResponse> Prepare(const sql::Question& question);
  // Adds the ids of all pages.
  template <typename Request, typename Response, typename Call, typename ViewsOf>
  absl::Status AddViews(const Call& call, const ViewsOf& views_of, std::vector<std::string>* ids);
  // Reads one stream to its end, or until it breaks.
  absl::Status Read(const sql::Question& question, Stream* stream, sql::AnswerSink* sink);

  const RemoteOptions options_;
  const std::string instance_;
  const std::unique_ptr<google::bigtable::v2::Bigtable::Stub> stub_;
  const std::unique_ptr<google::bigtable::admin::v2::BigtableInstanceAdmin::Stub> admin_;
};

}  // namespace sonde
