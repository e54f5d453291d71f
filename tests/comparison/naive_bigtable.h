// A Bigtable of one table, written from the comments of the API's .proto files: maps of cells, every request
// taken as it is worded.  Slow and simple; what servers are compared with.
//
// Where the comments leave a choice, docs/compatibility.md is followed: what a GC rule forgets is never seen;
// rows of one MutateRows apply in order; what a request says is checked before what the table says to it.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "naive_filter.h"
#include "request.h"

namespace sonde {

class NaiveBigtable {
 public:
  // `is_shared`: of a store that several servers share, where a write with the server's time is not older than the cells of its columns
  // that lie at most ten seconds ahead (docs/scale-out.md).
  explicit NaiveBigtable(const google::bigtable::admin::v2::Table& table, bool is_shared = false);

  Outcome Do(const Request& request, int64_t now_micros);

 private:
  struct Column {
    std::string family;
    std::string qualifier;
    auto operator<=>(const Column&) const = default;
  };
  // Timestamps descending.
  using Cells = std::map<int64_t, std::string, std::greater<>>;
  using Row = std::map<Column, Cells>;

  Outcome Do(const google::bigtable::v2::MutateRowRequest& request);
  Outcome Do(const google::bigtable::v2::MutateRowsRequest& request);
  Outcome Do(const google::bigtable::v2::CheckAndMutateRowRequest& request);
  Outcome Do(const google::bigtable::v2::ReadModifyWriteRowRequest& request);
  Outcome Do(const google::bigtable::v2::ReadRowsRequest& request);
  Outcome Do(const google::bigtable::admin::v2::DropRowRangeRequest& request);
  Outcome Do(const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request);

  using Mutations = google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>;
  // All of them or, when one is refused, none.
  absl::StatusCode Apply(const std::string& row_key, const Mutations& mutations, Row* row) const;
  absl::StatusCode Apply(const google::bigtable::v2::Mutation& mutation, Row* row) const;
  absl::StatusCode Apply(const google::bigtable::v2::Mutation::SetCell& set, bool truncate, Row* row) const;
  template <typename AddOrMerge>
  absl::StatusCode Combine(const AddOrMerge& mutation, bool truncate, Row* row) const;
  // `idempotency`: null for none.
  absl::StatusCode Mutate(const std::string& row_key, const Mutations& mutations,
                          const google::bigtable::v2::Idempotency* idempotency);
  // The server's time for a write to the row that is one of these.
  int64_t WriteTime(const std::string& row_key, std::initializer_list<const Mutations*> branches) const;
  // What the timestamp of a mutation comes to, or the code that refuses it.
  absl::StatusCode Resolve(int64_t* timestamp_micros, bool truncate) const;
  int64_t Truncated(int64_t micros) const;

  // What a reader sees of a row.
  NaiveRow Visible(const std::string& row_key) const;
  std::set<std::string> FamilyNames() const;

  google::bigtable::admin::v2::Table table_;
  // What a mutation answers whose family is of another kind, of which requests with many entries take note.
  absl::StatusCode OtherKind() const {
    met_other_kind_ = true;
    return absl::StatusCode::kInvalidArgument;
  }
  mutable bool met_other_kind_ = false;

  std::map<std::string, Row> rows_;
  std::map<std::pair<std::string, std::string>, int64_t> tokens_;  // row, token: when it was applied
  const bool is_shared_;
  int64_t now_micros_ = 0;
  int64_t write_micros_ = 0;  // the server's time for the row at hand
};

}  // namespace sonde
