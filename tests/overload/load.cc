#include "load.h"

#include <fmt/format.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
namespace pb = google::bigtable::v2;

constexpr int kChannels = 4;
constexpr std::chrono::seconds kDeadline{30};

std::string RowKey(int row) { return fmt::format("row#{:04}", row); }

bool HasRetryInfo(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return false;
  return std::any_of(details.details().begin(), details.details().end(), [](const auto& detail) {
    google::rpc::RetryInfo retry;
    return detail.UnpackTo(&retry) && (retry.retry_delay().seconds() > 0 || retry.retry_delay().nanos() > 0);
  });
}

pb::RowFilter NoSuchValue() {
  pb::RowFilter filter;
  filter.mutable_chain()->add_filters()->set_family_name_regex_filter("data");
  filter.mutable_chain()->add_filters()->set_value_regex_filter("(?:a|b)*no such value(?:c|d)*");
  return filter;
}

}  // namespace

int64_t Quantile(const std::vector<int64_t>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(fraction * static_cast<double>(sorted.size())))];
}

// A request under way.
class LoadDriver::Driven {
 public:
  Driven(uint64_t id, Clock::time_point due) : id_(id), due_(due) {
    context_.set_deadline(std::chrono::system_clock::now() + kDeadline);
  }

  void StartRead(pb::Bigtable::Stub* stub, const pb::ReadRowsRequest& request, grpc::CompletionQueue* queue) {
    reader_ = stub->PrepareAsyncReadRows(&context_, request, queue);
    reader_->StartCall(this);
  }
  void StartWrite(pb::Bigtable::Stub* stub, const pb::CheckAndMutateRowRequest& request,
                  grpc::CompletionQueue* queue) {
    writer_ = stub->AsyncCheckAndMutateRow(&context_, request, queue);
    is_finishing_ = true;
    writer_->Finish(&written_, &status_, this);  // the other thread may be done with it when this returns
  }

  // True when it has ended.
  bool Advance(bool ok) {
    if (is_finishing_) return true;
    if (ok) {
      reader_->Read(&read_, this);
    } else {
      is_finishing_ = true;
      reader_->Finish(&status_, this);
    }
    return false;
  }

  void AddTo(bool is_at_the_end, LoadResult* result) const {
    const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - due_).count();
    if (status_.ok()) {
      ++result->answered;
      result->latency_us.push_back(us);
      result->answered_ids.insert(id_);
    } else if (status_.error_code() == grpc::StatusCode::UNAVAILABLE && HasRetryInfo(status_)) {
      ++result->refused;
      result->refused_us.push_back(us);
      result->refused_ids.insert(id_);
      if (is_at_the_end) ++result->refused_at_the_end;
    } else {
      ++result->other[fmt::format("{}: {}", static_cast<int>(status_.error_code()), status_.error_message())];
    }
  }

  Clock::time_point due() const { return due_; }

 private:
  const uint64_t id_;
  const Clock::time_point due_;
  bool is_finishing_ = false;
  grpc::ClientContext context_;
  grpc::Status status_;
  pb::ReadRowsResponse read_;
  pb::CheckAndMutateRowResponse written_;
  std::unique_ptr<grpc::ClientAsyncReader<pb::ReadRowsResponse>> reader_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<pb::CheckAndMutateRowResponse>> writer_;
};

LoadDriver::LoadDriver(const std::string& address, std::string table_name, int rows)
    : table_name_(std::move(table_name)), rows_(rows) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  for (int i = 0; i < kChannels; ++i) {
    channels_.push_back(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    stubs_.push_back(pb::Bigtable::NewStub(channels_.back()));
  }
}

LoadResult LoadDriver::Run(const Load& load) {
  grpc::CompletionQueue queue;
  LoadResult result;
  std::atomic<int> under_way = 0;
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + load.time;
  std::thread drain([&] {
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {
      auto* driven = static_cast<Driven*>(tag);
      if (!driven->Advance(ok)) continue;
      driven->AddTo(driven->due() >= end - std::chrono::seconds(1), &result);
      delete driven;
      --under_way;
    }
  });

  pb::ReadRowsRequest read;
  read.set_table_name(table_name_);
  *read.mutable_filter() = NoSuchValue();
  read.mutable_rows()->add_row_keys();
  pb::CheckAndMutateRowRequest write;
  write.set_table_name(table_name_);
  *write.mutable_predicate_filter() = NoSuchValue();
  auto* mark = write.add_false_mutations()->mutable_set_cell();
  mark->set_family_name("marks");

  uint64_t due = 0;  // requests that should have been sent
  for (Clock::time_point now = begin; now < end; now = Clock::now()) {
    const double seconds = std::chrono::duration<double>(now - begin).count();
    // Without a rate: as many as may be under way.
    const bool has_rate = load.per_second < std::numeric_limits<double>::infinity();
    const uint64_t until = has_rate ? static_cast<uint64_t>(load.per_second * seconds) : UINT64_MAX;
    while (due < until && under_way < load.under_way_max) {
      ++under_way;
      ++result.sent;
      ++due;
      const uint64_t id = next_id_++;
      const auto sent_at =
          has_rate ? begin + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(static_cast<double>(due) / load.per_second))
                   : Clock::now();
      auto* driven = new Driven(id, sent_at);
      const std::string key = RowKey(static_cast<int>(id * 7919 % static_cast<uint64_t>(rows_)));
      pb::Bigtable::Stub* stub = stubs_[id % stubs_.size()].get();
      if (load.kind == LoadKind::kRead) {
        *read.mutable_rows()->mutable_row_keys(0) = key;
        driven->StartRead(stub, read, &queue);
      } else {
        write.set_row_key(key);
        mark->set_column_qualifier(std::to_string(id));
        driven->StartWrite(stub, write, &queue);
      }
    }
    if (has_rate) due = until;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  while (under_way > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  queue.Shutdown();
  drain.join();
  std::sort(result.latency_us.begin(), result.latency_us.end());
  std::sort(result.refused_us.begin(), result.refused_us.end());
  return result;
}

void LoadDriver::FillRows(int cells) {
  for (int row = 0; row < rows_; ++row) {
    pb::MutateRowRequest request;
    request.set_table_name(table_name_);
    request.set_row_key(RowKey(row));
    for (int i = 0; i < cells; ++i) {
      auto* cell = request.add_mutations()->mutable_set_cell();
      cell->set_family_name("data");
      cell->set_column_qualifier(fmt::format("{:05}", i));
      cell->set_timestamp_micros(1000);
      cell->set_value("abababababab");
    }
    grpc::ClientContext context;
    pb::MutateRowResponse response;
    const grpc::Status status = stubs_[0]->MutateRow(&context, request, &response);
    if (!status.ok()) throw std::runtime_error(status.error_message());
  }
}

std::set<uint64_t> LoadDriver::WrittenIds() {
  pb::ReadRowsRequest request;
  request.set_table_name(table_name_);
  request.mutable_filter()->set_family_name_regex_filter("marks");
  grpc::ClientContext context;
  const auto stream = stubs_[0]->ReadRows(&context, request);
  std::set<uint64_t> ids;
  pb::ReadRowsResponse response;
  while (stream->Read(&response)) {
    for (const auto& chunk : response.chunks()) ids.insert(std::stoull(chunk.qualifier().value()));
  }
  if (const grpc::Status status = stream->Finish(); !status.ok())
    throw std::runtime_error(status.error_message());
  return ids;
}

}  // namespace sonde
