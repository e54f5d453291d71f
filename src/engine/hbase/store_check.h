// A store in a cluster, read and compared with what its records say.  Nothing is written, and servers may go on using it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/hbase/store_layout.h"
#include "engine/record_store.h"
#include "hbase/client.h"

namespace sonde {

// What a store's records say of its tables; the records are another layer's to read.
struct RecordedTables {
  struct Table {
    std::string name;
    std::set<FamilyId> families;
  };
  std::map<TableId, Table> tables;
  std::vector<std::string> faults;  // records that cannot be read: a sentence each
};

struct StoreCheck {
  StoreFacts facts;  // with all faults and notices
  uint64_t bytes = 0;
};

// Looks whether tables are as Sonde made them, whether each table of the records is there and the other way round, and reads all rows of
// those that are, on the side of the cluster, for cells of families that no record has.  `read` understands the records.
// Errors: those of LookAtStore; NOT_FOUND: there is no store.
absl::StatusOr<StoreCheck> CheckStore(hbase::Client* client, const HBaseStoreAddress& address,
                                      const std::function<RecordedTables(const std::vector<Record>&)>& read,
                                      absl::Time deadline);

// The qualifiers between those of these families, as HBase has them; of many the last ones.
std::vector<hbase::QualifierRange> GapsBetween(const std::set<FamilyId>& families);

}  // namespace sonde
