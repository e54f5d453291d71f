#include "cli/store/backup_follow.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "backup/journal/follower.h"
#include "cli/reach/admin_client.h"
#include "cli/reach/command_end.h"

namespace sonde {
namespace {

constexpr timespec kFollowPause{0, 500'000'000};
// So many new backups may follow each other without a segment between them.
constexpr int kBasesMax = 3;

// The journal of the server that uses a directory, through its admin socket.
class ServerJournal final : public JournalSource {
 public:
  explicit ServerJournal(std::string data_dir) : data_dir_(std::move(data_dir)) {}

  absl::StatusOr<CutSegment> Cut(const std::string& journal, int64_t after, bool starts) override {
    connection_.reset();  // the server removes the segment before
    absl::StatusOr<std::unique_ptr<AdminClient>> server = AdminClient::Connect(data_dir_);
    if (absl::IsNotFound(server.status())) return absl::UnavailableError(server.status().message());
    if (!server.ok()) return server.status();
    connection_ = *std::move(server);
    const nlohmann::json argument = {{"journal", journal}, {"after", after}, {"starts", starts}};
    const absl::StatusOr<nlohmann::json> answer = connection_->Call("journal-cut " + argument.dump());
    // Too many commands are connected, or the server's disk is full: for now.
    if (absl::IsResourceExhausted(answer.status())) return absl::UnavailableError(answer.status().message());
    if (!answer.ok()) return answer.status();
    try {
      return CutSegment{
          .path = answer->at("file").get<std::string>(),
          .place = {journal, answer->at("first").get<int64_t>(), answer->at("last").get<int64_t>()},
          .records = answer->at("records").get<uint64_t>(),
          .is_cut_short = answer->at("more").get<bool>()};
    } catch (const nlohmann::json::exception& e) {
      return absl::InternalError(fmt::format("The server's answer is of another version: {}", e.what()));
    }
  }

 private:
  const std::string data_dir_;
  std::unique_ptr<AdminClient> connection_;
};

// Holds the signals that end the process back while it lives, so that no segment is left half written.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;

  // Whether such a signal has come, or comes within the time.
  bool Await(const timespec& pause) const { return sigtimedwait(&signals_, nullptr, &pause) > 0; }

 private:
  sigset_t signals_{}, before_{};
};

// Follows a journal from a backup on, until a signal comes (OK) or the backup does not do any more (its error).
absl::Status FollowFrom(const Repository& repository, JournalSource* source, const JournalPlace& base,
                        bool* has_stored) {
  const EndSignals signals;
  absl::StatusOr<Follower> follower = Follower::Open(repository, source, base);
  if (!follower.ok()) return follower.status();
  std::string told;  // the last trouble
  while (true) {
    const absl::StatusOr<bool> more = follower->Step();
    if (absl::IsUnavailable(more.status())) {
      const std::string trouble(more.status().message());
      if (trouble != told) fmt::print(stderr, "sonde backup create: waiting: {}\n", trouble);
      told = trouble;
    } else if (!more.ok()) {
      return more.status();
    } else {
      *has_stored = true;
      told.clear();
    }
    if (signals.Await(more.ok() && *more ? timespec{} : kFollowPause)) return absl::OkStatus();
  }
}

}  // namespace

absl::Status FollowJournal(const Repository& repository, const std::string& data_dir,
                           const std::function<absl::StatusOr<Manifest>()>& make_base) {
  ServerJournal source(data_dir);
  for (int bases = 0; bases < kBasesMax; ++bases) {
    const absl::StatusOr<Manifest> manifest = make_base();
    if (!manifest.ok()) return manifest.status();
    bool has_stored = false;
    const absl::Status status = FollowFrom(repository, &source, *manifest->journal, &has_stored);
    if (!absl::IsFailedPrecondition(status) && !absl::IsOutOfRange(status)) return status;
    (void)EndOfCommand("sonde backup create", status);
    if (has_stored) bases = 0;
  }
  return absl::FailedPreconditionError("The journal ended again and again before it could be followed");
}

}  // namespace sonde
