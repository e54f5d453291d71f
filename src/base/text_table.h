// Tables for people, on a terminal; and texts in them.
//
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

constexpr size_t kTextBytesShown = 60;
// The table's widths are those of its first lines; longer values that come later stick out.
constexpr size_t kTableLinesMeasured = 1'000;

// UTF-8 without control characters as it is, everything else as Printable; cut after `bytes_max` bytes.
std::string DisplayText(std::string_view text, size_t bytes_max = kTextBytesShown);

// The columns that a text takes on a terminal: its code points.
size_t DisplayWidth(std::string_view text);

// A field of CSV (RFC 4180), in quotes where it needs them.
std::string CsvText(std::string_view text);

class TextTable {
 public:
  struct Column {
    std::string name;
    bool is_right = false;  // numbers are on the right
  };

  // `out` must outlive the table.
  TextTable(const std::vector<Column>& columns, std::ostream* out);

  // One text a column.
  void Row(std::vector<std::string> line);
  // Prints what is left.
  void End() { Print(); }

 private:
  using Line = std::vector<std::string>;

  void Print();
  void PrintLine(const Line& line);
  void PrintRule();

  std::ostream* out_;
  std::vector<bool> is_right_;  // one a column
  std::vector<Line> lines_;     // not printed yet; the first are the names
  std::vector<size_t> widths_;  // empty: not measured yet
};

}  // namespace sonde
