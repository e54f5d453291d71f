// The rows with the largest (or smallest) values of a column.
#pragma once

#include <functional>
#include <vector>

#include "series/query/query.h"

namespace sonde::series {

class TopRows {
 public:
  TopRows(const Top& top, const ResultHeader& header);

  void Add(const ResultRow& row);
  // The first of them first, until `emit` answers false.
  void Emit(const std::function<bool(const ResultRow&)>& emit);

 private:
  struct Entry {
    long double value = 0;  // says ints and doubles exactly
    ResultRow row;
  };
  // Whether `a` comes before `b`.
  bool IsBefore(const Entry& a, const Entry& b) const;

  const Top top_;
  size_t column_ = 0;
  std::vector<Entry> heap_;  // the last of them in front
};

}  // namespace sonde::series
