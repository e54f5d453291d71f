#include "bench/reads.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/chunk_sum.h"
#include "client/features.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

// One request at a time, and what its answer adds up to.
class Read : public StreamCall<data::ReadRowsResponse> {
 public:
  Read(data::Bigtable::Stub* stub, const Options& options, RandomSource* random, Quota* quota,
       ClientResult* result)
      : keys_(options.shape),
        schema_(options.shape.schema),
        entities_(options.shape.hosts),
        steps_(StepsOf(options)),
        random_(random),
        stub_(stub),
        quota_(quota),
        result_(result) {
    request_.set_table_name(TableName(options, DataTable(options)));
  }

 protected:
  virtual void Ask(data::ReadRowsRequest* request) = 0;
  // How many cells the answer has, if the data is regular.
  virtual uint64_t CellsWanted() const = 0;
  // The time that one of them has at least.
  virtual int64_t NewestWanted() const { return 0; }

  int RandomEntity() { return static_cast<int>(random_->Uniform(entities_)); }
  int RandomGroup() { return static_cast<int>(random_->Uniform(keys_.model().groups.size())); }
  int64_t RandomStep(int64_t bound) {
    return static_cast<int64_t>(random_->Uniform(std::max<int64_t>(1, bound)));
  }
  const std::vector<Field>& FieldsOf(int group) const { return keys_.model().groups[group].fields; }

  const RowKeys keys_;
  const Schema schema_;
  const int64_t entities_;
  const int64_t steps_;
  RandomSource* const random_;

 private:
  bool Next() override {
    if (!quota_->Take()) return false;
    Ask(&request_);
    return true;
  }

  std::unique_ptr<Reader> Open(grpc::ClientContext* context, grpc::CompletionQueue* queue) override {
    sum_ = ChunkSum();
    context->AddMetadata(kFeaturesKey, kFeatures);  // reversed reads want it
    return stub_->AsyncReadRows(context, request_, queue, static_cast<Call*>(this));
  }

  absl::Status Take(const data::ReadRowsResponse& response,
                    std::optional<std::chrono::milliseconds>*) override {
    result_->bytes += response.ByteSizeLong();
    for (const auto& chunk : response.chunks()) sum_.Add(chunk);
    return absl::OkStatus();
  }

  absl::Status End() override {
    result_->rows += sum_.rows();
    result_->sum.Merge(sum_.sum());
    const bool found =
        sum_.sum().cells() == CellsWanted() && sum_.newest_micros().value_or(0) >= NewestWanted();
    if (found || !keys_.model().regular) return absl::OkStatus();
    return absl::NotFoundError(fmt::format(
        "{} has {} cells, the newest of {} us, not {} with one of {} us or later: run ingest with the "
        "same --data, --schema, --hosts, --cells-per-row and --cells first",
        request_.ShortDebugString(), sum_.sum().cells(), sum_.newest_micros().value_or(0), CellsWanted(),
        NewestWanted()));
  }

  data::Bigtable::Stub* const stub_;
  Quota* const quota_;
  ClientResult* const result_;
  data::ReadRowsRequest request_;
  ChunkSum sum_;
};

class PointRead final : public Read {
 public:
  using Read::Read;

 private:
  void Ask(data::ReadRowsRequest* request) override {
    group_ = RandomGroup();
    const int64_t step = RandomStep(steps_);
    const int64_t begin = keys_.StepMicros(step);
    request->set_rows_limit(1);
    request->mutable_rows()->clear_row_keys();
    request->mutable_rows()->add_row_keys(keys_.RowKey(RandomEntity(), group_, begin));
    if (schema_ == Schema::kTall) return;
    auto* times = request->mutable_filter()->mutable_timestamp_range_filter();
    times->set_start_timestamp_micros(begin);
    times->set_end_timestamp_micros(keys_.StepMicros(step + 1));
  }
  uint64_t CellsWanted() const override { return FieldsOf(group_).size(); }

  int group_ = 0;
};

class ColumnRead final : public Read {
 public:
  using Read::Read;

 private:
  void Ask(data::ReadRowsRequest* request) override {
    const int group = RandomGroup();
    request->set_rows_limit(1);
    request->mutable_rows()->clear_row_keys();
    request->mutable_rows()->add_row_keys(
        keys_.RowKey(RandomEntity(), group, keys_.StepMicros(RandomStep(steps_))));
    auto* chain = request->mutable_filter()->mutable_chain();
    chain->clear_filters();
    auto* column = chain->add_filters()->mutable_column_range_filter();
    column->set_family_name(std::string(kFamily));
    column->set_start_qualifier_closed(FieldsOf(group)[0].name);
    column->set_end_qualifier_closed(FieldsOf(group)[0].name);
    chain->add_filters()->set_cells_per_column_limit_filter(1);
  }
  uint64_t CellsWanted() const override { return 1; }
};

class LatestRead final : public Read {
 public:
  using Read::Read;

 private:
  void Ask(data::ReadRowsRequest* request) override {
    group_ = RandomGroup();
    const std::string prefix = keys_.GroupPrefix(RandomEntity(), group_);
    std::string end = prefix;
    ++end.back();
    request->set_rows_limit(1);
    request->set_reversed(true);
    request->mutable_rows()->clear_row_ranges();
    auto* range = request->mutable_rows()->add_row_ranges();
    range->set_start_key_closed(prefix);
    range->set_end_key_open(end);
    request->mutable_filter()->set_cells_per_column_limit_filter(1);
  }
  uint64_t CellsWanted() const override { return FieldsOf(group_).size(); }
  int64_t NewestWanted() const override { return keys_.StepMicros(steps_ - 1); }

  int group_ = 0;
};

class RangeRead final : public Read {
 public:
  RangeRead(data::Bigtable::Stub* stub, const Options& options, RandomSource* random, Quota* quota,
            ClientResult* result)
      : Read(stub, options, random, quota, result),
        steps_wanted_(std::clamp<int64_t>(options.range_seconds / keys_.model().step_seconds, 1,
                                          std::max<int64_t>(steps_, 1))) {}

 private:
  void Ask(data::ReadRowsRequest* request) override {
    const int entity = RandomEntity();
    const int group = RandomGroup();
    const std::vector<Field>& fields = FieldsOf(group);
    const std::string& column = fields[random_->Uniform(fields.size())].name;
    const int64_t step = RandomStep(steps_ - steps_wanted_ + 1);
    const int64_t begin = keys_.StepMicros(step);
    const int64_t end = keys_.StepMicros(step + steps_wanted_);
    request->mutable_rows()->clear_row_ranges();
    auto* range = request->mutable_rows()->add_row_ranges();
    range->set_start_key_closed(keys_.RowKey(entity, group, begin));
    range->set_end_key_closed(keys_.RowKey(entity, group, end - 1));
    auto* chain = request->mutable_filter()->mutable_chain();
    chain->clear_filters();
    auto* columns = chain->add_filters()->mutable_column_range_filter();
    columns->set_family_name(std::string(kFamily));
    columns->set_start_qualifier_closed(column);
    columns->set_end_qualifier_closed(column);
    auto* times = chain->add_filters()->mutable_timestamp_range_filter();
    times->set_start_timestamp_micros(begin);
    times->set_end_timestamp_micros(end);
  }
  uint64_t CellsWanted() const override { return steps_wanted_; }

  const int64_t steps_wanted_;
};

}  // namespace

std::unique_ptr<Call> MakeRead(ReadKind kind, data::Bigtable::Stub* stub, const Options& options,
                               RandomSource* random, Quota* quota, ClientResult* result) {
  switch (kind) {
    case ReadKind::kPoint:
      return std::make_unique<PointRead>(stub, options, random, quota, result);
    case ReadKind::kColumn:
      return std::make_unique<ColumnRead>(stub, options, random, quota, result);
    case ReadKind::kLatest:
      return std::make_unique<LatestRead>(stub, options, random, quota, result);
    case ReadKind::kRange:
      break;
  }
  return std::make_unique<RangeRead>(stub, options, random, quota, result);
}

absl::StatusOr<Result> RunReads(const std::string& name, ReadKind kind, const Options& options) {
  return RunClients(name, options,
                    [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
                        ClientResult* result) {
                      const auto stub = data::Bigtable::NewStub(channel);
                      SeededRandom random = ClientRandom(options, client);
                      Quota quota(options, client, deadline);
                      std::vector<std::unique_ptr<Call>> calls;
                      for (int i = 0; i < options.in_flight.value_or(kPointInFlight); ++i) {
                        calls.push_back(MakeRead(kind, stub.get(), options, &random, &quota, result));
                      }
                      result->status = RunCalls(calls, &result->latency_us, &result->refused);
                    });
}

absl::StatusOr<Result> RunPointRead(const Options& options) {
  return RunReads("point-read", ReadKind::kPoint, options);
}
absl::StatusOr<Result> RunColumnRead(const Options& options) {
  return RunReads("column-read", ReadKind::kColumn, options);
}
absl::StatusOr<Result> RunLatest(const Options& options) {
  return RunReads("latest", ReadKind::kLatest, options);
}
absl::StatusOr<Result> RunRange(const Options& options) {
  return RunReads("range", ReadKind::kRange, options);
}

}  // namespace sonde::bench
