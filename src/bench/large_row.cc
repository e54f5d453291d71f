#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/chunk_sum.h"
#include "bench/workload.h"
#include "client/grpc_status.h"
#include "client/retry.h"
#include "model/limits.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

// The limit of a request that builds the row.
constexpr int64_t kBuildBytesMax = 1 << 20;
constexpr int64_t kSmallRowCells = 10;
constexpr int kAttemptsMax = 20;  // of a request
constexpr int64_t kCellStepMicros = 1'000;
constexpr int64_t kFirstMicros = kFirstSecond * 1'000'000;

// Rows whose cells are numbered: cell i is of column i modulo the columns, a millisecond newer than cell i -
// 1, and its value begins with its number.
class NumberedRow {
 public:
  // All outlive it.
  NumberedRow(data::Bigtable::Stub* stub, const Options& options, std::string key)
      : stub_(stub),
        table_name_(TableName(options, DataTable(options) + "_large")),
        row_(options.large_row),
        key_(std::move(key)),
        key_hash_(CellSum::Hash(key_)),
        random_(options.shape.seed) {}

  int64_t cell_bytes() const { return static_cast<int64_t>(Qualifier(0).size()) + 8 + row_.value_bytes; }

  // Adds cells, in requests of several.
  absl::Status Build(int64_t cells, Result* result) {
    const int64_t cells_per_request =
        std::clamp<int64_t>(kBuildBytesMax / cell_bytes(), 1, kMutationsPerRequestMax);
    for (int64_t left = cells; left > 0; left -= std::min(left, cells_per_request)) {
      if (absl::Status status = Append(std::min(left, cells_per_request), result); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::Status Append(int64_t cells, Result* result) {
    data::MutateRowRequest request;
    request.set_table_name(table_name_);
    request.set_row_key(key_);
    for (int64_t i = 0; i < cells; ++i) {
      auto* cell = request.add_mutations()->mutable_set_cell();
      cell->set_family_name(std::string(kFamily));
      cell->set_column_qualifier(Qualifier(next_));
      cell->set_timestamp_micros(kFirstMicros + next_ * kCellStepMicros);
      cell->set_value(Value(next_));
      sum_.Add(key_hash_, CellSum::Hash(cell->column_qualifier()), cell->timestamp_micros(),
               CellSum::Hash(cell->value()));
      ++next_;
    }
    result->bytes += request.ByteSizeLong();
    const Clock::time_point begin = Clock::now();
    const absl::Status status = Mutate(request);
    Count(begin, cells, result);
    return status;
  }

  // Reads the newest cell of the column that was written last; it must be that cell.
  absl::Status ReadNewest(Result* result) {
    data::ReadRowsRequest request = Request();
    auto* chain = request.mutable_filter()->mutable_chain();
    auto* columns = chain->add_filters()->mutable_column_range_filter();
    columns->set_family_name(std::string(kFamily));
    columns->set_start_qualifier_closed(Qualifier(next_ - 1));
    columns->set_end_qualifier_closed(Qualifier(next_ - 1));
    chain->add_filters()->set_cells_per_column_limit_filter(1);
    ChunkSum sum;
    const Clock::time_point begin = Clock::now();
    if (absl::Status status = Read(request, &sum, result); !status.ok()) return status;
    Count(begin, 1, result);
    const int64_t wanted = kFirstMicros + (next_ - 1) * kCellStepMicros;
    if (sum.sum().cells() == 1 && sum.newest_micros() == wanted) return absl::OkStatus();
    return absl::DataLossError(
        fmt::format("row \"{}\": {} cells instead of the newest one, the newest of {} us, not {}", key_,
                    sum.sum().cells(), sum.newest_micros().value_or(0), wanted));
  }

  // All of it; must be what was written, if this object wrote it all.
  absl::Status ReadAll(bool whole, Result* result) {
    ChunkSum sum;
    const Clock::time_point begin = Clock::now();
    if (absl::Status status = Read(Request(), &sum, result); !status.ok()) return status;
    Count(begin, static_cast<int64_t>(sum.sum().cells()), result);
    result->hash = sum.sum().sum();
    if (!whole || (sum.sum().cells() == sum_.cells() && sum.sum().sum() == sum_.sum()))
      return absl::OkStatus();
    return absl::DataLossError(
        fmt::format("row \"{}\": {} cells (hash {:016x}) were written, {} found (hash {:016x})", key_,
                    sum_.cells(), sum_.sum(), sum.sum().cells(), sum.sum().sum()));
  }

  // Goes on after the newest cell that is there.
  absl::Status FindEnd() {
    data::ReadRowsRequest request = Request();
    request.mutable_filter()->set_cells_per_column_limit_filter(1);
    ChunkSum sum;
    Result ignored;
    if (absl::Status status = Read(request, &sum, &ignored); !status.ok()) return status;
    if (!sum.newest_micros().has_value()) {
      return absl::NotFoundError(
          fmt::format("row \"{}\" is not there: run large-row without --no-build first", key_));
    }
    next_ = (*sum.newest_micros() - kFirstMicros) / kCellStepMicros + 1;
    return absl::OkStatus();
  }

 private:
  std::string Qualifier(int64_t cell) const { return fmt::format("c{:07}", cell % row_.columns); }

  // Nothing that could be made smaller: random bytes behind the number.
  std::string Value(int64_t cell) {
    std::string value = fmt::format("{:016}", cell);
    while (static_cast<int64_t>(value.size()) < row_.value_bytes) {
      uint64_t bits = random_.Next();
      for (int i = 0; i < 8 && static_cast<int64_t>(value.size()) < row_.value_bytes; ++i, bits >>= 8) {
        value += static_cast<char>(bits);
      }
    }
    return value;
  }

  // Again, as official clients would, if the server asks for that: a row may have to settle first.
  absl::Status Mutate(const data::MutateRowRequest& request) {
    const RetryPolicy policy{.attempts_max = kAttemptsMax};
    Backoff backoff(policy, random_.Next());
    while (true) {
      grpc::ClientContext context;
      data::MutateRowResponse response;
      const grpc::Status grpc_status = stub_->MutateRow(&context, request, &response);
      const absl::Status status = FromGrpcStatus(grpc_status, "large-row: MutateRow");
      if (!absl::IsUnavailable(status) || !backoff.WaitForNext(RetryDelay(grpc_status))) return status;
    }
  }

  data::ReadRowsRequest Request() const {
    data::ReadRowsRequest request;
    request.set_table_name(table_name_);
    request.mutable_rows()->add_row_keys(key_);
    return request;
  }

  absl::Status Read(const data::ReadRowsRequest& request, ChunkSum* sum, Result* result) {
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, request);
    data::ReadRowsResponse response;
    while (reader->Read(&response)) {
      result->bytes += response.ByteSizeLong();
      for (const auto& chunk : response.chunks()) sum->Add(chunk);
    }
    return FromGrpcStatus(reader->Finish(), "large-row: ReadRows");
  }

  static void Count(Clock::time_point begin, int64_t cells, Result* result) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    result->latency_us.Add(elapsed.count());
    result->seconds += std::chrono::duration<double>(elapsed).count();
    ++result->requests;
    ++result->rows;
    result->cells += cells;
  }

  data::Bigtable::Stub* const stub_;
  const std::string table_name_;
  const LargeRow row_;
  const std::string key_;
  const uint64_t key_hash_;
  SeededRandom random_;
  int64_t next_ = 0;
  CellSum sum_;
};

}  // namespace

absl::StatusOr<std::vector<Result>> RunLargeRow(const Options& options) {
  if (absl::Status status = EnsureTable(options, DataTable(options) + "_large"); !status.ok()) return status;
  const auto channel = ConnectClient(options);
  if (!channel.ok()) return channel.status();
  const auto stub = data::Bigtable::NewStub(*channel);
  NumberedRow large(stub.get(), options, "large");
  NumberedRow small(stub.get(), options, "small");
  enum { kBuild, kLargeAppend, kSmallAppend, kLargeNewest, kSmallNewest, kWhole };
  std::vector<Result> results(kWhole + 1);
  for (const auto& [index, name] : {std::pair{kBuild, "large-row build"},
                                    {kLargeAppend, "large-row append"},
                                    {kSmallAppend, "small-row append"},
                                    {kLargeNewest, "large-row newest"},
                                    {kSmallNewest, "small-row newest"},
                                    {kWhole, "large-row read"}}) {
    results[index].name = name;
  }
  const bool build = options.large_row.build;
  absl::Status status;
  if (build) {
    Result ignored;
    status =
        large.Build(std::max<int64_t>(1, options.large_row.bytes / large.cell_bytes()), &results[kBuild]);
    if (status.ok()) status = small.Build(kSmallRowCells, &ignored);
  } else {
    status = large.FindEnd();
    status.Update(small.FindEnd());
  }
  // In turns, so that what else the machine does disturbs both.
  for (int64_t i = 0; i < options.requests && status.ok(); ++i) {
    status = large.Append(1, &results[kLargeAppend]);
    if (status.ok()) status = large.ReadNewest(&results[kLargeNewest]);
    if (status.ok()) status = small.Append(1, &results[kSmallAppend]);
    if (status.ok()) status = small.ReadNewest(&results[kSmallNewest]);
  }
  if (status.ok()) status = large.ReadAll(build, &results[kWhole]);
  if (!status.ok()) return status;
  if (!build) results.erase(results.begin());
  return results;
}

}  // namespace sonde::bench
