#include "writer_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmt/format.h"

extern char** environ;

namespace sonde {

absl::StatusOr<std::unique_ptr<WriterProcess>> WriterProcess::Start(const std::string& program,
                                                                    std::vector<std::string> arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError("pipe failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (spawned == 0) return std::unique_ptr<WriterProcess>(new WriterProcess(pid, ends[0]));
  close(ends[0]);
  return absl::InternalError(fmt::format("cannot start {}", program));
}

WriterProcess::WriterProcess(pid_t pid, int said_by) : pid_(pid), said_by_(said_by) {
  listener_ = std::thread([this] {
    uint64_t sequence = 0;
    while (read(said_by_, &sequence, sizeof(sequence)) == sizeof(sequence)) said_.push_back(sequence);
  });
}

WriterProcess::~WriterProcess() {
  if (pid_ != 0) Kill().IgnoreError();
}

absl::StatusOr<std::vector<uint64_t>> WriterProcess::Kill(bool may_have_ended) {
  int exit_status = 0;
  kill(pid_, SIGKILL);
  waitpid(pid_, &exit_status, 0);
  pid_ = 0;
  listener_.join();
  close(said_by_);
  if (!WIFSIGNALED(exit_status) && !may_have_ended) {
    return absl::InternalError(fmt::format("the writer ended by itself: {}", exit_status));
  }
  return std::move(said_);
}

}  // namespace sonde
