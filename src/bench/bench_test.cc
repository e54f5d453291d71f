// The workloads against a small Bigtable in the same process.
#include "bench/bench.h"

#include <gmock/gmock.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "bench/report.h"

namespace sonde::bench {
namespace {

using ::testing::HasSubstr;
namespace admin = google::bigtable::admin::v2;
namespace data = google::bigtable::v2;

// Tables without schema: whatever is asked for is there.
class FakeAdmin final : public admin::BigtableTableAdmin::Service {
  grpc::Status GetTable(grpc::ServerContext*, const admin::GetTableRequest*,
                        admin::Table* response) override {
    (*response->mutable_column_families())[std::string(kFamily)];
    return grpc::Status::OK;
  }
};

class FakeData final : public data::Bigtable::Service {
 public:
  // Writes to this row fail.
  std::string bad_row;
  // Acknowledged, and forgotten.
  std::string lost_row;
  // So many requests are refused, with this status.
  std::atomic<int> refusals = 0;
  grpc::Status refusal = RefusalForNow();

  static grpc::Status RefusalForNow() {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(1'000'000);
    google::rpc::Status status;
    status.set_code(grpc::StatusCode::UNAVAILABLE);
    status.add_details()->PackFrom(retry);
    return {grpc::StatusCode::UNAVAILABLE, "busy", status.SerializeAsString()};
  }

 private:
  using Column = std::pair<std::string, int64_t>;  // qualifier, -timestamp
  using Row = std::map<Column, std::string>;

  bool Refuses() { return refusals > 0 && refusals-- > 0; }

  template <typename Mutations>
  grpc::Status Apply(const std::string& table, const std::string& key, const Mutations& mutations) {
    const absl::MutexLock lock(&mutex_);
    if (key == bad_row) return grpc::Status(grpc::StatusCode::OUT_OF_RANGE, "bad row");
    if (key == lost_row) return grpc::Status::OK;
    for (const auto& mutation : mutations) {
      const auto& cell = mutation.set_cell();
      tables_[table][key][{cell.column_qualifier(), -cell.timestamp_micros()}] = cell.value();
    }
    return grpc::Status::OK;
  }

  grpc::Status MutateRow(grpc::ServerContext*, const data::MutateRowRequest* request,
                         data::MutateRowResponse*) override {
    if (Refuses()) return refusal;
    return Apply(request->table_name(), request->row_key(), request->mutations());
  }

  grpc::Status MutateRows(grpc::ServerContext*, const data::MutateRowsRequest* request,
                          grpc::ServerWriter<data::MutateRowsResponse>* writer) override {
    if (Refuses()) return refusal;
    data::MutateRowsResponse response;
    for (const auto& entry : request->entries()) {
      auto* answer = response.add_entries();
      answer->set_index(response.entries_size() - 1);
      if (Refuses()) {
        answer->mutable_status()->ParseFromString(refusal.error_details());
        continue;
      }
      const grpc::Status status = Apply(request->table_name(), entry.row_key(), entry.mutations());
      answer->mutable_status()->set_code(status.error_code());
      answer->mutable_status()->set_message(status.error_message());
    }
    writer->Write(response);
    return grpc::Status::OK;
  }

  static bool Wants(const data::ReadRowsRequest& request, const std::string& key) {
    if (request.rows().row_keys_size() == 0 && request.rows().row_ranges_size() == 0) return true;
    for (const auto& wanted : request.rows().row_keys()) {
      if (key == wanted) return true;
    }
    for (const auto& range : request.rows().row_ranges()) {
      const bool before_end = (range.end_key_open().empty() || key < range.end_key_open()) &&
                              (range.end_key_closed().empty() || key <= range.end_key_closed());
      if (key >= range.start_key_closed() && before_end) return true;
    }
    return false;
  }

  // What the workloads ask for: one filter, or a chain of them.
  struct Filters {
    explicit Filters(const data::RowFilter& filter) {
      Add(filter);
      for (const auto& part : filter.chain().filters()) Add(part);
    }
    void Add(const data::RowFilter& filter) {
      if (filter.has_timestamp_range_filter()) times = filter.timestamp_range_filter();
      if (filter.has_column_range_filter()) column = filter.column_range_filter().start_qualifier_closed();
      if (filter.cells_per_column_limit_filter() == 1) newest = true;
    }
    data::TimestampRange times;
    std::string column;  // empty: all
    bool newest = false;
  };

  grpc::Status ReadRows(grpc::ServerContext* context, const data::ReadRowsRequest* request,
                        grpc::ServerWriter<data::ReadRowsResponse>* writer) override {
    if (Refuses()) return refusal;
    if (request->reversed() && context->client_metadata().count("bigtable-features") == 0) {
      return {grpc::StatusCode::UNIMPLEMENTED, "the client has not announced that it understands this"};
    }
    const absl::MutexLock lock(&mutex_);
    const Filters filters(request->filter());
    std::vector<data::ReadRowsResponse> rows;
    for (const auto& [key, row] : tables_[request->table_name()]) {
      if (!Wants(*request, key)) continue;
      data::ReadRowsResponse response;
      std::string last_column;
      for (const auto& [column, value] : row) {
        const int64_t micros = -column.second;
        if (micros < filters.times.start_timestamp_micros()) continue;
        if (filters.times.end_timestamp_micros() != 0 && micros >= filters.times.end_timestamp_micros())
          continue;
        if (!filters.column.empty() && column.first != filters.column) continue;
        if (filters.newest && column.first == last_column) continue;
        last_column = column.first;
        AddCell(key, column.first, micros, value, &response);
      }
      if (response.chunks_size() == 0) continue;
      response.mutable_chunks(response.chunks_size() - 1)->set_commit_row(true);
      rows.push_back(std::move(response));
    }
    if (request->reversed()) std::reverse(rows.begin(), rows.end());
    if (request->rows_limit() > 0 && rows.size() > request->rows_limit()) rows.resize(request->rows_limit());
    for (const auto& row : rows) writer->Write(row);
    return grpc::Status::OK;
  }

  // Values of two digits come split, to be joined by the reader.
  static void AddCell(const std::string& key, const std::string& qualifier, int64_t micros,
                      const std::string& value, data::ReadRowsResponse* response) {
    auto* chunk = response->add_chunks();
    if (response->chunks_size() == 1) {
      chunk->set_row_key(key);
      chunk->mutable_family_name()->set_value(std::string(kFamily));
    }
    chunk->mutable_qualifier()->set_value(qualifier);
    chunk->set_timestamp_micros(micros);
    if (value.size() != 2) {
      chunk->set_value(value);
      return;
    }
    chunk->set_value(value.substr(0, 1));
    chunk->set_value_size(2);
    response->add_chunks()->set_value(value.substr(1));
  }

  grpc::Status SampleRowKeys(grpc::ServerContext*, const data::SampleRowKeysRequest*,
                             grpc::ServerWriter<data::SampleRowKeysResponse>* writer) override {
    data::SampleRowKeysResponse response;
    response.set_offset_bytes(3000);
    writer->Write(response);
    return grpc::Status::OK;
  }

  absl::Mutex mutex_;
  std::map<std::string, std::map<std::string, Row>> tables_ ABSL_GUARDED_BY(mutex_);
};

class BenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&data_);
    builder.RegisterService(&admin_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    options_.endpoint = "127.0.0.1:" + std::to_string(port);
    options_.shape.hosts = 5;
    options_.rows_per_request = 7;
    options_.cells = 3'000;
    options_.requests = 50;
  }
  void TearDown() override { server_->Shutdown(); }

  FakeData data_;
  FakeAdmin admin_;
  Options options_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(BenchTest, MakesAgainWhatIsRefusedForNow) {
  for (const std::string workload :
       {"ingest", "scan", "point-read", "point-write", "latest", "range", "mixed"}) {
    options_.seconds.reset();
    if (workload == "mixed") options_.seconds = 0.05;
    data_.refusals = 3;
    const auto results = RunWorkloads(workload, options_);
    ASSERT_TRUE(results.ok()) << workload << ": " << results.status();
    uint64_t refused = 0;
    for (const Result& result : *results) refused += result.refused;
    EXPECT_GE(refused, 1) << workload;  // several rows of one request may have been refused
    EXPECT_LE(refused, 3) << workload;
    EXPECT_EQ(data_.refusals, 0) << workload;
    EXPECT_THAT(TextReport(DescribeMachine(), options_, *results), HasSubstr("for now (UNAVAILABLE)"));
  }
  const auto all = RunWorkloads("all", options_);
  ASSERT_TRUE(all.ok()) << all.status();  // scan found all that ingest wrote
  EXPECT_EQ(all->front().refused, 0);
}

TEST_F(BenchTest, DoesNotMakeAgainWhatNobodyWantsAgain) {
  data_.refusals = 1;
  data_.refusal = {grpc::StatusCode::UNAVAILABLE, "going down"};
  const auto ingest = RunWorkloads("ingest", options_);
  EXPECT_EQ(ingest.status().code(), absl::StatusCode::kUnavailable) << ingest.status();
}

TEST_F(BenchTest, WritesAndFindsTheSameData) {
  for (const Schema schema : {Schema::kTall, Schema::kBucket}) {
    options_.shape.schema = schema;
    const auto ingest = RunWorkloads("ingest", options_);
    ASSERT_TRUE(ingest.ok()) << ingest.status();
    const auto scan = RunWorkloads("scan", options_);
    ASSERT_TRUE(scan.ok()) << scan.status();
    EXPECT_EQ((*ingest)[0].cells, 3'000);
    EXPECT_EQ((*ingest)[0].rows, 300);
    EXPECT_EQ((*ingest)[0].disk_bytes_per_cell, 1.0);
    EXPECT_EQ((*scan)[0].cells, 3'000);
    EXPECT_EQ((*scan)[0].rows, schema == Schema::kTall ? 300 : 5);
    EXPECT_EQ((*scan)[0].hash, (*ingest)[0].hash);
  }
}

TEST_F(BenchTest, HasTheSameHashForAnyNumberOfClients) {
  const auto two = RunWorkloads("ingest", options_);
  ASSERT_TRUE(two.ok()) << two.status();
  options_.clients = 7;
  options_.in_flight = 3;
  const auto seven = RunWorkloads("ingest", options_);
  ASSERT_TRUE(seven.ok()) << seven.status();
  EXPECT_EQ((*two)[0].hash, (*seven)[0].hash);
  const auto scan = RunWorkloads("scan", options_);
  ASSERT_TRUE(scan.ok()) << scan.status();
  EXPECT_EQ((*scan)[0].hash, (*seven)[0].hash);
}

TEST_F(BenchTest, KeepsToARate) {
  options_.requests = 40;
  options_.rate = 200;
  const auto results = RunWorkloads("point-write", options_);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].requests, 40);
  EXPECT_GE((*results)[0].seconds, 0.19);
}

TEST_F(BenchTest, RunsAllWorkloads) {
  for (const Schema schema : {Schema::kTall, Schema::kBucket}) {
    options_.shape.schema = schema;
    const auto results = RunWorkloads("all", options_);
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(results->size(), 6);
    EXPECT_EQ((*results)[2].name, "point-read");
    EXPECT_EQ((*results)[2].requests, 50);
    EXPECT_EQ((*results)[2].rows, 50);
    EXPECT_EQ((*results)[2].cells, 500);
    EXPECT_EQ((*results)[3].name, "point-write");
    EXPECT_EQ((*results)[3].requests, 50);
    EXPECT_EQ((*results)[3].cells, 50);
    EXPECT_EQ((*results)[3].latency_us.count(), 50);
    EXPECT_EQ((*results)[4].name, "latest");
    EXPECT_EQ((*results)[4].rows, 50);
    EXPECT_EQ((*results)[4].cells, 500);
    EXPECT_EQ((*results)[5].name, "range");
    EXPECT_EQ((*results)[5].cells, 50 * 60) << "all the steps that there are, fewer than an hour's";
  }
}

TEST_F(BenchTest, RunsAllWorkloadsOnEveryKindOfData) {
  options_.shape.hosts = 12;
  for (size_t kind = 0; kind < std::size(kDataKindNames); ++kind) {
    if (static_cast<DataKind>(kind) == DataKind::kMarket) continue;  // what it has at a step is not known
    options_.shape.kind = static_cast<DataKind>(kind);
    options_.table = std::string(kDataKindNames[kind]);
    for (const char* const name : {"ingest", "scan", "latest", "range"}) {
      const auto results = RunWorkloads(name, options_);
      ASSERT_TRUE(results.ok()) << options_.table << " " << name << ": " << results.status();
      EXPECT_GT((*results)[0].cells, 0) << options_.table << " " << name;
    }
  }
}

TEST_F(BenchTest, ReadsWhileItWrites) {
  options_.seconds = 0.2;
  options_.cells = 500;
  ASSERT_TRUE(RunWorkloads("ingest",
                           [&] {
                             Options once = options_;
                             once.seconds.reset();
                             return once;
                           }())
                  .ok());
  const auto results = RunWorkloads("mixed", options_);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 3);
  for (const Result& result : *results) EXPECT_GT(result.cells, 0) << result.name;
}

TEST_F(BenchTest, ReadsTheNewestCellOfALargeRow) {
  options_.large_row = {.bytes = 10'000, .columns = 3, .value_bytes = 20};
  options_.requests = 5;
  const auto results = RunWorkloads("large-row", options_);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 6);
  EXPECT_EQ((*results)[0].cells, 10'000 / (8 + 8 + 20));
  EXPECT_EQ((*results)[1].latency_us.count(), 5);
  EXPECT_EQ((*results)[5].cells, (*results)[0].cells + 5);
  options_.large_row.build = false;
  const auto again = RunWorkloads("large-row", options_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->back().cells, (*results)[0].cells + 10);
}

TEST_F(BenchTest, EndsByTheClock) {
  options_.seconds = 0.001;
  const auto results = RunWorkloads("all", options_);
  ASSERT_TRUE(results.ok()) << results.status();
  for (const Result& result : *results) EXPECT_GT(result.requests, 0) << result.name;
}

TEST_F(BenchTest, NoticesDataThatWasLost) {
  options_.shape.schema = Schema::kTall;
  data_.lost_row = "host_00003#1451606420";
  const absl::Status status = RunWorkloads("all", options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ingest wrote 3000 cells"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("scan found 2990"));
}

TEST_F(BenchTest, EndsWithTheFirstError) {
  options_.shape.schema = Schema::kTall;
  data_.bad_row = "host_00003#1451606420";
  EXPECT_EQ(RunWorkloads("ingest", options_).status(),
            absl::OutOfRangeError("a row of a request failed: bad row"));
}

TEST_F(BenchTest, SaysWhatPointReadNeeds) {
  options_.shape.schema = Schema::kTall;
  options_.shape.hosts = 1;
  options_.cells = 10;
  const absl::Status status = RunWorkloads("point-read", options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(status.message()),
      ::testing::MatchesRegex(".*row_keys: \"host_00000#1451606400\".* has 0 cells, .* not 10 .*: run ingest "
                              "with the same --data, --schema, .*"));
}

TEST_F(BenchTest, NoticesThatTheNewestIsMissing) {
  ASSERT_TRUE(RunWorkloads("ingest", options_).ok());
  options_.cells += 50;  // one step more than there is
  const absl::Status status = RunWorkloads("latest", options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the newest of 1451606990000000 us, not 10 with one of "
                        "1451607000000000 us or later"));
}

TEST_F(BenchTest, MeasuresTheFilesOfTheServer) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / "sonde_bench_test_files";
  std::filesystem::create_directories(directory / "below");
  std::ofstream(directory / "below" / "file") << std::string(6'000, 'x');
  options_.data_dir = directory;
  const auto results = RunWorkloads("ingest", options_);
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].disk_bytes_per_cell, 2.0);
}

TEST(CheckOptions, NamesTheFlagThatIsOutOfRange) {
  Options options;
  options.shape.hosts = 0;
  EXPECT_EQ(CheckOptions(options), absl::InvalidArgumentError("--hosts is 1 to 100000; got 0"));
  options = Options();
  options.rows_per_request = 10'001;
  EXPECT_EQ(
      CheckOptions(options),
      absl::InvalidArgumentError("cells of a step times --rows-per-request is 1 to 100000; got 100010"));
  options = Options();
  options.data_dir = "/nowhere/at/all";
  EXPECT_EQ(CheckOptions(options),
            absl::InvalidArgumentError("--data-dir is not a directory: \"/nowhere/at/all\""));
  EXPECT_EQ(
      RunWorkloads("everything", Options()).status(),
      absl::InvalidArgumentError("a benchmark is one of ingest, scan, point-read, point-write, latest, "
                                 "range, increment, column-read, sql, sql-point, sql-prepare, json-blobs, "
                                 "create-view, mixed, large-row, large-values, "
                                 "lines, all; got \"everything\""));
}

TEST(Report, ShowsEachResult) {
  Result result;
  result.name = "ingest";
  result.cells = 1'000;
  result.seconds = 0.5;
  result.hash = 0xAB;
  result.disk_bytes_per_cell = 1.5;
  const Machine machine = DescribeMachine();
  EXPECT_GT(machine.cores, 0);
  EXPECT_THAT(TextReport(machine, Options(), {result}), HasSubstr("00000000000000ab"));
  EXPECT_THAT(JsonReport(machine, Options(), {result}), HasSubstr("\"cells_per_second\": 2000.0"));
  EXPECT_THAT(JsonReport(machine, Options(), {result}), HasSubstr("\"disk_bytes_per_cell\": 1.5"));
}

}  // namespace
}  // namespace sonde::bench
