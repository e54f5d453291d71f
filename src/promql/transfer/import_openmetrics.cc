#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "promql/syntax/matcher.h"
#include "promql/syntax/words.h"
#include "promql/transfer/import_line.h"

namespace sonde::promql {
namespace {

constexpr double kMillisMax = 9.2e18;

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(std::string(what)); }

// Reads a line from its begin.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : rest_(line) {}

  std::string_view rest() const { return rest_; }
  bool IsAt(char c) const { return !rest_.empty() && rest_[0] == c; }
  bool Skip(char c) {
    if (!IsAt(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() {
    while (IsAt(' ') || IsAt('\t')) rest_.remove_prefix(1);
  }
  // Up to one of `ends`.
  std::string_view Take(std::string_view ends) {
    const std::string_view text = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(text.size());
    return text;
  }
  // A text in quotes, with \\, \" and \n in it.
  bool TakeQuoted(std::string* text) {
    if (!Skip('"')) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] != '\\') {
        text->push_back(rest_[0]);
        rest_.remove_prefix(1);
        continue;
      }
      if (rest_.size() < 2) return false;
      const char c = rest_[1];
      if (c != '\\' && c != '"' && c != 'n') return false;
      text->push_back(c == 'n' ? '\n' : c);
      rest_.remove_prefix(2);
    }
    return Skip('"');
  }

 private:
  std::string_view rest_;
};

absl::Status AddLabel(std::string name, std::string value, ImportedSeries* series) {
  const bool is_there = std::any_of(series->labels.begin(), series->labels.end(),
                                    [&name](const auto& label) { return label.first == name; });
  if (is_there) return Wrong(fmt::format("label '{}' comes twice", Printable(name)));
  if (series->labels.size() == kImportLabelsMax) {
    return Wrong(fmt::format("the series has more than {} labels, the limit", kImportLabelsMax));
  }
  series->labels.emplace_back(std::move(name), std::move(value));
  return absl::OkStatus();
}

// Behind the brace.
absl::Status TakeLabels(Cursor* cursor, ImportedSeries* series) {
  while (true) {
    cursor->SkipBlanks();
    if (cursor->Skip('}')) return absl::OkStatus();
    std::string name;
    const bool is_quoted = cursor->IsAt('"');
    if (is_quoted) {
      if (!cursor->TakeQuoted(&name)) return Wrong("a name in quotes that is not whole");
    } else {
      name = cursor->Take("=,} \t\"");
    }
    cursor->SkipBlanks();
    if (cursor->Skip('=')) {
      cursor->SkipBlanks();
      std::string value;
      if (name.empty() || !cursor->TakeQuoted(&value)) {
        return Wrong(fmt::format("the value of label '{}' is no text in quotes", Printable(name)));
      }
      if (absl::Status status = AddLabel(std::move(name), std::move(value), series); !status.ok())
        return status;
    } else if (is_quoted) {  // the name of the metric
      if (absl::Status status = AddLabel(kMetricLabel, std::move(name), series); !status.ok()) return status;
    } else {
      return Wrong("a label without a value, or braces that do not end");
    }
    cursor->SkipBlanks();
    if (!cursor->Skip(',') && !cursor->IsAt('}'))
      return Wrong("labels without a comma between them, or braces that do not end");
  }
}

absl::Status ParseSample(std::string_view line, int64_t now_millis, ImportedSeries* series) {
  Cursor cursor(line);
  const std::string name(cursor.Take("{ \t"));
  if (!name.empty()) series->labels.emplace_back(kMetricLabel, name);
  if (cursor.Skip('{')) {
    if (absl::Status status = TakeLabels(&cursor, series); !status.ok()) return status;
  }
  const bool has_name = std::any_of(series->labels.begin(), series->labels.end(),
                                    [](const auto& label) { return label.first == kMetricLabel; });
  if (!has_name) return Wrong("a sample without the name of a metric");
  cursor.SkipBlanks();
  const std::string_view number = cursor.Take(" \t");
  const std::optional<double> value = ReadFloat(number);
  if (!value) return Wrong(fmt::format("value '{}' is no number", Printable(number, 40)));
  cursor.SkipBlanks();
  int64_t millis = now_millis;
  if (!cursor.rest().empty() && !cursor.IsAt('#')) {
    const std::string_view time = cursor.Take(" \t");
    const std::optional<double> seconds = ReadFloat(time);
    const double rounded = seconds ? std::round(*seconds * 1'000) : NAN;
    if (!(std::fabs(rounded) < kMillisMax)) {
      return Wrong(fmt::format("time '{}' is no number of seconds since 1970", Printable(time, 40)));
    }
    millis = static_cast<int64_t>(rounded);
  }
  cursor.SkipBlanks();
  if (!cursor.rest().empty() && !cursor.IsAt('#')) {
    return Wrong(fmt::format("'{}' behind the sample", Printable(cursor.rest(), 40)));
  }
  series->run.values.push_back(*value);
  series->run.times.push_back(millis);
  return absl::OkStatus();
}

// "\\" and "\n" are signs of help texts; quotes may be escaped, too.
std::string Unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size() &&
                           (text[i + 1] == '\\' || text[i + 1] == 'n' || text[i + 1] == '"');
    if (!is_escape) {
      result.push_back(text[i]);
      continue;
    }
    ++i;
    result.push_back(text[i] == 'n' ? '\n' : text[i]);
  }
  return result;
}

}  // namespace

absl::Status ParseOpenMetricsLine(std::string_view line, int64_t now_millis, OpenMetricsLine* parsed) {
  using Kind = OpenMetricsLine::Kind;
  *parsed = {};
  if (line == kOpenMetricsEnd) {
    parsed->kind = Kind::kEnd;
    return absl::OkStatus();
  }
  if (!line.starts_with('#')) {
    parsed->kind = Kind::kSample;
    return ParseSample(line, now_millis, &parsed->series);
  }
  Cursor cursor(line.substr(1));
  cursor.SkipBlanks();
  const std::string_view word = cursor.Take(" \t");
  const Kind kind = word == "TYPE"   ? Kind::kType
                    : word == "HELP" ? Kind::kHelp
                    : word == "UNIT" ? Kind::kUnit
                                     : Kind::kComment;
  if (kind == Kind::kComment) return absl::OkStatus();
  cursor.SkipBlanks();
  if (cursor.IsAt('"')) {
    if (!cursor.TakeQuoted(&parsed->family)) return Wrong("a name in quotes that is not whole");
  } else {
    parsed->family = cursor.Take(" \t");
  }
  if (parsed->family.empty()) return Wrong(fmt::format("{} without the name of a metric", word));
  cursor.Skip(' ');
  parsed->text = kind == Kind::kHelp ? Unescaped(cursor.rest()) : std::string(cursor.rest());
  parsed->kind = kind;
  return absl::OkStatus();
}

}  // namespace sonde::promql
