#include "hbase/row_version.h"

#include "base/varint.h"

namespace sonde::hbase {
namespace {

// Stands for a row that has no version, in the versions after it.
constexpr std::string_view kNoVersion("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", kVersionIdBytes);

std::string_view IdOf(std::string_view version) {
  return version.empty() ? kNoVersion : version.substr(0, kVersionIdBytes);
}

// Whether `version` is the one with this id, or came after it.
bool HasId(std::string_view version, std::string_view id) {
  for (; version.size() >= kVersionIdBytes; version.remove_prefix(kVersionIdBytes)) {
    if (IdOf(version) == id) return true;
  }
  return false;
}

}  // namespace

std::string FirstVersion(RandomSource* random) {
  std::string version;
  PutFixed64(&version, random->Next());
  PutFixed64(&version, random->Next());
  return version;
}

std::string VersionAfter(std::string_view seen, RandomSource* random) {
  return FirstVersion(random).append(seen.empty() ? kNoVersion
                                                  : seen.substr(0, kVersionsBefore * kVersionIdBytes));
}

Verdict Judge(std::string_view seen, std::string_view mine, std::string_view now) {
  if (HasId(now, IdOf(mine))) return Verdict::kMade;
  if (now == seen) return Verdict::kNotYet;
  // Versions do not repeat, and a row that has one keeps one.
  if (HasId(now, IdOf(seen))) return Verdict::kNeverMade;
  return Verdict::kUnknown;
}

}  // namespace sonde::hbase
