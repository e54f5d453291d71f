#include "engine/rocks/files/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "rocksdb/file_system.h"

namespace sonde {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOStatus;

// RocksDB keeps no number of an error, but the system's text for it.
bool Tells(const std::string& text, int error) {
  return text.find(std::strerror(error)) != std::string::npos;
}

IOStatus Passing(IOStatus status) {
  if (IsForWantOfDescriptors(status)) status.SetRetryable(true);
  return status;
}

class OpenFilesSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "OpenFilesSystem"; }

  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext* debug) override {
    return Passing(FileSystemWrapper::NewSequentialFile(name, options, file, debug));
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* debug) override {
    return Passing(FileSystemWrapper::NewRandomAccessFile(name, options, file, debug));
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    return Passing(FileSystemWrapper::NewWritableFile(name, options, file, debug));
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    return Passing(FileSystemWrapper::ReopenWritableFile(name, options, file, debug));
  }
  IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory, IODebugContext* debug) override {
    return Passing(FileSystemWrapper::NewDirectory(name, options, directory, debug));
  }
};

}  // namespace

OpenFilesEnv::OpenFilesEnv(rocksdb::Env* base) : EnvWrapper(base) {
  file_system_ = std::make_shared<OpenFilesSystem>(base->GetFileSystem());
}

int OpenTablesMax() {
  constexpr rlim_t kWanted = 4096;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kWanted;
  return static_cast<int>(std::min(kWanted, limit.rlim_cur / 2));
}

bool IsForWantOfDescriptors(const rocksdb::Status& status) {
  if (!status.IsIOError()) return false;
  const std::string text = status.ToString();
  return Tells(text, EMFILE) || Tells(text, ENFILE);
}

}  // namespace sonde
