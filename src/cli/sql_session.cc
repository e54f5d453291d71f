#include "cli/sql_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/text_table.h"
#include "series/known/declaration_store.h"
#include "series/known/known_series.h"
#include "sql/exec/parameter_values.h"
#include "sql/value/value.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

constexpr size_t kPlotPointsMax = 1'000'000;

// Writes an answer, counts its rows, and keeps what can be drawn: numbers over the first column of times, a line for each of the
// numeric columns and each combination of the others.
class SessionSink final : public sql::AnswerSink {
 public:
  SessionSink(const SqlOptions& options, std::ostream* out)
      : writer_(sql::MakeAnswerWriter(options.format, out)), out_(*out), has_plot_(options.plot.has_plot) {}

  absl::Status TakeColumns(const std::vector<sql::AnswerColumn>& columns) override {
    columns_ = columns;
    return writer_->TakeColumns(columns);
  }
  absl::Status TakeRows(const rows::Batch& batch) override {
    rows_ += batch.rows;
    if (has_plot_) Keep(batch);
    if (absl::Status status = writer_->TakeRows(batch); !status.ok()) return status;
    return out_ ? absl::OkStatus() : absl::CancelledError("The output is closed");
  }

  void End() { writer_->End(); }
  size_t rows() const { return rows_; }
  std::vector<series::PlotLine> TakeLines() {
    std::vector<series::PlotLine> lines;
    for (auto& [name, line] : lines_) lines.push_back(std::move(line));
    return lines;
  }

 private:
  bool IsTime(size_t column) const {
    return columns_[column].type.Is(sql::TypeKind::kTimestamp) ||
           columns_[column].type.Is(sql::TypeKind::kDate);
  }

  void Keep(const rows::Batch& batch) {
    size_t time = 0;
    while (time < columns_.size() && !IsTime(time)) ++time;
    if (time == columns_.size()) return;
    for (size_t row = 0; row < batch.rows && points_ < kPlotPointsMax; ++row) {
      const Datum at = sql::DatumAt(batch.columns[time], row);
      if (at.is_there)
        KeepRow(batch, row,
                columns_[time].type.Is(sql::TypeKind::kDate) ? at.integer * 86'400'000'000 : at.integer);
    }
  }
  void KeepRow(const rows::Batch& batch, size_t row, int64_t time_micros) {
    std::string group;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const sql::Type& type = columns_[i].type;
      if (!type.IsText() && !type.Is(sql::TypeKind::kBool)) continue;
      group += (group.empty() ? "" : " ") + sql::ShownText(type, sql::DatumAt(batch.columns[i], row));
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Datum number = sql::DatumAt(batch.columns[i], row);
      if (!columns_[i].type.IsNumeric() || !number.is_there) continue;
      series::PlotLine& line = lines_[{group, i}];
      if (line.points.empty()) line.name = group.empty() ? columns_[i].name : group + " " + columns_[i].name;
      line.points.emplace_back(time_micros, number.kind == Datum::Kind::kDouble
                                                ? number.number
                                                : static_cast<double>(number.integer));
      ++points_;
    }
  }

  const std::unique_ptr<sql::AnswerWriter> writer_;
  std::ostream& out_;
  const bool has_plot_;
  std::vector<sql::AnswerColumn> columns_;
  size_t rows_ = 0;
  size_t points_ = 0;
  std::map<std::pair<std::string, size_t>, series::PlotLine> lines_;
};

absl::Status ShowTables(const SqlSession& session, std::ostream* out) {
  const absl::StatusOr<std::vector<std::string>> tables = session.tables->ListTables();
  if (!tables.ok()) return tables.status();
  const absl::StatusOr<std::vector<std::string>> views = session.sql->ListViews();
  if (!views.ok()) return views.status();
  for (const std::string& table : *tables) *out << table << "\n";
  for (const std::string& view : *views) *out << view << " (view)\n";
  return absl::OkStatus();
}

// The columns that an answer would have.
class ColumnsSink final : public sql::AnswerSink {
 public:
  absl::Status TakeColumns(const std::vector<sql::AnswerColumn>& columns) override {
    columns_ = columns;
    return absl::OkStatus();
  }
  absl::Status TakeRows(const rows::Batch& /*batch*/) override { return absl::OkStatus(); }
  const std::vector<sql::AnswerColumn>& columns() const { return columns_; }

 private:
  std::vector<sql::AnswerColumn> columns_;
};

absl::Status DescribeView(const SqlSession& session, const std::string& view, std::ostream* out) {
  ColumnsSink sink;
  absl::Status status = session.sql->Ask({.text = fmt::format("SELECT * FROM `{}` LIMIT 0", view)}, &sink);
  if (!status.ok()) return status;
  TextTable text({{"column"}, {"type"}}, out);
  for (const sql::AnswerColumn& column : sink.columns()) text.Row({column.name, column.type.ToString()});
  text.End();
  return absl::OkStatus();
}

// The columns of series.NAME, and the units that its declaration says.
absl::Status DescribeSeries(const series::KnownSeries& known, std::ostream* out) {
  const series::SeriesSchema schema = series::LabelsAsTags(known);
  TextTable text({{"column"}, {"type"}, {"unit"}}, out);
  for (const series::Tag& tag : schema.tags) {
    text.Row({tag.name, tag.type == series::TagType::kInt ? "INT64" : "STRING", ""});
  }
  text.Row({"time", "TIMESTAMP", ""});
  for (const series::Field& field : schema.fields) {
    text.Row({field.name,
              field.type == series::FieldType::kInt      ? "INT64"
              : field.type == series::FieldType::kDouble ? "FLOAT64"
                                                         : "STRING",
              DisplayText(field.unit)});
  }
  if (known.is_open()) text.Row({"labels", "MAP<STRING, STRING>", ""});
  text.End();
  return absl::OkStatus();
}

absl::Status Describe(const SqlSession& session, const std::string& table, std::ostream* out) {
  constexpr char kSeries[] = "series.";
  const absl::StatusOr<std::vector<FamilyRequest>> families = session.tables->ListFamilies(table);
  if (absl::IsNotFound(families.status())) {
    const absl::StatusOr<std::vector<std::string>> views = session.sql->ListViews();
    if (views.ok() && std::ranges::find(*views, table) != views->end())
      return DescribeView(session, table, out);
  }
  if (absl::IsNotFound(families.status()) && absl::StartsWithIgnoreCase(table, kSeries)) {
    const absl::StatusOr<std::optional<series::KnownSeries>> known =
        series::FindKnownSeries(table.substr(sizeof(kSeries) - 1), session.tables.get());
    if (!known.ok()) return known.status();
    if (known->has_value()) return DescribeSeries(**known, out);
  }
  if (!families.ok()) return families.status();
  TextTable text({{"column"}, {"type"}}, out);
  text.Row({"_key", "BYTES"});
  for (const FamilyRequest& family : *families) text.Row({family.name, "MAP<BYTES, BYTES>"});
  text.End();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SqlSession> OpenSqlSession(const AccessFlags& given) {
  const absl::StatusOr<AccessFlags> resolved = ResolveAccess(given);
  if (!resolved.ok()) return resolved.status();
  const AccessFlags& flags = *resolved;
  std::shared_ptr<Tables> held;
  SqlSession session;
  if (flags.endpoint.empty()) {
    absl::StatusOr<std::shared_ptr<Tables>> tables = OpenTables(flags);
    if (!tables.ok()) return tables.status();
    held = *std::move(tables);
    session.tables = std::make_unique<LocalTables>(
        held, fmt::format("projects/{}/instances/{}", flags.project, flags.instance));
  } else {
    absl::StatusOr<std::unique_ptr<TableAccess>> tables = OpenAccess(flags);
    if (!tables.ok()) return tables.status();
    session.tables = *std::move(tables);
  }
  absl::StatusOr<std::unique_ptr<sql::SqlAccess>> sql = OpenSql(flags, std::move(held));
  if (!sql.ok()) return sql.status();
  session.sql = *std::move(sql);
  return session;
}

absl::StatusOr<sql::Question::Parameter> ParseSqlParameter(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string head = text.substr(0, equals);
  const size_t colon = head.find(':');
  const std::string name = head.substr(0, colon);
  if (equals == std::string::npos || name.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("--param {}: a parameter is NAME=VALUE or NAME:TYPE=VALUE", text));
  }
  const std::string value = text.substr(equals + 1);
  if (colon == std::string::npos) return sql::Question::Parameter{name, sql::ValueByLook(value)};
  const std::string type = head.substr(colon + 1);
  const absl::StatusOr<sql::Value> typed = absl::StartsWithIgnoreCase(type, "ARRAY")
                                               ? sql::CastExpressionToNamed(value, type)
                                               : sql::CastToNamed(sql::Value::String(value), type);
  if (typed.ok()) return sql::Question::Parameter{name, *typed};
  return absl::InvalidArgumentError(
      fmt::format("--param {}: {}", text, std::string(typed.status().message())));
}

absl::Status RunStatement(const SqlSession& session, const std::string& text, const SqlOptions& options,
                          std::ostream* out) {
  std::string statement(absl::StripAsciiWhitespace(text));
  while (!statement.empty() && (statement.back() == ';' || absl::ascii_isspace(statement.back()))) {
    statement.pop_back();
  }
  const std::vector<std::string> words =
      absl::StrSplit(statement, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  if (words.size() == 2 && absl::EqualsIgnoreCase(words[0], "SHOW") &&
      absl::EqualsIgnoreCase(words[1], "TABLES")) {
    return ShowTables(session, out);
  }
  if (words.size() == 2 && absl::EqualsIgnoreCase(words[0], "DESCRIBE"))
    return Describe(session, words[1], out);
  SessionSink sink(options, out);
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = session.sql->Ask({.text = statement, .parameters = options.parameters}, &sink);
  sink.End();
  if (!status.ok()) return status;
  if (options.plot.has_plot)
    PrintPlot(options.plot, statement.substr(0, statement.find('\n')), sink.TakeLines());
  out->flush();
  if (options.says_how_many) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print(stderr, "{} {} in {:.1f} ms\n", sink.rows(), sink.rows() == 1 ? "row" : "rows",
               seconds * 1000);
  }
  return absl::OkStatus();
}

}  // namespace sonde
