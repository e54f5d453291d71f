// Names that one server of a store holds at a time (engine/leases.h), on a board in the catalog's table (board.h).  The value of a name is
// as a slot's (slot.h), whose low says nothing here.
//
// Threads: as Leases.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/hbase/log/board.h"
#include "engine/leases.h"

namespace sonde {

struct HBaseLeasesOptions {
  absl::Duration held = absl::Seconds(10);  // what Hold gives
  absl::Duration lease =
      absl::Seconds(20);  // until others may take it: what was held, a call, and as long again
};

class HBaseLeases final : public Leases {
 public:
  // `client` must outlive it.
  HBaseLeases(hbase::Client* client, hbase::TableName catalog, HBaseLeasesOptions options = {});

  absl::StatusOr<absl::Duration> Hold(std::string_view name, absl::Time deadline) override;
  absl::Status Release(std::string_view name, absl::Time deadline) override;

 private:
  const HBaseLeasesOptions options_;
  Board board_;
  const std::string owner_;
};

}  // namespace sonde
