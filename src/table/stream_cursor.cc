#include "table/stream_cursor.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "base/varint.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr char kTokenFormat = 1;

absl::Status Invalid(const char* what) { return absl::InvalidArgumentError(what); }

bool GetPosition(std::string_view* in, int64_t* position) {
  uint64_t value = 0;
  if (!GetVarint(in, &value) || value > INT64_MAX) return false;
  *position = static_cast<int64_t>(value);
  return true;
}

// The segments follow each other, so only the first one's start is told.
bool GetSegments(std::string_view* in, std::vector<StreamCursor::Segment>* segments) {
  std::string_view start;
  if (!GetBytes(in, &start) || start.size() > kRowRangeBoundBytesMax) return false;
  while (!in->empty()) {
    if (segments->size() == kStreamSegmentsMax) return false;
    StreamCursor::Segment& segment = segments->emplace_back();
    std::string_view end;
    if (!GetBytes(in, &end) || end.size() > kRowRangeBoundBytesMax || !GetPosition(in, &segment.position)) {
      return false;
    }
    segment.range = {std::string(start), std::string(end)};
    if (segment.range.IsEmpty() || (end.empty() && !in->empty())) return false;
    start = end;
  }
  return !segments->empty();
}

}  // namespace

int64_t StreamCursor::position() const {
  return std::min_element(segments.begin(), segments.end(),
                          [](const Segment& a, const Segment& b) { return a.position < b.position; })
      ->position;
}

bool StreamCursor::HasRead(std::string_view row_key, int64_t position) const {
  for (const Segment& segment : segments) {
    if (segment.range.Contains(row_key)) return position <= segment.position;
  }
  return true;  // not in the partition
}

void StreamCursor::Advance(int64_t position) {
  watermark = std::max(watermark, position);
  if (segments.size() == 1) {
    segments[0].position = std::max(segments[0].position, position);
    return;
  }
  std::vector<Segment> joined;
  for (Segment& segment : segments) {
    segment.position = std::max(segment.position, position);
    if (!joined.empty() && joined.back().position == segment.position) {
      joined.back().range.end = std::move(segment.range.end);
    } else {
      joined.push_back(std::move(segment));
    }
  }
  segments = std::move(joined);
}

void StreamCursor::Coarsen() {
  if (segments.size() <= kStreamSegmentsMax) return;
  while (segments.size() > kStreamSegmentsMax) {
    size_t kept = 0;
    for (size_t i = 0; i < segments.size(); i += 2) {
      Segment joined = std::move(segments[i]);
      if (i + 1 < segments.size()) {
        joined.range.end = std::move(segments[i + 1].range.end);
        joined.position = std::min(joined.position, segments[i + 1].position);
      }
      segments[kept++] = std::move(joined);
    }
    segments.resize(kept);
  }
  watermark = std::min(watermark, position());
}

StreamCursor StreamCursor::Clip(const RowRange& window) const {
  StreamCursor result{.watermark = watermark};
  for (const Segment& segment : segments) {
    for (RowRange& range : ClipRanges({segment.range}, window)) {
      result.segments.push_back({std::move(range), segment.position});
    }
  }
  return result;
}

std::string EncodeStreamToken(const StreamIdentity& stream, const StreamCursor& cursor) {
  std::string bytes(1, kTokenFormat);
  PutVarint(&bytes, stream.table);
  PutVarint(&bytes, static_cast<uint64_t>(stream.start_micros));
  PutVarint(&bytes, static_cast<uint64_t>(cursor.watermark));
  PutBytes(&bytes, cursor.segments.front().range.start);
  for (const StreamCursor::Segment& segment : cursor.segments) {
    PutBytes(&bytes, segment.range.end);
    PutVarint(&bytes, static_cast<uint64_t>(segment.position));
  }
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<StreamCursor> DecodeStreamToken(const StreamIdentity& stream, std::string_view token) {
  // What the longest may have; not more is decoded.
  constexpr size_t kTokenBytesMax = (kStreamSegmentsMax + 1) * (kRowRangeBoundBytesMax + 2 * kVarintBytesMax);
  std::string bytes;
  StreamCursor cursor;
  if (token.size() / 4 * 3 > kTokenBytesMax ||
      !absl::WebSafeBase64Unescape({token.data(), token.size()}, &bytes) || bytes.empty() ||
      bytes[0] != kTokenFormat) {
    return Invalid("Error in field 'continuation_tokens' : not a token that a change stream gave");
  }
  std::string_view rest = std::string_view(bytes).substr(1);
  uint64_t table = 0;
  int64_t start_micros = 0;
  if (!GetVarint(&rest, &table) || !GetPosition(&rest, &start_micros) ||
      !GetPosition(&rest, &cursor.watermark) || !GetSegments(&rest, &cursor.segments)) {
    return Invalid("Error in field 'continuation_tokens' : not a token that a change stream gave");
  }
  if (table != stream.table || start_micros != stream.start_micros) {
    return Invalid(
        "Error in field 'continuation_tokens' : a token of another table, or of before the change stream was "
        "enabled again");
  }
  return cursor;
}

}  // namespace sonde
