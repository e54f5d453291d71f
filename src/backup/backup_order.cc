#include "backup/backup_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/bytes.h"

namespace sonde {
namespace {

absl::Status WrongOrder(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field 'order_by' : {}", what));
}

}  // namespace

absl::StatusOr<BackupOrder> BackupOrder::Parse(std::string_view text) {
  BackupOrder order;
  const absl::string_view whole = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  if (whole.empty()) {
    order.keys_.push_back({BackupField::kStartTime, true});
    return order;
  }
  for (const absl::string_view part : absl::StrSplit(whole, ',')) {
    const std::vector<std::string> words =
        absl::StrSplit(part, absl::ByAnyChar(" \t\n\r"), absl::SkipEmpty());
    const bool is_descending = words.size() == 2 && absl::EqualsIgnoreCase(words[1], "desc");
    const bool is_ascending =
        words.size() == 1 || (words.size() == 2 && absl::EqualsIgnoreCase(words[1], "asc"));
    if (!is_descending && !is_ascending) {
      return WrongOrder(fmt::format("must be fields, each with or without ' desc', but has '{}'",
                                    Printable(std::string(part), 64)));
    }
    const std::optional<BackupField> field = FindBackupField(words[0]);
    if (!field.has_value()) {
      return WrongOrder(
          fmt::format("must name one of {}, but has '{}'", kBackupFieldNames, Printable(words[0], 64)));
    }
    if (std::any_of(order.keys_.begin(), order.keys_.end(),
                    [&](const Key& key) { return key.field == *field; })) {
      return WrongOrder(fmt::format("names '{}' twice", words[0]));
    }
    order.keys_.push_back({*field, is_descending});
  }
  return order;
}

bool BackupOrder::operator()(const Backup& left, const Backup& right) const {
  for (const Key& key : keys_) {
    const BackupValue a = ValueOf(left, key.field);
    const BackupValue b = ValueOf(right, key.field);
    if (a != b) return key.is_descending ? b < a : a < b;
  }
  return left.name < right.name;
}

}  // namespace sonde
