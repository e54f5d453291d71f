// The answer to a query over HTTP, as text that is made while it is taken.  So a slow client holds one part of it.
//
// JSON: a line {"columns": [...]}, an array a row (sql/output), and a last line: {"stats": {...}}, or after an error
//   {"error": {"code", "status", "message"}}.  An answer whose last line is neither was cut off.
// CSV: an error after the first part breaks the connection off, since no line could tell of it.
// Ownership: all that is given must outlive it.
// Threads: one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/admission.h"
#include "catalog/catalog.h"
#include "metrics/query_metrics.h"
#include "metrics/request_metrics.h"
#include "rows/batch.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/execution.h"
#include "sql/exec/instance_names.h"
#include "sql/exec/series_finder.h"
#include "sql/http/sql_request.h"
#include "sql/output/answer_writer.h"
#include "sql/spill/spill_space.h"
#include "table/tables.h"
#include "work/request_tag.h"

namespace sonde {
class IdleWorkers;
}  // namespace sonde

namespace sonde::sql {

// What answers share.  Nothing is owned.
struct SqlService {
  Tables* tables = nullptr;
  Dialect dialect = Dialect::kSonde;
  BundleFinder* bundles = nullptr;
  SeriesFinder* series = nullptr;
  Admission* admission = nullptr;       // where the memory of queries counts
  SpillSpace* spill = nullptr;          // where rows go for which there is no memory; null: nowhere
  IdleWorkers* idle_workers = nullptr;  // who read parts of queries; null: each is one thread's work
  RequestMetrics* requests = nullptr;
  QueryMetrics* queries = nullptr;
  const std::atomic<bool>* is_ending =
      nullptr;  // queries under way end (UNAVAILABLE); null: they never have to
};

class SqlAnswer {
 public:
  // One query may hold this part of the room of `admission`: an eighth of --memory.
  static constexpr int64_t kShareOfRoom = 2;
  // By this name requests are counted.
  static constexpr char kMethod[] = "POST /api/v1/sql";

  // What the caller may do, and how a write counts against the caller's limits (null: nobody counts).  Asked in Begin.
  struct Access {
    InstanceNames::Rights rights;
    std::function<absl::Status()> count_write;
  };

  // Who asks, for the list of slow calls.
  struct Caller {
    std::string principal;  // empty: nobody was asked
    RequestTag tag;
    std::string client = {};  // its address
    std::string agent = {};   // the program, as it names itself
  };

  // `came`: when the request did.
  SqlAnswer(const SqlService* service, absl::Time came, Caller caller)
      : service_(*service), came_(came), caller_(std::move(caller)) {}
  // Counts the query; one that did not come to its end as CANCELLED.
  ~SqlAnswer();
  SqlAnswer(const SqlAnswer&) = delete;
  SqlAnswer& operator=(const SqlAnswer&) = delete;

  // Takes the room of a request whose body has so many bytes so far; parsed they may take many times as much.
  // UNAVAILABLE: there is none now.
  absl::Status Admit(size_t body_bytes);
  // Makes the first part.  Errors of the query's text, and those that come before its first rows, come from here.  So do those of
  // `access`, which is asked for each table and view that the query names.
  absl::Status Begin(SqlRequest request, std::function<absl::Status()> interrupted, const Access& access);
  // As HttpResponse::stream.
  absl::StatusOr<bool> Next(std::string* part);
  // Counts a request that comes to nothing; its error.
  absl::Status Fail(absl::Status status);

 private:
  // The account of the query's memory.
  absl::Status Hold(int64_t more_bytes) ABSL_LOCKS_EXCLUDED(hold_mutex_);
  absl::Status Start(std::function<absl::Status()> interrupted, const Access& access);
  // Writes rows until there is a part.  OK: `is_over_` says whether there are more.
  absl::Status Fill();
  absl::Status WriteRows();
  // The bytes that were written, and their place in the account.
  absl::Status TakeText(std::string* part);
  void WriteEnd();
  void Record(const absl::Status& status);
  uint64_t memory_bytes_max() ABSL_LOCKS_EXCLUDED(hold_mutex_) {
    const absl::MutexLock lock(&hold_mutex_);
    return static_cast<uint64_t>(operator_bytes_max_);
  }

  const SqlService& service_;
  const absl::Time came_;
  const Caller caller_;
  // Helpers of the query ask for memory while a part is on its way, too.
  absl::Mutex hold_mutex_;
  Admission::Place place_ ABSL_GUARDED_BY(hold_mutex_);
  int64_t request_bytes_ ABSL_GUARDED_BY(hold_mutex_) = 0;   // of place_
  int64_t operator_bytes_ ABSL_GUARDED_BY(hold_mutex_) = 0;  // of place_
  int64_t text_bytes_ ABSL_GUARDED_BY(hold_mutex_) = 0;      // of place_
  int64_t operator_bytes_max_ ABSL_GUARDED_BY(hold_mutex_) = 0;
  bool is_recorded_ = false;
  SqlRequest request_;
  BoundQuery query_;
  std::unique_ptr<Execution> execution_;  // uses all above
  rows::Batch batch_;                     // of which rows_written_ are written
  size_t rows_written_ = 0;
  size_t rows_at_once_ = 1;
  bool is_over_ = false;
  absl::Time given_ = absl::InfiniteFuture();  // when the client was given the last part
  absl::Duration untaken_;                     // the client took parts for so long
  bool is_slow_ = false;                       // the client
  std::ostringstream out_;
  std::unique_ptr<AnswerWriter> writer_;
  std::string first_;  // the part that Begin made
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace sonde::sql
