// The filter of ListBackups: `(name:howl) AND (start_time < "2018-03-28T14:50:00Z")`.
//
//   filter := all { OR all }
//   all    := one { [AND] one }
//   one    := [ NOT | - ] ( "(" filter ")" | field operator value )
//   value  := "quoted, with \" and \\" | bytes other than blanks and parentheses
//
// The operators are < > <= >= != = and `:`.  AND, OR and NOT are in capitals; elsewhere case does not matter.
// For texts, `:` with a quoted value is equality, and with another one it asks whether the text contains the
// value.  A name is equal to its backup's id, too.  For times and sizes `:` is equality.  A backup that has no end
// time yet differs from every time, and is neither before nor after it.
//
// Source: the comment of google.bigtable.admin.v2.ListBackupsRequest.filter.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backup/backup.h"
#include "backup/backup_field.h"

namespace sonde {

constexpr size_t kBackupFilterBytesMax = 4096;
constexpr int kBackupFilterDepthMax = 32;

class BackupFilter {
 public:
  // Lets every backup through.
  BackupFilter() = default;

  // The empty filter lets every backup through.  INVALID_ARGUMENT: `text` is no filter, is longer than
  // kBackupFilterBytesMax, or has more than kBackupFilterDepthMax parentheses within each other; the message names
  // the byte.
  static absl::StatusOr<BackupFilter> Parse(std::string_view text);

  bool Matches(const Backup& backup) const;

 private:
  friend class BackupFilterParser;

  enum class Operator : uint8_t { kLess, kGreater, kLessEqual, kGreaterEqual, kEqual, kNotEqual, kContains };
  struct Node {
    enum class Kind : uint8_t { kAll, kAny, kNot, kTerm };
    Kind kind = Kind::kAll;
    std::vector<size_t> children = {};  // of nodes_
    BackupField field = BackupField::kName;
    Operator op = Operator::kEqual;
    BackupValue value = {};  // a text in lower case
  };

  bool Matches(const Node& node, const Backup& backup) const;
  static bool MatchesTerm(const Node& term, const Backup& backup);

  std::vector<Node> nodes_;  // the last is the whole filter; none: every backup
};

}  // namespace sonde
