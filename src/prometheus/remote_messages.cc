#include "prometheus/remote_messages.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <prometheus/remote.pb.h>
#include <prometheus/remote2.pb.h>
#include <snappy.h>

#include <algorithm>
#include <map>

#include "absl/base/casts.h"

namespace sonde::prometheus {
namespace {

using google::protobuf::internal::WireFormatLite;

absl::Status NotSnappy() { return absl::InvalidArgumentError("the body is not a block of snappy"); }

absl::StatusOr<std::string> Unpack(std::string_view packed, size_t bytes_max) {
  const absl::StatusOr<size_t> bytes = UnpackedBytes(packed);
  if (!bytes.ok()) return bytes.status();
  if (*bytes > bytes_max) {
    return absl::ResourceExhaustedError(
        fmt::format("the body has {} bytes when unpacked; allowed: up to {}", *bytes, bytes_max));
  }
  std::string unpacked;
  if (!snappy::Uncompress(packed.data(), packed.size(), &unpacked)) return NotSnappy();
  return unpacked;
}

std::string Pack(const google::protobuf::Message& message) {
  std::string packed;
  const std::string bytes = message.SerializeAsString();
  snappy::Compress(bytes.data(), bytes.size(), &packed);
  return packed;
}

// Into a message of `arena`.
template <typename Message>
absl::StatusOr<const Message*> Parse(std::string_view bytes, google::protobuf::Arena* arena) {
  auto* const message = google::protobuf::Arena::CreateMessage<Message>(arena);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(fmt::format("the body is not a {}", message->GetTypeName()));
  }
  return message;
}

RemoteSeries SeriesOf(const v1::TimeSeries& from) {
  RemoteSeries series;
  series.labels.reserve(from.labels_size());
  for (const v1::Label& label : from.labels()) series.labels.emplace_back(label.name(), label.value());
  for (const v1::Sample& sample : from.samples())
    series.samples.push_back({sample.value(), sample.timestamp()});
  return series;
}

void SetSeries(const RemoteSeries& from, v1::TimeSeries* series) {
  for (const auto& [name, value] : from.labels) {
    v1::Label* const label = series->add_labels();
    label->set_name(name);
    label->set_value(value);
  }
  for (const RemoteSample& sample : from.samples) {
    v1::Sample* const to = series->add_samples();
    to->set_value(sample.value);
    to->set_timestamp(sample.timestamp_millis);
  }
}

// The numbers of the fields: the same in both versions, but for those of the requests.
constexpr uint32_t kLabels = 1, kSamples = 2, kName = 1, kValue = 2, kSampleValue = 1, kSampleTimestamp = 2;
struct FieldsOfVersion {
  uint32_t symbols, series, histograms, exemplars;  // symbols: 0, there are none
  uint32_t metadata;                                // 1.0: of the request; 2.0: of a series
  uint32_t type, family, help, unit;                // of metadata; family: 0, there is none
};
constexpr FieldsOfVersion kFields1{.symbols = 0,
                                   .series = 1,
                                   .histograms = 4,
                                   .exemplars = 3,
                                   .metadata = 3,
                                   .type = 1,
                                   .family = 2,
                                   .help = 4,
                                   .unit = 5};
constexpr FieldsOfVersion kFields2{.symbols = 4,
                                   .series = 5,
                                   .histograms = 3,
                                   .exemplars = 4,
                                   .metadata = 5,
                                   .type = 1,
                                   .family = 0,
                                   .help = 3,
                                   .unit = 4};

// A field of a message, as it lies in the bytes.
struct WireField {
  uint32_t number = 0;
  WireFormatLite::WireType type = WireFormatLite::WIRETYPE_VARINT;
  uint64_t value = 0;  // of a number
  std::string_view bytes = {};

  bool IsBytes(uint32_t of) const {
    return number == of && type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  }
};

// Takes the first field off `*rest`, which is not empty.  False: there is none.
bool TakeField(std::string_view* rest, WireField* field) {
  const auto* const data = reinterpret_cast<const uint8_t*>(rest->data());
  google::protobuf::io::CodedInputStream in(data, static_cast<int>(rest->size()));
  const uint32_t tag = in.ReadTag();
  *field = {.number = static_cast<uint32_t>(WireFormatLite::GetTagFieldNumber(tag)),
            .type = WireFormatLite::GetTagWireType(tag)};
  uint32_t small = 0;
  bool is_good = tag != 0 && field->number != 0;
  switch (field->type) {
    case WireFormatLite::WIRETYPE_VARINT:
      is_good = is_good && in.ReadVarint64(&field->value);
      break;
    case WireFormatLite::WIRETYPE_FIXED64:
      is_good = is_good && in.ReadLittleEndian64(&field->value);
      break;
    case WireFormatLite::WIRETYPE_FIXED32:
      is_good = is_good && in.ReadLittleEndian32(&small);
      field->value = small;
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      is_good = is_good && in.ReadVarint32(&small);
      const auto at = static_cast<size_t>(in.CurrentPosition());
      is_good = is_good && small <= rest->size() - at;
      if (!is_good) return false;
      field->bytes = rest->substr(at, small);
      rest->remove_prefix(at + small);
      return true;
    }
    default:  // groups, which nobody sends
      return false;
  }
  if (is_good) rest->remove_prefix(static_cast<size_t>(in.CurrentPosition()));
  return is_good;
}

// Calls `take` with each field.  False: the bytes are no message, or `take` said so.
template <typename Take>
bool ForEachField(std::string_view message, const Take& take) {
  WireField field;
  while (!message.empty()) {
    if (!TakeField(&message, &field) || !take(field)) return false;
  }
  return true;
}

bool IsMessage(std::string_view bytes) {
  return ForEachField(bytes, [](const WireField&) { return true; });
}

class WriteReader {
 public:
  explicit WriteReader(WriteVersion version) : fields_(version == WriteVersion::k1 ? kFields1 : kFields2) {}

  // All symbols, which may lie behind the series.
  absl::Status FindSymbols(std::string_view message);
  // `take`: null, to look whether all is right.
  absl::Status Read(std::string_view message, const TakeSeries* take, const TakeMetadata* metadata = nullptr);
  const RemoteCounts& counts() const { return counts_; }

 private:
  absl::Status ReadSeries(std::string_view series, const TakeSeries* take, const TakeMetadata* metadata);
  absl::Status ReadMetadata(std::string_view bytes, RemoteMetadata* metadata) const;
  absl::Status AddLabel(std::string_view bytes);
  absl::Status AddReference(uint64_t symbol);

  const FieldsOfVersion fields_;
  RemoteCounts counts_;
  std::vector<std::string_view> symbols_;
  RemoteLabels labels_;    // of the series at hand
  bool has_name_ = false;  // of a label, whose value follows
};

absl::Status NotAMessage() { return absl::InvalidArgumentError("the body is not a message of remote write"); }

absl::Status WriteReader::FindSymbols(std::string_view message) {
  if (fields_.symbols == 0) return absl::OkStatus();
  const bool is_message = ForEachField(message, [&](const WireField& field) {
    if (field.IsBytes(fields_.symbols)) symbols_.push_back(field.bytes);
    return symbols_.size() <= kRemoteSymbolsMax;
  });
  if (symbols_.size() > kRemoteSymbolsMax) {
    return absl::InvalidArgumentError(
        fmt::format("the write has more than {} symbols, the limit", kRemoteSymbolsMax));
  }
  return is_message ? absl::OkStatus() : NotAMessage();
}

absl::Status WriteReader::Read(std::string_view message, const TakeSeries* take,
                               const TakeMetadata* metadata) {
  counts_ = {};
  absl::Status status;
  const bool is_message = ForEachField(message, [&](const WireField& field) {
    if (field.IsBytes(fields_.series)) status = ReadSeries(field.bytes, take, metadata);
    if (fields_.symbols == 0 && field.IsBytes(fields_.metadata)) {
      RemoteMetadata read;
      status = ReadMetadata(field.bytes, &read);
      if (status.ok() && metadata != nullptr && *metadata) (*metadata)({}, read);
    }
    return status.ok();
  });
  return is_message || !status.ok() ? status : NotAMessage();
}

absl::Status WriteReader::AddLabel(std::string_view bytes) {
  auto& [name, value] = labels_.emplace_back();
  const bool is_message = ForEachField(bytes, [&](const WireField& field) {
    if (field.IsBytes(kName)) name = field.bytes;
    if (field.IsBytes(kValue)) value = field.bytes;
    return true;
  });
  return is_message ? absl::OkStatus() : NotAMessage();
}

absl::Status WriteReader::AddReference(uint64_t symbol) {
  const auto place = static_cast<uint32_t>(symbol);
  if (place >= symbols_.size()) {
    return absl::InvalidArgumentError(
        fmt::format("a label names symbol {}; there are {}", place, symbols_.size()));
  }
  if (has_name_) {
    labels_.back().second = symbols_[place];
  } else {
    labels_.emplace_back(symbols_[place], std::string_view());
  }
  has_name_ = !has_name_;
  return absl::OkStatus();
}

absl::Status WriteReader::ReadMetadata(std::string_view bytes, RemoteMetadata* metadata) const {
  absl::Status status;
  // A text of 1.0, or a place among the symbols.
  const auto read_text = [&](const WireField& field, std::string_view* text) {
    if (fields_.symbols == 0) {
      *text = field.bytes;
    } else if (field.value < symbols_.size()) {
      *text = symbols_[field.value];
    } else {
      status = absl::InvalidArgumentError(fmt::format(
          "the metadata of a metric names symbol {}; there are {}", field.value, symbols_.size()));
    }
  };
  const bool is_message = ForEachField(bytes, [&](const WireField& field) {
    const bool is_text = field.type == (fields_.symbols == 0 ? WireFormatLite::WIRETYPE_LENGTH_DELIMITED
                                                             : WireFormatLite::WIRETYPE_VARINT);
    if (field.number == fields_.type && field.type == WireFormatLite::WIRETYPE_VARINT) {
      metadata->type = field.value;
    } else if (is_text && field.number == fields_.family && fields_.family != 0) {
      metadata->family = field.bytes;
    } else if (is_text && field.number == fields_.help) {
      read_text(field, &metadata->help);
    } else if (is_text && field.number == fields_.unit) {
      read_text(field, &metadata->unit);
    }
    return status.ok();
  });
  if (!status.ok()) return status;
  return is_message ? absl::OkStatus() : NotAMessage();
}

absl::Status WriteReader::ReadSeries(std::string_view series, const TakeSeries* take,
                                     const TakeMetadata* metadata) {
  labels_.clear();
  has_name_ = false;
  RemoteMetadata about;
  bool has_metadata = false;
  absl::Status status;
  const bool is_message = ForEachField(series, [&](const WireField& field) {
    if (fields_.symbols == 0 && field.IsBytes(kLabels)) {
      status = AddLabel(field.bytes);
    } else if (fields_.symbols != 0 && field.number == kLabels &&
               field.type == WireFormatLite::WIRETYPE_VARINT) {
      status = AddReference(field.value);
    } else if (fields_.symbols != 0 && field.IsBytes(kLabels)) {  // packed: just the numbers
      google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(field.bytes.data()),
                                                static_cast<int>(field.bytes.size()));
      uint64_t symbol = 0;
      while (status.ok() && in.CurrentPosition() < static_cast<int>(field.bytes.size()) &&
             labels_.size() <= kRemoteLabelsMax) {
        status = in.ReadVarint64(&symbol) ? AddReference(symbol) : NotAMessage();
      }
    } else if (field.IsBytes(kSamples)) {
      ++counts_.samples;
      if (take == nullptr && !IsMessage(field.bytes)) status = NotAMessage();
    } else if (field.IsBytes(fields_.histograms)) {
      ++counts_.histograms;
    } else if (field.IsBytes(fields_.exemplars)) {
      ++counts_.exemplars;
    } else if (fields_.symbols != 0 && field.IsBytes(fields_.metadata)) {
      status = ReadMetadata(field.bytes, &about);
      has_metadata = true;
    }
    if (labels_.size() > kRemoteLabelsMax) {
      status = absl::InvalidArgumentError(
          fmt::format("a series has more than {} labels, the limit", kRemoteLabelsMax));
    }
    return status.ok();
  });
  if (!status.ok()) return status;
  if (!is_message) return NotAMessage();
  if (has_name_) {
    return absl::InvalidArgumentError(
        fmt::format("a series has {} places of labels; allowed: an even number", 2 * labels_.size() - 1));
  }
  if (has_metadata && metadata != nullptr && *metadata) (*metadata)(labels_, about);
  return take == nullptr ? absl::OkStatus() : (*take)(labels_, RemoteSamples(series));
}

}  // namespace

bool RemoteSamples::Next(RemoteSample* sample) {
  WireField field;
  while (!rest_.empty() && TakeField(&rest_, &field)) {
    if (!field.IsBytes(kSamples)) continue;
    *sample = {};
    return ForEachField(field.bytes, [&](const WireField& part) {
      if (part.number == kSampleValue && part.type == WireFormatLite::WIRETYPE_FIXED64)
        sample->value = absl::bit_cast<double>(part.value);
      if (part.number == kSampleTimestamp && part.type == WireFormatLite::WIRETYPE_VARINT)
        sample->timestamp_millis = static_cast<int64_t>(part.value);
      return true;
    });
  }
  return false;
}

absl::StatusOr<size_t> UnpackedBytes(std::string_view packed) {
  size_t bytes = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &bytes)) return NotSnappy();
  return bytes;
}

absl::StatusOr<std::string> UnpackWrite(std::string_view packed) { return Unpack(packed, kRemoteBytesMax); }

absl::StatusOr<RemoteCounts> ReadWrite(std::string_view message, WriteVersion version, const TakeSeries& take,
                                       const TakeMetadata& metadata) {
  WriteReader reader(version);
  absl::Status status = reader.FindSymbols(message);
  if (status.ok()) status = reader.Read(message, nullptr);
  if (status.ok()) status = reader.Read(message, &take, &metadata);
  if (!status.ok()) return status;
  return reader.counts();
}

std::string EncodeWrite(const std::vector<RemoteSeries>& all, WriteVersion version) {
  if (version == WriteVersion::k1) {
    v1::WriteRequest request;
    for (const RemoteSeries& series : all) SetSeries(series, request.add_timeseries());
    return Pack(request);
  }
  v2::Request request;
  request.add_symbols("");  // the first is always empty
  std::map<std::string, uint32_t> places;
  const auto place_of = [&](const std::string& text) {
    const auto [entry, is_new] = places.try_emplace(text, static_cast<uint32_t>(request.symbols_size()));
    if (is_new) request.add_symbols(text);
    return entry->second;
  };
  for (const RemoteSeries& from : all) {
    v2::TimeSeries* const series = request.add_timeseries();
    for (const auto& [name, value] : from.labels) {
      series->add_labels_refs(place_of(name));
      series->add_labels_refs(place_of(value));
    }
    for (const RemoteSample& sample : from.samples) {
      v2::Sample* const to = series->add_samples();
      to->set_value(sample.value);
      to->set_timestamp(sample.timestamp_millis);
    }
  }
  return Pack(request);
}

absl::StatusOr<std::vector<RemoteQuery>> DecodeRead(std::string_view packed) {
  const absl::StatusOr<std::string> message = Unpack(packed, kRemoteReadBytesMax);
  if (!message.ok()) return message.status();
  size_t parts = 0;
  (void)ForEachField(*message, [&](const WireField& query) {
    ++parts;
    (void)ForEachField(query.bytes, [&](const WireField&) { return ++parts <= kRemoteReadPartsMax; });
    return parts <= kRemoteReadPartsMax;
  });
  if (parts > kRemoteReadPartsMax) {
    return absl::InvalidArgumentError(
        fmt::format("the read has more than {} queries and matchers, the limit", kRemoteReadPartsMax));
  }
  google::protobuf::Arena arena;
  const absl::StatusOr<const v1::ReadRequest*> request = Parse<v1::ReadRequest>(*message, &arena);
  if (!request.ok()) return request.status();
  std::vector<RemoteQuery> queries;
  for (const v1::Query& from : (*request)->queries()) {
    RemoteQuery& query = queries.emplace_back();
    query.start_millis = from.start_timestamp_ms();
    query.end_millis = from.end_timestamp_ms();
    for (const v1::LabelMatcher& matcher : from.matchers()) {
      if (matcher.type() < v1::LabelMatcher::EQUAL || matcher.type() > v1::LabelMatcher::MATCHES_NOT) {
        return absl::InvalidArgumentError(
            fmt::format("a matcher of type {}; allowed: 0 to 3", static_cast<int>(matcher.type())));
      }
      query.matchers.push_back(
          {static_cast<RemoteMatcher::Type>(matcher.type()), matcher.name(), matcher.value()});
    }
  }
  return queries;
}

std::string EncodeRead(const std::vector<RemoteQuery>& queries) {
  v1::ReadRequest request;
  for (const RemoteQuery& from : queries) {
    v1::Query* const query = request.add_queries();
    query->set_start_timestamp_ms(from.start_millis);
    query->set_end_timestamp_ms(from.end_millis);
    for (const RemoteMatcher& matcher : from.matchers) {
      v1::LabelMatcher* const to = query->add_matchers();
      to->set_type(static_cast<v1::LabelMatcher::Type>(matcher.type));
      to->set_name(matcher.name);
      to->set_value(matcher.value);
    }
  }
  return Pack(request);
}

std::string EncodeReadResponse(const std::vector<std::vector<RemoteSeries>>& results) {
  v1::ReadResponse response;
  for (const std::vector<RemoteSeries>& from : results) {
    v1::QueryResult* const result = response.add_results();
    for (const RemoteSeries& series : from) SetSeries(series, result->add_timeseries());
  }
  return Pack(response);
}

absl::StatusOr<std::vector<std::vector<RemoteSeries>>> DecodeReadResponse(std::string_view packed) {
  const absl::StatusOr<std::string> message = Unpack(packed, kRemoteBytesMax);
  if (!message.ok()) return message.status();
  google::protobuf::Arena arena;
  const absl::StatusOr<const v1::ReadResponse*> response = Parse<v1::ReadResponse>(*message, &arena);
  if (!response.ok()) return response.status();
  std::vector<std::vector<RemoteSeries>> results;
  for (const v1::QueryResult& from : (*response)->results()) {
    std::vector<RemoteSeries>& result = results.emplace_back();
    for (const v1::TimeSeries& series : from.timeseries()) result.push_back(SeriesOf(series));
  }
  return results;
}

}  // namespace sonde::prometheus
