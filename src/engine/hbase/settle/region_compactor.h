// Asks HBase to drop the cells by themselves of regions whose rows were settled, so that their bytes do not wait for HBase's own
// compactions, which come about once a week.
//
// HBase drops deleted cells when it makes one file of all of a family (a major compaction).  Only the families of cells by themselves (d,
// and c) are asked for, and not what is packed.  A region's turn comes when it was settled whole, and the bytes that were packed since are
// many, and no fewer than those that stay by themselves: so on average a byte is written again once.  Each server has one region
// compacted at a time, and none twice within a pause.  A server remembers in memory alone what it packed: after its end the rest
// waits for HBase.
//
// Threads: not for several.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/row_store.h"
#include "hbase/client.h"
#include "model/cell.h"

namespace sonde {

struct CompactorOptions {
  uint64_t bytes_min = uint64_t{32} << 20;  // of a region, that were packed; keys and names count
  absl::Duration pause = absl::Minutes(10);
};

// Bytes of cells by themselves, with their keys and names.
struct SettledBytes {
  uint64_t packed = 0;
  uint64_t left = 0;  // of rows that were looked at, and stay as they were
};

class RegionCompactor {
 public:
  // `client` must outlive it.
  RegionCompactor(hbase::Client* client, CompactorOptions options) : client_(client), options_(options) {}

  // Notes a visit to a region.  `is_whole`: the visit came to the region's end.
  void Note(const hbase::Region& region, CellStorage storage, const SettledBytes& bytes, bool is_whole);
  // Begins one compaction, if a region's turn has come and the one that was begun before has ended.  Returns before the end.  A region that is gone is
  // forgotten.  Errors: those of hbase::Tables; the region's turn stays.
  absl::Status Run(absl::Time now, absl::Time deadline);

  uint64_t begun() const { return begun_; }

 private:
  struct Noted {
    hbase::Region region;  // as it was at the last visit
    CellStorage storage = CellStorage::kPacked;
    SettledBytes since;     // the last compaction; `left` since the region's start was visited
    uint64_t left = 0;      // of the last pass over the whole region
    bool is_whole = false;  // such a pass has ended since the last compaction
    absl::Time not_before = absl::InfinitePast();
  };
  using Place = std::pair<hbase::TableName, std::string>;  // the region's start key

  absl::Status Begin(const Noted& noted, absl::Time deadline);
  bool IsDue(const Noted& noted, absl::Time now) const;

  hbase::Client* const client_;
  const CompactorOptions options_;
  std::map<Place, Noted> noted_;
  std::optional<hbase::Region> under_way_;
  uint64_t begun_ = 0;
};

}  // namespace sonde
