// Makes a materialized view of a table of the benchmarks, and waits until it has all rows.
#include <fmt/format.h>
#include <google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <string>
#include <thread>

#include "bench/workload.h"
#include "client/grpc_status.h"

namespace sonde::bench {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace data = google::bigtable::v2;

constexpr std::string_view kViewId = "bench_view";
constexpr std::chrono::milliseconds kLook{20};

// One metric by hour, over the rows of point-write.
std::string HourlyQuery(const Options& options) {
  return fmt::format(
      "SELECT TIMESTAMP_TRUNC(_timestamp, HOUR) AS hour, COUNT(v) AS n, "
      "SUM(SAFE_CAST(SAFE_CAST(v AS STRING) AS INT64)) AS total, MAX(v) AS greatest "
      "FROM UNPACK((SELECT {}['{}'] AS v FROM {}(with_history => TRUE))) GROUP BY hour",
      kFamily, MetricName(0), PointTable(options));
}

absl::Status Create(const Options& options, const std::shared_ptr<grpc::Channel>& channel) {
  admin::CreateMaterializedViewRequest request;
  request.set_parent(fmt::format("projects/{}/instances/{}", options.project, options.instance));
  request.set_materialized_view_id(std::string(kViewId));
  request.mutable_materialized_view()->set_query(options.question.text.empty() ? HourlyQuery(options)
                                                                               : options.question.text);
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  const auto stub = admin::BigtableInstanceAdmin::NewStub(channel);
  return FromGrpcStatus(stub->CreateMaterializedView(&context, request, &operation),
                        "CreateMaterializedView");
}

// OK once the view is there to be read.
absl::Status AwaitRows(const Options& options, const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = data::Bigtable::NewStub(channel);
  data::SampleRowKeysRequest request;
  request.set_materialized_view_name(fmt::format("projects/{}/instances/{}/materializedViews/{}",
                                                 options.project, options.instance, kViewId));
  while (true) {
    grpc::ClientContext context;
    const auto reader = stub->SampleRowKeys(&context, request);
    data::SampleRowKeysResponse response;
    while (reader->Read(&response)) {
    }
    absl::Status status = FromGrpcStatus(reader->Finish(), "SampleRowKeys");
    if (!absl::IsFailedPrecondition(status)) return status;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

absl::StatusOr<Result> RunCreateView(const Options& options) {
  if (absl::Status status = EnsureTable(options, PointTable(options)); !status.ok()) return status;
  const auto channel = ConnectClient(options);
  if (!channel.ok()) return channel.status();
  Result result;
  result.name = "create-view";
  result.requests = 1;
  const Clock::time_point begin = Clock::now();
  if (absl::Status status = Create(options, *channel); !status.ok()) return status;
  if (absl::Status status = AwaitRows(options, *channel); !status.ok()) return status;
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace sonde::bench
