// Proposes another declaration when a table turns out hot or its rows too large: the declaration as it was
// written, with as little changed as helps.  Series, points and comments stay the same.
//
// Where rows get another key, the new ones go to a table of their own from a time on that is still to come,
// and the old table is named as an earlier version; so nothing that is stored becomes unreadable, and
// `sonde series rewrite` can move it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "series/schema/schema.h"

namespace sonde::series {

enum class DeclarationChange : uint8_t {
  kPromoteTags,    // the tags before the time
  kSalt,           // a hash of the tags in front: neighbours lie apart
  kSaltByTime,     // a hash of the time in front: what is written one after the other lies apart
  kShorterBucket,  // less time in a row
  kRowPerPoint,    // no two points in one row, and neighbours in time apart
  kLatestTable,    // the newest values in a table of their own
  kSecondTable,    // the same points under a key that begins with what is asked by
};

struct CuredDeclaration {
  std::string change;   // what is different, in one line: "key: [host, time]"
  SeriesSchema schema;  // schema.text is the whole declaration; CheckSchema has no errors in it
};

// Nothing where the change makes no sense (a series without tags has none to promote, the table is there
// already), or where the text is written in a way that this cannot change: a list in braces, say.
std::optional<CuredDeclaration> CureDeclaration(const SeriesSchema& declared, DeclarationChange change,
                                                int64_t now_micros);

}  // namespace sonde::series
