// Values as FORMAT writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/datum.h"
#include "sql/text/format_pattern.h"
#include "sql/value/type.h"

namespace sonde::sql {

// %d %i %o %x %X
void AppendFormattedInteger(const FormatSpec& spec, int64_t integer, std::string* text);
// %f %F %e %E %g %G
void AppendFormattedNumber(const FormatSpec& spec, double number, std::string* text);
// %s %t %T: width and precision count characters.
void AppendFormattedText(const FormatSpec& spec, std::string_view written, std::string* text);

// %t: as a person would read it: abc, 1.0, [1, NULL].
std::string PlainText(const Type& type, const Datum& datum);
// %T: as an expression that has this value: "abc", 1.0, DATE "2020-01-31".  Of texts that are too long for FORMAT the beginning.
std::string LiteralText(const Type& type, const Datum& datum);

}  // namespace sonde::sql
