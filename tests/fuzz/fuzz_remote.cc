// Prometheus's remote write and read: any body is a message or refused, and a message that is written out
// says the same when it is read again.
//   what it is 1 byte (remote write 1.0, 2.0, or remote read; packed as it is, or here), then the body.
#include <snappy.h>

#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "prometheus/remote_messages_test_support.h"
#include "target.h"

namespace sonde::prometheus {
namespace {

bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status);
}

bool IsSame(const RemoteSample& a, const RemoteSample& b) {
  // NaNs have their bits, which mean something.
  return std::memcmp(&a.value, &b.value, sizeof a.value) == 0 && a.timestamp_millis == b.timestamp_millis;
}

void CheckWrite(std::string_view body, WriteVersion version) {
  const absl::StatusOr<std::vector<RemoteSeries>> write = DecodeWrite(body, version);
  if (!write.ok()) return Require(IsRefusal(write.status()), "the code of a refusal");
  for (const WriteVersion as : {WriteVersion::k1, WriteVersion::k2}) {
    const absl::StatusOr<std::vector<RemoteSeries>> again = DecodeWrite(EncodeWrite(*write, as), as);
    Require(again.ok() && again->size() == write->size(), "what is written is read");
    for (size_t i = 0; i < write->size(); ++i) {
      const RemoteSeries& a = (*write)[i];
      const RemoteSeries& b = (*again)[i];
      Require(a.labels == b.labels && a.samples.size() == b.samples.size(), "the same labels");
      for (size_t s = 0; s < a.samples.size(); ++s)
        Require(IsSame(a.samples[s], b.samples[s]), "and samples");
    }
  }
}

void CheckRead(std::string_view body) {
  const absl::StatusOr<std::vector<RemoteQuery>> queries = DecodeRead(body);
  if (!queries.ok()) return Require(IsRefusal(queries.status()), "the code of a refusal");
  const absl::StatusOr<std::vector<RemoteQuery>> again = DecodeRead(EncodeRead(*queries));
  Require(again.ok() && again->size() == queries->size(), "what is written is read");
  for (size_t i = 0; i < queries->size(); ++i) {
    const RemoteQuery& a = (*queries)[i];
    const RemoteQuery& b = (*again)[i];
    Require(a.start_millis == b.start_millis && a.end_millis == b.end_millis, "the same times");
    Require(a.matchers.size() == b.matchers.size(), "and conditions");
    for (size_t m = 0; m < a.matchers.size(); ++m) {
      const bool is_same = a.matchers[m].type == b.matchers[m].type &&
                           a.matchers[m].name == b.matchers[m].name &&
                           a.matchers[m].value == b.matchers[m].value;
      Require(is_same, "and what they say");
    }
  }
}

}  // namespace
}  // namespace sonde::prometheus

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde::prometheus;  // NOLINT: a main of sorts
  sonde::InputReader input(data, size);
  const uint8_t what = input.Byte();
  const std::string_view rest = input.Rest();
  std::string body(rest);
  if (what < 0x80) snappy::Compress(rest.data(), rest.size(), &body);
  if (what % 3 == 0) CheckWrite(body, WriteVersion::k1);
  if (what % 3 == 1) CheckWrite(body, WriteVersion::k2);
  if (what % 3 == 2) CheckRead(body);
  return 0;
}
