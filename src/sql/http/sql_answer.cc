#include "sql/http/sql_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "sql/exec/query_name.h"
#include "web/http/http_message.h"

namespace sonde::sql {
namespace {

// A part of so many bytes is sent.
constexpr size_t kPartBytes = 64 << 10;
// Rows are written in groups of about so many bytes, so that a part is not much longer than it should be.
constexpr size_t kGroupBytes = 16 << 10;
// The memory of a query under way beside what its operators and its text account for.
constexpr int64_t kQueryBytes = 128 << 10;
// A parsed body may take so many times its bytes.
constexpr int64_t kParsedTimes = 20;
// A client that needs longer for a part is slow: while it takes one, its query holds no scans.
constexpr absl::Duration kSlowPart = absl::Seconds(1);

}  // namespace

SqlAnswer::~SqlAnswer() {
  if (!is_recorded_ && !request_.query.empty()) Record(absl::CancelledError("the client has gone"));
}

absl::Status SqlAnswer::Admit(size_t body_bytes) {
  const int64_t bytes = kQueryBytes + kParsedTimes * static_cast<int64_t>(body_bytes);
  const absl::MutexLock lock(&hold_mutex_);
  request_bytes_ = kQueryBytes + static_cast<int64_t>(body_bytes);
  if (place_.bytes() > 0) return place_.Resize(bytes);
  absl::StatusOr<Admission::Place> place = service_.admission->Admit(bytes);
  if (!place.ok()) return place.status();
  place_ = *std::move(place);
  return absl::OkStatus();
}

absl::Status SqlAnswer::Hold(int64_t more_bytes) {
  const absl::MutexLock lock(&hold_mutex_);
  const int64_t operators = operator_bytes_ + more_bytes;
  const int64_t most = service_.admission->limits().bytes / kShareOfRoom;
  if (more_bytes > 0 && operators > most) {
    return absl::ResourceExhaustedError(
        fmt::format("The query needs {} bytes of memory; {} is the limit of a query", operators, most));
  }
  absl::Status status = place_.Resize(request_bytes_ + operators + text_bytes_);
  if (!status.ok() && more_bytes > 0) return status;
  operator_bytes_ = operators;
  operator_bytes_max_ = std::max(operator_bytes_max_, operators);
  service_.queries->Hold(more_bytes);
  return status;
}

absl::Status SqlAnswer::Begin(SqlRequest request, std::function<absl::Status()> interrupted,
                              const Access& access) {
  request_ = std::move(request);
  absl::Status status = Start(std::move(interrupted), access);
  if (status.ok()) status = Fill();
  if (status.ok()) status = TakeText(&first_);
  return status.ok() ? status : Fail(std::move(status));
}

absl::Status SqlAnswer::Start(std::function<absl::Status()> interrupted, const Access& access) {
  InstanceNames names(&service_.tables->catalog(), service_.bundles, service_.series,
                      fmt::format("projects/{}/instances/{}", request_.project, request_.instance),
                      service_.dialect, access.rights.may_read);
  names.AllowInserts(access.rights.may_write);
  std::vector<QueryParameter> parameters;
  std::vector<Value> values;
  for (Question::Parameter& parameter : request_.parameters) {
    parameters.push_back({parameter.name, parameter.value.type()});
    values.push_back(std::move(parameter.value));
  }
  absl::StatusOr<BoundQuery> query = ParseAndBind(request_.query, names.Options(std::move(parameters)));
  if (!query.ok()) return query.status();
  query_ = *std::move(query);
  if (query_.Writes() && access.count_write) {
    if (absl::Status status = access.count_write(); !status.ok()) return status;
  }
  if (absl::Status status = Hold(0); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Execution>> execution =
      Execute(query_, std::move(values),
              {.tables = service_.tables,
               .deadline = came_ + request_.timeout,
               .interrupted = std::move(interrupted),
               .hold = [this](int64_t more_bytes) { return Hold(more_bytes); },
               .caller = [this] { return NameOfQuery(request_.query); },
               .idle_workers = service_.idle_workers,
               .spill = service_.spill,
               .view_parameters = request_.view_parameters});
  if (!execution.ok()) return execution.status();
  execution_ = *std::move(execution);
  std::vector<AnswerColumn> columns;
  columns.reserve(query_.columns.size());
  for (const OutputColumn& column : query_.columns)
    columns.push_back({column.name, column.type, column.unit});
  writer_ = MakeAnswerWriter(request_.format, &out_);
  return writer_->TakeColumns(columns);
}

absl::Status SqlAnswer::Fill() {
  while (!is_over_ && static_cast<size_t>(out_.tellp()) < kPartBytes) {
    if (rows_written_ < batch_.rows) {
      if (absl::Status status = WriteRows(); !status.ok()) return status;
      // Rows that are there go out before the next ones are made, which may take long.
      if (rows_written_ == batch_.rows) return absl::OkStatus();
      continue;
    }
    rows_written_ = 0;
    const absl::StatusOr<bool> more = execution_->Next(&batch_);
    if (!more.ok()) return more.status();
    is_over_ = !*more;
    if (is_over_) batch_.rows = 0;
  }
  return absl::OkStatus();
}

absl::Status SqlAnswer::WriteRows() {
  const auto bytes_before = static_cast<size_t>(out_.tellp());
  rows::Batch group = batch_;
  group.Cut(rows_written_, std::min(rows_at_once_, batch_.rows - rows_written_));
  absl::Status status = writer_->TakeRows(group);
  rows_written_ += group.rows;
  rows_ += group.rows;
  const size_t row_bytes = (static_cast<size_t>(out_.tellp()) - bytes_before) / group.rows;
  rows_at_once_ = std::clamp<size_t>(kGroupBytes / std::max<size_t>(row_bytes, 1), 1, 4 * rows_at_once_);
  return status;
}

absl::Status SqlAnswer::TakeText(std::string* part) {
  *part += std::move(out_).str();
  out_.str({});
  // It is there twice while it is sent.
  {
    const absl::MutexLock lock(&hold_mutex_);
    text_bytes_ = 2 * static_cast<int64_t>(part->capacity());
  }
  bytes_ += part->size();
  return Hold(0);
}

absl::StatusOr<bool> SqlAnswer::Next(std::string* part) {
  if (!first_.empty()) {
    part->append(std::exchange(first_, std::string()));
    return true;
  }
  const absl::Duration since_part = std::max(absl::Now() - given_, absl::ZeroDuration());
  untaken_ += since_part;
  is_slow_ = is_slow_ || since_part > kSlowPart;
  absl::Status status = Fill();
  if (status.ok() && is_over_) WriteEnd();
  if (is_slow_) execution_->Suspend();
  given_ = absl::Now();
  const absl::Status taken = TakeText(part);  // also where an error follows: the rows are right
  if (status.ok()) status = taken;
  if (!status.ok()) {
    Record(status);
    if (request_.format == AnswerFormat::kCsv) return status;
    part->append(ErrorResponse(status).body);
    return false;
  }
  if (is_over_) Record(absl::OkStatus());
  return !is_over_;
}

void SqlAnswer::WriteEnd() {
  if (request_.format == AnswerFormat::kCsv) return;
  out_ << fmt::format(R"({{"stats":{{"rows":{},"rows_scanned":{},"memory_bytes":{},"seconds":{:.6f}}}}})",
                      rows_, execution_->rows_scanned(), memory_bytes_max(),
                      absl::ToDoubleSeconds(absl::Now() - came_))
       << '\n';
}

absl::Status SqlAnswer::Fail(absl::Status status) {
  Record(status);
  return status;
}

void SqlAnswer::Record(const absl::Status& status) {
  is_recorded_ = true;
  const absl::Time now = absl::Now();
  const uint64_t rows_scanned = execution_ == nullptr ? 0 : execution_->rows_scanned();
  execution_.reset();  // gives its memory back
  service_.requests->Record(kMethod, status.code(), absl::ToInt64Microseconds(now - came_));
  if (!status.ok() && !absl::IsCancelled(status)) {
    service_.requests->failed_calls()->Record(
        {.ended = now,
         .method = kMethod,
         .code = status.code(),
         .message = std::string(status.message()),
         .request = caller_.tag.id,
         .resource = fmt::format("projects/{}/instances/{}", request_.project, request_.instance),
         .principal = caller_.principal,
         .client = caller_.client});
  }
  if (const uint64_t calls = service_.requests->callers()->Weigh(now); calls > 0) {
    service_.requests->callers()->Add(
        {.method = kMethod,
         .resource = fmt::format("projects/{}/instances/{}", request_.project, request_.instance),
         .principal = caller_.principal,
         .client = caller_.client,
         .agent = caller_.agent},
        calls, now);
  }
  if (service_.requests->slow_calls()->Wants(now - came_, now)) {
    service_.requests->slow_calls()->Record(
        {.ended = now,
         .took = now - came_,
         .method = kMethod,
         .code = status.code(),
         .request = caller_.tag.id,
         .trace = caller_.tag.trace,
         .resource = fmt::format("projects/{}/instances/{}", request_.project, request_.instance),
         .principal = caller_.principal,
         .cost = {.untaken = untaken_,
                  .rows_seen = static_cast<int64_t>(rows_scanned),
                  .rows = static_cast<int64_t>(rows_),
                  .bytes = static_cast<int64_t>(bytes_)}});
  }
  service_.queries->Record({.text = NameOfQuery(request_.query),
                            .method = kMethod,
                            .code = status.code(),
                            .ended = now,
                            .took = now - came_,
                            .rows = rows_,
                            .bytes = bytes_,
                            .rows_scanned = rows_scanned,
                            .memory_bytes = memory_bytes_max()});
}

}  // namespace sonde::sql
