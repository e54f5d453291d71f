#include "series/output/result_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/text_table.h"
#include "series/key/field_codec.h"

namespace sonde::series {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string JsonOf(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// From here on, texts of doubles have an exponent.
constexpr double kPlainMax = 1e15;

// The digits of a whole number that is written without an exponent.  False: it is none, or the zero with a sign.
bool AppendWhole(double number, std::string* out) {
  if (!(std::abs(number) < kPlainMax)) return false;
  const auto whole = static_cast<int64_t>(number);
  if (static_cast<double>(whole) != number || (whole == 0 && std::signbit(number))) return false;
  const fmt::format_int digits(whole);
  out->append(digits.data(), digits.size());
  return true;
}

// As JsonOf, which takes several times as long, and does not always find the shortest text.
void AppendDouble(double number, std::string* out) {
  constexpr double kPlainMin = 1e-4;
  if (AppendWhole(number, out)) {
    *out += ".0";
    return;
  }
  const double size = std::abs(number);
  if (number != 0 && !(size >= kPlainMin && size < kPlainMax)) {
    *out += JsonOf(number);
    return;
  }
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::fixed);
  DCHECK(error == std::errc());
  out->append(digits, static_cast<size_t>(end - digits));
  if (number == std::trunc(number)) *out += ".0";
}

// Of a number, the shortest text that reads back as the same one.
void AppendCsv(const ResultValue& value, std::string* out) {
  std::visit(Overloaded{[](std::monostate) {}, [out](const std::string& text) { *out += CsvText(text); },
                        [out](absl::int128 number) { *out += IntText(number); },
                        [out](int64_t number) {
                          const fmt::format_int digits(number);
                          out->append(digits.data(), digits.size());
                        },
                        [out](double number) {
                          if (!AppendWhole(number, out))
                            fmt::format_to(std::back_inserter(*out), "{}", number);
                        }},
             value);
}

std::string ShownText(const ResultValue& value) {
  return std::visit(Overloaded{[](std::monostate) { return std::string("-"); },
                               [](const std::string& text) { return DisplayText(text); },
                               [](int64_t number) { return fmt::format("{}", number); },
                               [](absl::int128 number) { return IntText(number); },
                               [](double number) { return fmt::format("{:.{}g}", number, kTableDigits); }},
                    value);
}

class TableWriter final : public ResultWriter {
 public:
  TableWriter(const ResultHeader& header, std::ostream* out)
      : zone_(header.zone), time_unit_(header.time_unit), table_(ColumnsOf(header), out) {}

  void Row(const ResultRow& row) override {
    std::vector<std::string> line;
    for (const std::string& tag : row.tags) line.push_back(DisplayText(tag));
    line.push_back(ShortTimeText(LocalMicros(zone_, row.time_micros), time_unit_));
    for (const ResultValue& value : row.values) line.push_back(ShownText(value));
    table_.Row(std::move(line));
  }

  void End() override { table_.End(); }

 private:
  static std::vector<TextTable::Column> ColumnsOf(const ResultHeader& header) {
    std::vector<TextTable::Column> columns;
    for (const std::string& tag : header.tags) columns.push_back({tag});
    columns.push_back({fmt::format("time ({})", header.zone ? header.zone->name() : "UTC")});
    for (const ResultHeader::Column& column : header.values)
      columns.push_back({column.name, column.is_number});
    return columns;
  }

  const std::optional<absl::TimeZone> zone_;
  const TimeUnit time_unit_;
  TextTable table_;
};

class CsvWriter final : public ResultWriter {
 public:
  CsvWriter(const ResultHeader& header, std::ostream* out) : zone_(header.zone), out_(out) {
    std::string line;
    for (const std::string& tag : header.tags) line.append(CsvText(tag)).append(1, ',');
    line += "time";
    for (const ResultHeader::Column& column : header.values) line.append(1, ',').append(CsvText(column.name));
    *out_ << line << "\r\n";
  }

  void Row(const ResultRow& row) override {
    if (row.tags_number != tags_number_) {
      tags_number_ = row.tags_number;
      line_.clear();
      for (const std::string& tag : row.tags) line_.append(CsvText(tag)).append(1, ',');
      tags_bytes_ = line_.size();
    }
    line_.resize(tags_bytes_);
    AppendTimeTextIn(zone_, row.time_micros, &line_);
    for (const ResultValue& value : row.values) {
      line_ += ',';
      AppendCsv(value, &line_);
    }
    line_ += "\r\n";
    *out_ << line_;
  }

 private:
  std::optional<absl::TimeZone> zone_;
  std::ostream* out_;
  std::optional<int64_t> tags_number_;  // of the row before
  std::string line_;                    // that row; its tags are the first tags_bytes_
  size_t tags_bytes_ = 0;
};

class JsonWriter final : public ResultWriter {
 public:
  JsonWriter(ResultHeader header, std::ostream* out) : header_(std::move(header)), out_(out) {
    std::set<std::string> taken = {"time"};
    const auto take = [&taken](std::string* member) {
      const std::string name = *member;
      for (int i = 1; !taken.insert(*member).second; ++i) *member = fmt::format("{}_{}", name, i);
    };
    for (ResultHeader::Column& column : header_.values) take(&column.name);
    for (std::string& tag : header_.tags) take(&tag);
  }

  void Row(const ResultRow& row) override {
    line_.clear();
    const auto begin = [this](const std::string& name) {
      line_ += line_.empty() ? '{' : ',';
      line_ += JsonOf(name);
      line_ += ':';
    };
    for (size_t i = 0; i < row.tags.size(); ++i) {
      begin(header_.tags[i]);
      line_ += JsonOf(row.tags[i]);
    }
    begin("time");
    line_ += '"';
    AppendTimeTextIn(header_.zone, row.time_micros, &line_);
    line_ += '"';
    for (size_t i = 0; i < row.values.size(); ++i) {
      begin(header_.values[i].name);
      AppendJson(row.values[i], &line_);
    }
    *out_ << line_ << "}\n";
  }

 private:
  ResultHeader header_;  // with the names of members
  std::ostream* out_;
  std::string line_;
};

}  // namespace

std::optional<ResultFormat> ResultFormatOfName(std::string_view name) {
  if (name == "table") return ResultFormat::kTable;
  if (name == "csv") return ResultFormat::kCsv;
  if (name == "json") return ResultFormat::kJson;
  return std::nullopt;
}

std::unique_ptr<ResultWriter> MakeResultWriter(ResultFormat format, ResultHeader header, std::ostream* out) {
  switch (format) {
    case ResultFormat::kCsv:
      return std::make_unique<CsvWriter>(header, out);
    case ResultFormat::kJson:
      return std::make_unique<JsonWriter>(std::move(header), out);
    case ResultFormat::kTable:
      break;
  }
  return std::make_unique<TableWriter>(header, out);
}

void AppendJson(const ResultValue& value, std::string* out) {
  std::visit(
      Overloaded{[out](std::monostate) { *out += "null"; },
                 [out](int64_t number) {
                   const fmt::format_int digits(number);
                   out->append(digits.data(), digits.size());
                 },
                 [out](absl::int128 number) { *out += IntText(number); },  // JSON's numbers have any digits
                 [out](double number) { AppendDouble(number, out); },
                 [out](const std::string& text) { *out += JsonOf(text); }},
      value);
}

std::string ShortTimeText(int64_t micros, TimeUnit unit) {
  const CivilTime t = CivilFromMicros(micros);
  std::string text = fmt::format("{:04}", t.year);
  if (unit == TimeUnit::kYear) return text;
  text += fmt::format("-{:02}", t.month);
  if (unit == TimeUnit::kMonth) return text;
  text += fmt::format("-{:02}", t.day);
  if (unit == TimeUnit::kDay) return text;
  text += fmt::format(" {:02}:{:02}", t.hour, t.minute);
  if (unit == TimeUnit::kMinute) return text;
  text += fmt::format(":{:02}", t.second);
  if (unit == TimeUnit::kSecond) return text;
  if (unit == TimeUnit::kMillisecond) return text + fmt::format(".{:03}", t.micros / 1000);
  return text + fmt::format(".{:06}", t.micros);
}

}  // namespace sonde::series
