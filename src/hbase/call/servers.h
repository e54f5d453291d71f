// The connections to a cluster's servers, and calls over them.
//
// Threads: all functions may be called at once.  Call must not be called from a callback.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "hbase/call/connection.h"
#include "hbase/call/loop.h"
#include "hbase/wire/names.h"
#include "tls/client_keeper.h"

namespace sonde::hbase {

// Services of HBase's servers.
inline constexpr char kRegistryService[] =
    "ClientMetaService";                                   // of masters and region servers: where things are
inline constexpr char kRegionService[] = "ClientService";  // of region servers: rows
inline constexpr char kRegionAdminService[] = "AdminService";  // of region servers: regions
inline constexpr char kMasterService[] = "MasterService";

// Views that must stay until the call returns, or until Start returns.
struct CallRequest {
  ServerAddress server;
  const char* service = kRegionService;
  std::string_view method;
  std::string_view parameter;
  std::string_view cells = {};
};

// A call that was started.
class StartedCall {
 public:
  // Waits for the end of the call, which comes in its time.  Once.
  CallResult Wait();

 private:
  friend class Servers;
  struct State {
    absl::Mutex mutex;
    bool has_ended ABSL_GUARDED_BY(mutex) = false;
    CallResult result ABSL_GUARDED_BY(mutex);
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// TLS to all servers.  Files that have changed count from the next connection on.
struct TlsToServers {
  tls::ClientFiles files;
  std::string server_name = {};  // for which all servers' certificates must be; empty: each for its host
  bool operator==(const TlsToServers&) const = default;
};

struct ServersOptions {
  std::string user;
  absl::Duration connect_timeout = absl::Seconds(3);
  std::optional<TlsToServers> tls = std::nullopt;  // nullopt: plain text
};

class Servers {
 public:
  // RESOURCE_EXHAUSTED: there is no descriptor for the loop.  Those of tls::ClientContext::Load.
  static absl::StatusOr<std::unique_ptr<Servers>> Create(ServersOptions options);
  // Ends all calls.
  ~Servers();

  // Sends a call; `on_result` runs once, on the loop's thread.
  void Start(const CallRequest& request, absl::Duration timeout, OnResult on_result);
  StartedCall Start(const CallRequest& request, absl::Duration timeout);
  CallResult Call(const CallRequest& request, absl::Duration timeout) {
    return Start(request, timeout).Wait();
  }

  // The connection over which calls to a service go now; null: there is none.  Does not wait.
  std::shared_ptr<Connection> Existing(const ServerAddress& server, const char* service)
      ABSL_LOCKS_EXCLUDED(mutex_);

  Loop* loop() const { return loop_.get(); }
  // The files of TLS changed and do not fit, so that those before are in force.  nullopt: plain text.
  std::optional<bool> tls_reload_failed() const {
    return certificates_ == nullptr ? std::nullopt : std::optional(certificates_->reload_failed());
  }

 private:
  Servers(ServersOptions options, std::unique_ptr<tls::ClientKeeper> certificates,
          std::unique_ptr<Loop> loop);
  absl::StatusOr<std::shared_ptr<Connection>> ConnectionTo(const ServerAddress& server, const char* service)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const ServersOptions options_;
  const std::unique_ptr<tls::ClientKeeper> certificates_;
  std::atomic<bool> has_answered_by_tls_ = false;
  absl::Mutex mutex_;
  std::map<std::pair<ServerAddress, std::string>, std::shared_ptr<Connection>> connections_
      ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<Loop> loop_;  // last: its thread uses the others
};

}  // namespace sonde::hbase
