#include "prometheus/remote_messages.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <prometheus/remote.pb.h>
#include <prometheus/remote2.pb.h>
#include <snappy.h>

#include <map>

namespace sonde::prometheus {
namespace {

absl::StatusOr<std::string> Unpack(std::string_view bytes) {
  size_t unpacked_bytes = 0;
  std::string unpacked;
  if (!snappy::GetUncompressedLength(bytes.data(), bytes.size(), &unpacked_bytes)) {
    return absl::InvalidArgumentError("the body is not a block of snappy");
  }
  if (unpacked_bytes > kRemoteBytesMax) {
    return absl::ResourceExhaustedError(fmt::format("the body has {} bytes when unpacked; allowed: up to {}",
                                                    unpacked_bytes, kRemoteBytesMax));
  }
  if (!snappy::Uncompress(bytes.data(), bytes.size(), &unpacked)) {
    return absl::InvalidArgumentError("the body is not a block of snappy");
  }
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
  const absl::StatusOr<std::string> unpacked = Unpack(bytes);
  if (!unpacked.ok()) return unpacked.status();
  auto* const message = google::protobuf::Arena::CreateMessage<Message>(arena);
  if (!message->ParseFromString(*unpacked)) {
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

absl::StatusOr<RemoteWrite> DecodeWrite1(std::string_view bytes) {
  google::protobuf::Arena arena;
  const absl::StatusOr<const v1::WriteRequest*> request = Parse<v1::WriteRequest>(bytes, &arena);
  if (!request.ok()) return request.status();
  RemoteWrite write;
  write.series.reserve((*request)->timeseries_size());
  for (const v1::TimeSeries& series : (*request)->timeseries()) {
    write.series.push_back(SeriesOf(series));
    write.histograms += series.histograms_size();
  }
  return write;
}

absl::StatusOr<RemoteWrite> DecodeWrite2(std::string_view bytes) {
  google::protobuf::Arena arena;
  const absl::StatusOr<const v2::Request*> request = Parse<v2::Request>(bytes, &arena);
  if (!request.ok()) return request.status();
  const auto& symbols = (*request)->symbols();
  RemoteWrite write;
  write.series.reserve((*request)->timeseries_size());
  for (const v2::TimeSeries& from : (*request)->timeseries()) {
    RemoteSeries& series = write.series.emplace_back();
    if (from.labels_refs_size() % 2 != 0) {
      return absl::InvalidArgumentError(
          fmt::format("a series has {} places of labels; allowed: an even number", from.labels_refs_size()));
    }
    for (int i = 0; i < from.labels_refs_size(); i += 2) {
      const uint32_t name = from.labels_refs(i);
      const uint32_t value = from.labels_refs(i + 1);
      if (std::max(name, value) >= static_cast<uint32_t>(symbols.size())) {
        return absl::InvalidArgumentError(
            fmt::format("a label names symbol {}; there are {}", std::max(name, value), symbols.size()));
      }
      series.labels.emplace_back(symbols[static_cast<int>(name)], symbols[static_cast<int>(value)]);
    }
    for (const v2::Sample& sample : from.samples())
      series.samples.push_back({sample.value(), sample.timestamp()});
    write.histograms += from.histograms_size();
    write.exemplars += from.exemplars_size();
  }
  return write;
}

}  // namespace

absl::StatusOr<RemoteWrite> DecodeWrite(std::string_view bytes, WriteVersion version) {
  return version == WriteVersion::k1 ? DecodeWrite1(bytes) : DecodeWrite2(bytes);
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

absl::StatusOr<std::vector<RemoteQuery>> DecodeRead(std::string_view bytes) {
  google::protobuf::Arena arena;
  const absl::StatusOr<const v1::ReadRequest*> request = Parse<v1::ReadRequest>(bytes, &arena);
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

absl::StatusOr<std::vector<std::vector<RemoteSeries>>> DecodeReadResponse(std::string_view bytes) {
  google::protobuf::Arena arena;
  const absl::StatusOr<const v1::ReadResponse*> response = Parse<v1::ReadResponse>(bytes, &arena);
  if (!response.ok()) return response.status();
  std::vector<std::vector<RemoteSeries>> results;
  for (const v1::QueryResult& from : (*response)->results()) {
    std::vector<RemoteSeries>& result = results.emplace_back();
    for (const v1::TimeSeries& series : from.timeseries()) result.push_back(SeriesOf(series));
  }
  return results;
}

}  // namespace sonde::prometheus
