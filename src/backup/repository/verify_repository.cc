#include "backup/repository/verify_repository.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

namespace sonde {
namespace {

class Verifier {
 public:
  Verifier(const Repository& repository, const VerifyOptions& options)
      : repository_(repository), options_(options), transfer_(options.transfer) {}

  absl::StatusOr<VerifyReport> Run() {
    absl::StatusOr<std::map<std::string, FileFacts>> blobs = repository_.Blobs();
    if (!blobs.ok()) return blobs.status();
    blobs_ = *std::move(blobs);
    if (options_.backup.empty()) {
      const absl::StatusOr<std::vector<std::string>> ids = repository_.BackupIds();
      if (!ids.ok()) return ids.status();
      for (const std::string& id : *ids) {
        if (absl::Status status = LookAtBackup(id); !status.ok()) return status;
      }
    } else if (absl::Status status = LookAtBackup(options_.backup); !status.ok()) {
      return status;
    }
    if (absl::Status status = LookAtBlobs(); !status.ok()) return status;
    return std::move(report_);
  }

 private:
  void Damage(std::string line) {
    ++report_.damage_count;
    if (report_.damage.size() < kDamageLinesMax) report_.damage.push_back(std::move(line));
  }

  absl::Status LookAtBackup(const std::string& id) {
    const absl::StatusOr<Manifest> manifest = repository_.Read(id);
    if (absl::IsNotFound(manifest.status()) && options_.backup.empty()) return absl::OkStatus();
    if (absl::IsDataLoss(manifest.status()) || absl::IsResourceExhausted(manifest.status())) {
      Damage(fmt::format("{}: {}", repository_.ManifestPath(id), std::string(manifest.status().message())));
      ++report_.backups_count;
      return absl::OkStatus();
    }
    if (!manifest.ok()) return manifest.status();
    std::vector<std::string> damage;
    for (const ManifestFile& file : manifest->files) {
      const std::string line = CompareBlob(file);
      if (!line.empty())
        damage.push_back(fmt::format("{}, which backup {} needs for {}", line, id, file.path));
    }
    if (!damage.empty() && absl::IsNotFound(repository_.Read(id).status()))
      return absl::OkStatus();  // pruned
    ++report_.backups_count;
    for (const ManifestFile& file : manifest->files) named_.try_emplace(file.sha256, file.bytes);
    for (std::string& line : damage) Damage(std::move(line));
    return absl::OkStatus();
  }

  // Says what is wrong with a blob; empty: nothing that its facts show.
  std::string CompareBlob(const ManifestFile& file) {
    const auto blob = blobs_.find(file.sha256);
    if (blob == blobs_.end()) {
      // A backup that is being written may have added it after the list was made.
      const absl::StatusOr<FileFacts> now = repository_.files()->Look(repository_.BlobPath(file.sha256));
      if (!now.ok()) return fmt::format("{} is missing", repository_.BlobPath(file.sha256));
      blobs_[file.sha256] = *now;
      return CompareBlob(file);
    }
    if (blob->second.bytes == file.bytes) return "";
    return fmt::format("{} has {} bytes instead of {}", repository_.BlobPath(file.sha256), blob->second.bytes,
                       file.bytes);
  }

  absl::Status LookAtBlobs() {
    for (const auto& [sha256, facts] : blobs_) {
      const bool is_named = named_.contains(sha256);
      if (is_named) {
        ++report_.blobs_count;
        report_.bytes += facts.bytes;
      } else if (options_.backup.empty()) {
        ++report_.unnamed_count;
      }
      if (!options_.reads_data || (!is_named && !options_.backup.empty())) continue;
      if (absl::Status status = ReadBlob(sha256); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status ReadBlob(const std::string& sha256) {
    const std::string path = repository_.BlobPath(sha256);
    absl::StatusOr<std::unique_ptr<InputFile>> file = repository_.files()->Open(path);
    if (absl::IsNotFound(file.status()))
      return absl::OkStatus();  // pruned, as no backup that is there needs it
    absl::StatusOr<Transfer::Copied> read;
    if (file.ok()) {
      read = transfer_.Copy(file->get(), nullptr);
    } else {
      read = file.status();
    }
    if (!read.ok()) {
      Damage(fmt::format("{} cannot be read: {}", path, std::string(read.status().message())));
    } else if (read->sha256 != sha256) {
      Damage(fmt::format("{} is not as it was written", path));
    }
    return absl::OkStatus();
  }

  const Repository& repository_;
  const VerifyOptions& options_;
  Transfer transfer_;
  std::map<std::string, FileFacts> blobs_;
  std::map<std::string, uint64_t> named_;  // bytes of the blobs that backups name
  VerifyReport report_;
};

}  // namespace

absl::StatusOr<VerifyReport> VerifyRepository(const Repository& repository, const VerifyOptions& options) {
  return Verifier(repository, options).Run();
}

}  // namespace sonde
