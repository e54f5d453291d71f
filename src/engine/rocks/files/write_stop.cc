#include "engine/rocks/files/write_stop.h"

#include <fmt/format.h>

#include "engine/rocks/files/open_files.h"
#include "engine/rocks/files/rocks_status.h"

namespace sonde {
namespace {

// The message of RocksDB's WritableFileWriter.
constexpr char kPreviousError[] = "Writer has previous error";

// RocksDB recovers from it by itself.
bool IsPassing(const rocksdb::Status& error) { return error.IsNoSpace() || IsForWantOfDescriptors(error); }

}  // namespace

class WriteStop::Listener final : public rocksdb::EventListener {
 public:
  Listener(std::shared_ptr<State> state, std::string database)
      : state_(std::move(state)), database_(std::move(database)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    // A table that cannot be opened is known to be damaged (OpenTablesLater): who reads it is told.
    if (reason == rocksdb::BackgroundErrorReason::kAsyncFileOpen) {
      *error = rocksdb::Status::OK();
      return;
    }
    if (error->ok() || IsPassing(*error) || error->IsShutdownInProgress()) return;
    // Nothing was changed, and it is tried again.
    if (reason == rocksdb::BackgroundErrorReason::kCompaction && error->IsCorruption() &&
        state_->goes_on_with_damage) {
      TellOfCompaction(error->ToString());
      *error = rocksdb::Status::OK();
      return;
    }
    // Whoever comes to a file after a failure gets this, and might bury the cause, from which RocksDB may
    // recover: that is told by whoever met it.
    if (error->ToString().find(kPreviousError) != std::string::npos) {
      *error = rocksdb::Status::OK();
      return;
    }
    const absl::Status why = FromRocks(
        *error, fmt::format("Writes to {} have stopped, reads go on: check the disk and open the directory "
                            "again. The cause",
                            database_));
    {
      const absl::MutexLock lock(&state_->mutex);
      if (state_->stopped) return;
      state_->why = why;
      state_->stopped = true;
    }
    if (state_->tell) state_->tell(TellLevel::kWarning, std::string(why.message()));
  }

  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error,
                            bool* auto_recovery) override {
    if (!IsPassing(error)) *auto_recovery = false;
  }

 private:
  // Once, of the same: a compaction is tried again each second.
  void TellOfCompaction(const std::string& why) {
    {
      const absl::MutexLock lock(&state_->mutex);
      if (state_->compaction_told == why) return;
      state_->compaction_told = why;
    }
    if (state_->tell) {
      state_->tell(TellLevel::kWarning, fmt::format("A compaction of {} was given up: {}", database_, why));
    }
  }

  const std::shared_ptr<State> state_;
  const std::string database_;
};

std::shared_ptr<rocksdb::EventListener> WriteStop::MakeListener(std::string database) const {
  return std::make_shared<Listener>(state_, std::move(database));
}

absl::Status WriteStop::Check() const {
  if (!state_->stopped) return absl::OkStatus();
  const absl::MutexLock lock(&state_->mutex);
  return state_->why;
}

}  // namespace sonde
