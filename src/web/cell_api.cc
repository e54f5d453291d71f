#include "web/cell_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "filter/compiled_filter.h"
#include "model/filters.h"
#include "model/limits.h"
#include "model/quote_regex.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

constexpr size_t kCellPartBytes = 64 << 10;
constexpr int64_t kCellRowsPerStep = 1'000;

// Which cell is asked for, and how many of its bytes.
struct CellQuestion {
  std::string key, family, column;
  int64_t time_micros = 0;
  int64_t bytes_max = 0;
};

absl::StatusOr<CellQuestion> ReadQuestion(const HttpRequest& request) {
  QueryReader query(request);
  CellQuestion asked{.key = query.Key("key"), .family = query.Text("family", kFamilyNameBytesMax)};
  // A byte may be written as \xNN.
  const absl::StatusOr<std::string> column = KeyFromText(query.Text("column", 4 * kQualifierBytesMax));
  if (!column.ok()) query.Refuse(column.status());
  asked.time_micros = query.Int("time_micros", std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max() - 1);
  asked.bytes_max =
      query.Int("bytes", std::numeric_limits<int64_t>::max(), 1, std::numeric_limits<int64_t>::max());
  if (absl::Status status = query.Finish(); !status.ok()) return status;
  if (asked.key.empty() || asked.family.empty() || asked.time_micros == std::numeric_limits<int64_t>::min()) {
    return absl::InvalidArgumentError(
        "a cell is named by 'key', 'family', 'column' (empty: the empty qualifier) and 'time_micros'");
  }
  asked.column = *column;
  return asked;
}

FilterSpec FilterOf(const CellQuestion& asked) {
  return filters::Chain({filters::Family(QuoteRegex(asked.family)),
                         filters::Qualifier(QuoteRegex(asked.column)),
                         filters::Times(asked.time_micros, asked.time_micros + 1), filters::ColumnLimit(1)});
}

class CellApi {
 public:
  CellApi(Tables* tables, LargeRoom* large_room) : tables_(tables), large_room_(large_room) {}

  absl::Status Answer(const HttpRequest& request, HttpResponse* response) const {
    const absl::StatusOr<TableSchemaRef> schema =
        tables_->catalog().Find(fmt::format("projects/{}/instances/{}/tables/{}", request.parts.at("project"),
                                            request.parts.at("instance"), request.parts.at("table")));
    if (!schema.ok()) return schema.status();
    const absl::StatusOr<CellQuestion> asked = ReadQuestion(request);
    if (!asked.ok()) return asked.status();
    absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(FilterOf(*asked));
    if (!filter.ok()) return filter.status();
    absl::StatusOr<std::unique_ptr<RowReader>> opened = tables_->Read(
        *schema,
        {.ranges = {{asked->key, asked->key + '\0'}},
         .filter = *std::move(filter),
         .rows_limit = 1,
         .interrupted = InterruptedWhenGone(request),
         .take_large = large_room_ == nullptr ? nullptr : TakeForEntries(large_room_, WhenFull::kRefuse),
         .caller = [caller = request.Caller()] { return caller; }});
    if (!opened.ok()) return opened.status();
    const std::shared_ptr<RowReader> reader = *std::move(opened);
    absl::StatusOr<RowReader::Step> step = RowReader::Step::kPaused;
    while (step.ok() && *step == RowReader::Step::kPaused) step = reader->Next(kCellRowsPerStep);
    if (!step.ok()) return step.status();
    if (*step == RowReader::Step::kEnd || reader->cells().empty()) {
      return absl::NotFoundError(fmt::format("row '{}' has no cell {}:{} of the time {} µs since 1970",
                                             KeyToText(asked->key), KeyToText(asked->family),
                                             KeyToText(asked->column), asked->time_micros));
    }
    response->content_type = "application/octet-stream";
    response->headers.emplace_back("Sonde-Value-Bytes",
                                   std::to_string(reader->cells().front().cell.value.size()));
    const size_t bytes_max = static_cast<size_t>(asked->bytes_max);
    // The reader keeps the value, of which each part is a copy.
    response->stream = [reader, bytes_max,
                        at = size_t{0}](std::string* part) mutable -> absl::StatusOr<bool> {
      const std::string_view value = reader->cells().front().cell.value.substr(0, bytes_max);
      *part += value.substr(at, kCellPartBytes);
      at += kCellPartBytes;
      return at < value.size();
    };
    return absl::OkStatus();
  }

 private:
  Tables* const tables_;
  LargeRoom* const large_room_;
};

}  // namespace

void AddCellApi(Tables* tables, LargeRoom* large_room, Router* router) {
  router->Add(
      {"GET", "/api/v1/tables/{project}/{instance}/{table}/cell",
       [api = CellApi(tables, large_room)](const HttpRequest& request, HttpBody*, HttpResponse* response) {
         return api.Answer(request, response);
       }});
}

}  // namespace sonde
