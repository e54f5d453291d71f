#include "wire/call/door.h"

#include <google/protobuf/descriptor.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "access/rates/principal_rates.h"
#include "access/rules.h"
#include "base/bytes.h"
#include "base/format.h"
#include "wire/call/call_tag.h"
#include "wire/call/calls.h"
#include "wire/call/ended_call.h"
#include "wire/call/grpc_status.h"
#include "wire/call/not_built.h"
#include "wire/call/request_fields.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

std::string_view AfterSlash(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// A method behind the door.
struct GuardedMethod {
  std::string path;
  rpc::Method method;
  const Rule* rule = nullptr;    // null: the method is refused
  std::vector<FieldPath> paths;  // of rule->needs
  bool is_audited = false;       // the audit log covers it
  RateKind rate_kind = RateKind::kOther;
};

// A permission that a call has been given, to be asked for again.
struct Given {
  Permission permission;
  std::string resource;
};

// The call as its handler sees it.  Everything goes on to the call itself, but an end that the door wants takes the place of the
// handler's.
class GuardedCall final : public rpc::Call, public CallAccess {
 public:
  GuardedCall(rpc::Call* call, CallDoor* door, const GuardedMethod* method)
      : call_(call), door_(door), method_(*method) {}

  // Once, at first.
  absl::Status Authenticate() {
    authorization_ = call_->FindMetadata("authorization").value_or("");
    const absl::Time now = door_->Now();
    std::string cause;
    absl::StatusOr<PrincipalRef> found = door_->options().access->Authenticate(
        {.authorization = authorization_, .certificate = call_->peer_certificate()}, now, &cause);
    if (!found.ok()) {
      WriteEvent(AuditEvent::Kind::kUnauthenticated, {.status = found.status().code(), .cause = cause});
      return found.status();
    }
    principal_ = *std::move(found);
    ask_again_ = absl::ToUnixNanos(std::min(now + CallDoor::kAskAgainAfter, principal_->until));
    return absl::OkStatus();
  }

  // Once, when the caller is known: begins the call within the caller's limits.
  absl::Status Begin(size_t request_bytes) {
    absl::StatusOr<PrincipalRates::Place> place =
        door_->options().access->rates()->Admit(*principal_, method_.rate_kind, door_->Now());
    if (!place.ok()) return place.status();
    place_ = *std::move(place);
    CountBytes(request_bytes);
    return absl::OkStatus();
  }
  void CountBytes(size_t bytes) const {
    if (place_.IsCounted()) place_.Charge(bytes, door_->Now());
  }

  // Decides on the request; `given_` has what the call goes on with.
  absl::Status Decide(std::string_view request) {
    if (method_.rule->door == Door::kAuthenticated) return absl::OkStatus();
    const std::span<const Need> needs = method_.rule->needs;
    std::vector<std::string_view> values(needs.size());
    if (absl::Status status = ReadFields(request, method_.paths, values); !status.ok()) {
      return status;
    }
    std::vector<Given> given;
    for (size_t i = 0; i < needs.size(); ++i) {
      if (values[i].empty() && needs[i].if_set) continue;
      absl::StatusOr<Given> need = NeedOf(needs[i], values[i]);
      if (!need.ok()) return need.status();
      given.push_back(*std::move(need));
    }
    if (given.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field '{}' : It must name a resource", needs.front().field));
    }
    for (const Given& need : given) {
      absl::Status status = CheckFor(*principal_, need.permission, need.resource, door_->Now());
      if (!status.ok()) return status;
    }
    given_ = std::move(given);
    return WriteBegin();
  }

  // Asks again, when that is due.  Not OK: the handler is to end the call, and the end will be this.
  absl::Status StillStands() const {
    const absl::Time now = door_->Now();
    int64_t due = ask_again_.load(std::memory_order_relaxed);
    if (absl::ToUnixNanos(now) < due) return absl::OkStatus();
    const absl::MutexLock lock(&mutex_);
    if (!end_.ok()) return end_;
    std::string cause;
    absl::StatusOr<PrincipalRef> again = door_->options().access->Authenticate(
        {.authorization = authorization_, .certificate = call_->peer_certificate()}, now, &cause);
    if (!again.ok()) {
      WriteEvent(AuditEvent::Kind::kUnauthenticated, {.status = again.status().code(), .cause = cause});
      end_ = again.status();
    } else if ((*again)->member != principal_->member) {
      end_ = absl::UnauthenticatedError(kBadCredentials);
    }
    for (const Given& given : given_) {
      if (end_.ok()) end_ = CheckFor(**again, given.permission, given.resource, now);
    }
    if (!end_.ok()) return end_;
    const absl::Time next = std::min(now + CallDoor::kAskAgainAfter, (*again)->until);
    ask_again_.store(absl::ToUnixNanos(next), std::memory_order_relaxed);
    return absl::OkStatus();
  }

  // The door's own end of a call whose handler has not been asked, or has not begun to answer.
  void Refuse(const absl::Status& status) {
    AddServerMetadata(call_, came_, status);
    RequestMetrics* const metrics = door_->options().metrics;
    if (metrics != nullptr) {
      const std::string_view method = AfterSlash(method_.path);
      metrics->Record(method, status.code(), absl::ToInt64Microseconds(absl::Now() - came_));
      NoteFailure(*call_, method, status, caller(), metrics);
    }
    call_->Finish(ToCallStatus(status));
  }

  // Empty: not known yet.
  std::string caller() const { return principal_ == nullptr ? std::string() : principal_->member; }

  // --- CallAccess
  const Principal& principal() const override { return *principal_; }
  bool IsAllowed(Permission permission, std::string_view resource) const override {
    return door_->options().access->IsAllowed(*principal_, permission, resource, door_->Now());
  }
  absl::Status Check(Permission permission, std::string_view resource) const override {
    absl::Status status = CheckFor(*principal_, permission, resource, door_->Now());
    if (!status.ok() || !IsAuditedAccess(permission)) return status;
    // SQL reads and writes tables that its request does not name in a field.
    return Begin(AuditEvent{.resource = resource, .permission = NameOf(permission)});
  }

  absl::Status CountWrite() const override {
    return door_->options().access->rates()->CountWrite(place_, door_->Now());
  }

  // --- rpc::Call
  std::string_view path() const override { return call_->path(); }
  std::optional<std::string> FindMetadata(std::string_view name) const override {
    return call_->FindMetadata(name);
  }
  std::vector<std::string> MetadataValues(std::string_view name) const override {
    return call_->MetadataValues(name);
  }
  absl::Time deadline() const override { return call_->deadline(); }
  const std::string& peer() const override { return call_->peer(); }
  std::string name() const override { return call_->name(); }
  const PeerCertificate* peer_certificate() const override { return call_->peer_certificate(); }
  std::atomic<int64_t>& connection_tally() const override { return call_->connection_tally(); }
  bool IsCancelled() const override { return call_->IsCancelled() || !StillStands().ok(); }
  const rpc::CallNote* note() const override { return this; }
  absl::Duration NotTakenFor() const override { return call_->NotTakenFor(); }
  void Admit() override { call_->Admit(); }
  void ReadNext() override { call_->ReadNext(); }
  void AddInitialMetadata(std::string_view name, std::string_view value) override {
    call_->AddInitialMetadata(name, value);
  }
  void AddTrailingMetadata(std::string_view name, std::string_view value) override {
    call_->AddTrailingMetadata(name, value);
  }
  void Write(rpc::Message message) override {
    CountBytes(message.bytes());
    call_->Write(std::move(message));
  }
  void Finish(rpc::CallStatus status) override {
    if (absl::Status end = End(); !end.ok()) status = ToCallStatus(end);
    WriteEnd(status.code);
    call_->Finish(std::move(status));
  }
  void WriteAndFinish(rpc::Message message, rpc::CallStatus status) override {
    if (!End().ok()) return Finish(std::move(status));
    WriteEnd(status.code);
    CountBytes(message.bytes());
    call_->WriteAndFinish(std::move(message), std::move(status));
  }

 private:
  // The resource that a need is asked on, and the permission.
  absl::StatusOr<Given> NeedOf(const Need& need, std::string_view value) const {
    const std::string_view resource = ResourceOfOperation(value);
    const std::optional<ResourceKind> kind = KindOfResource(resource);
    const bool is_right =
        kind.has_value() && *kind != ResourceKind::kServer && (!need.kind.has_value() || *kind == *need.kind);
    if (!is_right) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field '{}' : '{}' is not the name of {}", need.field, Printable(value),
                      need.kind.has_value() ? TypeOf(*need.kind) : "a resource"));
    }
    // A project has no permissions of its own: those of its instances stand for them.
    const std::optional<Permission> permission =
        PermissionFor(need, *kind == ResourceKind::kProject ? ResourceKind::kInstance : *kind);
    if (!permission.has_value()) {
      return absl::InvalidArgumentError(fmt::format("Error in field '{}' : A {} has no permission '{}'",
                                                    need.field, TypeOf(*kind), need.verb));
    }
    return Given{*permission, std::string(resource)};
  }

  absl::Status CheckFor(const Principal& principal, Permission permission, std::string_view resource,
                        absl::Time now) const {
    absl::Status status = door_->options().access->Check(principal, permission, resource, now);
    if (!status.ok()) {
      WriteEvent(AuditEvent::Kind::kDenied,
                 {.resource = resource, .permission = NameOf(permission), .status = status.code()});
    }
    return status;
  }

  // What the lines of the call's begin and end say of it.
  AuditEvent EventOfCall() const {
    AuditEvent event;
    if (!given_.empty()) {
      event.resource = given_.front().resource;
      event.permission = NameOf(given_.front().permission);
    }
    return event;
  }
  bool IsAuditedAccess(Permission permission) const {
    const AuditLog* const audit = door_->options().audit;
    return audit != nullptr && audit->rules().CoverAccess(NameOf(permission));
  }
  // A call whose end is to have a line gets one now, too, if it may not go on without.
  absl::Status WriteBegin() const {
    const AuditLog* const audit = door_->options().audit;
    if (!method_.is_audited || audit == nullptr || !audit->rules().is_required) return absl::OkStatus();
    return Begin(EventOfCall());
  }
  absl::Status Begin(AuditEvent event) const {
    const RequestTag tag = CallScope(*call_).tag();
    Complete(tag, &event);
    return door_->options().audit->Begin(event);
  }
  void WriteEnd(absl::StatusCode code) const {
    if (!method_.is_audited) return;
    AuditEvent event = EventOfCall();
    event.status = code;
    WriteEvent(AuditEvent::Kind::kEnded, event);
  }
  void WriteEvent(AuditEvent::Kind kind, AuditEvent event) const {
    const RequestTag tag = CallScope(*call_).tag();
    event.kind = kind;
    Complete(tag, &event);
    door_->Write(event);
  }
  // Puts in who calls, from where, and what.  `tag` must outlive the event.
  void Complete(const RequestTag& tag, AuditEvent* completed) const {
    AuditEvent& event = *completed;
    event.time = door_->Now();
    event.address = call_->peer();
    event.method = std::string_view(method_.path).substr(1);
    event.request = tag.id;
    event.trace = tag.trace;
    if (principal_ != nullptr) {
      event.principal = principal_->member;
      event.proof = NameOf(principal_->proof);
    }
  }
  absl::Status End() const {
    const absl::MutexLock lock(&mutex_);
    return end_;
  }

  rpc::Call* const call_;
  CallDoor* const door_;
  const GuardedMethod& method_;
  const absl::Time came_ = absl::Now();
  std::string authorization_;
  PrincipalRef principal_;
  PrincipalRates::Place place_;
  std::vector<Given> given_;                    // set before the handler has the request
  mutable std::atomic<int64_t> ask_again_ = 0;  // a time in ns
  mutable absl::Mutex mutex_;
  mutable absl::Status end_ ABSL_GUARDED_BY(mutex_);  // not OK: the door's, in place of the handler's
};

class GuardedHandler final : public rpc::Handler {
 public:
  GuardedHandler(rpc::Call* call, CallDoor* door, const GuardedMethod* method)
      : call_(call, door, method), method_(*method) {
    if (!method_.method.client_streams) return;
    // The handler asks for its first message.  Where there is none, the door does, and refuses it.
    entered_ = Enter(0);
    if (entered_->ok()) {
      inner_ = method_.method.make(&call_);
    } else {
      call->ReadNext();
    }
  }

  Room OnLength(size_t bytes) override {
    if (inner_ != nullptr) return inner_->OnLength(bytes);
    if (!entered_.has_value()) entered_ = Enter(bytes);
    if (const absl::Status& status = *entered_; !status.ok()) {
      is_refused_ = true;
      call_.Refuse(status);
      return Room::kTake;
    }
    inner_ = method_.method.make(&call_);
    return inner_->OnLength(bytes);
  }
  bool IsAwaited() const override { return inner_ != nullptr && inner_->IsAwaited(); }
  void OnMessage(rpc::MessageBytes message) override {
    if (is_refused_ || inner_ == nullptr) return;
    if (method_.method.client_streams) call_.CountBytes(message.view().size());
    // The message may have taken long to come.
    absl::Status status = call_.StillStands();
    if (!status.ok() && method_.method.client_streams) return EndStream();
    if (status.ok()) status = call_.Decide(message.view());
    if (!status.ok()) {
      is_refused_ = true;
      return call_.Refuse(status);
    }
    inner_->OnMessage(std::move(message));
  }
  void OnHalfClose() override {
    if (inner_ != nullptr) return inner_->OnHalfClose();
    // The client has sent nothing.
    const absl::Status status = entered_.value_or(absl::OkStatus());
    is_refused_ = true;
    call_.Refuse(status.ok() ? absl::InvalidArgumentError("The call has no request") : status);
  }
  void OnWriteDone(bool ok) override {
    if (is_refused_ || inner_ == nullptr) return;
    const bool still_stands = call_.StillStands().ok();
    // A handler that takes several messages leaves it to OnCancel to end the call.
    if (ok && !still_stands && method_.method.client_streams) return EndStream();
    inner_->OnWriteDone(ok && still_stands);
  }
  void OnCancel(const absl::Status& why) override {
    if (inner_ != nullptr) return inner_->OnCancel(why);
    if (is_refused_) return;
    is_refused_ = true;
    call_.Refuse(why);
  }
  void OnServerEnding() override {
    if (inner_ != nullptr) return inner_->OnServerEnding();
    if (is_refused_) return;
    is_refused_ = true;
    call_.Refuse(absl::UnavailableError("The server is ending"));
  }
  std::string Caller() const override { return call_.caller(); }

 private:
  // Ends a call of several messages, of which some may have been answered, with the door's end.
  void EndStream() {
    is_refused_ = true;
    call_.Finish({});
  }
  absl::Status Enter(size_t request_bytes) {
    if (absl::Status status = call_.Authenticate(); !status.ok()) return status;
    if (method_.rule == nullptr) {
      return absl::PermissionDeniedError(
          fmt::format("Access denied. The method {} is in no table of permissions.", method_.path));
    }
    if (method_.rule->door == Door::kNotBuilt) return CallNotBuilt(method_.path);
    return call_.Begin(request_bytes);
  }

  GuardedCall call_;
  const GuardedMethod& method_;
  std::optional<absl::Status> entered_;  // nullopt: not asked yet
  bool is_refused_ = false;
  std::unique_ptr<rpc::Handler> inner_;  // null: not let in; first to go, since it uses the call
};

bool NeedsOneOf(const Rule& rule, std::initializer_list<std::string_view> verbs) {
  return std::any_of(rule.needs.begin(), rule.needs.end(), [&](const Need& need) {
    if (!need.permission.has_value()) return false;
    const std::string_view name = NameOf(*need.permission);
    return std::find(verbs.begin(), verbs.end(), name.substr(name.rfind('.') + 1)) != verbs.end();
  });
}

// Whether a method changes the administration, not the data.
bool IsChange(const Rule& rule) {
  if (rule.method.starts_with(kDataService)) return false;
  return std::any_of(rule.needs.begin(), rule.needs.end(), [](const Need& need) {
    const std::string_view name = need.permission.has_value() ? NameOf(*need.permission) : need.verb;
    const std::string_view verb = name.substr(name.rfind('.') + 1);
    return verb != "get" && verb != "list" && verb != "getIamPolicy" && verb != "checkConsistency" &&
           verb != "generateConsistencyToken";
  });
}

// Whether the audit log covers a method: each change, and accesses to data as the rules say.
bool IsAudited(const Rule& rule, const AuditLog* audit) {
  if (IsChange(rule)) return true;
  if (audit == nullptr || !rule.method.starts_with(kDataService)) return false;
  return (audit->rules().data_reads && NeedsOneOf(rule, {"readRows", "sampleRowKeys", "executeQuery"})) ||
         (audit->rules().data_writes && NeedsOneOf(rule, {"mutateRows"}));
}

// Calls of the data API are reads or writes, as the quotas of the whole server count them.
RateKind RateKindOf(const Rule& rule) {
  if (!rule.method.starts_with(kDataService)) return RateKind::kOther;
  return NeedsOneOf(rule, {"mutateRows"}) ? RateKind::kWrite : RateKind::kRead;
}

std::shared_ptr<GuardedMethod> MakeGuarded(std::string_view path, rpc::Method method, const AuditLog* audit) {
  auto guarded = std::make_shared<GuardedMethod>();
  guarded->path = std::string(path);
  guarded->method = std::move(method);
  const Rule* const rule = FindRule(path);
  if (rule == nullptr) return guarded;
  std::string name(rule->method);
  std::replace(name.begin(), name.end(), '/', '.');
  for (const Need& need : rule->needs) {
    const auto* const found = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
    absl::StatusOr<FieldPath> field = found == nullptr ? absl::InternalError("No such method")
                                                       : FindFieldPath(*found->input_type(), need.field);
    if (!field.ok()) {
      spdlog::error("{} is refused to everybody: {}", path, std::string(field.status().message()));
      return guarded;
    }
    guarded->paths.push_back(*std::move(field));
  }
  guarded->rule = rule;
  guarded->is_audited = IsAudited(*rule, audit);
  guarded->rate_kind = RateKindOf(*rule);
  return guarded;
}

}  // namespace

absl::Time CallDoor::Now() const { return absl::FromUnixMicros(options_.clock->NowMicros()); }

void CallDoor::Write(const AuditEvent& event) const {
  if (options_.audit == nullptr) return;
  if (absl::Status status = options_.audit->Write(event); !status.ok()) {
    spdlog::error("{}", std::string(status.message()));
  }
}

void CallDoor::Guard(rpc::Router* router) {
  const auto wrap = [this](std::string_view path, rpc::Method method) {
    const Rule* const rule = FindRule(path);
    if (rule != nullptr && rule->door == Door::kOpen) return method;
    rpc::Method wrapped{.request_bytes_max = method.request_bytes_max,
                        .client_streams = method.client_streams};
    wrapped.make = [this, guarded = MakeGuarded(path, std::move(method), options_.audit)](rpc::Call* call) {
      return std::make_unique<GuardedHandler>(call, this, guarded.get());
    };
    return wrapped;
  };
  const auto wrap_fallback = [this](rpc::Fallback fallback) -> rpc::Fallback {
    return [this, fallback = std::move(fallback)](const rpc::UnknownCall& call) {
      const std::string authorization = call.find_metadata("authorization").value_or("");
      std::string cause;
      const absl::StatusOr<PrincipalRef> principal = options_.access->Authenticate(
          {.authorization = authorization, .certificate = call.certificate}, Now(), &cause);
      if (principal.ok()) return fallback(call);
      const RequestTag tag = MakeRequestTag(call.find_metadata("x-request-id").value_or(""),
                                            call.find_metadata("traceparent").value_or(""), call.name);
      Write({.kind = AuditEvent::Kind::kUnauthenticated,
             .time = Now(),
             .address = call.peer,
             .method = call.path,
             .status = principal.status().code(),
             .request = tag.id,
             .trace = tag.trace,
             .cause = cause});
      return ToCallStatus(principal.status());
    };
  };
  router->Wrap(wrap, wrap_fallback);
}

}  // namespace sonde
