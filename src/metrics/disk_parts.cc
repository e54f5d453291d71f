#include "metrics/disk_parts.h"

#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlockBytes = 512;  // of st_blocks
enum Place : size_t { kCells, kLog, kRecords, kHistory, kBallast, kCopies, kOther, kPlaces };
constexpr std::array<const char*, kPlaces> kNames = {"cells",   "log",    "records", "history",
                                                     "ballast", "copies", "other"};

// `top` is the entry of the data directory that the file is, or lies in.
Place PlaceOf(std::string_view top, const fs::path& path) {
  if (top == "cells" || top == "records") {
    if (path.extension() == ".log") return kLog;
    return top == "cells" ? kCells : kRecords;
  }
  if (top == "keyviz" || top == "latency") return kHistory;
  if (top == "snapshots") return kCopies;
  return top == "BALLAST" ? kBallast : kOther;
}

// Adds up files; one with several names counts where its first name is found.
class Walk {
 public:
  void Visit(const fs::path& path, std::string_view top) {
    struct stat facts{};
    if (++entries_ > DiskParts::kEntriesMax || lstat(path.c_str(), &facts) != 0) return;
    if (!S_ISDIR(facts.st_mode)) {
      if (facts.st_nlink == 1 || seen_.insert(facts.st_ino).second)
        bytes_[PlaceOf(top, path)] += static_cast<uint64_t>(facts.st_blocks) * kBlockBytes;
      return;
    }
    std::error_code gone;  // entries come and go meanwhile
    for (auto at = fs::directory_iterator(path, gone); at != fs::directory_iterator(); at.increment(gone))
      Visit(at->path(), top);
  }

  std::vector<DiskParts::Part> Parts() const {
    std::vector<DiskParts::Part> parts;
    for (size_t place = 0; place < kPlaces; ++place)
      parts.push_back({.name = kNames[place], .bytes = bytes_[place]});
    return parts;
  }

 private:
  uint64_t entries_ = 0;
  std::set<ino_t> seen_;
  std::array<uint64_t, kPlaces> bytes_ = {};
};

}  // namespace

std::vector<DiskParts::Part> DiskParts::List(absl::Time now) {
  if (data_dir_.empty()) return {};
  const absl::MutexLock lock(&mutex_);
  if (now >= looked_ + kAgeMax || now < looked_) {
    parts_ = Look();
    looked_ = now;
  }
  return parts_;
}

std::vector<DiskParts::Part> DiskParts::Look() const {
  Walk walk;
  walk.Visit(fs::path(data_dir_) / "cells", "cells");  // first: copies share files with it
  std::error_code gone;
  for (auto at = fs::directory_iterator(data_dir_, gone); at != fs::directory_iterator();
       at.increment(gone)) {
    const std::string name = at->path().filename().native();
    if (name != "cells") walk.Visit(at->path(), name);
  }
  return walk.Parts();
}

std::vector<Figure> DiskParts::Figures(absl::Time now) {
  Figure used =
      Figure::Gauge("sonde_disk_used_bytes",
                    "Bytes of the disk that each part of the data directory takes: cells and change "
                    "logs, the log of writes, the catalog, histories, the ballast, backups and copies.");
  for (const Part& part : List(now)) used.Add(static_cast<double>(part.bytes), {{"part", part.name}});
  if (used.samples.empty()) return {};
  return {std::move(used)};
}

}  // namespace sonde
