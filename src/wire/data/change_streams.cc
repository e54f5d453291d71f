#include "wire/data/change_streams.h"

#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/format.h"
#include "changes/change_record.h"
#include "model/names.h"
#include "wire/call/calls.h"
#include "wire/call/cluster.h"
#include "wire/call/data_target.h"
#include "wire/call/requests.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;
using google::protobuf::util::TimeUtil;
using SteadyClock = std::chrono::steady_clock;

// How late a change may be seen.
constexpr auto kLookInterval = std::chrono::milliseconds(50);
// How late it is seen that a stream was disabled, or its table divided differently.
constexpr auto kReadInterval = std::chrono::seconds(1);
constexpr auto kUpkeepInterval = std::chrono::minutes(1);
constexpr auto kHeartbeatDefault = std::chrono::seconds(5);
constexpr int64_t kHeartbeatSecondsMax = 24 * 60 * 60;
constexpr int kTokensMax = 1'000;
// The memory of a stream that waits, beside its request.
constexpr int64_t kWaitingBytes = 8 * 1024;
constexpr int64_t kSecondsMax = 253'402'300'799;  // the end of the year 9999, as google.protobuf.Timestamp
constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int32_t kNanosPerMicro = 1'000;
constexpr int32_t kNanosPerSecond = 1'000'000'000;

absl::Status FieldError(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : {}", field, what));
}

// Truncated to microseconds.
absl::StatusOr<int64_t> ParseTime(std::string_view field, const google::protobuf::Timestamp& time) {
  if (time.seconds() < 0 || time.seconds() > kSecondsMax || time.nanos() < 0 ||
      time.nanos() >= kNanosPerSecond) {
    return FieldError(field,
                      fmt::format("{} s and {} ns is no time since 1970", time.seconds(), time.nanos()));
  }
  return time.seconds() * kMicrosPerSecond + time.nanos() / kNanosPerMicro;
}

absl::StatusOr<RowRange> ParsePartition(const pb::StreamPartition& partition) {
  const pb::RowRange& range = partition.row_range();
  if (range.start_key_case() == pb::RowRange::kStartKeyOpen ||
      range.end_key_case() == pb::RowRange::kEndKeyClosed) {
    return FieldError("partition", "is from start_key_closed to end_key_open");
  }
  absl::StatusOr<RowRange> parsed = ParseRowRange(range);
  if (!parsed.ok()) return FieldError("partition", std::string(parsed.status().message()));
  return parsed;
}

void PartitionToProto(const RowRange& range, pb::StreamPartition* partition) {
  partition->mutable_row_range()->set_start_key_closed(range.start);
  partition->mutable_row_range()->set_end_key_open(range.end);
}

template <typename CellMutation, typename Message>
void ColumnToProto(const CellMutation& m, Message* out) {
  out->set_family_name(std::string(m.family));
  out->mutable_column_qualifier()->set_raw_value(std::string(m.qualifier));
  out->mutable_timestamp()->set_raw_timestamp_micros(m.timestamp_micros);
}

struct MutationToProto {
  pb::Mutation* out;

  void operator()(const SetCell& m) const {
    pb::Mutation::SetCell* set = out->mutable_set_cell();
    set->set_family_name(std::string(m.family));
    set->set_column_qualifier(std::string(m.qualifier));
    set->set_timestamp_micros(m.timestamp_micros);
    set->set_value(std::string(m.value));
  }
  void operator()(const AddToCell& m) const {
    ColumnToProto(m, out->mutable_add_to_cell());
    pb::Value* input = out->mutable_add_to_cell()->mutable_input();
    if (const auto* number = std::get_if<int64_t>(&m.input)) input->set_int_value(*number);
    if (const auto* bytes = std::get_if<std::string_view>(&m.input))
      input->set_bytes_value(std::string(*bytes));
  }
  void operator()(const MergeToCell& m) const {
    ColumnToProto(m, out->mutable_merge_to_cell());
    out->mutable_merge_to_cell()->mutable_input()->set_bytes_value(std::string(m.state.value_or("")));
  }
  void operator()(const DeleteFromColumn& m) const {
    pb::Mutation::DeleteFromColumn* del = out->mutable_delete_from_column();
    del->set_family_name(std::string(m.family));
    del->set_column_qualifier(std::string(m.qualifier));
    if (m.time_range.IsAll()) return;
    del->mutable_time_range()->set_start_timestamp_micros(m.time_range.start_micros);
    del->mutable_time_range()->set_end_timestamp_micros(m.time_range.end_micros);
  }
  void operator()(const DeleteFromFamily& m) const {
    out->mutable_delete_from_family()->set_family_name(std::string(m.family));
  }
  void operator()(const DeleteFromRow&) const { out->mutable_delete_from_row(); }
};

void MutationChunkToProto(const LoggedMutation& logged, pb::ReadChangeStreamResponse::MutationChunk* out) {
  std::visit(MutationToProto{out->mutable_mutation()}, logged.mutation);
  if (!logged.chunk.has_value()) return;
  out->mutable_chunk_info()->set_chunked_value_size(static_cast<int32_t>(logged.chunk->value_bytes));
  out->mutable_chunk_info()->set_chunked_value_offset(static_cast<int32_t>(logged.chunk->offset));
  out->mutable_chunk_info()->set_last_chunk(logged.chunk->last);
}

absl::Status ServerEnds() { return absl::UnavailableError("The server is ending; try again"); }

rpc::Message Heartbeat(const ChangeStreamReader& reader) {
  pb::ReadChangeStreamResponse response;
  pb::ReadChangeStreamResponse::Heartbeat* heartbeat = response.mutable_heartbeat();
  PartitionToProto(reader.partition(), heartbeat->mutable_continuation_token()->mutable_partition());
  heartbeat->mutable_continuation_token()->set_token(reader.Token());
  *heartbeat->mutable_estimated_low_watermark() =
      TimeUtil::MicrosecondsToTimestamp(reader.watermark_micros());
  return ToMessage(response);
}

}  // namespace

absl::StatusOr<ParsedReadChangeStream> ParseReadChangeStream(const pb::ReadChangeStreamRequest& request) {
  ParsedReadChangeStream parsed;
  if (absl::Status status = CheckTableName(request.table_name()); !status.ok()) return status;
  parsed.table_name = request.table_name();
  absl::StatusOr<RowRange> partition = ParsePartition(request.partition());
  if (!partition.ok()) return partition.status();
  parsed.read.partition = *std::move(partition);
  if (request.has_start_time()) {
    absl::StatusOr<int64_t> start = ParseTime("start_time", request.start_time());
    if (!start.ok()) return start.status();
    parsed.read.start_micros = *start;
  }
  if (request.has_end_time()) {
    absl::StatusOr<int64_t> end = ParseTime("end_time", request.end_time());
    if (!end.ok()) return end.status();
    parsed.read.end_micros = *end;
  }
  if (request.has_continuation_tokens()) {
    const auto& tokens = request.continuation_tokens().tokens();
    if (tokens.empty() || tokens.size() > kTokensMax) {
      return FieldError(
          "continuation_tokens",
          fmt::format("from 1 to {} tokens are allowed, but there are {}", kTokensMax, tokens.size()));
    }
    for (const pb::StreamContinuationToken& token : tokens) {
      absl::StatusOr<RowRange> part = ParsePartition(token.partition());
      if (!part.ok()) return part.status();
      parsed.read.tokens.push_back({*std::move(part), token.token()});
    }
  }
  parsed.heartbeat = kHeartbeatDefault;
  if (request.has_heartbeat_duration()) {
    const google::protobuf::Duration& duration = request.heartbeat_duration();
    if (duration.seconds() < 0 || duration.seconds() > kHeartbeatSecondsMax || duration.nanos() < 0 ||
        duration.nanos() >= kNanosPerSecond ||
        (duration.seconds() == 0 && duration.nanos() < kNanosPerMicro)) {
      return FieldError("heartbeat_duration",
                        fmt::format("must be from 1 us to {} s, but is {} s and {} ns", kHeartbeatSecondsMax,
                                    duration.seconds(), duration.nanos()));
    }
    parsed.heartbeat = std::chrono::seconds(duration.seconds()) +
                       std::chrono::microseconds(duration.nanos() / kNanosPerMicro);
  }
  return parsed;
}

absl::Status ToProto(const ChangeStreamReader::Piece& piece, pb::ReadChangeStreamResponse* response) {
  using DataChange = pb::ReadChangeStreamResponse::DataChange;
  ChangePiece decoded;
  if (absl::Status status = DecodeChangePiece(piece.bytes, &decoded); !status.ok()) return status;
  DataChange* change = response->mutable_data_change();
  const bool user = decoded.kind == ChangeKind::kUser;
  change->set_type(!decoded.first ? DataChange::CONTINUATION
                   : user         ? DataChange::USER
                                  : DataChange::GARBAGE_COLLECTION);
  if (decoded.first) {
    if (user) change->set_source_cluster_id(kClusterId);
    change->set_row_key(std::string(decoded.row_key));
    *change->mutable_commit_timestamp() = TimeUtil::MicrosecondsToTimestamp(piece.commit_micros);
  }
  for (const LoggedMutation& mutation : decoded.mutations)
    MutationChunkToProto(mutation, change->add_chunks());
  if (decoded.last) {
    change->set_done(true);
    change->set_token(piece.token);
    *change->mutable_estimated_low_watermark() = TimeUtil::MicrosecondsToTimestamp(piece.watermark_micros);
  }
  return absl::OkStatus();
}

pb::ReadChangeStreamResponse CloseStream(const std::vector<ChangeStreamReader::Continuation>& continuations) {
  pb::ReadChangeStreamResponse response;
  pb::ReadChangeStreamResponse::CloseStream* close = response.mutable_close_stream();
  close->mutable_status()->set_code(static_cast<int>(absl::StatusCode::kOk));
  if (!continuations.empty()) {
    close->mutable_status()->set_code(static_cast<int>(absl::StatusCode::kOutOfRange));
    close->mutable_status()->set_message("The table is divided into other partitions; go on with those");
  }
  for (const ChangeStreamReader::Continuation& continuation : continuations) {
    pb::StreamContinuationToken* token = close->add_continuation_tokens();
    PartitionToProto(continuation.token_partition, token->mutable_partition());
    token->set_token(continuation.token);
    PartitionToProto(continuation.partition, close->add_new_partitions());
  }
  return response;
}

// One call of ReadChangeStream.  At any time it is in one place: with a worker, on its way to the client, or
// waiting.
class ChangeStreamCall final : public std::enable_shared_from_this<ChangeStreamCall> {
 public:
  ChangeStreamCall(ChangeStreamCalls* calls, rpc::Call* call, const AppProfiles* profiles)
      : calls_(calls), call_(call), profiles_(profiles) {}

  // False, and the call has ended.
  bool CheckLength(size_t bytes) {
    const absl::Status status = sonde::CheckLength(Kind(), MethodOf<pb::ReadChangeStreamRequest>(), bytes);
    if (!status.ok()) FinishWith(status);
    return status.ok();
  }

  void Start(rpc::MessageBytes request) {
    static const ProfileFields fields(*pb::ReadChangeStreamRequest::descriptor());
    const absl::Status allowed = fields.Admit(profiles_, ProfileUse::kChangeStream, request.view()).status();
    if (!allowed.ok()) return FinishWith(allowed);
    absl::StatusOr<Admission::Place> room = Admit(Kind(), request);
    if (!room.ok()) return FinishWith(room.status());
    room_ = *std::move(room);
    if (!calls_->Add(shared_from_this())) return FinishWith(ServerEnds());
    auto open = [self = shared_from_this(), request = std::move(request)]() mutable {
      if (absl::Status status = self->Open(&request); !status.ok()) {
        self->End(status);
      } else {
        self->Produce();
      }
    };
    if (!calls_->workers_->Submit(std::move(open))) End(Overloaded());
  }

  // Called for every stream, by one thread.
  void Look(SteadyClock::time_point now) {
    const absl::MutexLock lock(&mutex_);
    if (place_ != Place::kWaiting) return;
    if (now < next_read_ && now < next_heartbeat_ && !reader_->HasNews()) return;
    place_ = Place::kWorking;
    if (!calls_->workers_->Submit([self = shared_from_this()] { self->Produce(); })) place_ = Place::kWaiting;
  }

  // Ends it if it waits; otherwise when it would wait next.
  void EndSoon(const absl::Status& status) {
    {
      const absl::MutexLock lock(&mutex_);
      if (end_.ok()) end_ = status;
      if (place_ != Place::kWaiting) return;
      place_ = Place::kOver;
    }
    FinishWith(status);
  }

  void OnWriteDone(bool ok) {
    if (!ok) {
      End(absl::CancelledError("The client has gone"));
      return;
    }
    messages_.pop_front();
    Send();
  }

 private:
  enum class Place { kWorking, kWriting, kWaiting, kOver };

  CallKind Kind() const {
    return {.admission = &calls_->admission_,
            .workers = calls_->workers_,
            .may_block = true,
            .request_bytes_max = kReadRowsRequestBytesMax,
            .held_bytes = kWaitingBytes};
  }

  absl::Status Open(rpc::MessageBytes* bytes) {
    ParsedRequest<pb::ReadChangeStreamRequest> request;
    if (absl::Status status = request.Parse(bytes, &room_); !status.ok()) return status;
    waiting_bytes_ = room_.bytes();
    absl::StatusOr<ParsedReadChangeStream> parsed = ParseReadChangeStream(request.message());
    if (!parsed.ok()) return parsed.status();
    absl::StatusOr<TableSchemaRef> schema = FindDataTable(calls_->tables_->catalog(), parsed->table_name);
    if (!schema.ok()) return schema.status();
    absl::StatusOr<std::unique_ptr<ChangeStreamReader>> reader =
        calls_->streams_.Open(*std::move(schema), parsed->read);
    if (!reader.ok()) return reader.status();
    reader_ = *std::move(reader);
    heartbeat_ = parsed->heartbeat;
    next_heartbeat_ = SteadyClock::now() + heartbeat_;
    return absl::OkStatus();
  }

  // A worker's: looks at the log once.
  void Produce() {
    absl::Status end;
    {
      const absl::MutexLock lock(&mutex_);
      end = end_;
    }
    if (!end.ok()) {
      End(end);
      return;
    }
    absl::StatusOr<ChangeStreamReader::State> state = reader_->Read(&pieces_);
    if (!state.ok()) {
      End(state.status());
      return;
    }
    for (const ChangeStreamReader::Piece& piece : pieces_) {
      pb::ReadChangeStreamResponse response;
      if (absl::Status status = ToProto(piece, &response); !status.ok()) {
        End(status);
        return;
      }
      messages_.push_back(ToMessage(response));
    }
    pieces_.clear();
    const SteadyClock::time_point now = SteadyClock::now();
    next_read_ = now + kReadInterval;
    if (*state == ChangeStreamReader::State::kRepartitioned) {
      messages_.push_back(ToMessage(CloseStream(reader_->Continuations())));
      closed_ = true;
    } else if (*state == ChangeStreamReader::State::kEndReached) {
      messages_.push_back(ToMessage(CloseStream({})));
      closed_ = true;
    } else if (now >= next_heartbeat_ && !reader_->InRecord()) {
      messages_.push_back(Heartbeat(*reader_));
      next_heartbeat_ = now + heartbeat_;
    }
    more_ = *state == ChangeStreamReader::State::kMore;
    int64_t bytes = waiting_bytes_;
    for (const rpc::Message& message : messages_) bytes += static_cast<int64_t>(message.bytes());
    if (absl::Status status = room_.Resize(bytes); !status.ok()) {
      End(status);
      return;
    }
    Send();
  }

  // Sends the next message; or ends, works on, or waits.
  void Send() {
    mutex_.Lock();
    if (!end_.ok() || (messages_.empty() && closed_)) {
      place_ = Place::kOver;
      const absl::Status end = end_;
      mutex_.Unlock();
      FinishWith(end);
    } else if (!messages_.empty()) {
      place_ = Place::kWriting;
      mutex_.Unlock();
      AddMetadata(absl::OkStatus());
      call_->Write(std::move(messages_.front()));
    } else {
      room_.Resize(waiting_bytes_).IgnoreError();  // to give back is no error
      // Where there is no room among the workers, the next look tries again.
      place_ = Place::kWorking;
      if (!more_ || !calls_->workers_->Submit([self = shared_from_this()] { self->Produce(); }))
        place_ = Place::kWaiting;
      mutex_.Unlock();
    }
  }

  void End(const absl::Status& status) {
    {
      const absl::MutexLock lock(&mutex_);
      place_ = Place::kOver;
    }
    messages_.clear();  // the loop frees the call later, and they have no room
    pieces_.clear();
    FinishWith(status);
  }

  void FinishWith(const absl::Status& status) {
    AddMetadata(status);
    call_->Finish(ToCallStatus(status));
  }

  void AddMetadata(const absl::Status& status) {
    if (!std::exchange(metadata_added_, true)) AddServerMetadata(call_, came_, status);
  }

  ChangeStreamCalls* const calls_;
  rpc::Call* const call_;              // until it is finished
  const AppProfiles* const profiles_;  // null: each profile allows all
  const absl::Time came_ = absl::Now();
  absl::Mutex mutex_;
  Place place_ ABSL_GUARDED_BY(mutex_) = Place::kWorking;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // how it is to end

  // Whoever has the call, by place_, has these.
  Admission::Place room_;
  int64_t waiting_bytes_ = 0;  // of room_, while there is no message
  bool metadata_added_ = false;
  std::unique_ptr<ChangeStreamReader> reader_;
  std::vector<ChangeStreamReader::Piece> pieces_;
  std::deque<rpc::Message> messages_;  // the first is being sent
  bool closed_ = false;                // the last message was made
  bool more_ = false;
  std::chrono::microseconds heartbeat_{0};
  SteadyClock::time_point next_heartbeat_, next_read_;
};

ChangeStreamCalls::ChangeStreamCalls(Tables* tables, WorkerPool* workers, int64_t bytes_max)
    : tables_(tables),
      workers_(workers),
      admission_("change streams", {.requests = kStreamsMax, .bytes = bytes_max}),
      streams_(tables),
      thread_([this] { Run(); }) {}

ChangeStreamCalls::~ChangeStreamCalls() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  changed_.SignalAll();
  thread_.join();
}

bool ChangeStreamCalls::Add(std::shared_ptr<ChangeStreamCall> call) {
  {
    const absl::MutexLock lock(&mutex_);
    if (ending_) return false;
    calls_.insert(std::move(call));
  }
  changed_.SignalAll();
  return true;
}

void ChangeStreamCalls::Remove(const std::shared_ptr<ChangeStreamCall>& call) {
  const absl::MutexLock lock(&mutex_);
  calls_.erase(call);
}

void ChangeStreamCalls::End() {
  std::vector<std::shared_ptr<ChangeStreamCall>> calls;
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
    calls.assign(calls_.begin(), calls_.end());
  }
  for (const auto& call : calls) call->EndSoon(ServerEnds());
}

void ChangeStreamCalls::Run() {
  SteadyClock::time_point next_upkeep = SteadyClock::now() + kUpkeepInterval;
  while (LookAtAll(next_upkeep)) {
    if (SteadyClock::now() < next_upkeep) continue;
    next_upkeep = SteadyClock::now() + kUpkeepInterval;
    if (absl::Status status = streams_.Upkeep(); !status.ok()) {
      spdlog::warn("upkeep of change streams: {}", std::string(status.message()));
    }
  }
}

bool ChangeStreamCalls::LookAtAll(SteadyClock::time_point next_upkeep) {
  const absl::MutexLock lock(&mutex_);
  if (calls_.empty()) {
    const auto has_work = [this]()
                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !calls_.empty(); };
    changed_.WaitFor(&mutex_, absl::FromChrono(next_upkeep - SteadyClock::now()), absl::Condition(&has_work));
  } else {
    changed_.WaitFor(&mutex_, absl::FromChrono(kLookInterval), absl::Condition(&stopping_));
  }
  const SteadyClock::time_point now = SteadyClock::now();
  for (const auto& call : calls_) call->Look(now);
  return !stopping_;
}

// The call's side of a stream, which the workers and the thread that looks know, too.
class ChangeStreamHandler final : public rpc::Handler {
 public:
  ChangeStreamHandler(ChangeStreamCalls* calls, rpc::Call* call, const AppProfiles* profiles)
      : calls_(calls), stream_(std::make_shared<ChangeStreamCall>(calls, call, profiles)) {}
  ~ChangeStreamHandler() override { calls_->Remove(stream_); }

  Room OnLength(size_t bytes) override {
    stream_->CheckLength(bytes);
    return Room::kTake;
  }
  void OnMessage(rpc::MessageBytes message) override { stream_->Start(std::move(message)); }
  void OnWriteDone(bool ok) override { stream_->OnWriteDone(ok); }
  void OnCancel(const absl::Status&) override {
    stream_->EndSoon(absl::CancelledError("The client has gone"));
  }

 private:
  ChangeStreamCalls* const calls_;
  const std::shared_ptr<ChangeStreamCall> stream_;
};

std::unique_ptr<rpc::Handler> ChangeStreamCalls::Handle(rpc::Call* call, const AppProfiles* profiles) {
  return std::make_unique<ChangeStreamHandler>(this, call, profiles);
}

absl::Status ChangeStreamCalls::GeneratePartitions(
    const pb::GenerateInitialChangeStreamPartitionsRequest& request,
    std::vector<rpc::Message>* messages) const {
  if (absl::Status status = CheckTableName(request.table_name()); !status.ok()) return status;
  absl::StatusOr<TableSchemaRef> schema = FindDataTable(tables_->catalog(), request.table_name());
  if (!schema.ok()) return schema.status();
  if (absl::Status status = CheckHasChangeStream(**schema); !status.ok()) return status;
  for (const RowRange& range : PartitionsOf(*(*schema)->change_stream)) {
    pb::GenerateInitialChangeStreamPartitionsResponse response;
    PartitionToProto(range, response.mutable_partition());
    messages->push_back(ToMessage(response));
  }
  return absl::OkStatus();
}

}  // namespace sonde
