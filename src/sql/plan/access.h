// What an expression wants of a column family: one cell, its time, or its number.
//
// Such an expression reads the whole map of the family, until the plan is narrowed (pruning.h): then the scan gives what
// is wanted as a column.
#pragma once

#include <optional>
#include <string>

#include "base/number_bytes.h"
#include "sql/expression/expression.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

struct Access {
  ScanColumn::Kind kind = ScanColumn::Kind::kCell;  // kCell, kWriteTimestamp or kNumber
  std::string qualifier;
  NumberBytes written = NumberBytes::kDecimalText;
  bool is_safe = false;
  Type type;
  const Expression* family = nullptr;  // the reference to the family

  // Whether the same is wanted, be the family what it is.
  bool IsSameAs(const Access& other) const {
    return kind == other.kind && qualifier == other.qualifier && written == other.written &&
           is_safe == other.is_safe && type == other.type;
  }
};

// WRITE_TIMESTAMP(family, qualifier): a call without a kernel, which only a scan can answer.
ExpressionPtr MakeWriteTimestamp(ExpressionPtr family, ExpressionPtr qualifier);
bool IsWriteTimestamp(const Expression& expression);

// Nothing: the expression is no access.  `numbers`: whether TO_INT64(cf['q']) and the like are kNumber.
std::optional<Access> AccessOf(const Expression& expression, bool numbers);

}  // namespace sonde::sql
