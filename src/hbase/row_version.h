// The version of a row: what guarded changes are guarded by, and what tells afterwards whether one was made.
//
// A version is 16 random bytes that no other one has, and behind them those of the versions before it, the newest first, at most
// kVersionsBefore.  A guarded change is made only on the version that was read, and puts a version of its own.  When the answer to it
// is lost, the row's version says what happened (Judge).  A change that is not guarded puts a version without the ones before.
// A row that once had a version must keep one, also when its cells are deleted: else "no version" would come back, and with it the
// guard of a change that was believed lost.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"

namespace sonde::hbase {

constexpr size_t kVersionIdBytes = 16;
constexpr size_t kVersionsBefore = 8;

// `seen` is the row's version; empty: the row has none.
std::string VersionAfter(std::string_view seen, RandomSource* random);
// For a change that was not guarded by what it follows.
std::string FirstVersion(RandomSource* random);

enum class Verdict : uint8_t {
  kMade,       // the change was made
  kNotYet,     // the row is as it was read: the same change may be sent again
  kNeverMade,  // another change came first, so that this one's guard will never hold
  kUnknown,    // too much has happened since
};

// What became of a change that was guarded by `seen` and puts `mine`, if the row's version is `now`.
Verdict Judge(std::string_view seen, std::string_view mine, std::string_view now);

}  // namespace sonde::hbase
