#include "identity/config/auth_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "identity/config/auth_text.h"

namespace sonde {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

absl::Status SystemError(std::string_view path, std::string_view what) {
  return absl::UnavailableError(fmt::format("{} cannot be {}: {}", path, what, std::strerror(errno)));
}

absl::StatusOr<std::string> ReadAll(const FileDescriptor& file, const std::string& path) {
  std::string text;
  char piece[1 << 16];
  while (text.size() <= kAuthFileBytesMax) {  // beyond it, ParseAuthText complains
    const ssize_t count = read(file.get(), piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path, "read");
    if (count == 0) break;
    text.append(piece, static_cast<size_t>(count));
  }
  return text;
}

absl::Status CheckMode(const FileDescriptor& file, const std::string& path) {
  struct stat facts{};
  if (fstat(file.get(), &facts) != 0) return SystemError(path, "read");
  if (!S_ISREG(facts.st_mode)) return absl::FailedPreconditionError(path + " is no regular file");
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if ((facts.st_mode & kOthers) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} has mode {:04o}: others than its owner may use it; run: chmod 600 {}", path,
                  facts.st_mode & 07777, path));
}

absl::Status WriteAll(const FileDescriptor& file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path, "written");
    text.remove_prefix(static_cast<size_t>(count));
  }
  if (fsync(file.get()) != 0) return SystemError(path, "written");
  return absl::OkStatus();
}

std::string DirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

FileDescriptor OpenDirectory(const std::string& directory) {
  return FileDescriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

absl::StatusOr<AuthConfig> ReadAuthFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) return absl::NotFoundError(path + " does not exist");
    return SystemError(path, "read");
  }
  if (absl::Status status = CheckMode(file, path); !status.ok()) return status;
  const absl::StatusOr<std::string> text = ReadAll(file, path);
  if (!text.ok()) return text.status();
  return ParseAuthText(*text, path);
}

absl::Status UpdateAuthFile(const std::string& path, const std::function<absl::Status(AuthConfig*)>& edit) {
  const std::string directory_path = DirectoryOf(path);
  const FileDescriptor directory = OpenDirectory(directory_path);
  if (!directory.is_open()) return SystemError(directory_path, "read");
  // Two commands at once: the second one waits, and reads what the first one wrote.
  while (flock(directory.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return SystemError(directory_path, "locked");
  }
  absl::StatusOr<AuthConfig> config = ReadAuthFile(path);
  if (absl::IsNotFound(config.status())) config = AuthConfig{};
  if (!config.ok()) return config.status();
  if (absl::Status status = edit(&*config); !status.ok()) return status;
  const std::string text = WriteAuthText(*config);
  if (const auto read = ParseAuthText(text, path); !read.ok())
    return read.status();  // a bound, or a name, is broken
  const std::string part = path + ".part";
  unlink(part.c_str());  // of a command that was killed
  absl::Status status = WriteSecretFile(part, text);
  if (status.ok() && rename(part.c_str(), path.c_str()) != 0) status = SystemError(path, "written");
  if (status.ok() && fsync(directory.get()) != 0) status = SystemError(directory_path, "written");
  if (!status.ok()) unlink(part.c_str());
  return status;
}

absl::Status WriteSecretFile(const std::string& path, std::string_view text) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    if (errno == EEXIST) return absl::AlreadyExistsError(path + " exists already, and is not overwritten");
    return SystemError(path, "written");
  }
  absl::Status status = WriteAll(file, path, text);
  if (status.ok()) {
    const FileDescriptor directory = OpenDirectory(DirectoryOf(path));
    if (!directory.is_open() || fsync(directory.get()) != 0) status = SystemError(path, "written");
  }
  if (!status.ok()) unlink(path.c_str());
  return status;
}

}  // namespace sonde
