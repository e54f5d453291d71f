#include "client/remote_sql.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "base/random.h"
#include "client/grpc_status.h"
#include "client/retry.h"
#include "rows/batch.h"
#include "sql/message/query_values.h"

namespace sonde {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;

// A stream of results, as far as it has come.
struct RemoteSql::Stream {
  std::string prepared_query;
  std::vector<sql::AnswerColumn> columns;
  std::vector<sql::Type> types;  // of the columns
  std::string resume_token;
  std::string batch;        // the bytes of a batch that is not whole yet
  rows::HeldBatch waiting;  // rows that the next token gives out
  bool has_begun = false;   // a token has come

  void Reset() {
    batch.clear();
    waiting.Clear();
  }
  // The rows of the whole batch wait for a token.
  absl::Status EndBatch(uint32_t checksum) {
    if (Crc32c(batch) != checksum)
      return absl::InternalError("A batch of results does not have its checksum");
    pb::ProtoRows rows;
    if (!rows.ParseFromString(batch)) return absl::InternalError("A batch of results cannot be read");
    batch.clear();
    return sql::AppendRows(types, rows, &waiting);
  }
  absl::Status Take(const pb::PartialResultSet& results, sql::AnswerSink* sink) {
    if (results.reset()) Reset();
    batch += results.proto_rows_batch().batch_data();
    if (results.has_batch_checksum()) {
      if (absl::Status status = EndBatch(results.batch_checksum()); !status.ok()) return status;
    }
    if (results.resume_token().empty()) return absl::OkStatus();
    resume_token = results.resume_token();
    has_begun = true;
    rows::Batch out;
    waiting.View(&out);
    absl::Status status = out.rows == 0 ? absl::OkStatus() : sink->TakeRows(out);
    waiting.Clear();
    return status;
  }
};

absl::StatusOr<std::unique_ptr<RemoteSql>> RemoteSql::Connect(const RemoteOptions& options) {
  const absl::StatusOr<Channels> channels = RemoteTables::Open(options);
  if (!channels.ok()) return channels.status();
  return std::unique_ptr<RemoteSql>(new RemoteSql(options, pb::Bigtable::NewStub(channels->data),
                                                  admin::BigtableInstanceAdmin::NewStub(channels->admin)));
}

RemoteSql::RemoteSql(const RemoteOptions& options, std::unique_ptr<pb::Bigtable::Stub> stub,
                     std::unique_ptr<admin::BigtableInstanceAdmin::Stub> admin)
    : options_(options),
      instance_(fmt::format("projects/{}/instances/{}", options.project, options.instance)),
      stub_(std::move(stub)),
      admin_(std::move(admin)) {}

absl::StatusOr<pb::PrepareQueryResponse> RemoteSql::Prepare(const sql::Question& question) {
  pb::PrepareQueryRequest request;
  request.set_instance_name(instance_);
  request.set_query(question.text);
  request.mutable_proto_format();
  for (const sql::Question::Parameter& parameter : question.parameters) {
    sql::ToProto(parameter.value.type(), &(*request.mutable_param_types())[parameter.name]);
  }
  Backoff backoff(options_.retry, SystemRandom().Next());
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.call_timeout);
    pb::PrepareQueryResponse response;
    const grpc::Status grpc_status = stub_->PrepareQuery(&context, request, &response);
    absl::Status status = FromGrpcStatus(grpc_status, "");
    if (status.ok()) return response;
    if (!IsTransient(status) || !backoff.WaitForNext(RetryDelay(grpc_status))) return status;
  }
}

absl::Status RemoteSql::Ask(const sql::Question& question, sql::AnswerSink* sink) {
  constexpr int kPreparationsMax = 3;
  for (int preparation = 1;; ++preparation) {
    const absl::StatusOr<pb::PrepareQueryResponse> prepared = Prepare(question);
    if (!prepared.ok()) return prepared.status();
    Stream stream;
    stream.prepared_query = prepared->prepared_query();
    std::vector<ColumnType> types;
    for (const pb::ColumnMetadata& column : prepared->metadata().proto_schema().columns()) {
      absl::StatusOr<sql::Type> type = sql::FromProto(column.type());
      if (!type.ok()) return type.status();
      types.push_back(ColumnTypeOf(*type));
      stream.types.push_back(*type);
      stream.columns.push_back({column.name(), *std::move(type)});
    }
    stream.waiting = rows::HeldBatch(types);
    absl::Status status = Read(question, &stream, sink);
    // A table has changed between the two calls.
    if (absl::IsFailedPrecondition(status) && !stream.has_begun && preparation < kPreparationsMax) continue;
    return status;
  }
}

absl::Status RemoteSql::Read(const sql::Question& question, Stream* stream, sql::AnswerSink* sink) {
  pb::ExecuteQueryRequest request;
  request.set_instance_name(instance_);
  request.set_prepared_query(stream->prepared_query);
  for (const sql::Question::Parameter& parameter : question.parameters) {
    sql::ToProto(parameter.value, &(*request.mutable_params())[parameter.name]);
  }
  Backoff backoff(options_.retry, SystemRandom().Next());
  bool columns_are_told = false;
  while (true) {
    request.set_resume_token(stream->resume_token);
    stream->Reset();
    grpc::ClientContext context;
    const std::unique_ptr<grpc::ClientReader<pb::ExecuteQueryResponse>> reader =
        stub_->ExecuteQuery(&context, request);
    pb::ExecuteQueryResponse response;
    absl::Status stop;
    while (stop.ok() && reader->Read(&response)) {
      if (!std::exchange(columns_are_told, true)) stop = sink->TakeColumns(stream->columns);
      if (stop.ok() && question.interrupted) stop = question.interrupted();
      if (stop.ok()) stop = stream->Take(response.results(), sink);
      if (!stop.ok()) context.TryCancel();
    }
    const grpc::Status grpc_status = reader->Finish();
    if (!stop.ok()) return stop;
    absl::Status status = FromGrpcStatus(grpc_status, "");
    if (status.ok() && !columns_are_told) return sink->TakeColumns(stream->columns);
    if (!IsTransient(status) || !backoff.WaitForNext(RetryDelay(grpc_status))) return status;
  }
}

template <typename Request, typename Response, typename Call, typename ViewsOf>
absl::Status RemoteSql::AddViews(const Call& call, const ViewsOf& views_of, std::vector<std::string>* ids) {
  constexpr int kPagesMax = 1'000;  // in case a server's pages never end
  Request request;
  request.set_parent(instance_);
  Backoff backoff(options_.retry, SystemRandom().Next());
  for (int page = 0; page < kPagesMax;) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.call_timeout);
    Response response;
    const grpc::Status grpc_status = call(&context, request, &response);
    absl::Status status = FromGrpcStatus(grpc_status, "");
    if (absl::IsUnimplemented(status) || absl::IsPermissionDenied(status)) return absl::OkStatus();
    if (!status.ok()) {
      if (!IsTransient(status) || !backoff.WaitForNext(RetryDelay(grpc_status))) return status;
      continue;
    }
    for (const auto& view : views_of(response))
      ids->push_back(view.name().substr(view.name().rfind('/') + 1));
    if (response.next_page_token().empty()) return absl::OkStatus();
    request.set_page_token(response.next_page_token());
    ++page;
  }
  return absl::InternalError(
      fmt::format("The list of views of {}: no end after {} pages", instance_, kPagesMax));
}

absl::StatusOr<std::vector<std::string>> RemoteSql::ListViews() {
  std::vector<std::string> ids;
  absl::Status status = AddViews<admin::ListLogicalViewsRequest, admin::ListLogicalViewsResponse>(
      [this](auto&&... arguments) { return admin_->ListLogicalViews(arguments...); },
      [](const auto& response) { return response.logical_views(); }, &ids);
  if (!status.ok()) return status;
  status = AddViews<admin::ListMaterializedViewsRequest, admin::ListMaterializedViewsResponse>(
      [this](auto&&... arguments) { return admin_->ListMaterializedViews(arguments...); },
      [](const auto& response) { return response.materialized_views(); }, &ids);
  if (!status.ok()) return status;
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace sonde
