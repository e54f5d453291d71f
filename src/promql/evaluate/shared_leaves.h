// Leaves of a query that one read serves: they ask for metrics whose series lie in the same rows (SampleSource::RowsOf), with the same
// conditions on labels and the same times.
//
// The first of them that is evaluated reads for all.  What came of the others waits for their turn: then it counts, as if the leaf had
// been read by itself.  Whatever goes wrong while leaves are read together, each is read alone, and its own errors are told.
//
// Memory: at most kWaitingMax values wait, and no more than a query may have; `hold` is told of them, too.  Where they would be more, leaves are read alone, until the size of
// one is known, and then as many together as fit.
// Threads: not for several.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "promql/evaluate/settings.h"
#include "promql/samples/leaf.h"
#include "promql/samples/samples.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

class SharedLeaves {
 public:
  static constexpr int64_t kWaitingMax = 4'000'000;

  // `leaves`: in the order of their evaluation.  `settings` and `source` must outlive this.
  SharedLeaves(std::vector<Leaf> leaves, size_t steps, const EvaluateSettings& settings,
               SampleSource* source);
  // Gives back what is held.
  ~SharedLeaves() { GiveBack(); }
  SharedLeaves(const SharedLeaves&) = delete;
  SharedLeaves& operator=(const SharedLeaves&) = delete;

  // Takes what came of a leaf.  Nothing: it is to be read alone.
  std::optional<SeriesRows> Take(const Expression& node);
  // A leaf was read alone, and so many rows came of it.
  void NoteAlone(const Expression& node, size_t rows);

 private:
  // Of a leaf that shares its read with others.
  struct Member {
    Leaf leaf;
    std::string metric;
    size_t group = 0;
    bool is_done = false;            // it had its turn
    std::optional<SeriesRows> made;  // that waits
  };
  struct Group {
    std::vector<size_t> members;
    size_t together_max = 0;
    bool is_large = false;  // too many values came of all its leaves
  };
  class Sink;

  // Reads this leaf and those after it.  False: it is to be read alone.
  bool ReadFrom(Member* first);
  absl::Status ReadTogether(const std::vector<Member*>& members);
  // So many more values wait.  Called by several threads at once.
  absl::Status Hold(int64_t values);
  // Forgets what parts made that nobody took.
  void CountWaiting();
  void GiveBack();

  const size_t steps_;
  const int64_t waiting_max_;
  const EvaluateSettings& settings_;
  SampleSource* const source_;
  std::vector<Member> members_;
  std::vector<Group> groups_;
  absl::flat_hash_map<const Expression*, size_t> member_of_;
  std::atomic<int64_t> waiting_ = 0;  // values
  std::atomic<int64_t> told_bytes_ = 0;
  std::atomic<bool> is_too_much_ = false;
};

}  // namespace sonde::promql
