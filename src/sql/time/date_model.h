// Models of dates and times, as the FORMAT clause of CAST takes them: YYYY-MM-DD HH24:MI:SS.
//
//   const auto model = DateModel::Read("DD Mon YYYY");
//   model->Format(local_micros, offset_micros)        // 30 Jan 2018
//
// Source: GoogleSQL's format elements of dates and times.
// Threads: a model is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::sql {

class DateModel {
 public:
  enum class Category : uint8_t {
    kLiteral,
    kYear,
    kMonth,
    kDay,
    kHour,
    kMinute,
    kSecond,
    kMeridian,
    kTimeZone,
    kOther,  // known by name, but not built in GoogleSQL either
  };
  enum class Letters : uint8_t { kUpper, kLower, kFirstUpper };

  struct Element {
    // Upper case; of literals " is a quoted text, a space is spaces, and others are themselves.
    std::string name;
    Category category = Category::kLiteral;
    Letters letters = Letters::kUpper;
    size_t length = 0;    // in the model
    std::string literal;  // of literals but spaces
    int digits = 0;       // of FF1, FF2...

    bool is(std::string_view other) const { return name == other; }
    std::string ToString() const;  // as errors have it: 'YYYY'
  };

  // OUT_OF_RANGE: the text is no model.
  static absl::StatusOr<DateModel> Read(std::string_view text);

  const std::vector<Element>& elements() const { return elements_; }

  // Whether the model can write a DATE, or read a value of a type.  OUT_OF_RANGE: it cannot.
  absl::Status CheckWritesDate() const;
  absl::Status CheckReads(bool is_date) const;

  // `local`: microseconds that the clocks show; `offset`: how much these are ahead of UTC.
  // OUT_OF_RANGE: an element cannot be written.
  absl::StatusOr<std::string> Format(int64_t local, int64_t offset) const;
  // A text as a TIMESTAMP.  What the model does not say is of the first day of the month of `now`.
  // OUT_OF_RANGE: the text does not fit.
  absl::StatusOr<int64_t> Parse(std::string_view text, const absl::TimeZone& zone, int64_t now) const;

 private:
  std::vector<Element> elements_;
};

}  // namespace sonde::sql
