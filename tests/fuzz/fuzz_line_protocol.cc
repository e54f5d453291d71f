// Line protocol: any text is read line by line; what is a point says the same when it is written out again;
// and whole texts go into tables, or are refused, a point at a time.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "series/input/ingest_batch.h"
#include "series/input/line_protocol.h"
#include "series/known/declarations.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "target.h"

namespace sonde::series {
namespace {

constexpr size_t kTextBytes = 1 << 16;
constexpr std::string_view kDeclared =
    "series: d\ntags: { host: string, id: { type: int, width: 4 } }\nfields: { x: double, n: int, t: string "
    "}\n"
    "key: [host, id, bucket]\nbucket: hour\nretention: { max_age: 30d }\nderive: [ latest: d_now ]\n";

std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// What has backslashes of its own, or line ends, can't always be written again.
bool IsPlain(std::string_view text) { return text.find_first_of("\\\n\r") == std::string_view::npos; }

bool IsPlain(const LinePoint& point) {
  // In front of a text, a byte order mark is none of it.
  bool is_plain = IsPlain(point.measurement) && point.measurement.find_first_of("#\t") != 0 &&
                  !point.measurement.starts_with("\xEF\xBB\xBF");
  for (const auto& [name, value] : point.tags) is_plain = is_plain && IsPlain(name) && IsPlain(value);
  for (const LineField& field : point.fields) {
    is_plain =
        is_plain && IsPlain(field.name) && (field.type == LineValueType::kText || IsPlain(field.value));
  }
  return is_plain;
}

std::string LineOf(const LinePoint& point) {
  std::string line = Escaped(point.measurement, ", ");
  for (const auto& [name, value] : point.tags)
    line += "," + Escaped(name, ",= ") + "=" + Escaped(value, ",= ");
  char separator = ' ';
  for (const LineField& field : point.fields) {
    line += separator + Escaped(field.name, ",= ") + "=";
    separator = ',';
    const bool is_text = field.type == LineValueType::kText;
    line += is_text ? "\"" + Escaped(field.value, "\"\\") + "\"" : std::string(field.value);
    if (field.type == LineValueType::kInt) line += 'i';
    if (field.type == LineValueType::kUnsigned) line += 'u';
  }
  if (point.timestamp) line += " " + std::to_string(*point.timestamp);
  return line;
}

void CheckSame(const LinePoint& a, const LinePoint& b) {
  Require(a.measurement == b.measurement && a.tags == b.tags, "the same measurement and tags");
  Require(a.timestamp == b.timestamp && a.fields.size() == b.fields.size(), "the same time");
  for (size_t i = 0; i < a.fields.size(); ++i) {
    const LineField& x = a.fields[i];
    const LineField& y = b.fields[i];
    Require(x.name == y.name && x.type == y.type && x.value == y.value, "the same fields");
  }
}

void CheckPoint(const LinePoint& point) {
  Require(!point.measurement.empty() && !point.fields.empty(), "a point has a name and fields");
  Require(point.tags.size() + point.fields.size() <= kLineNamesMax, "and not too many");
  for (const LineField& field : point.fields) {
    if (field.type != LineValueType::kFloat) continue;
    double number = 0;
    const char* const end = field.value.data() + field.value.size();
    const auto [rest, error] = std::from_chars(field.value.data(), end, number);
    Require(rest == end && (error != std::errc() || std::isfinite(number)), "a float is a number");
  }
  if (!IsPlain(point)) return;
  const std::string line = LineOf(point);
  LineProtocolParser parser(line);
  LinePoint again;
  Require(parser.Next(&again) == LineProtocolParser::Step::kPoint, "a point that is written out is a point");
  CheckSame(point, again);
  Require(parser.Next(&again) == LineProtocolParser::Step::kEnd, "and one line");
}

void CheckText(std::string_view text) {
  const ManualClock clock(0);
  MemoryTables tables;
  Declarations declarations(&tables, &clock);
  Require(declarations.Declare(kDeclared).ok(), "the declaration is good");
  IngestBatch batch(&declarations, &tables, {});
  LineProtocolParser parser(text);
  LinePoint point;
  int64_t line = 0;
  for (auto step = parser.Next(&point); step != LineProtocolParser::Step::kEnd; step = parser.Next(&point)) {
    Require(parser.line() > line, "lines are counted");
    line = parser.line();
    if (step == LineProtocolParser::Step::kBadLine) {
      Require(!parser.problem().empty(), "a refusal has a reason");
      continue;
    }
    CheckPoint(point);
    IngestPoint ingest;
    ingest.series = point.measurement;
    const std::string identity = LineOf(point);
    ingest.identity = identity;
    ingest.labels = &point.tags;
    ingest.fields = &point.fields;
    ingest.time_micros = point.timestamp.value_or(0);
    const absl::Status status = batch.Add(ingest);
    Require(status.ok() || absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
                absl::IsResourceExhausted(status),
            "a point is written or refused");
    Require(batch.Flush().ok(), "what is taken is written");
  }
  Require(line <= 1 + static_cast<int64_t>(std::count(text.begin(), text.end(), '\n')),
          "lines that there are");
  Declarations loaded(&tables, &clock);
  Require(loaded.Load().ok(), "what is kept of series is read again");
  for (const KnownSeriesRef& series : declarations.List()) {
    const KnownSeriesRef again = loaded.Find(series->schema.name);
    Require(again != nullptr && again->labels == series->labels, "its labels");
    Require(again->schema.fields.size() == series->schema.fields.size(), "and fields");
    for (size_t i = 0; i < series->schema.fields.size(); ++i) {
      const Field& a = series->schema.fields[i];
      const Field& b = again->schema.fields[i];
      Require(a.name == b.name && a.type == b.type, "with their types");
    }
  }
}

}  // namespace
}  // namespace sonde::series

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::series::kTextBytes) return 0;
  sonde::series::CheckText({reinterpret_cast<const char*>(data), size});
  return 0;
}
