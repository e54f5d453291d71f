// Support for tests of journals in repositories: segments and manifests, written without a store.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "backup/journal/follower.h"
#include "backup/journal/journal_chain.h"
#include "backup/journal/segment.h"
#include "backup/repository/file_system.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"
#include "base/clock.h"
#include "base/random.h"

namespace sonde {

inline constexpr char kJournal[] = "0123456789abcdef";

class JournalFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    repository_ = *Repository::Open({.files = &files_, .clock = &clock_, .random = &random_},
                                    root_ + "/repository", Repository::IfNone::kMake);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  absl::Status WriteSegment(const std::string& path, int64_t first, int64_t last,
                            const std::vector<SegmentRecord>& records, bool starts = false) {
    absl::StatusOr<std::unique_ptr<OutputFile>> file = files_.Create(path);
    if (!file.ok()) return file.status();
    const absl::StatusOr<std::unique_ptr<SegmentWriter>> writer =
        SegmentWriter::Begin(file->get(), kJournal, first, starts);
    if (!writer.ok()) return writer.status();
    for (const SegmentRecord& record : records) {
      if (absl::Status status = (*writer)->Add(record); !status.ok()) return status;
    }
    return (*writer)->Finish(last, /*syncs=*/false);
  }

  // A segment in the repository, with a record at each of the positions.
  std::string AddSegment(int64_t first, int64_t last, const std::vector<int64_t>& positions = {},
                         bool starts = false) {
    const std::string directory = JournalPath(*repository_, kJournal);
    std::filesystem::create_directories(directory);
    const std::string path = directory + "/" + SegmentName(first, last);
    std::vector<SegmentRecord> records;
    for (const int64_t position : positions)
      records.push_back({.position = position, .table = 1, .bytes = "piece"});
    EXPECT_EQ(WriteSegment(path, first, last, records, starts), absl::OkStatus());
    return path;
  }

  // A backup without files, with the place in the journal.
  std::string AddBackup(int64_t from_micros, int64_t through_micros) {
    const absl::Time moment = absl::FromUnixMicros(from_micros);
    const Manifest manifest{.id = MakeBackupId(moment, 7),
                            .server = "test",
                            .moment = moment,
                            .store = "store",
                            .journal = JournalPlace{kJournal, from_micros, through_micros}};
    EXPECT_EQ(WriteFile(&files_, repository_->ManifestPath(manifest.id), EncodeManifest(manifest)),
              absl::OkStatus());
    return manifest.id;
  }

  // Does not wait for the disk.
  absl::Status Overwrite(const std::string& path, std::string_view bytes) {
    absl::StatusOr<std::unique_ptr<OutputFile>> file = files_.Create(path);
    return file.ok() ? (*file)->Append(bytes) : file.status();
  }

  absl::Status ReadWhole(const std::string& path, std::vector<int64_t>* positions = nullptr) {
    const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(&files_, path);
    if (!reader.ok()) return reader.status();
    SegmentRecord record;
    while (true) {
      const absl::StatusOr<bool> more = (*reader)->Next(&record);
      if (!more.ok()) return more.status();
      if (!*more) return absl::OkStatus();
      if (positions != nullptr) positions->push_back(record.position);
    }
  }

  std::vector<SegmentFile> Segments() {
    absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(*repository_, kJournal);
    EXPECT_TRUE(segments.ok()) << segments.status();
    return segments.ok() ? *std::move(segments) : std::vector<SegmentFile>();
  }

  // "first-last first-last", of all segments of the repository.
  std::string Places() {
    std::string text;
    for (const SegmentFile& segment : Segments()) {
      text += (text.empty() ? "" : " ") + std::to_string(segment.place.first) + "-" +
              std::to_string(segment.place.last);
    }
    return text;
  }

  const std::string root_ =
      (std::filesystem::path(testing::TempDir()) / ("journal_" + std::to_string(getpid()))).native();
  LocalFileSystem files_;
  ManualClock clock_{absl::ToUnixMicros(absl::FromUnixSeconds(1'800'000'000))};
  SeededRandom random_{7};
  std::unique_ptr<Repository> repository_;
};

// A follower's source, whose changes are numbers.
class FollowedChangesTest : public JournalFilesTest, public JournalSource {
 protected:
  // Cuts from `changes_`, which are complete up to `now_`.
  absl::StatusOr<CutSegment> Cut(const std::string& journal, int64_t after, bool starts) override {
    if (after < forgotten_) return absl::OutOfRangeError("forgotten");
    CutSegment cut{.path = root_ + "/cut", .place = {journal, after + 1, now_}};
    std::vector<SegmentRecord> records;
    for (auto at = changes_.upper_bound(after); at != changes_.end() && *at <= now_; ++at)
      records.push_back({.position = *at, .table = 1, .bytes = "piece"});
    cut.records = records.size();
    if (absl::Status status = WriteSegment(cut.path, after + 1, now_, records, starts); !status.ok())
      return status;
    if (spoils_) std::filesystem::resize_file(cut.path, std::filesystem::file_size(cut.path) - 1);
    return cut;
  }
  // The changes that the repository has behind 100.
  std::vector<int64_t> Stored() {
    std::vector<int64_t> positions;
    const SegmentChain chain = ChainFrom(Segments(), 100);
    for (const SegmentFile& segment : chain.segments)
      EXPECT_EQ(ReadWhole(segment.path, &positions), absl::OkStatus());
    return positions;
  }

  std::set<int64_t> changes_;
  int64_t now_ = 110, forgotten_ = 0;
  bool spoils_ = false;
};

}  // namespace sonde
