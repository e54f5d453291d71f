#include "smaller.h"

#include <google/bigtable/v2/data.pb.h>

#include <functional>

namespace sonde {
namespace {

using google::bigtable::v2::RowFilter;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::unique_ptr<Message> Copy(const Message& message) {
  std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  return copy;
}

std::vector<const RowFilter*> FiltersIn(const RowFilter& filter) {
  std::vector<const RowFilter*> filters;
  for (const RowFilter& each : filter.chain().filters()) filters.push_back(&each);
  for (const RowFilter& each : filter.interleave().filters()) filters.push_back(&each);
  if (!filter.has_condition()) return filters;
  const RowFilter::Condition& condition = filter.condition();
  for (const RowFilter* each :
       {&condition.predicate_filter(), &condition.true_filter(), &condition.false_filter()}) {
    filters.push_back(each);
  }
  return filters;
}

class Smaller {
 public:
  explicit Smaller(const Message& message) : message_(message), reflection_(*message.GetReflection()) {}

  std::vector<std::unique_ptr<Message>> All() && {
    if (const auto* filter = dynamic_cast<const RowFilter*>(&message_); filter != nullptr) {
      for (const RowFilter* each : FiltersIn(*filter)) result_.push_back(Copy(*each));
    }
    std::vector<const FieldDescriptor*> fields;
    reflection_.ListFields(message_, &fields);
    for (const FieldDescriptor* field : fields) field->is_repeated() ? List(field) : Single(field);
    return std::move(result_);
  }

 private:
  void Add(const std::function<void(Message*)>& change) {
    change(result_.emplace_back(Copy(message_)).get());
  }

  void Single(const FieldDescriptor* field) {
    Add([&](Message* copy) { reflection_.ClearField(copy, field); });
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return;
    for (const auto& part : SmallerThan(reflection_.GetMessage(message_, field))) {
      Add([&](Message* copy) { reflection_.MutableMessage(copy, field)->CopyFrom(*part); });
    }
  }

  void List(const FieldDescriptor* field) {
    const int size = reflection_.FieldSize(message_, field);
    for (int i = 0; i < size; ++i) {
      Add([&](Message* copy) {
        for (int j = i; j + 1 < size; ++j) reflection_.SwapElements(copy, field, j, j + 1);
        reflection_.RemoveLast(copy, field);
      });
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return;
    for (int i = 0; i < size; ++i) {
      for (const auto& part : SmallerThan(reflection_.GetRepeatedMessage(message_, field, i))) {
        Add([&](Message* copy) { reflection_.MutableRepeatedMessage(copy, field, i)->CopyFrom(*part); });
      }
    }
  }

  const Message& message_;
  const Reflection& reflection_;
  std::vector<std::unique_ptr<Message>> result_;
};

}  // namespace

std::vector<std::unique_ptr<Message>> SmallerThan(const Message& message) { return Smaller(message).All(); }

}  // namespace sonde
