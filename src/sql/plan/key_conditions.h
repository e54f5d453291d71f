// What one condition says of row keys, or of one field of them, as ranges of bytes.
//
// Threads: as its context.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/row_key_schema.h"
#include "model/row_range.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/expression.h"
#include "sql/plan/plan.h"
#include "sql/value/value.h"

namespace sonde::sql {

class KeyConditions {
 public:
  using Ranges = std::vector<RowRange>;

  // `field`: the field of the row key schema of which the bytes are meant (AppendField); nothing: the whole key.
  KeyConditions(const Plan::Scan& scan, const EvaluationContext& context, std::optional<size_t> field)
      : scan_(scan),
        context_(context),
        index_(field),
        field_(field.has_value() ? &scan.table->row_key_schema->fields[*field] : nullptr) {}

  // A superset of the bytes for which the condition is `wanted`, in the normal form.
  Ranges Find(const Expression& condition, bool wanted) const;

 private:
  // The bytes of a condition.  `is_exact`: the condition is FALSE, or NULL, for all other bytes.
  struct Part {
    Ranges ranges;
    bool is_exact = true;
  };
  // What stands for the bytes on one side of a comparison.
  enum class Side : uint8_t {
    kNone,
    kWhole,     // the key or the field, or its bytes as a STRING
    kFirstPart  // what is before the first delimiter of a text
  };
  struct Bound {
    Datum value;
    bool is_inside = true;
  };

  static Part Unknown();
  static Ranges Chosen(const Part& part, bool wanted);
  Side SideOf(const Expression& expression, std::string* delimiter) const;
  bool IsWhole(const Expression& expression) const;
  bool IsNumber() const { return field_ != nullptr && field_->IsNumber(); }

  Ranges FindOfCall(const Expression& call, bool wanted) const;
  Ranges FindNull(const Expression& argument, bool wanted) const;
  Ranges FindPrefix(const Expression& call, bool wanted) const;
  Ranges FindBetween(const Expression& call, bool wanted) const;
  Ranges FindComparison(std::string_view name, const Expression& call, bool wanted) const;
  Ranges FindIn(const Expression& call, bool wanted) const;

  Part Equal(Side side, const std::string& delimiter, const Datum& value) const;
  Part BeginningWith(std::string_view prefix) const;
  Part Like(std::string_view pattern) const;
  // Return the part, and the ranges, between two bounds; a bound that is not there is open.
  Part Between(const std::optional<Bound>& least, const std::optional<Bound>& most) const;
  Ranges NumbersBetween(const std::optional<Bound>& least, const std::optional<Bound>& most) const;
  // The bytes of a value that is there; nothing: no key has it.
  std::optional<std::string> BytesOf(const Datum& value) const;
  // Nothing: the expression reads rows, or fails.
  std::optional<Value> Constant(const Expression& expression) const;

  const Plan::Scan& scan_;
  const EvaluationContext& context_;
  const std::optional<size_t> index_;
  const RowKeyField* const field_;
};

}  // namespace sonde::sql
