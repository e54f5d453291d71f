#include "wire/data/filter_shape.h"

#include <google/bigtable/v2/data.pb.h>
#include <google/protobuf/descriptor.h>

#include <string_view>

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

constexpr std::string_view kCut = "...";

bool IsFull(const std::string& shape) { return shape.size() >= kFilterShapeBytesMax; }

// Filters nest no deeper than parsing lets them; a full shape ends the recursion before that.
void AppendShape(const pb::RowFilter& filter, std::string* shape) {
  if (IsFull(*shape)) return;
  const google::protobuf::OneofDescriptor* const kinds =
      pb::RowFilter::descriptor()->FindOneofByName("filter");
  const google::protobuf::FieldDescriptor* const kind =
      filter.GetReflection()->GetOneofFieldDescriptor(filter, kinds);
  if (kind == nullptr) return;
  shape->append(kind->name());
  const auto append_list = [&](const auto& filters) {
    shape->push_back('(');
    for (int i = 0; i < filters.size() && !IsFull(*shape); ++i) {
      if (i > 0) shape->push_back(',');
      AppendShape(filters[i], shape);
    }
    shape->push_back(')');
  };
  if (filter.has_chain()) append_list(filter.chain().filters());
  if (filter.has_interleave()) append_list(filter.interleave().filters());
  if (!filter.has_condition()) return;
  shape->push_back('(');
  AppendShape(filter.condition().predicate_filter(), shape);
  shape->push_back(',');
  AppendShape(filter.condition().true_filter(), shape);
  shape->push_back(',');
  AppendShape(filter.condition().false_filter(), shape);
  shape->push_back(')');
}

}  // namespace

std::string FilterShape(const pb::RowFilter& filter) {
  std::string shape;
  AppendShape(filter, &shape);
  if (!IsFull(shape)) return shape;
  shape.resize(kFilterShapeBytesMax - kCut.size());
  return shape.append(kCut);
}

}  // namespace sonde
