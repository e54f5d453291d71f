#include "series/input/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sonde::series {
namespace {

constexpr size_t kChunkBytes = 256 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view WithoutReturn(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

ByteSource SourceOfText(std::string_view text) {
  return [text](char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
    const size_t bytes = std::min(bytes_max, text.size());
    std::memcpy(buffer, text.data(), bytes);
    text.remove_prefix(bytes);
    return bytes;
  };
}

absl::StatusOr<bool> CsvReader::Fill() {
  if (is_at_end_) return false;
  buffer_.erase(0, at_);
  bytes_before_buffer_ += static_cast<int64_t>(at_);
  at_ = 0;
  const size_t bytes_kept = buffer_.size();
  buffer_.resize(bytes_kept + kChunkBytes);
  const absl::StatusOr<size_t> bytes = source_(buffer_.data() + bytes_kept, kChunkBytes);
  buffer_.resize(bytes_kept + (bytes.ok() ? *bytes : 0));
  if (!bytes.ok()) return bytes.status();
  is_at_end_ = *bytes == 0;
  return !is_at_end_;
}

void CsvReader::SplitPlain(std::string_view line, std::vector<std::string_view>* values) const {
  while (true) {
    const void* found = line.empty() ? nullptr : std::memchr(line.data(), separator_, line.size());
    if (found == nullptr) {
      values->push_back(line);
      return;
    }
    const size_t bytes = static_cast<const char*>(found) - line.data();
    values->push_back(line.substr(0, bytes));
    line.remove_prefix(bytes + 1);
  }
}

size_t CsvReader::SplitQuoted(bool is_all, Record* record) {
  constexpr size_t kMore = std::string::npos;
  const std::string_view text(buffer_);
  unquoted_.clear();
  pieces_.clear();
  is_unquoted_.clear();
  size_t at = at_;
  while (true) {
    if (at < text.size() && text[at] == '"') {
      const size_t begin = unquoted_.size();
      for (++at;; ++at) {
        const size_t quote = text.find('"', at);
        if (quote == std::string_view::npos) {
          if (!is_all) return kMore;
          record->problem = "a quote that never ends";
          return kMore;
        }
        unquoted_.append(text.substr(at, quote - at));
        at = quote + 1;
        if (at == text.size() && !is_all) return kMore;
        if (at == text.size() || text[at] != '"') break;
        unquoted_.push_back('"');
      }
      pieces_.emplace_back(begin, unquoted_.size() - begin);
      is_unquoted_.push_back(true);
    } else {
      size_t stop = at;
      while (stop < text.size() && text[stop] != '\n' && text[stop] != separator_) ++stop;
      if (stop == text.size() && !is_all) return kMore;
      std::string_view value = text.substr(at, stop - at);
      if (stop == text.size() || text[stop] == '\n') value = WithoutReturn(value);
      pieces_.emplace_back(at, value.size());
      is_unquoted_.push_back(false);
      at = stop;
    }
    if (at < text.size() && text[at] == separator_) {
      ++at;
      continue;
    }
    if (at < text.size() && text[at] == '\r') {
      if (at + 1 == text.size() && !is_all) return kMore;
      if (at + 1 == text.size() || text[at + 1] == '\n') ++at;
    }
    if (at < text.size() && text[at] != '\n') {
      record->problem = "text behind a closing quote";
      return kMore;
    }
    return at == text.size() ? at : at + 1;
  }
}

void CsvReader::TakeDamaged(std::string problem, Record* record) {
  record->problem = std::move(problem);
  record->values.clear();
  const size_t end = buffer_.find('\n', at_);
  at_ = end == std::string::npos ? buffer_.size() : end + 1;
  ++line_;
}

absl::StatusOr<bool> CsvReader::Next(Record* record) {
  record->values.clear();
  record->problem.clear();
  while (true) {
    if (!is_started_ && (buffer_.size() >= kByteOrderMark.size() || is_at_end_)) {
      is_started_ = true;
      if (buffer_.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) at_ = kByteOrderMark.size();
    }
    const bool has_bytes = is_started_ && at_ < buffer_.size();
    const void* found = has_bytes ? std::memchr(buffer_.data() + at_, '\n', buffer_.size() - at_) : nullptr;
    if (!has_bytes && is_at_end_) return false;
    const bool is_too_long = buffer_.size() - at_ > kCsvRecordBytesMax;
    if (has_bytes && (found != nullptr || is_at_end_ || is_too_long)) {
      record->line = line_;
      const size_t line_end = found ? static_cast<const char*>(found) - buffer_.data() : buffer_.size();
      const std::string_view line = std::string_view(buffer_).substr(at_, line_end - at_);
      if (std::memchr(line.data(), '"', line.size()) == nullptr) {
        if (found == nullptr && !is_at_end_) {
          TakeDamaged(fmt::format("a record of more than {} bytes", kCsvRecordBytesMax), record);
          return true;
        }
        at_ = std::min(line_end + 1, buffer_.size());
        ++line_;
        if (WithoutReturn(line).empty()) continue;
        SplitPlain(WithoutReturn(line), &record->values);
        return true;
      }
      const size_t end = SplitQuoted(is_at_end_, record);
      if (end != std::string::npos) {
        for (size_t i = 0; i < pieces_.size(); ++i) {
          const std::string& owner = is_unquoted_[i] ? unquoted_ : buffer_;
          record->values.push_back(std::string_view(owner).substr(pieces_[i].first, pieces_[i].second));
        }
        line_ += std::count(buffer_.begin() + at_, buffer_.begin() + end, '\n');
        at_ = end;
        return true;
      }
      if (record->problem.empty() && is_too_long) {
        record->problem = fmt::format("a quote that does not end within {} bytes", kCsvRecordBytesMax);
      }
      if (!record->problem.empty()) {
        TakeDamaged(std::move(record->problem), record);
        return true;
      }
    }
    if (const absl::StatusOr<bool> more = Fill(); !more.ok()) return more.status();
  }
}

}  // namespace sonde::series
