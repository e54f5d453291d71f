// The order of ListBackups: `expire_time desc, name`.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backup/backup.h"
#include "backup/backup_field.h"

namespace sonde {

class BackupOrder {
 public:
  // The empty text is `start_time desc`.  Each field may be followed by ` asc` or ` desc`; ascending is usual.  Blanks
  // do not matter.  INVALID_ARGUMENT: `text` is no such list, or names a field twice.
  static absl::StatusOr<BackupOrder> Parse(std::string_view text);

  // Whether `left` comes before `right`.  Backups that are equal in all fields are sorted by name.  One without an
  // end time comes before those with one.
  bool operator()(const Backup& left, const Backup& right) const;

 private:
  struct Key {
    BackupField field;
    bool is_descending;
  };
  std::vector<Key> keys_;
};

}  // namespace sonde
