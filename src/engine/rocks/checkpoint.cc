#include "engine/rocks/checkpoint.h"

#include <fmt/format.h>

#include <memory>

#include "engine/rocks/files/rocks_status.h"
#include "rocksdb/utilities/checkpoint.h"

namespace sonde {

absl::Status CopyDatabases(rocksdb::Env* env, const std::vector<NamedDatabase>& databases,
                           const std::string& directory) {
  if (absl::Status status = CheckIsNew(env, directory); !status.ok()) return status;
  if (const rocksdb::Status status = env->CreateDir(directory); !status.ok()) {
    return absl::FailedPreconditionError(fmt::format("{} cannot be made: {}", directory, status.ToString()));
  }
  for (const auto& [db, name] : databases) {
    rocksdb::Checkpoint* made = nullptr;
    rocksdb::Status status = rocksdb::Checkpoint::Create(db, &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    if (status.ok()) status = checkpoint->CreateCheckpoint(fmt::format("{}/{}", directory, name));
    if (!status.ok()) return FromRocks(status, fmt::format("Copying {} to {}", name, directory));
  }
  return absl::OkStatus();
}

absl::Status CheckIsNew(rocksdb::Env* env, const std::string& directory) {
  if (!env->FileExists(directory).ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("{} is there already: choose a new directory", directory));
}

void RemoveTree(rocksdb::Env* env, const std::string& directory) {
  std::vector<std::string> entries;
  env->GetChildren(directory, &entries).PermitUncheckedError();
  for (const std::string& entry : entries) {
    if (entry == "." || entry == "..") continue;
    const std::string path = directory + "/" + entry;
    bool is_directory = false;
    env->IsDirectory(path, &is_directory).PermitUncheckedError();
    if (is_directory) {
      RemoveTree(env, path);
    } else {
      env->DeleteFile(path).PermitUncheckedError();
    }
  }
  env->DeleteDir(directory).PermitUncheckedError();
}

}  // namespace sonde
