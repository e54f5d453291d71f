#include "series/output/result_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "series/key/field_codec.h"

namespace sonde::series {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

// The shortest text that reads back as the same number.
std::string FullText(const ResultValue& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string(); }, [](const std::string& text) { return text; },
                 [](absl::int128 number) { return IntText(number); },
                 [](const auto& number) { return fmt::format("{}", number); }},
      value);
}

std::string JsonOf(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
  TableWriter(ResultHeader header, std::ostream* out) : header_(std::move(header)), out_(out) {
    Line names = header_.tags;
    names.push_back(fmt::format("time ({})", header_.zone ? header_.zone->name() : "UTC"));
    for (const ResultHeader::Column& column : header_.values) names.push_back(column.name);
    lines_.push_back(std::move(names));
  }

  void Row(const ResultRow& row) override {
    Line line;
    for (const std::string& tag : row.tags) line.push_back(DisplayText(tag));
    line.push_back(ShortTimeText(LocalMicros(header_.zone, row.time_micros), header_.time_unit));
    for (const ResultValue& value : row.values) line.push_back(ShownText(value));
    lines_.push_back(std::move(line));
    if (lines_.size() > kTableLinesMeasured || !widths_.empty()) Print();
  }

  void End() override { Print(); }

 private:
  using Line = std::vector<std::string>;

  void Print() {
    const bool is_first = widths_.empty();
    widths_.resize(lines_.empty() ? widths_.size() : lines_[0].size());
    if (is_first) {
      for (const Line& line : lines_) {
        for (size_t i = 0; i < line.size(); ++i) widths_[i] = std::max(widths_[i], DisplayWidth(line[i]));
      }
    }
    for (size_t l = 0; l < lines_.size(); ++l) {
      PrintLine(lines_[l]);
      if (is_first && l == 0) PrintRule();
    }
    lines_.clear();
  }

  void PrintLine(const Line& line) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      if (i != 0) text += "  ";
      const size_t shown = DisplayWidth(line[i]);
      const size_t blanks = shown < widths_[i] ? widths_[i] - shown : 0;
      const size_t first_value = header_.tags.size() + 1;
      const bool is_right = i >= first_value && header_.values[i - first_value].is_number;
      if (is_right) text.append(blanks, ' ');
      text += line[i];
      if (!is_right) text.append(blanks, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    *out_ << text << "\n";
  }

  void PrintRule() {
    std::string text;
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (i != 0) text += "  ";
      for (size_t c = 0; c < widths_[i]; ++c) text += "─";
    }
    *out_ << text << "\n";
  }

  ResultHeader header_;
  std::ostream* out_;
  std::vector<Line> lines_;     // not printed yet; the first are the names
  std::vector<size_t> widths_;  // empty: not measured yet
};

// The size of the code point of UTF-8 that `text` begins with.  It is 0 if `text` begins with none, or with a
// control character.
size_t CodePointBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first < ' ' || first == 0x7F ? 0 : 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (const char c : text.substr(1, bytes - 1)) {
    if ((c & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  // U+0080 to U+009F are control characters; overlong forms and surrogates are no UTF-8.
  const bool is_refused = (first == 0xC2 && second < 0xA0) || (first == 0xE0 && second < 0xA0) ||
                          (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
                          (first == 0xF4 && second >= 0x90);
  return is_refused ? 0 : bytes;
}

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted(1, '"');
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

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
    std::string line;
    for (const std::string& tag : row.tags) line.append(CsvText(tag)).append(1, ',');
    line += TimeTextIn(zone_, row.time_micros);
    for (const ResultValue& value : row.values) line.append(1, ',').append(CsvText(FullText(value)));
    *out_ << line << "\r\n";
  }

 private:
  std::optional<absl::TimeZone> zone_;
  std::ostream* out_;
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
    char before = '{';
    const auto write = [&](const std::string& name, const std::string& value) {
      *out_ << before << JsonOf(name) << ':' << value;
      before = ',';
    };
    for (size_t i = 0; i < row.tags.size(); ++i) write(header_.tags[i], JsonOf(row.tags[i]));
    write("time", JsonOf(TimeTextIn(header_.zone, row.time_micros)));
    for (size_t i = 0; i < row.values.size(); ++i) write(header_.values[i].name, JsonText(row.values[i]));
    *out_ << "}\n";
  }

 private:
  ResultHeader header_;  // with the names of members
  std::ostream* out_;
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
  return std::make_unique<TableWriter>(std::move(header), out);
}

std::string JsonText(const ResultValue& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("null"); },
                 [](absl::int128 number) { return IntText(number); },  // JSON's numbers have any digits
                 [](const auto& held) { return JsonOf(held); }},
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

std::string DisplayText(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CodePointBytes(text.substr(at));
    if (bytes == 0) return Printable(text, kTextBytesShown);
    if (at + bytes > kTextBytesShown) return fmt::format("{}…", text.substr(0, at));
    at += bytes;
  }
  return std::string(text);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace sonde::series
