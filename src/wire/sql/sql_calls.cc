#include "wire/sql/sql_calls.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/synchronization/mutex.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "model/limits.h"
#include "model/names.h"
#include "sql/exec/execution.h"
#include "sql/exec/insert.h"
#include "sql/exec/query_name.h"
#include "sql/message/query_values.h"
#include "wire/call/connection_share.h"
#include "wire/call/door.h"
#include "wire/call/ended_call.h"
#include "wire/call/queued_time.h"
#include "wire/call/service_names.h"
#include "wire/sql/result_stream.h"
#include "wire/sql/sql_parameters.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// The memory of a query under way beside its request, its message and what its operators account for.
constexpr int64_t kQueryBytes = 128 * 1024;
// One query may have this part of the room of all reads: an eighth of --memory.
constexpr int64_t kQueryShare = 2;
// What it keeps of kQueryBytes while its client takes nothing.
constexpr int64_t kStalledQueryBytes = 32 * 1024;
constexpr size_t kParametersMax = 10'000;
constexpr int64_t kParametersBytesMax = 16 << 20;

// Bounds of what is answered on the thread that requests come in on: that of the request, of the memory of operators, and
// of the time.  What turns out larger begins again among the readers.
constexpr size_t kShortRequestBytesMax = 64 << 10;
constexpr int64_t kShortQueryBytesMax = 1 << 20;
constexpr absl::Duration kShortQueryTime = absl::Milliseconds(2);

absl::StatusOr<std::vector<sql::QueryParameter>> ParseParameterTypes(const pb::PrepareQueryRequest& request) {
  if (request.param_types_size() > static_cast<int>(kParametersMax)) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'param_types' : {} parameters; {} are allowed",
                    request.param_types_size(), kParametersMax));
  }
  std::vector<sql::QueryParameter> parameters;
  for (const auto& [name, type] : request.param_types()) {
    absl::StatusOr<sql::Type> parsed = ParseParameterType(name, type);
    if (!parsed.ok()) return parsed.status();
    parameters.push_back({name, *std::move(parsed)});
  }
  std::sort(parameters.begin(), parameters.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return parameters;
}

absl::Status CheckQuery(const std::string& instance, const std::string& query) {
  if (absl::Status status = CheckInstanceName(instance); !status.ok()) return status;
  if (query.empty()) return absl::InvalidArgumentError("Error in field 'query' : It is empty");
  return absl::OkStatus();
}

void WriteMetadata(const PreparedQuery& prepared, pb::ResultSetMetadata* metadata) {
  for (const sql::OutputColumn& column : prepared.query.columns) {
    pb::ColumnMetadata* const to = metadata->mutable_proto_schema()->add_columns();
    to->set_name(column.name);
    sql::ToProto(column.type, to->mutable_type());
  }
}

PreparedQueries::Rights RightsOf(const rpc::Call& call) {
  return {.may_read = [&call](std::string_view resource) { return CheckMayRead(call, resource); },
          .may_write = [&call](std::string_view resource) { return CheckMayInsert(call, resource); }};
}

absl::Status PrepareQuery(PreparedQueries* queries, const rpc::Call& call,
                          const pb::PrepareQueryRequest& request, pb::PrepareQueryResponse* response) {
  if (absl::Status status = CheckQuery(request.instance_name(), request.query()); !status.ok()) return status;
  const absl::StatusOr<std::vector<sql::QueryParameter>> parameters = ParseParameterTypes(request);
  if (!parameters.ok()) return parameters.status();
  const absl::StatusOr<PreparedQueryRef> prepared =
      queries->Prepare(request.instance_name(), request.query(), *parameters, RightsOf(call));
  if (!prepared.ok()) return prepared.status();
  WriteMetadata(**prepared, response->mutable_metadata());
  response->set_prepared_query((*prepared)->token);
  const int64_t valid_until_micros =
      (*prepared)->issued_micros + absl::ToInt64Microseconds(PreparedQueries::kValidFor);
  response->mutable_valid_until()->set_seconds(valid_until_micros / 1'000'000);
  response->mutable_valid_until()->set_nanos(static_cast<int32_t>(valid_until_micros % 1'000'000 * 1'000));
  return absl::OkStatus();
}

// The values of the query's parameters, in its order.
absl::StatusOr<std::vector<sql::Value>> ParseParameters(const sql::BoundQuery& query,
                                                        const pb::ExecuteQueryRequest& request) {
  std::vector<sql::Value> values(query.parameters.size());
  std::vector<bool> are_given(values.size());
  for (const auto& [name, value] : request.params()) {
    const auto declared = std::find_if(
        query.parameters.begin(), query.parameters.end(), [&](const sql::QueryParameter& parameter) {
          return absl::AsciiStrToLower(parameter.name) == absl::AsciiStrToLower(name);
        });
    if (declared == query.parameters.end()) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'params' : The query has no parameter '{}'", Printable(name)));
    }
    const size_t index = declared - query.parameters.begin();
    absl::StatusOr<sql::Value> parsed = ParseParameter(name, declared->type, value);
    if (!parsed.ok()) return parsed.status();
    values[index] = *std::move(parsed);
    are_given[index] = true;
  }
  const auto missing = std::find(are_given.begin(), are_given.end(), false);
  if (missing != are_given.end()) {
    return absl::InvalidArgumentError(fmt::format("Error in field 'params' : No value for parameter '{}'",
                                                  query.parameters[missing - are_given.begin()].name));
  }
  return values;
}

// Of all in the request but its resume token.
uint64_t HashOfRequest(const PreparedQuery& prepared, const std::vector<sql::Value>& parameters,
                       const sql::ViewParameters& view_parameters) {
  std::string facts = prepared.token;
  for (const sql::Value& value : parameters) PutBytes(&facts, value.ToSql());
  for (const auto& [name, value] : view_parameters) {
    PutBytes(&facts, name);
    PutBytes(&facts, value);
  }
  return XXH3_64bits(facts.data(), facts.size());
}

class ExecuteQueryHandler final : public rpc::Handler, public StalledReads::Read {
 public:
  ExecuteQueryHandler(rpc::Call* call, Tables* tables, PreparedQueries* queries, SpooledResults* spooled,
                      QueryMetrics* query_metrics, const CallResources& resources)
      : call_(call),
        share_(call),
        kind_(KindOf(resources)),
        tables_(tables),
        queries_(queries),
        spooled_(spooled),
        writes_(resources.writes),
        cost_(resources.read_cost),
        blocks_(resources.reads_block),
        stalled_reads_(resources.stalled_reads),
        spill_(resources.spill),
        idle_workers_(resources.idle_workers),
        metrics_(resources.metrics),
        query_metrics_(*query_metrics) {}

  ~ExecuteQueryHandler() override {
    if (watched_) stalled_reads_->Remove(this);
  }

  Room OnLength(size_t bytes) override {
    if (absl::Status status = CheckLength(kind_, kMethod, bytes); !status.ok()) End(status);
    return Room::kTake;
  }

  void OnMessage(rpc::MessageBytes bytes) override {
    static const ProfileFields fields(*pb::ExecuteQueryRequest::descriptor());
    const absl::StatusOr<Priority> priority = fields.Admit(kind_.profiles, kind_.use, bytes.view());
    if (!priority.ok()) return End(priority.status());
    priority_ = *priority;
    if (absl::Status status = share_.Take(kind_); !status.ok()) return End(status);
    absl::StatusOr<Admission::Place> place = Admit(kind_, bytes);
    if (!place.ok()) return End(place.status());
    {
      const absl::MutexLock lock(&hold_mutex_);
      place_ = *std::move(place);
    }
    if (!GoesAmongReaders() && bytes.size() <= kShortRequestBytesMax) {
      if (absl::Status status = Parse(&bytes); !status.ok()) return End(status);
      if (const PreparedQueryRef prepared = FindPoint(); prepared != nullptr) return AnswerHere(prepared);
    }
    AnswerAmongReaders(std::move(bytes));
  }

  void OnWriteDone(bool ok) override {
    untaken_ += SetWaitingSince(absl::InfiniteFuture());
    if (!ok) return End(absl::CancelledError("The client has gone"));
    SetMessageBytes(0);
    if (stream_ == nullptr) return End(absl::OkStatus());
    queued_.Begin();
    auto go_on = [this] {
      queued_.End();
      Produce();
    };
    if (!kind_.workers->Submit(std::move(go_on), priority_)) End(Overloaded());
  }
  void SuspendIfWaiting(absl::Time since) override {
    const absl::MutexLock lock(&waiting_mutex_);
    if (waiting_since_ >= since || stream_ == nullptr) return;
    stream_->Suspend();
    // Until it goes on it has no more than it holds, so that many such do not keep others out.
    const absl::MutexLock hold_lock(&hold_mutex_);
    const int64_t bytes = held_bytes_ - kQueryBytes + kStalledQueryBytes + operator_bytes_ + message_bytes_;
    if (bytes < place_.bytes()) place_.Resize(bytes).IgnoreError();  // to give back is no error
  }

 private:
  static constexpr std::string_view kMethod = "ExecuteQuery";
  static CallKind KindOf(const CallResources& resources) {
    CallKind kind = resources.Reads();
    kind.held_bytes = kQueryBytes;
    kind.request_bytes_max = kParametersBytesMax;
    return kind;
  }

  // Whether the thread that requests come in on is not to read (ReadRows decides so, too).
  bool GoesAmongReaders() const { return blocks_ || cost_->IsHigh() || priority_ != Priority::kHigh; }

  absl::Status Parse(rpc::MessageBytes* bytes) {
    request_.emplace();
    const absl::MutexLock lock(&hold_mutex_);
    if (absl::Status status = request_->Parse(bytes, &place_); !status.ok()) return status;
    held_bytes_ = place_.bytes();
    return CheckInstanceName(request_->message().instance_name());
  }

  // The query of the request, if it is one for a single row, in memory, and is asked from its beginning.
  PreparedQueryRef FindPoint() {
    const pb::ExecuteQueryRequest& request = request_->message();
    if (request.prepared_query().empty() || !request.resume_token().empty()) return nullptr;
    absl::StatusOr<PreparedQueryRef> prepared = FindQuery(request);
    // Whoever answers it finds the error again.
    return prepared.ok() && (*prepared)->is_point ? *std::move(prepared) : nullptr;
  }

  void AnswerHere(PreparedQueryRef prepared) {
    const StepCost::Timer timer(cost_);
    short_until_ = absl::Now() + kShortQueryTime;
    const absl::Status begun = Begin(std::move(prepared), request_->message());
    absl::StatusOr<std::optional<rpc::Message>> message(begun.ok() ? stream_->Next() : begun);
    if (absl::IsAborted(message.status())) {
      stream_.reset();
      return AnswerAmongReaders({});
    }
    short_until_.reset();
    Send(std::move(message));
  }

  // `bytes`: those of the request, unless it is parsed already.
  void AnswerAmongReaders(rpc::MessageBytes bytes) {
    short_until_.reset();
    queued_.Begin();
    auto answer = [this, bytes = std::move(bytes)](absl::Status status) mutable {
      queued_.End();
      if (status.ok() && !request_.has_value()) status = Parse(&bytes);
      if (status.ok()) status = Open();
      if (!status.ok()) return End(status);
      if (first_.has_value()) return Write(*std::exchange(first_, std::nullopt));
      Produce();
    };
    kind_.workers->Submit(call_->deadline(), std::move(answer), priority_);
  }

  absl::Status Open() {
    const pb::ExecuteQueryRequest& request = request_->message();
    absl::StatusOr<PreparedQueryRef> prepared = FindQuery(request);
    if (!prepared.ok()) return prepared.status();
    absl::Status status = Begin(*std::move(prepared), request);
    request_.reset();
    return status;
  }

// Its fields from before there were prepared queries are served like all others.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  absl::StatusOr<PreparedQueryRef> FindQuery(const pb::ExecuteQueryRequest& request) {
    if (request.query().empty() == request.prepared_query().empty()) {
      return absl::InvalidArgumentError("Exactly one of query and prepared_query must be set");
    }
    if (request.query().empty()) {
      if (request.has_proto_format()) {
        return absl::InvalidArgumentError(
            "Error in field 'data_format' : It must not be set with prepared_query, which has one");
      }
      return queries_->Find(request.instance_name(), request.prepared_query(),
                            !request.resume_token().empty(), RightsOf(*call_));
    }
    std::vector<sql::QueryParameter> parameters;
    for (const auto& [name, value] : request.params()) {
      absl::StatusOr<sql::Type> type = ParseParameterType(name, value.type());
      if (!type.ok()) return type.status();
      parameters.push_back({name, *std::move(type)});
    }
    std::sort(parameters.begin(), parameters.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    absl::StatusOr<PreparedQueryRef> prepared =
        queries_->Prepare(request.instance_name(), request.query(), parameters, RightsOf(*call_));
    if (prepared.ok() && request.resume_token().empty()) {
      pb::ExecuteQueryResponse response;
      WriteMetadata(**prepared, response.mutable_metadata());
      first_ = ToMessage(response);
    }
    return prepared;
  }
#pragma GCC diagnostic pop

  absl::Status Begin(PreparedQueryRef prepared, const pb::ExecuteQueryRequest& request) {
    absl::StatusOr<std::vector<sql::Value>> parameters = ParseParameters(prepared->query, request);
    if (!parameters.ok()) return parameters.status();
    if (prepared->query.Writes()) {
      if (absl::Status status = AdmitWrite(request); !status.ok()) return status;
    }
    const std::string& resume = request.resume_token();
    absl::StatusOr<sql::ViewParameters> view_parameters = ParseViewParameters(request);
    if (!view_parameters.ok()) return view_parameters.status();
    const uint64_t request_hash = HashOfRequest(*prepared, *parameters, *view_parameters);
    sql::ExecutionEnvironment environment{
        .tables = tables_,
        .deadline = call_->deadline(),
        .interrupted = [this] { return Interrupted(); },
        .hold = [this](int64_t more_bytes) { return Hold(more_bytes); },
        .caller = [text = prepared->text] { return sql::NameOfQuery(text); },
        // What is short, or has to begin again soon, is not divided.
        .idle_workers = short_until_.has_value() ? nullptr : idle_workers_,
        .spill = spill_,
        .view_parameters = *std::move(view_parameters)};
    if (!resume.empty()) {
      absl::StatusOr<ResumeToken> token = queries_->tokens().ReadResume(resume);
      if (!token.ok()) return token.status();
      if (token->request_hash != request_hash) {
        return absl::InvalidArgumentError(
            "Error in field 'resume_token' : The request is not the one whose results the token is of");
      }
      if (token->is_end) {
        first_ = ResultStream::EndMessage(resume);
        return absl::OkStatus();
      }
      if (!token->spooled.empty()) return GoOnFromDisk(std::move(prepared), *token);
      environment.now_micros = token->now_micros;
      environment.resume_after = token->place;
    }
    absl::StatusOr<std::unique_ptr<sql::Execution>> execution =
        sql::Execute(prepared->query, *std::move(parameters), environment);
    if (!execution.ok()) return execution.status();
    stream_ = std::make_unique<ResultStream>(std::move(prepared), *std::move(execution), request_hash,
                                             &queries_->tokens(), spooled_);
    return absl::OkStatus();
  }

  // An INSERT came in as a read, and is a write, too.
  absl::Status AdmitWrite(const pb::ExecuteQueryRequest& request) {
    if (kind_.profiles != nullptr) {
      const absl::StatusOr<Priority> priority =
          kind_.profiles->Admit(request.instance_name(), request.app_profile_id(), ProfileUse::kWrite);
      if (!priority.ok()) return priority.status();
    }
    if (absl::Status status = CountWrite(*call_); !status.ok()) return status;
    absl::StatusOr<Admission::Place> place = writes_->Admit(sql::kInsertBytes);
    if (!place.ok()) return place.status();
    write_place_ = *std::move(place);
    return absl::OkStatus();
  }

  absl::Status GoOnFromDisk(PreparedQueryRef prepared, const ResumeToken& token) {
    absl::StatusOr<SpooledResultRef> result = spooled_->Find(token.spooled);
    if (!result.ok()) return result.status();
    SpooledPlace from{*std::move(result), token.spooled_place, token.now_micros};
    stream_ = std::make_unique<ResultStream>(std::move(prepared), std::move(from), token.request_hash,
                                             &queries_->tokens());
    return absl::OkStatus();
  }

  absl::Status Interrupted() const {
    if (call_->IsCancelled()) return absl::CancelledError("The client has gone");
    const absl::Time now = absl::Now();
    if (short_until_.has_value() && now > *short_until_) return IsNotShort();
    if (now > call_->deadline()) {
      return absl::DeadlineExceededError("The deadline has passed during the query");
    }
    return absl::OkStatus();
  }

  // The account of the query's memory.  Helpers of the query ask for memory while a message is on its way, too.
  absl::Status Hold(int64_t more_bytes) ABSL_LOCKS_EXCLUDED(hold_mutex_) {
    const absl::MutexLock lock(&hold_mutex_);
    const int64_t operators = operator_bytes_ + more_bytes;
    if (short_until_.has_value() && operators > kShortQueryBytesMax) return IsNotShort();
    const int64_t most = kind_.admission->limits().bytes / kQueryShare;
    if (more_bytes > 0 && operators > most) {
      return absl::ResourceExhaustedError(
          fmt::format("The query needs {} bytes of memory; {} is the limit of a query", operators, most));
    }
    absl::Status status = place_.Resize(held_bytes_ + operators + message_bytes_);
    if (!status.ok() && more_bytes > 0) return status;
    operator_bytes_ = operators;
    operator_bytes_max_ = std::max(operator_bytes_max_, operators);
    query_metrics_.Hold(more_bytes);
    return status;
  }

  void SetMessageBytes(int64_t bytes) ABSL_LOCKS_EXCLUDED(hold_mutex_) {
    const absl::MutexLock lock(&hold_mutex_);
    message_bytes_ = bytes;
  }
  int64_t operator_bytes_max() ABSL_LOCKS_EXCLUDED(hold_mutex_) {
    const absl::MutexLock lock(&hold_mutex_);
    return operator_bytes_max_;
  }

  static absl::Status IsNotShort() { return absl::AbortedError("The query goes on among the readers"); }

  // Makes one message and sends it.  The end of this object may come before it returns.
  void Produce() {
    // Rows on disk come without a query that would ask.
    if (absl::Status status = Interrupted(); !status.ok()) return End(status);
    Send(stream_->Next());
  }

  void Send(absl::StatusOr<std::optional<rpc::Message>> message) {
    if (!message.ok()) return End(message.status());
    if (!message->has_value()) return End(absl::OkStatus());
    if (stream_->IsOver()) return End(absl::OkStatus(), **std::move(message));
    SetMessageBytes(static_cast<int64_t>(stream_->message_bytes()));
    if (absl::Status status = Hold(0); !status.ok()) return End(status);
    Write(**std::move(message));
  }

  void Write(rpc::Message message) {
    AddMetadata(absl::OkStatus());
    SetWaitingSince(absl::Now());
    if (!std::exchange(watched_, true)) stalled_reads_->Add(this);
    call_->Write(std::move(message));
  }

  // Returns how long it has waited until now.
  absl::Duration SetWaitingSince(absl::Time time) {
    const absl::MutexLock lock(&waiting_mutex_);
    const absl::Time before = std::exchange(waiting_since_, time);
    return before == absl::InfiniteFuture() ? absl::ZeroDuration() : absl::Now() - before;
  }

  void AddMetadata(const absl::Status& status) {
    if (!std::exchange(metadata_added_, true)) AddServerMetadata(call_, came_, status);
  }

  void End(const absl::Status& status, std::optional<rpc::Message> last = std::nullopt) {
    const absl::Time now = absl::Now();
    CallCost cost{.queued = queued_.all(), .untaken = untaken_};
    if (stream_ != nullptr) {
      EndedQuery query = stream_->Ended();
      cost.rows_seen = static_cast<int64_t>(query.rows_scanned);
      cost.rows = static_cast<int64_t>(query.rows);
      cost.bytes = static_cast<int64_t>(query.bytes);
      query.method = kMethod;
      query.code = status.code();
      query.ended = now;
      query.took = now - came_;
      query.memory_bytes = static_cast<uint64_t>(operator_bytes_max());
      query_metrics_.Record(std::move(query));
    }
    stream_.reset();  // gives its memory back to place_
    EndCall(*call_, {.method = kMethod, .status = status, .came = came_, .cost = cost}, metrics_);
    AddMetadata(status);
    if (last.has_value()) return call_->WriteAndFinish(*std::move(last), ToCallStatus(status));
    call_->Finish(ToCallStatus(status));
  }

  rpc::Call* const call_;
  ConnectionShare share_;
  const CallKind kind_;
  Priority priority_ = Priority::kHigh;  // known when the request is there
  Tables* const tables_;
  PreparedQueries* const queries_;
  SpooledResults* const spooled_;
  Admission* const writes_;
  StepCost* const cost_;
  const bool blocks_;  // the store is behind a network
  StalledReads* const stalled_reads_;
  sql::SpillSpace* const spill_;
  IdleWorkers* const idle_workers_;
  RequestMetrics* const metrics_;
  QueryMetrics& query_metrics_;
  const absl::Time came_ = absl::Now();
  QueuedTime queued_;
  absl::Duration untaken_;        // as CallCost
  Admission::Place write_place_;  // of an INSERT
  absl::Mutex hold_mutex_;
  Admission::Place place_ ABSL_GUARDED_BY(hold_mutex_);
  // Of place_: the request and the query itself; what operators hold; the message on its way.
  int64_t held_bytes_ ABSL_GUARDED_BY(hold_mutex_) = 0;
  int64_t operator_bytes_ ABSL_GUARDED_BY(hold_mutex_) = 0;
  int64_t operator_bytes_max_ ABSL_GUARDED_BY(hold_mutex_) = 0;
  int64_t message_bytes_ ABSL_GUARDED_BY(hold_mutex_) = 0;
  bool metadata_added_ = false;
  bool watched_ = false;  // by stalled_reads_
  absl::Mutex waiting_mutex_;
  // When a message was written that the client has not taken yet; the stream is not in use meanwhile.
  absl::Time waiting_since_ ABSL_GUARDED_BY(waiting_mutex_) = absl::InfiniteFuture();
  std::optional<ParsedRequest<pb::ExecuteQueryRequest>> request_;  // until the query begins
  std::optional<absl::Time> short_until_;                          // set: it is answered where it came in
  std::optional<rpc::Message> first_;                              // a message that comes before the stream's
  std::unique_ptr<ResultStream> stream_;  // last: it uses the account above until its end
};

}  // namespace

void AddSqlCalls(Tables* tables, PreparedQueries* queries, SpooledResults* spooled,
                 QueryMetrics* query_metrics, const CallResources& resources, rpc::Router* router) {
  Service service(kDataService, resources.metrics, router);
  service.AddUnary<pb::PrepareQueryRequest, pb::PrepareQueryResponse>(
      resources.Reads(), [queries](const rpc::Call& call, const auto& in, auto* out) {
        return PrepareQuery(queries, call, in, out);
      });
  service.Add("ExecuteQuery", [tables, queries, spooled, query_metrics, resources](rpc::Call* call) {
    return std::make_unique<ExecuteQueryHandler>(call, tables, queries, spooled, query_metrics, resources);
  });
}

}  // namespace sonde
