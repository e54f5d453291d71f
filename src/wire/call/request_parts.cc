#include "wire/call/request_parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace sonde {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

class PartCounter {
 public:
  PartCounter(CodedInputStream* in, size_t count_max) : in_(*in), count_max_(count_max) {}

  // The fields of a message, up to its end or that of its group.  `type`: null when it is unknown.  False:
  // the count has ended.
  bool CountFields(const Descriptor* type, int depth) {
    if (depth > CodedInputStream::GetDefaultRecursionLimit()) {
      parts_.is_deep = true;
      return false;
    }
    while (const uint32_t tag = in_.ReadTag()) {
      const auto wire_type = WireFormatLite::GetTagWireType(tag);
      if (wire_type == WireFormatLite::WIRETYPE_END_GROUP) return true;
      if (!CountField(type, tag, depth)) return false;
    }
    return in_.ConsumedEntireMessage();
  }

  const RequestParts& parts() const { return parts_; }

 private:
  bool CountField(const Descriptor* type, uint32_t tag, int depth) {
    const FieldDescriptor* field =
        type == nullptr ? nullptr : type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    const Descriptor* inner = field == nullptr ? nullptr : field->message_type();
    const bool is_string = field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (field == nullptr || inner != nullptr || (is_string && field->is_repeated())) {
      if (++parts_.count > count_max_) return false;
    }
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_START_GROUP:
        return CountFields(nullptr, depth + 1);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        if (inner != nullptr) return CountMessage(*inner, depth);
        break;
      default:
        break;
    }
    return WireFormatLite::SkipField(&in_, tag);
  }

  bool CountMessage(const Descriptor& type, int depth) {
    int bytes = 0;
    if (!in_.ReadVarintSizeAsInt(&bytes)) return false;
    const CodedInputStream::Limit outer = in_.PushLimit(bytes);
    if (!CountFields(&type, depth + 1)) return false;
    in_.PopLimit(outer);
    return true;
  }

  CodedInputStream& in_;
  const size_t count_max_;
  RequestParts parts_;
};

}  // namespace

RequestParts CountParts(const Descriptor& type, google::protobuf::io::ZeroCopyInputStream* bytes,
                        size_t count_max) {
  CodedInputStream in(bytes);
  PartCounter counter(&in, count_max);
  counter.CountFields(&type, 0);
  return counter.parts();
}

}  // namespace sonde
