// Values as texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::sql {

// As CAST(number AS STRING): %.15g where that reads back to the same number, else %.17g; of a float %.6g, else %.8g.
// So whole numbers have no point ("1"), large and small ones an exponent ("1e+15", "1e-05"); "nan", "inf", "-inf"; -0.0 is
// "0".
std::string DoubleText(double number);
std::string FloatText(float number);
// 2020-01-31, years with four digits.
std::string DateText(int64_t days);
// As CAST(timestamp AS STRING) in UTC: 2020-01-31 12:00:00.5+00.
std::string TimestampText(int64_t micros);
// A literal with quotes: "a\n", b"\xff".
std::string StringLiteral(std::string_view text);
std::string BytesLiteral(std::string_view bytes);

}  // namespace sonde::sql
