#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/async_unary_call.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/call_loop.h"
#include "bench/quota.h"
#include "bench/workload.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

// A call that changes a row, with one answer.
template <typename Response>
class RowCall : public Call {
 public:
  void Start(grpc::CompletionQueue* queue) final {
    reader_.reset();
    context_.emplace();
    reader_ = Begin(&*context_, queue);
    reader_->Finish(&response_, &status_, static_cast<Call*>(this));
  }

  absl::StatusOr<bool> Advance(bool) final {
    if (!status_.ok()) return CallError(status_);
    return true;
  }

  std::optional<std::chrono::milliseconds> retry_delay() const final { return RetryDelay(status_); }

 protected:
  using Reader = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>;
  // The call with the request that Next made, started.
  virtual Reader Begin(grpc::ClientContext* context, grpc::CompletionQueue* queue) = 0;

 private:
  Response response_;
  std::optional<grpc::ClientContext> context_;
  Reader reader_;
  grpc::Status status_;
};

// Writes one row a request: steps of hosts of its own, in random order of hosts.
class PointWrite final : public RowCall<data::MutateRowResponse> {
 public:
  PointWrite(data::Bigtable::Stub* stub, const Options& options, int client, int64_t* step,
             RandomSource* random, Quota* quota, ClientResult* result)
      : stub_(stub),
        shape_(options.shape),
        keys_(options.shape),
        client_(client),
        step_(step),
        random_(random),
        quota_(quota),
        result_(result) {
    request_.set_table_name(TableName(options, PointTable(options)));
    for (int metric = 0; metric < shape_.cells_per_row; ++metric) {
      auto* cell = request_.add_mutations()->mutable_set_cell();
      cell->set_family_name(std::string(kFamily));
      cell->set_column_qualifier(MetricName(metric));
      qualifiers_.push_back(CellSum::Hash(cell->column_qualifier()));
    }
  }

  bool Next() override {
    if (!quota_->Take()) return false;
    const int64_t step = (*step_)++;
    const auto host = static_cast<int>(random_->Uniform(shape_.hosts));
    request_.set_row_key(fmt::format("client_{:03}#{}", client_, keys_.RowKey(host, 0, StepMicros(step))));
    const uint64_t row = CellSum::Hash(request_.row_key());
    for (int metric = 0; metric < shape_.cells_per_row; ++metric) {
      auto* cell = request_.mutable_mutations(metric)->mutable_set_cell();
      cell->set_timestamp_micros(StepMicros(step));
      cell->set_value(std::to_string(random_->Uniform(101)));
      result_->sum.Add(row, qualifiers_[metric], cell->timestamp_micros(), CellSum::Hash(cell->value()));
    }
    ++result_->rows;
    result_->bytes += request_.ByteSizeLong();
    return true;
  }

 private:
  Reader Begin(grpc::ClientContext* context, grpc::CompletionQueue* queue) override {
    return stub_->AsyncMutateRow(context, request_, queue);
  }

  data::Bigtable::Stub* const stub_;
  const DataShape shape_;
  const RowKeys keys_;
  const int client_;
  int64_t* const step_;
  RandomSource* const random_;
  Quota* const quota_;
  ClientResult* const result_;
  std::vector<uint64_t> qualifiers_;
  data::MutateRowRequest request_;
};

// Adds one to a counter of a row, one of kCounterRows.
class Increment final : public RowCall<data::ReadModifyWriteRowResponse> {
 public:
  Increment(data::Bigtable::Stub* stub, const Options& options, int /*client*/, int64_t* /*step*/,
            RandomSource* random, Quota* quota, ClientResult* result)
      : stub_(stub), random_(random), quota_(quota), result_(result) {
    request_.set_table_name(TableName(options, PointTable(options)));
    data::ReadModifyWriteRule* const rule = request_.add_rules();
    rule->set_family_name(std::string(kFamily));
    rule->set_column_qualifier("counter");
    rule->set_increment_amount(1);
  }

  bool Next() override {
    if (!quota_->Take()) return false;
    request_.set_row_key(fmt::format("counter_{:06}", random_->Uniform(kCounterRows)));
    ++result_->rows;
    result_->bytes += request_.ByteSizeLong();
    return true;
  }

 private:
  static constexpr uint64_t kCounterRows = 10'000;

  Reader Begin(grpc::ClientContext* context, grpc::CompletionQueue* queue) override {
    return stub_->AsyncReadModifyWriteRow(context, request_, queue);
  }

  data::Bigtable::Stub* const stub_;
  RandomSource* const random_;
  Quota* const quota_;
  ClientResult* const result_;
  data::ReadModifyWriteRowRequest request_;
};

template <typename RowCallKind>
absl::StatusOr<Result> RunPoints(const std::string& name, const Options& given) {
  Options options = given;
  options.shape.kind = DataKind::kCpu;
  options.shape.cells_per_row = given.point_write_cells;
  if (absl::Status status = EnsureTable(options, PointTable(options)); !status.ok()) return status;
  return RunClients(name, options,
                    [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
                        ClientResult* result) {
                      const auto stub = data::Bigtable::NewStub(channel);
                      SeededRandom random = ClientRandom(options, client);
                      Quota quota(options, client, deadline);
                      int64_t step = 0;
                      std::vector<std::unique_ptr<Call>> calls;
                      for (int i = 0; i < options.in_flight.value_or(kPointInFlight); ++i) {
                        calls.push_back(std::make_unique<RowCallKind>(stub.get(), options, client, &step,
                                                                      &random, &quota, result));
                      }
                      result->status = RunCalls(calls, &result->latency_us, &result->refused);
                    });
}

}  // namespace

absl::StatusOr<Result> RunPointWrite(const Options& options) {
  return RunPoints<PointWrite>("point-write", options);
}

absl::StatusOr<Result> RunIncrement(const Options& options) {
  return RunPoints<Increment>("increment", options);
}

}  // namespace sonde::bench
