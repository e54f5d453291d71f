#include "rpc/server_state.h"

#include <fmt/format.h>

namespace sonde::rpc {

void Router::Wrap(const std::function<Method(std::string_view path, Method method)>& wrap,
                  const std::function<Fallback(Fallback fallback)>& wrap_fallback) {
  for (auto& [path, method] : methods_) method = wrap(path, std::move(method));
  if (!fallback_) {
    fallback_ = [](const UnknownCall& call) { return Router().AnswerUnknown(call); };
  }
  fallback_ = wrap_fallback(std::move(fallback_));
}

CallStatus Router::AnswerUnknown(const UnknownCall& call) const {
  if (fallback_) return fallback_(call);
  return {absl::StatusCode::kUnimplemented, fmt::format("There is no method {}", call.path)};
}

bool ServerState::EnterConnection(const std::string& address) {
  const absl::MutexLock lock(&mutex_);
  if (connections_.load(std::memory_order_relaxed) >= static_cast<int64_t>(options_.connections_max)) {
    CountRefusal(Refusal::kConnections);
    return false;
  }
  int64_t& of_peer = peers_[address];
  if (of_peer >= static_cast<int64_t>(options_.connections_per_peer_max)) {
    CountRefusal(Refusal::kPeerConnections);
    return false;
  }
  ++of_peer;
  connections_.fetch_add(1, std::memory_order_relaxed);
  accepted_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void ServerState::LeaveConnection(const std::string& address) {
  const absl::MutexLock lock(&mutex_);
  const auto of_peer = peers_.find(address);
  if (--of_peer->second == 0) peers_.erase(of_peer);
  connections_.fetch_sub(1, std::memory_order_relaxed);
}

ServerFacts ServerState::facts() const {
  ServerFacts facts;
  facts.connections = connections_.load(std::memory_order_relaxed);
  facts.tls_handshakes = handshakes_.load(std::memory_order_relaxed);
  facts.calls = calls();
  facts.bytes = bytes_.load(std::memory_order_relaxed);
  facts.unsent_bytes = unsent_bytes_.load(std::memory_order_relaxed);
  facts.accepted = accepted_.load(std::memory_order_relaxed);
  facts.begun = begun_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < refused_.size(); ++i) {
    facts.refused[i] = refused_[i].load(std::memory_order_relaxed);
  }
  return facts;
}

}  // namespace sonde::rpc
