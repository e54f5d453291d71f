// Questions in SQL, prepared once and asked again and again; and preparing them.
#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <google/protobuf/arena.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/async_unary_call.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "base/random.h"
#include "bench/call_loop.h"
#include "bench/quota.h"
#include "bench/workload.h"
#include "client/grpc_status.h"
#include "sql/message/query_values.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

constexpr int kSqlInFlight = 1;
constexpr size_t kArenaStartBytes = 256 << 10;

std::string InstanceName(const Options& options) {
  return fmt::format("projects/{}/instances/{}", options.project, options.instance);
}

std::string PointQuestion(const Options& options) {
  return fmt::format("SELECT {}['{}'] FROM {} WHERE _key = @k", kFamily,
                     ModelOf(options.shape).groups[0].fields[0].name, DataTable(options));
}

data::PrepareQueryRequest MakePreparation(const Options& options, const sql::Question& question) {
  data::PrepareQueryRequest request;
  request.set_instance_name(InstanceName(options));
  request.set_query(question.text);
  request.mutable_proto_format();
  for (const sql::Question::Parameter& parameter : question.parameters) {
    sql::ToProto(parameter.value.type(), &(*request.mutable_param_types())[parameter.name]);
  }
  return request;
}

struct Prepared {
  data::ExecuteQueryRequest request;
  uint64_t columns = 1;  // of an answer
};

absl::StatusOr<Prepared> Prepare(const Options& options, const sql::Question& question,
                                 data::Bigtable::Stub* stub) {
  grpc::ClientContext context;
  data::PrepareQueryResponse response;
  const grpc::Status status = stub->PrepareQuery(&context, MakePreparation(options, question), &response);
  if (!status.ok()) return FromGrpcStatus(status, "PrepareQuery");
  Prepared prepared;
  prepared.columns = response.metadata().proto_schema().columns_size();
  data::ExecuteQueryRequest& request = prepared.request;
  request.set_instance_name(InstanceName(options));
  request.set_prepared_query(response.prepared_query());
  for (const sql::Question::Parameter& parameter : question.parameters) {
    sql::ToProto(parameter.value, &(*request.mutable_params())[parameter.name]);
  }
  return prepared;
}

// Asks a prepared question, and reads the answer as a client has to: checksums and values.
class SqlCall : public StreamCall<data::ExecuteQueryResponse> {
 public:
  SqlCall(data::Bigtable::Stub* stub, const Prepared& prepared, Quota* quota, ClientResult* result)
      : request_(prepared.request), columns_(prepared.columns), stub_(stub), quota_(quota), result_(result) {}

 protected:
  // Sets the parameters of the next request.
  virtual void Ask() {}

  data::ExecuteQueryRequest request_;

 private:
  bool Next() final {
    if (!quota_->Take()) return false;
    Ask();
    return true;
  }
  std::unique_ptr<Reader> Open(grpc::ClientContext* context, grpc::CompletionQueue* queue) final {
    return stub_->AsyncExecuteQuery(context, request_, queue, static_cast<Call*>(this));
  }
  absl::Status Take(const data::ExecuteQueryResponse& response,
                    std::optional<std::chrono::milliseconds>* /*retry_delay*/) final {
    result_->bytes += response.ByteSizeLong();
    const data::PartialResultSet& results = response.results();
    batch_ += results.proto_rows_batch().batch_data();
    if (!results.has_batch_checksum()) return absl::OkStatus();
    const uint32_t checksum = Crc32c(batch_);
    arena_.Reset();
    auto* const rows = google::protobuf::Arena::CreateMessage<data::ProtoRows>(&arena_);
    if (checksum != results.batch_checksum() || !rows->ParseFromString(batch_)) {
      return absl::DataLossError("A batch of results is not what its checksum says");
    }
    batch_.clear();
    result_->sum.Add(0, 0, 0, checksum);
    result_->rows += rows->values_size() / columns_;
    return absl::OkStatus();
  }

  const uint64_t columns_;
  data::Bigtable::Stub* const stub_;
  Quota* const quota_;
  ClientResult* const result_;
  std::string batch_;
  // The memory of a batch's values, which are many small messages.
  std::vector<char> arena_start_ = std::vector<char>(kArenaStartBytes);
  google::protobuf::Arena arena_{arena_start_.data(), arena_start_.size()};
};

// Asks for the first group of an entity at a step: parameter k is its row's key.
class SqlPointCall final : public SqlCall {
 public:
  SqlPointCall(data::Bigtable::Stub* stub, const Prepared& prepared, const Options& options,
               RandomSource* random, Quota* quota, ClientResult* result)
      : SqlCall(stub, prepared, quota, result),
        keys_(options.shape),
        entities_(options.shape.hosts),
        steps_(StepsOf(options)),
        random_(random) {}

 private:
  void Ask() override {
    const int64_t step = static_cast<int64_t>(random_->Uniform(std::max<int64_t>(1, steps_)));
    const int entity = static_cast<int>(random_->Uniform(entities_));
    (*request_.mutable_params())["k"].set_bytes_value(keys_.RowKey(entity, 0, keys_.StepMicros(step)));
  }

  const RowKeys keys_;
  const int64_t entities_;
  const int64_t steps_;
  RandomSource* const random_;
};

// One preparation after the other.
class PrepareCall final : public Call {
 public:
  PrepareCall(data::Bigtable::Stub* stub, data::PrepareQueryRequest request, Quota* quota,
              ClientResult* result)
      : stub_(stub), request_(std::move(request)), quota_(quota), result_(result) {}

  bool Next() override { return quota_->Take(); }
  void Start(grpc::CompletionQueue* queue) override {
    context_.emplace();
    reader_ = stub_->AsyncPrepareQuery(&*context_, request_, queue);
    reader_->Finish(&response_, &status_, static_cast<Call*>(this));
  }
  absl::StatusOr<bool> Advance(bool /*ok*/) override {
    result_->bytes += response_.ByteSizeLong();
    if (status_.ok()) return true;
    return CallError(status_);
  }
  std::optional<std::chrono::milliseconds> retry_delay() const override { return RetryDelay(status_); }

 private:
  data::Bigtable::Stub* const stub_;
  const data::PrepareQueryRequest request_;
  Quota* const quota_;
  ClientResult* const result_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<data::PrepareQueryResponse>> reader_;
  data::PrepareQueryResponse response_;
  grpc::Status status_;
};

// The statement of options, or the workload's own.
absl::StatusOr<sql::Question> QuestionOf(const Options& options, const std::string& own) {
  sql::Question question = options.question;
  if (question.text.empty()) question.text = own;
  if (question.text.empty()) return absl::InvalidArgumentError("--query: there is no statement");
  return question;
}

// `make(stub, prepared, random, quota, result)` makes a call.
template <typename Make>
absl::StatusOr<Result> RunQuestions(const std::string& name, const Options& options,
                                    const sql::Question& question, int in_flight, const Make& make) {
  return RunClients(name, options,
                    [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
                        ClientResult* result) {
                      const auto stub = data::Bigtable::NewStub(channel);
                      const absl::StatusOr<Prepared> prepared = Prepare(options, question, stub.get());
                      if (!prepared.ok()) {
                        result->status = prepared.status();
                        return;
                      }
                      SeededRandom random = ClientRandom(options, client);
                      Quota quota(options, client, deadline);
                      std::vector<std::unique_ptr<Call>> calls;
                      for (int i = 0; i < options.in_flight.value_or(in_flight); ++i) {
                        calls.push_back(make(stub.get(), *prepared, &random, &quota, result));
                      }
                      result->status = RunCalls(calls, &result->latency_us, &result->refused);
                    });
}

}  // namespace

absl::StatusOr<Result> RunSql(const Options& options) {
  const absl::StatusOr<sql::Question> question = QuestionOf(options, "");
  if (!question.ok()) return question.status();
  const auto make = [](data::Bigtable::Stub* stub, const Prepared& prepared, RandomSource*, Quota* quota,
                       ClientResult* result) -> std::unique_ptr<Call> {
    return std::make_unique<SqlCall>(stub, prepared, quota, result);
  };
  // The first answer is of a server that has read nothing yet.
  Options first = options;
  first.requests = options.clients;
  if (const auto warm = RunQuestions("sql", first, *question, kSqlInFlight, make); !warm.ok()) return warm;
  return RunQuestions("sql", options, *question, kSqlInFlight, make);
}

absl::StatusOr<Result> RunSqlPoint(const Options& options) {
  absl::StatusOr<sql::Question> question = QuestionOf(options, PointQuestion(options));
  if (!question.ok()) return question.status();
  question->parameters.push_back({"k", sql::Value::Bytes("")});
  return RunQuestions("sql-point", options, *question, kPointInFlight,
                      [&options](data::Bigtable::Stub* stub, const Prepared& prepared, RandomSource* random,
                                 Quota* quota, ClientResult* result) -> std::unique_ptr<Call> {
                        return std::make_unique<SqlPointCall>(stub, prepared, options, random, quota, result);
                      });
}

absl::StatusOr<Result> RunSqlPrepare(const Options& options) {
  const absl::StatusOr<sql::Question> question = QuestionOf(options, PointQuestion(options));
  if (!question.ok()) return question.status();
  const data::PrepareQueryRequest preparation = MakePreparation(options, *question);
  return RunQuestions("sql-prepare", options, *question, kSqlInFlight,
                      [&preparation](data::Bigtable::Stub* stub, const Prepared& /*prepared*/, RandomSource*,
                                     Quota* quota, ClientResult* result) -> std::unique_ptr<Call> {
                        return std::make_unique<PrepareCall>(stub, preparation, quota, result);
                      });
}

}  // namespace sonde::bench
