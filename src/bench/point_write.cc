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

// Writes one row a request: steps of hosts of its own, in random order of hosts.
class PointWrite final : public Call {
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

  void Start(grpc::CompletionQueue* queue) override {
    reader_.reset();
    context_.emplace();
    reader_ = stub_->AsyncMutateRow(&*context_, request_, queue);
    reader_->Finish(&response_, &status_, static_cast<Call*>(this));
  }

  absl::StatusOr<bool> Advance(bool) override {
    if (!status_.ok()) return CallError(status_);
    return true;
  }

  std::optional<std::chrono::milliseconds> retry_delay() const override { return RetryDelay(status_); }

 private:
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
  data::MutateRowResponse response_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<data::MutateRowResponse>> reader_;
  grpc::Status status_;
};

}  // namespace

absl::StatusOr<Result> RunPointWrite(const Options& given) {
  Options options = given;
  options.shape.kind = DataKind::kCpu;
  options.shape.cells_per_row = given.point_write_cells;
  if (absl::Status status = EnsureTable(options, PointTable(options)); !status.ok()) return status;
  return RunClients("point-write", options,
                    [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
                        ClientResult* result) {
                      const auto stub = data::Bigtable::NewStub(channel);
                      SeededRandom random = ClientRandom(options, client);
                      Quota quota(options, client, deadline);
                      int64_t step = 0;
                      std::vector<std::unique_ptr<Call>> calls;
                      for (int i = 0; i < options.in_flight.value_or(kPointInFlight); ++i) {
                        calls.push_back(std::make_unique<PointWrite>(stub.get(), options, client, &step,
                                                                     &random, &quota, result));
                      }
                      result->status = RunCalls(calls, &result->latency_us, &result->refused);
                    });
}

}  // namespace sonde::bench
