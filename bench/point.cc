#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/support/async_unary_call.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/call_loop.h"
#include "bench/chunk_sum.h"
#include "bench/workload.h"
#include "client/grpc_status.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

// The requests that a client still has to make.  Not for several threads: its calls share one.
class Quota {
 public:
  // An even share of options.requests; at least one, and until the deadline, when options.seconds is given.
  Quota(const Options& options, int client, Deadline deadline) : deadline_(deadline) {
    if (options.seconds.has_value()) return;
    left_ = options.requests * (client + 1) / options.clients - options.requests * client / options.clients;
  }
  bool Take() {
    if (left_.has_value()) return (*left_)-- > 0;
    return !std::exchange(started_, true) || !IsPast(deadline_);
  }

 private:
  std::optional<int64_t> left_;
  bool started_ = false;
  Deadline deadline_;
};

SeededRandom ClientRandom(const Options& options, int client) {
  return SeededRandom(SeededRandom(options.shape.seed * 7919 + static_cast<uint64_t>(client)).Next());
}

// Reads all metrics of one host at one step, both random.
class PointRead final : public StreamCall<data::ReadRowsResponse> {
 public:
  PointRead(data::Bigtable::Stub* stub, const Options& options, RandomSource* random, Quota* quota,
            ClientResult* result)
      : stub_(stub),
        shape_(options.shape),
        steps_(std::max<int64_t>(options.cells / (int64_t{shape_.hosts} * shape_.cells_per_row), 1)),
        random_(random),
        quota_(quota),
        result_(result) {
    request_.set_table_name(TableName(options, DataTable(options)));
    request_.set_rows_limit(1);
  }

 private:
  std::unique_ptr<Reader> Open(grpc::ClientContext* context, grpc::CompletionQueue* queue) override {
    if (!quota_->Take()) return nullptr;
    const int host = static_cast<int>(random_->Uniform(shape_.hosts));
    const auto step = static_cast<int64_t>(random_->Uniform(steps_));
    request_.mutable_rows()->clear_row_keys();
    request_.mutable_rows()->add_row_keys(RowKey(shape_, host, step));
    if (shape_.schema == Schema::kBucket) {
      auto* range = request_.mutable_filter()->mutable_timestamp_range_filter();
      range->set_start_timestamp_micros(StepMicros(step));
      range->set_end_timestamp_micros(StepMicros(step + 1));
    }
    sum_ = ChunkSum();
    return stub_->AsyncReadRows(context, request_, queue, static_cast<Call*>(this));
  }

  absl::Status Take(const data::ReadRowsResponse& response) override {
    result_->bytes += response.ByteSizeLong();
    for (const auto& chunk : response.chunks()) sum_.Add(chunk);
    return absl::OkStatus();
  }

  absl::Status End() override {
    result_->rows += sum_.rows();
    result_->sum.Merge(sum_.sum());
    if (sum_.sum().cells() == static_cast<uint64_t>(shape_.cells_per_row)) return absl::OkStatus();
    return absl::NotFoundError(fmt::format(
        "row \"{}\" has {} cells at its step, not {}: run ingest with the same --schema, --hosts, "
        "--cells-per-row and --cells first",
        request_.rows().row_keys(0), sum_.sum().cells(), shape_.cells_per_row));
  }

  data::Bigtable::Stub* const stub_;
  const DataShape shape_;
  const int64_t steps_;
  RandomSource* const random_;
  Quota* const quota_;
  ClientResult* const result_;
  data::ReadRowsRequest request_;
  ChunkSum sum_;
};

// Writes one row a request: steps of hosts of its own, in random order of hosts.
class PointWrite final : public Call {
 public:
  PointWrite(data::Bigtable::Stub* stub, const Options& options, int client, int64_t* step,
             RandomSource* random, Quota* quota, ClientResult* result)
      : stub_(stub),
        shape_(options.shape),
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

  bool Begin(grpc::CompletionQueue* queue) override {
    if (!quota_->Take()) return false;
    const int64_t step = (*step_)++;
    const auto host = static_cast<int>(random_->Uniform(shape_.hosts));
    request_.set_row_key(fmt::format("client_{:03}#{}", client_, RowKey(shape_, host, step)));
    const uint64_t row = CellSum::Hash(request_.row_key());
    for (int metric = 0; metric < shape_.cells_per_row; ++metric) {
      auto* cell = request_.mutable_mutations(metric)->mutable_set_cell();
      cell->set_timestamp_micros(StepMicros(step));
      cell->set_value(std::to_string(random_->Uniform(101)));
      result_->sum.Add(row, qualifiers_[metric], cell->timestamp_micros(), CellSum::Hash(cell->value()));
    }
    ++result_->rows;
    result_->bytes += request_.ByteSizeLong();
    reader_.reset();
    context_.emplace();
    reader_ = stub_->AsyncMutateRow(&*context_, request_, queue);
    reader_->Finish(&response_, &status_, static_cast<Call*>(this));
    return true;
  }

  absl::StatusOr<bool> Advance(bool) override {
    if (!status_.ok()) return CallError(status_);
    return true;
  }

 private:
  data::Bigtable::Stub* const stub_;
  const DataShape shape_;
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

absl::StatusOr<Result> RunPointRead(const Options& options) {
  return RunClients(
      "point-read", options,
      [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
          ClientResult* result) {
        const auto stub = data::Bigtable::NewStub(channel);
        SeededRandom random = ClientRandom(options, client);
        Quota quota(options, client, deadline);
        std::vector<std::unique_ptr<Call>> calls;
        for (int i = 0; i < options.in_flight.value_or(kPointInFlight); ++i) {
          calls.push_back(std::make_unique<PointRead>(stub.get(), options, &random, &quota, result));
        }
        result->status = RunCalls(calls, &result->latency_us);
      });
}

absl::StatusOr<Result> RunPointWrite(const Options& given) {
  Options options = given;
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
                      result->status = RunCalls(calls, &result->latency_us);
                    });
}

}  // namespace sonde::bench
