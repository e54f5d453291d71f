#include "sql/expression/proto_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sql/function/utf8_check.h"
#include "sql/proto/message_reader.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

class ProtoFieldNode : public EvaluatorNode {
 public:
  explicit ProtoFieldNode(NodeMaking making)
      : EvaluatorNode(std::move(making)),
        message_(*part(0).type().message()),
        field_(message_.fields[expression().index]) {}

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    const absl::StatusOr<ColumnView> messages = part(0).Evaluate(frame);
    if (!messages.ok()) return messages;
    const size_t places = messages->is_constant() ? 1 : frame.rows();
    auto* const values = frame.arena->New<Datum>(places);
    for (size_t row = 0; row < places; ++row) {
      values[row] = Datum::Missing();
      if (!messages->IsThere(row)) continue;
      const absl::StatusOr<Datum> value = Read(messages->bytes()[messages->PlaceOf(row)], frame.arena);
      if (!value.ok()) return value.status();
      values[row] = *value;
    }
    const ColumnView column = ColumnOfData(type(), {values, places}, frame.arena);
    return messages->is_constant() ? ColumnView::Constant(column, frame.rows()) : column;
  }

 private:
  absl::StatusOr<Datum> Read(std::string_view bytes, Arena* arena) const {
    if (expression().count == 1) {
      const absl::StatusOr<bool> is_there = HasMessageField(message_, field_, bytes);
      if (!is_there.ok()) return is_there.status();
      return Datum::Int(*is_there ? 1 : 0);
    }
    absl::StatusOr<Datum> value = ReadMessageField(message_, field_, bytes, arena);
    if (!value.ok() || field_.kind != MessageField::Kind::kString) return value;
    const bool is_text = field_.is_repeated ? std::ranges::all_of(value->list(), IsText) : IsText(*value);
    if (is_text) return value;
    return absl::OutOfRangeError(
        fmt::format("Corrupted protocol buffer: Failed to interpret value for field {}.{}: it is no UTF-8",
                    message_.name, field_.name));
  }
  static bool IsText(const Datum& text) { return IsUtf8(text.bytes()); }

  const MessageType& message_;
  const MessageField& field_;
};

}  // namespace

NodePtr MakeProtoFieldNode(NodeMaking making) { return std::make_unique<ProtoFieldNode>(std::move(making)); }

}  // namespace sonde::sql
