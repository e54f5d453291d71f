// Prepared queries: bound once, found again by their tokens.
//
// A token says all that it takes to bind its query again, so a query that is no longer in memory, or that another server prepared,
// is bound anew.  A query whose tables, views or schema bundles have changed since, or that was prepared more than an hour ago, has expired; clients prepare
// it again by themselves then.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/instance_names.h"
#include "sql/exec/series_finder.h"
#include "table/tables.h"
#include "wire/sql/query_tokens.h"

namespace sonde {

struct PreparedQuery {
  std::string token;     // PreparedQueryToken, written
  std::string instance;  // projects/P/instances/I
  std::string text;
  int64_t issued_micros = 0;
  sql::BoundQuery query;
  bool is_point = false;  // sql::IsPointQuery
};
using PreparedQueryRef = std::shared_ptr<const PreparedQuery>;

class PreparedQueries {
 public:
  // How long clients may use a prepared query.
  static constexpr absl::Duration kValidFor = absl::Hours(1);

  // Nothing is owned.  Errors: those of Catalog::Secret.
  static absl::StatusOr<std::unique_ptr<PreparedQueries>> Create(Tables* tables, sql::Dialect dialect);

  const QueryTokens& tokens() const { return tokens_; }

  // Says what the caller may read and write, before it is known whether there is a table or view of the name.
  using Rights = sql::InstanceNames::Rights;

  // Binds a query.  Errors: those of sql::ParseAndBind, and of `rights`.
  absl::StatusOr<PreparedQueryRef> Prepare(const std::string& instance, const std::string& text,
                                           const std::vector<sql::QueryParameter>& parameters,
                                           const Rights& rights);
  // Finds the query of a token.  `is_resumed`: a stream goes on with it, so its age does not matter.
  // INVALID_ARGUMENT: no token, or one of another instance.  FAILED_PRECONDITION, with a PreconditionFailure of type
  // PREPARED_QUERY_EXPIRED: it has expired.  Other errors: those of sql::ParseAndBind, and of `rights`.
  absl::StatusOr<PreparedQueryRef> Find(const std::string& instance, const std::string& token,
                                        bool is_resumed, const Rights& rights);

 private:
  // Bounds of what is kept.
  static constexpr size_t kQueriesMax = 1'000;
  static constexpr size_t kTextBytesMax = 4 << 20;

  PreparedQueries(Tables* tables, sql::Dialect dialect, std::string key)
      : tables_(tables),
        dialect_(dialect),
        bundles_(&tables->catalog()),
        series_(tables),
        tokens_(std::move(key)) {}

  absl::StatusOr<sql::BoundQuery> Bind(const std::string& instance, const std::string& text,
                                       const std::vector<sql::QueryParameter>& parameters,
                                       const Rights& rights);
  absl::StatusOr<PreparedQueryRef> BindAgain(const std::string& token_bytes, const PreparedQueryToken& token,
                                             const Rights& rights);
  // Whether the tables, views, schema bundles and series are as they were when the query was bound.
  bool IsCurrent(const PreparedQuery& prepared);
  PreparedQueryRef FindKept(const std::string& token);
  void Keep(PreparedQueryRef prepared);

  Tables* const tables_;
  const sql::Dialect dialect_;
  sql::BundleFinder bundles_;
  sql::SeriesFinder series_;
  const QueryTokens tokens_;

  absl::Mutex mutex_;
  using Order = std::list<PreparedQueryRef>;
  Order kept_ ABSL_GUARDED_BY(mutex_);  // the one that was used last comes first
  absl::flat_hash_map<std::string, Order::iterator> by_token_ ABSL_GUARDED_BY(mutex_);
  size_t text_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde
