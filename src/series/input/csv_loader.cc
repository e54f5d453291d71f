#include "series/input/csv_loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr size_t kColumnsShownMax = 30;
constexpr size_t kColumnBytesShownMax = 64;

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string Names(const SeriesSchema& schema) {
  std::string names;
  for (const Tag& tag : schema.tags) names += (names.empty() ? "" : ", ") + tag.name;
  for (const Field& field : schema.fields) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

// A text that is no CSV may have very many columns, of any bytes.
std::string Joined(const std::vector<std::string_view>& columns) {
  std::string text;
  for (size_t i = 0; i < std::min(columns.size(), kColumnsShownMax); ++i) {
    text += (i == 0 ? "" : ", ") + Printable(columns[i], kColumnBytesShownMax);
  }
  if (columns.size() > kColumnsShownMax)
    text += fmt::format(" and {} more", columns.size() - kColumnsShownMax);
  return text;
}

}  // namespace

absl::Status CsvLoader::FindTimeColumn(const std::vector<std::string_view>& columns) {
  std::vector<std::string_view> wanted = {"time", "timestamp", "datetime", "date"};
  if (!mapping_.time_column.empty()) wanted = {mapping_.time_column};
  for (const std::string_view name : wanted) {
    const auto column = std::find(columns.begin(), columns.end(), name);
    if (column == columns.end()) continue;
    columns_[column - columns.begin()] = {Target::kTime, 0};
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format("no column '{}' for the time; the file has: {}",
                                                fmt::join(wanted, "' or '"), Joined(columns)));
}

std::string TextOfName(const CsvMapping& mapping, std::string_view column, std::string_view name) {
  return fmt::format("{}{}={}", mapping.is_by_options ? "--map " : "'columns' of 'csv' in the declaration, ",
                     column, name);
}

std::string TextOfConstant(const CsvMapping& mapping, std::string_view tag, std::string_view value) {
  return fmt::format("{}{}={}", mapping.is_by_options ? "--set " : "'set' of 'csv' in the declaration, ", tag,
                     Printable(value));
}

absl::Status CsvLoader::SetConstants(const SeriesSchema& schema, std::vector<bool>* has_tag) {
  for (const auto& [name, value] : mapping_.constants) {
    const std::optional<size_t> tag = schema.FindTag(name);
    if (!tag) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: '{}' is not a tag of series '{}'", TextOfConstant(mapping_, name, value), name, schema.name));
    }
    if ((*has_tag)[*tag]) {
      return absl::InvalidArgumentError(
          fmt::format("{}: the file has a column for this tag", TextOfConstant(mapping_, name, value)));
    }
    (*has_tag)[*tag] = true;
    tags_[*tag] = value;
  }
  return absl::OkStatus();
}

absl::Status CsvLoader::ReadHeader(const std::vector<std::string_view>& columns, const SeriesSchema& schema,
                                   CsvTotals* totals) {
  columns_.assign(columns.size(), {});
  tags_.assign(schema.tags.size(), {});
  fields_.assign(schema.fields.size(), {});
  for (const auto& [column, name] : mapping_.names) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      return absl::InvalidArgumentError(fmt::format("{}: no such column; the file has: {}",
                                                    TextOfName(mapping_, column, name), Joined(columns)));
    }
    if (!schema.FindTag(name) && !schema.FindField(name)) {
      return absl::InvalidArgumentError(fmt::format("{}: '{}' is not in series '{}'; allowed: {}",
                                                    TextOfName(mapping_, column, name), name, schema.name,
                                                    Names(schema)));
    }
  }
  if (absl::Status status = FindTimeColumn(columns); !status.ok()) return status;
  std::vector<bool> has_tag(schema.tags.size());
  std::vector<bool> has_field(schema.fields.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto mapped = mapping_.names.find(std::string(columns[i]));
    const std::string name = mapped != mapping_.names.end() ? mapped->second : std::string(columns[i]);
    const std::optional<size_t> tag = schema.FindTag(name);
    const std::optional<size_t> field = schema.FindField(name);
    if (tag ? has_tag[*tag] : field && has_field[*field]) {
      return absl::InvalidArgumentError(fmt::format("two columns of the file are '{}'", name));
    }
    if (tag) {
      columns_[i] = {Target::kTag, *tag};
      has_tag[*tag] = true;
    } else if (field) {
      const bool is_text = schema.fields[*field].type == FieldType::kString;
      columns_[i] = {is_text ? Target::kField : Target::kNumberField, *field};
      has_field[*field] = true;
    } else if (columns_[i].target != Target::kTime) {
      totals->ignored_columns.emplace_back(columns[i]);
    }
  }
  if (absl::Status status = SetConstants(schema, &has_tag); !status.ok()) return status;
  const auto missing = std::find(has_tag.begin(), has_tag.end(), false);
  if (missing != has_tag.end()) {
    const std::string& name = schema.tags[missing - has_tag.begin()].name;
    const std::string cure =
        mapping_.is_by_options
            ? fmt::format("say --map COLUMN={} or --set {}=VALUE", name, name)
            : fmt::format("name one so, or declare csv: {{ columns: {{ COLUMN: {} }} }}", name);
    return absl::InvalidArgumentError(
        fmt::format("no column for tag '{}'; {}; the file has: {}", name, cure, Joined(columns)));
  }
  if (mapping_.refuses_unknown && !totals->ignored_columns.empty()) {
    return absl::InvalidArgumentError(fmt::format("line 1: column '{}' is not in series '{}'; allowed: {}",
                                                  Printable(totals->ignored_columns[0]), schema.name,
                                                  Names(schema)));
  }
  if (std::find(has_field.begin(), has_field.end(), true) == has_field.end()) {
    return absl::InvalidArgumentError(
        fmt::format("no column is a field of series '{}'; the file has: {}", schema.name, Joined(columns)));
  }
  return absl::OkStatus();
}

absl::Status CsvLoader::AddRecord(const CsvReader::Record& record, const TimeParser& times,
                                  PointWriter* writer, CsvTotals* totals) {
  if (record.values.size() != columns_.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{} values; the header has {}", record.values.size(), columns_.size()));
  }
  Point point;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column column = columns_[i];
    switch (column.target) {
      case Target::kIgnored:
        totals->ignored_values += record.values[i].empty() ? 0 : 1;
        break;
      case Target::kTag:
        tags_[column.index] = record.values[i];
        break;
      case Target::kField:
        fields_[column.index] = record.values[i].empty() ? std::string_view() : record.values[i];
        break;
      case Target::kNumberField:
        fields_[column.index] = TrimBlanks(record.values[i]);
        break;
      case Target::kTime: {
        const std::string_view text = TrimBlanks(record.values[i]);
        const std::optional<int64_t> time = times.Parse(text);
        if (!time) return times.Refusal(text);
        point.time_micros = *time;
        break;
      }
    }
  }
  point.tags = tags_;
  point.fields = fields_;
  return writer->Add(point);
}

absl::StatusOr<CsvTotals> CsvLoader::Run(ByteSource source, PointWriter* writer, bool is_writing) {
  const SeriesSchema& schema = writer->codec().schema();
  const absl::StatusOr<TimeParser> times =
      TimeParser::Create(mapping_.time_format, mapping_.assume_utc || schema.assume_utc);
  if (!times.ok()) return times.status();
  CsvReader reader(std::move(source), mapping_.separator);
  CsvReader::Record record;
  CsvTotals totals;
  absl::StatusOr<bool> has_record = reader.Next(&record);
  if (!has_record.ok()) return has_record.status();
  if (!*has_record)
    return absl::InvalidArgumentError("the file is empty; its first line must name the columns");
  if (!record.problem.empty()) {
    return absl::InvalidArgumentError(fmt::format("line {}: {}", record.line, record.problem));
  }
  if (absl::Status status = ReadHeader(record.values, schema, &totals); !status.ok()) return status;

  for (int64_t lines = 1;; ++lines) {
    has_record = reader.Next(&record);
    if (!has_record.ok()) return has_record.status();
    if (!*has_record) break;
    if (lines <= mapping_.lines_skipped) continue;
    const absl::Status status = record.problem.empty() ? AddRecord(record, *times, writer, &totals)
                                                       : absl::InvalidArgumentError(record.problem);
    if (status.ok()) {
      ++totals.points;
    } else {
      ++totals.bad_lines;
      if (callbacks_.bad_line) callbacks_.bad_line(record.line, TextOfStatus(status));
    }
    if (writer->IsFull()) {
      if (!is_writing) writer->Clear();
      if (absl::Status written = writer->FlushIfFull(); !written.ok()) return written;
      if (absl::Status told = is_writing && callbacks_.written ? callbacks_.written(lines) : absl::OkStatus();
          !told.ok()) {
        return told;
      }
    }
    if (lines % kLinesPerProgress == 0 && callbacks_.progress) {
      totals.bytes = reader.bytes_read();
      callbacks_.progress(totals);
    }
  }
  if (!is_writing) writer->Clear();
  if (absl::Status status = writer->Flush(); !status.ok()) return status;
  totals.bytes = reader.bytes_read();
  return totals;
}

}  // namespace sonde::series
