// The answer to a query as JSON, made while the client takes it.
//
// Ownership: it owns what it writes, and keeps `memory` until it ends.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "promql/evaluate/engine.h"
#include "promql/http/api_answer.h"
#include "series/http/query_memory.h"

namespace sonde::promql {

// A value as Prometheus writes it: the shortest digits, with an exponent below 1e-6 and from 1e21 on.
void AppendApiNumber(double value, std::string* out);
// Milliseconds as seconds: whole, or with three digits behind the point.
void AppendApiTime(int64_t millis, std::string* out);

class QueryAnswerText {
 public:
  // `limit`: of series; 0: none.  `stats`: what stands behind the result, JSON; empty: nothing.
  QueryAnswerText(QueryAnswer answer, Notices notices, size_t limit, std::string stats,
                  std::shared_ptr<series::QueryMemory> memory);

  // As HttpResponse::stream.
  bool Next(std::string* part);

 private:
  void Begin(std::string* part);
  // The series at next_.
  void AppendSeries(std::string* part);
  size_t series_count() const;

  QueryAnswer answer_;
  Notices notices_;
  std::string stats_;
  std::shared_ptr<series::QueryMemory> memory_;
  std::vector<std::string> times_;  // of the steps, as text
  bool is_instant_ = false;         // a vector, or one value
  bool has_begun_ = false;
  bool has_ended_ = false;
  size_t next_ = 0;
};

}  // namespace sonde::promql
