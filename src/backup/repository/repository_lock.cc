#include "backup/repository/repository_lock.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr size_t kLockBytesMax = 4096;
constexpr int kTakeAttemptsMax = 3;

struct Holder {
  std::string host;
  std::string processes;  // the machine's boot, and the name space of its processes' ids
  int64_t process = 0;
  std::string token;
  absl::Time renewed;
};

// Within one boot and one name space, an id of a process means one process at a time.
std::string ProcessesOfThisMachine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::error_code error;
  const std::filesystem::path name_space = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  if (boot.empty() || error) return "";
  return boot + " " + name_space.native();
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// nullopt: the text is not a lock's, or not whole.
std::optional<Holder> ParseHolder(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    return Holder{.host = json.at("host").get<std::string>(),
                  .processes = json.at("processes").get<std::string>(),
                  .process = json.at("process").get<int64_t>(),
                  .token = json.at("token").get<std::string>(),
                  .renewed = absl::FromUnixMicros(json.at("renewed_micros").get<int64_t>())};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

bool HasEnded(const Holder& holder) {
  const std::string here = ProcessesOfThisMachine();
  if (here.empty() || holder.processes != here || holder.process <= 0) return false;
  return kill(static_cast<pid_t>(holder.process), 0) != 0 && errno == ESRCH;
}

absl::Status HeldBy(const std::string& path, const Holder& holder) {
  return absl::FailedPreconditionError(fmt::format(
      "{} is held by process {} of host '{}', which renewed it at {}: wait until it is done; a lock that was "
      "not renewed for {} is taken over",
      path, holder.process, Printable(holder.host), absl::FormatTime(holder.renewed, absl::UTCTimeZone()),
      absl::FormatDuration(kLockStale)));
}

// OK: the lock may be taken over, or is gone.
absl::Status CheckIsStale(const Repository& repository, absl::Time now) {
  const std::string path = repository.lock_path();
  const absl::StatusOr<std::string> text = ReadFile(repository.files(), path, kLockBytesMax);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  const std::optional<Holder> holder = ParseHolder(*text);
  if (holder.has_value()) {
    if (HasEnded(*holder) || now - holder->renewed > kLockStale) return absl::OkStatus();
    return HeldBy(path, *holder);
  }
  // No lock is there in part: something else wrote it, or the disk is damaged.
  const absl::StatusOr<FileFacts> facts = repository.files()->Look(path);
  if (absl::IsNotFound(facts.status())) return absl::OkStatus();
  if (!facts.ok()) return facts.status();
  if (now - facts->modified > kLockStale) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} does not say who holds it: if nobody does, remove it, or wait for {}", path,
                  absl::FormatDuration(kLockStale)));
}

// Removes a stale lock: under another name first, so that of several processes one does.
absl::Status TakeAway(const Repository& repository, const std::string& aside) {
  const absl::Status status = repository.files()->Rename(repository.lock_path(), aside);
  if (absl::IsNotFound(status)) return absl::OkStatus();
  return status.ok() ? repository.files()->Remove(aside) : status;
}

// Removes what processes left that were killed while they took a lock.
absl::Status RemoveLeftovers(const Repository& repository, absl::Time now) {
  const std::string path = repository.lock_path();
  const size_t directory_bytes = path.rfind('/');
  const std::string leftover = path.substr(directory_bytes + 1) + ".";
  const absl::StatusOr<std::vector<FileFacts>> entries =
      repository.files()->List(path.substr(0, directory_bytes));
  if (!entries.ok()) return entries.status();
  for (const FileFacts& entry : *entries) {
    if (!entry.name.starts_with(leftover) || now - entry.modified <= kLockStale) continue;
    absl::Status status = repository.files()->Remove(path.substr(0, directory_bytes + 1) + entry.name);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::string RepositoryLock::Text() const {
  const nlohmann::json json = {{"host", HostName()},
                               {"processes", ProcessesOfThisMachine()},
                               {"process", getpid()},
                               {"token", token_},
                               {"renewed_micros", absl::ToUnixMicros(renewed_)}};
  return json.dump() + "\n";
}

absl::StatusOr<std::unique_ptr<RepositoryLock>> RepositoryLock::Take(const Repository& repository) {
  const RepositoryTools& tools = repository.tools();
  std::unique_ptr<RepositoryLock> lock(
      new RepositoryLock(repository, fmt::format("{:016x}", tools.random->Next())));
  // The lock gets its name when it says who has it: whoever is killed before leaves no lock that nobody holds.
  const std::string path = repository.lock_path(), aside = path + "." + lock->token_;
  for (int attempt = 1;; ++attempt) {
    lock->renewed_ = absl::FromUnixMicros(tools.clock->NowMicros());
    absl::Status status = WriteFile(tools.files, aside, lock->Text());
    if (status.ok()) status = tools.files->RenameNew(aside, path);
    if (status.ok()) status = RemoveLeftovers(repository, lock->renewed_);
    if (status.ok()) return lock;
    tools.files->Remove(aside).IgnoreError();  // what failed is what is told
    if (!absl::IsAlreadyExists(status) || attempt == kTakeAttemptsMax) return status;
    status = CheckIsStale(repository, lock->renewed_);
    if (status.ok()) status = TakeAway(repository, aside);
    if (!status.ok()) return status;
  }
}

RepositoryLock::~RepositoryLock() {
  if (CheckHeld().ok())
    repository_.files()->Remove(repository_.lock_path()).IgnoreError();  // it becomes stale
}

absl::Status RepositoryLock::CheckHeld() const {
  const absl::StatusOr<std::string> text =
      ReadFile(repository_.files(), repository_.lock_path(), kLockBytesMax);
  if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
  const std::optional<Holder> holder = text.ok() ? ParseHolder(*text) : std::nullopt;
  if (holder.has_value() && holder->token == token_) return absl::OkStatus();
  return absl::AbortedError(fmt::format(
      "{} was taken over or removed meanwhile: another process may have changed the repository; begin again",
      repository_.lock_path()));
}

absl::Status RepositoryLock::Keep() {
  const absl::Time now = absl::FromUnixMicros(repository_.tools().clock->NowMicros());
  if (now - renewed_ < kLockRenewal) return absl::OkStatus();
  if (absl::Status status = CheckHeld(); !status.ok()) return status;
  renewed_ = now;
  return WriteFile(repository_.files(), repository_.lock_path(), Text());
}

}  // namespace sonde
