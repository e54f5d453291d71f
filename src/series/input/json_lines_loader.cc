#include "series/input/json_lines_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bytes.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr size_t kJsonChunkBytes = 256 * 1024;
constexpr size_t kIgnoredListedMax = 100;
constexpr size_t kTextBytesShownMax = 64;

// Lines of a source, without their ends.
class LineReader {
 public:
  explicit LineReader(ByteSource source) : source_(std::move(source)) {}

  // Returns false at the end.  A line that is too long comes as its first bytes.
  absl::StatusOr<bool> Next(std::string_view* line) {
    while (true) {
      const size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos || is_at_end_) {
        if (end == std::string::npos && at_ == buffer_.size()) return false;
        const size_t stop = end == std::string::npos ? buffer_.size() : end;
        *line = std::string_view(buffer_).substr(at_, stop - at_);
        at_ = searched_ = std::min(stop + 1, buffer_.size());
        ++line_;
        return true;
      }
      if (buffer_.size() - at_ > 2 * kJsonLineBytesMax) buffer_.resize(at_ + kJsonLineBytesMax + 1);
      if (absl::Status status = Fill(); !status.ok()) return status;
    }
  }

  int64_t line() const { return line_; }
  int64_t bytes_read() const { return bytes_before_buffer_ + static_cast<int64_t>(at_); }

 private:
  absl::Status Fill() {
    buffer_.erase(0, at_);
    bytes_before_buffer_ += static_cast<int64_t>(at_);
    at_ = 0;
    searched_ = buffer_.size();
    buffer_.resize(searched_ + kJsonChunkBytes);
    const absl::StatusOr<size_t> bytes = source_(buffer_.data() + searched_, kJsonChunkBytes);
    buffer_.resize(searched_ + (bytes.ok() ? *bytes : 0));
    is_at_end_ = bytes.ok() && *bytes == 0;
    return bytes.status();
  }

  ByteSource source_;
  std::string buffer_;
  size_t at_ = 0;
  size_t searched_ = 0;  // no line end before it
  int64_t line_ = 0;
  int64_t bytes_before_buffer_ = 0;
  bool is_at_end_ = false;
};

// INVALID_ARGUMENT: names what no JSON is, such as a NaN.
absl::StatusOr<nlohmann::json> ParseLine(std::string_view line) {
  try {
    return nlohmann::json::parse(line);
  } catch (const nlohmann::json::parse_error& error) {
    const size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, line.size());
    constexpr std::string_view kEnds = " \t\r,:{}[]\"";
    const size_t begin = at == 0 ? 0 : line.find_last_of(kEnds, at - 1) + 1;  // npos + 1 is 0
    const std::string_view text = line.substr(begin, line.find_first_of(kEnds, begin) - begin);
    if (text.empty()) return absl::InvalidArgumentError(fmt::format("not JSON, at byte {}", at + 1));
    return absl::InvalidArgumentError(
        fmt::format("not JSON: '{}' at byte {}", Printable(text, kTextBytesShownMax), begin + 1));
  } catch (const nlohmann::json::out_of_range&) {
    return absl::InvalidArgumentError("a number that no double can hold");
  }
}

// As the file has it.  INVALID_ARGUMENT: it is no single value.
absl::StatusOr<std::string> TextOf(const std::string& name, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return absl::InvalidArgumentError(
      fmt::format("member '{}' is a list or an object; allowed: one value", Printable(name)));
}

}  // namespace

absl::Status JsonLinesLoader::FindMembers(const SeriesSchema& schema) {
  members_.clear();
  tags_.assign(schema.tags.size(), {});
  fields_.assign(schema.fields.size(), {});
  for (size_t i = 0; i < schema.tags.size(); ++i) members_[schema.tags[i].name] = {Target::kTag, i};
  for (size_t i = 0; i < schema.fields.size(); ++i) members_[schema.fields[i].name] = {Target::kField, i};
  for (const auto& [member, name] : mapping_.names) {
    const auto found = members_.find(name);
    if (found == members_.end()) {
      return absl::InvalidArgumentError(fmt::format("{}: '{}' is not in series '{}'",
                                                    TextOfName(mapping_, member, name), name, schema.name));
    }
    members_[member] = found->second;
  }
  for (const auto& [name, value] : mapping_.constants) {
    if (!schema.FindTag(name)) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: '{}' is not a tag of series '{}'", TextOfConstant(mapping_, name, value), name, schema.name));
    }
  }
  if (!mapping_.time_column.empty()) {
    members_[mapping_.time_column] = {Target::kTime, 0};
    return absl::OkStatus();
  }
  for (const char* const name : {"time", "timestamp", "datetime", "date"}) {
    members_.try_emplace(name, Member{Target::kTime, 0});
  }
  return absl::OkStatus();
}

absl::Status JsonLinesLoader::AddLine(std::string_view line, const TimeParser& times, PointWriter* writer,
                                      CsvTotals* totals) {
  if (line.size() > kJsonLineBytesMax) {
    return absl::InvalidArgumentError(fmt::format("a line of more than {} bytes", kJsonLineBytesMax));
  }
  const absl::StatusOr<nlohmann::json> parsed = ParseLine(line);
  if (!parsed.ok()) return parsed.status();
  const nlohmann::json& object = *parsed;
  if (!object.is_object()) return absl::InvalidArgumentError("not a JSON object");
  const SeriesSchema& schema = writer->codec().schema();
  for (size_t i = 0; i < tags_.size(); ++i) {
    const auto constant = mapping_.constants.find(schema.tags[i].name);
    tags_[i] = constant == mapping_.constants.end() ? std::string() : constant->second;
  }
  std::fill(fields_.begin(), fields_.end(), std::nullopt);
  std::optional<int64_t> time_micros;
  for (const auto& [name, value] : object.items()) {
    const auto member = members_.find(name);
    if (member == members_.end()) {
      if (mapping_.refuses_unknown) {
        return absl::InvalidArgumentError(
            fmt::format("member '{}' is not in series '{}'", Printable(name), schema.name));
      }
      ++totals->ignored_values;
      auto& ignored = totals->ignored_columns;
      if (ignored.size() < kIgnoredListedMax &&
          std::find(ignored.begin(), ignored.end(), name) == ignored.end()) {
        ignored.push_back(name);
      }
      continue;
    }
    const Member target = member->second;
    if (value.is_null() && target.target == Target::kField) continue;
    absl::StatusOr<std::string> text = value.is_null() ? std::string() : TextOf(name, value);
    if (!text.ok()) return text.status();
    switch (target.target) {
      case Target::kTime:
        time_micros = times.Parse(*text);
        if (!time_micros) return times.Refusal(*text);
        break;
      case Target::kTag:
        tags_[target.index] = *std::move(text);
        break;
      case Target::kField:
        fields_[target.index] = *std::move(text);
        break;
    }
  }
  if (!time_micros) return absl::InvalidArgumentError("the object has no time");
  const std::vector<std::string_view> tags(tags_.begin(), tags_.end());
  std::vector<std::string_view> fields(fields_.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields_[i]) fields[i] = *fields_[i];
  }
  return writer->Add({tags, *time_micros, fields});
}

absl::StatusOr<CsvTotals> JsonLinesLoader::Run(ByteSource source, PointWriter* writer, bool is_writing) {
  const SeriesSchema& schema = writer->codec().schema();
  const absl::StatusOr<TimeParser> times =
      TimeParser::Create(mapping_.time_format, mapping_.assume_utc || schema.assume_utc);
  if (!times.ok()) return times.status();
  if (absl::Status status = FindMembers(schema); !status.ok()) return status;
  LineReader reader(std::move(source));
  CsvTotals totals;
  const auto flush = [&]() {
    if (!is_writing) writer->Clear();
    return writer->Flush();
  };
  std::string_view line;
  while (true) {
    const absl::StatusOr<bool> has_line = reader.Next(&line);
    if (!has_line.ok()) return has_line.status();
    if (!*has_line) break;
    if (reader.line() <= mapping_.lines_skipped) continue;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const absl::Status status = AddLine(line, *times, writer, &totals);
    if (status.ok()) {
      ++totals.points;
    } else {
      ++totals.bad_lines;
      if (callbacks_.bad_line) callbacks_.bad_line(reader.line(), TextOfStatus(status));
    }
    if (writer->IsFull()) {
      if (absl::Status flushed = flush(); !flushed.ok()) return flushed;
      if (absl::Status told =
              is_writing && callbacks_.written ? callbacks_.written(reader.line()) : absl::OkStatus();
          !told.ok()) {
        return told;
      }
    }
    if (reader.line() % kLinesPerProgress == 0 && callbacks_.progress) {
      totals.bytes = reader.bytes_read();
      callbacks_.progress(totals);
    }
  }
  if (absl::Status status = flush(); !status.ok()) return status;
  totals.bytes = reader.bytes_read();
  return totals;
}

}  // namespace sonde::series
