#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/chunk_sum.h"
#include "bench/workload.h"
#include "client/grpc_status.h"
#include "client/retry.h"

namespace sonde::bench {
namespace {

using Clock = std::chrono::steady_clock;
namespace data = google::bigtable::v2;

constexpr int64_t kTimestampMicros = 1'000;
constexpr std::chrono::seconds kDeadline{60};  // of a request
// The client beside them asks so often, for a row as small as they come.
constexpr std::chrono::milliseconds kSmallPause{20};

// Attempts as an official client would make, and goes on making: the server says when, and what comes at
// once cannot all be taken at once.
RetryPolicy Patience() {
  return {.attempts_max = 1'000,
          .initial_delay = std::chrono::milliseconds(50),
          .delay_max = std::chrono::milliseconds(500)};
}

bool IsRefusedForNow(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
}

// `attempt() -> grpc::Status`, until it is no longer refused for now.
template <typename Attempt>
absl::Status Try(const char* what, const Attempt& attempt, uint64_t seed, ClientResult* result) {
  const RetryPolicy policy = Patience();
  Backoff backoff(policy, seed);
  while (true) {
    const Clock::time_point begin = Clock::now();
    const grpc::Status grpc_status = attempt();
    const absl::Status status = FromGrpcStatus(grpc_status, what);
    if (status.ok()) {
      result->latency_us.Add(
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count());
    }
    if (!IsRefusedForNow(status)) return status;
    ++result->refused;
    if (!backoff.WaitForNext(RetryDelay(grpc_status))) return status;
  }
}

class LargeClient {
 public:
  LargeClient(const Options& options, int client, const std::shared_ptr<grpc::Channel>& channel)
      : stub_(data::Bigtable::NewStub(channel)),
        table_name_(TableName(options, DataTable(options) + "_values")),
        row_(options.large_row),
        key_(fmt::format("row{:04}", client)),
        seed_(options.shape.seed + static_cast<uint64_t>(client)) {}

  // One value after the other.
  void Write(ClientResult* result) const {
    SeededRandom random(seed_);
    data::MutateRowRequest request;
    request.set_table_name(table_name_);
    request.set_row_key(key_);
    auto* cell = request.add_mutations()->mutable_set_cell();
    cell->set_family_name(std::string(kFamily));
    cell->set_timestamp_micros(kTimestampMicros);
    const int64_t values = std::max<int64_t>(1, row_.bytes / row_.value_bytes);
    for (int64_t i = 0; i < values && result->status.ok(); ++i) {
      cell->set_column_qualifier(fmt::format("c{:07}", i));
      Fill(&random, cell->mutable_value());
      result->status = Try(
          "large-values: MutateRow",
          [&] {
            grpc::ClientContext context;
            context.set_deadline(std::chrono::system_clock::now() + kDeadline);
            data::MutateRowResponse response;
            return stub_->MutateRow(&context, request, &response);
          },
          seed_, result);
      result->bytes += request.ByteSizeLong();
      result->sum.Add(CellSum::Hash(key_), CellSum::Hash(cell->column_qualifier()), kTimestampMicros,
                      CellSum::Hash(cell->value()));
    }
    ++result->rows;
  }

  void Read(ClientResult* result) const {
    data::ReadRowsRequest request;
    request.set_table_name(table_name_);
    request.mutable_rows()->add_row_keys(key_);
    result->status = Try(
        "large-values: ReadRows",
        [&] {
          grpc::ClientContext context;
          context.set_deadline(std::chrono::system_clock::now() + kDeadline);
          const auto reader = stub_->ReadRows(&context, request);
          ChunkSum sum;
          uint64_t bytes = 0;
          data::ReadRowsResponse response;
          while (reader->Read(&response)) {
            bytes += response.ByteSizeLong();
            for (const auto& chunk : response.chunks()) sum.Add(chunk);
          }
          grpc::Status status = reader->Finish();
          if (status.ok()) {
            result->bytes += bytes;
            result->sum.Merge(sum.sum());
          }
          return status;
        },
        seed_, result);
    ++result->rows;
  }

 private:
  // Nothing that could be made smaller.
  void Fill(SeededRandom* random, std::string* value) const {
    value->resize(static_cast<size_t>(row_.value_bytes));
    for (size_t at = 0; at < value->size(); at += sizeof(uint64_t)) {
      const uint64_t bits = random->Next();
      std::copy_n(reinterpret_cast<const char*>(&bits), std::min(sizeof(bits), value->size() - at),
                  value->data() + at);
    }
  }

  const std::unique_ptr<data::Bigtable::Stub> stub_;
  const std::string table_name_;
  const LargeRow row_;
  const std::string key_;
  const uint64_t seed_;
};

// Writes a small row and reads it, in turn, as long as others are at work.
void RunSmall(const Options& options, const std::shared_ptr<grpc::Channel>& channel,
              const std::atomic<int>& at_work, ClientResult* result) {
  const auto stub = data::Bigtable::NewStub(channel);
  data::MutateRowRequest put;
  put.set_table_name(TableName(options, DataTable(options) + "_values"));
  put.set_row_key("small");
  auto* cell = put.add_mutations()->mutable_set_cell();
  cell->set_family_name(std::string(kFamily));
  cell->set_column_qualifier("q");
  cell->set_timestamp_micros(kTimestampMicros);
  cell->set_value("x");
  data::ReadRowsRequest read;
  read.set_table_name(put.table_name());
  read.mutable_rows()->add_row_keys("small");
  for (bool writes = true; at_work > 0 && result->status.ok(); writes = !writes) {
    // A refused request counts, and is not made again: the next one comes soon.
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    const Clock::time_point begin = Clock::now();
    grpc::Status grpc_status;
    if (writes) {
      data::MutateRowResponse response;
      grpc_status = stub->MutateRow(&context, put, &response);
    } else {
      const auto reader = stub->ReadRows(&context, read);
      data::ReadRowsResponse response;
      while (reader->Read(&response)) ++result->rows;
      grpc_status = reader->Finish();
    }
    const absl::Status status = FromGrpcStatus(grpc_status, "large-values: small requests");
    if (status.ok()) {
      result->latency_us.Add(
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count());
    } else if (IsRefusedForNow(status)) {
      ++result->refused;
    } else {
      result->status = status;
    }
    std::this_thread::sleep_for(kSmallPause);
  }
}

absl::StatusOr<std::vector<Result>> RunPhase(const Options& options, const std::string& phase,
                                             void (LargeClient::*run)(ClientResult*) const) {
  std::atomic<int> at_work = options.clients;
  return RunGroups(
      options,
      {{"large-values " + phase, options.clients,
        [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline, ClientResult* result) {
          (LargeClient(options, client, channel).*run)(result);
          --at_work;
        }},
       {"small beside " + phase, 1,
        [&](int, const std::shared_ptr<grpc::Channel>& channel, Deadline, ClientResult* result) {
          RunSmall(options, channel, at_work, result);
        }}});
}

}  // namespace

absl::StatusOr<std::vector<Result>> RunLargeValues(const Options& options) {
  if (absl::Status status = EnsureTable(options, DataTable(options) + "_values"); !status.ok()) return status;
  absl::StatusOr<std::vector<Result>> written = RunPhase(options, "write", &LargeClient::Write);
  if (!written.ok()) return written.status();
  absl::StatusOr<std::vector<Result>> read = RunPhase(options, "read", &LargeClient::Read);
  if (!read.ok()) return read.status();
  const Result& wrote = written->front();
  if (wrote.cells != read->front().cells || wrote.hash != read->front().hash) {
    return absl::DataLossError(fmt::format(
        "large-values: {} cells (hash {:016x}) were written, {} found (hash {:016x})", wrote.cells,
        wrote.hash.value_or(0), read->front().cells, read->front().hash.value_or(0)));
  }
  std::vector<Result> results = *std::move(written);
  results.insert(results.end(), read->begin(), read->end());
  return results;
}

}  // namespace sonde::bench
