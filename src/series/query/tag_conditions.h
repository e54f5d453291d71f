// Regular expressions over tags: what they say of the row keys, and whether a series matches.
//
// Threads: const functions may be called by several at once.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "series/query/query_words.h"

namespace sonde::series {

class TagConditions {
 public:
  // INVALID_ARGUMENT: not a regular expression of RE2, or longer than kPatternBytesMax.
  static absl::StatusOr<TagConditions> Compile(const SeriesSchema& schema,
                                               const std::vector<TagCondition>& conditions);

  // Adds to `selection` what the patterns promise of the values: a few whole ones, or a prefix.
  void Narrow(const SeriesSchema& schema, Selection* selection) const;
  bool Match(const std::vector<std::string>& tags) const;

 private:
  struct Condition {
    size_t tag = 0;
    bool is_negated = false;
    std::unique_ptr<re2::RE2> regex;  // null: the pattern is `values`, with | between them
    std::vector<std::string> values;
    absl::flat_hash_set<std::string> set;  // of `values`
  };
  std::vector<Condition> conditions_;
};

}  // namespace sonde::series
