// Two servers over one store in memory, as members of a cluster: each with its own catalog, table layer and gRPC
// port, their clocks a second apart, and a network to the store that is late and loses calls and answers.
//
// usage: sonde_cluster_server TABLE SEED
// Makes TABLE with the family f, of which one version is kept.  Prints "sonde: listening on HOST:PORT" of each
// server, and ends at the end of its input.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/format.h"
#include "catalog/catalog.h"
#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"
#include "table/tables.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace {

// Of the two clocks: half a second before, and behind, the machine's.
constexpr int64_t kClockIsOffMicros = 500'000;

class ClockThatIsOff final : public Clock {
 public:
  explicit ClockThatIsOff(int64_t off_micros) : off_micros_(off_micros) {}
  int64_t NowMicros() const override { return clock_.NowMicros() + off_micros_; }

 private:
  const SystemClock clock_;
  const int64_t off_micros_;
};

struct Server {
  Server(Engine* store, uint64_t seed, int64_t off_micros)
      : engine(store, {.seed = seed, .delay_max = absl::Milliseconds(5), .lost_calls = 1, .lost_answers = 1}),
        clock(off_micros) {}

  ClusterMember engine;
  ClockThatIsOff clock;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<Tables> tables;
  std::unique_ptr<GrpcServer> server;
};

// What `open` answers once the network has lost none of its calls to the store, nor their answers.
template <typename Open>
auto OpenOverNetwork(const Open& open) {
  auto opened = open();
  while (absl::IsUnavailable(opened.status()) || absl::IsUnknown(opened.status())) opened = open();
  return opened;
}

absl::Status Start(Server* server) {
  absl::StatusOr<std::unique_ptr<Catalog>> catalog =
      OpenOverNetwork([server] { return Catalog::Open(&server->engine); });
  if (!catalog.ok()) return catalog.status();
  server->catalog = *std::move(catalog);
  server->tables = std::make_unique<Tables>(&server->engine, server->catalog.get(), &server->clock, 1);
  absl::StatusOr<std::unique_ptr<GrpcServer>> started =
      OpenOverNetwork([server] { return GrpcServer::Start({}, server->tables.get()); });
  if (!started.ok()) return started.status();
  server->server = *std::move(started);
  std::printf("sonde: listening on 127.0.0.1:%d\n", server->server->port());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const std::string& table, uint64_t seed) {
  const std::unique_ptr<MemoryEngine> store = MemoryEngine::Create();
  {
    const absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(store.get());
    if (!catalog.ok()) return catalog.status();
    TableSchema schema;
    schema.name = table;
    schema.families = {{.name = "f", .gc_rule = {GcRule::MaxVersions{1}}}};
    if (absl::Status status = (*catalog)->Create(schema).status(); !status.ok()) return status;
  }
  Server fast(store.get(), seed, kClockIsOffMicros), slow(store.get(), ~seed, -kClockIsOffMicros);
  for (Server* server : {&fast, &slow}) {
    if (absl::Status status = Start(server); !status.ok()) return status;
  }
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  return absl::OkStatus();
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: sonde_cluster_server TABLE SEED\n");
    return 2;
  }
  const absl::Status status = sonde::Run(argv[1], std::strtoull(argv[2], nullptr, 10));
  if (!status.ok()) std::fprintf(stderr, "sonde_cluster_server: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
