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
  ScanColumn::Kind kind = ScanColumn::Kind::kCell;  // not kKey, kKeyField or kFamily
  std::string qualifier;
  NumberBytes written = NumberBytes::kDecimalText;
  Type type;
  const Expression* family = nullptr;  // the reference to the family

  // Whether the same is wanted, be the family what it is.
  bool IsSameAs(const Access& other) const {
    return kind == other.kind && qualifier == other.qualifier && written == other.written &&
           type == other.type;
  }
};

// TO_INT64(x), TO_FLOAT64(x), or CAST(CAST(x AS STRING) AS FLOAT64), where x is cf['q'], or a column of BYTES that UNPACK may have
// made of one.  It is COALESCE(number, the same of the bytes): so a value that is no number fails where it is looked at,
// and nowhere else.
struct NumberAccess {
  Access number;  // `family` is the reference to x's family, or to x itself; then there is no qualifier
  Access bytes;
  const Expression* cell = nullptr;  // x
};

// WRITE_TIMESTAMP(family, qualifier): a call without a kernel, which only a scan can answer.
ExpressionPtr MakeWriteTimestamp(ExpressionPtr family, ExpressionPtr qualifier);
bool IsWriteTimestamp(const Expression& expression);

// Nothing: the expression is no access.
std::optional<Access> AccessOf(const Expression& expression);
std::optional<NumberAccess> NumberAccessOf(const Expression& expression);
// The accesses of a cell of which only the times matter.
NumberAccess AccessOfTimes();
// The expression of `access` for a cell that comes as these two columns.
ExpressionPtr MakeOfNumber(const Expression& expression, const NumberAccess& access, ExpressionPtr number,
                           ExpressionPtr bytes);

}  // namespace sonde::sql
