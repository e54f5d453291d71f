#include "keyviz/column_facts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/varint.h"

namespace sonde {
namespace {

// As many rows are kept while stretches are added up: one with a twentieth of all is among the heaviest long
// before.
constexpr size_t kRowsWhileAdding = 8 * ColumnFacts::kRowsMax;

void SortRows(std::vector<HotRow>* rows) {
  std::sort(rows->begin(), rows->end(), [](const HotRow& a, const HotRow& b) { return a.ops() > b.ops(); });
}

}  // namespace

void ColumnFacts::Add(const ColumnFacts& other) {
  keys = std::max(keys, other.keys);
  ops += other.ops;
  order.seconds += other.order.seconds;
  order.writes += other.order.writes;
  order.above_all += other.order.above_all;
  order.below_all += other.order.below_all;
  for (const HotRow& row : other.rows) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const HotRow& known) { return known.row_key == row.row_key; });
    if (found == rows.end()) {
      rows.push_back(row);
    } else {
      found->reads += row.reads;
      found->writes += row.writes;
    }
  }
  if (rows.size() > kRowsWhileAdding) {
    SortRows(&rows);
    rows.resize(kRowsWhileAdding / 2);
  }
  for (const Scanner& scanner : other.scanners)
    AddScan(scanner.caller, scanner.scans, scanner.rows, scanner.rows_max);
}

void ColumnFacts::AddScan(std::string_view caller, uint64_t scans, uint64_t rows_of_scans,
                          uint64_t rows_max) {
  caller = caller.substr(0, kCallerBytesMax);
  auto found = std::find_if(scanners.begin(), scanners.end(),
                            [&](const Scanner& scanner) { return scanner.caller == caller; });
  if (found == scanners.end()) {
    if (scanners.size() >= kScannersMax) {
      const auto least = std::min_element(scanners.begin(), scanners.end(),
                                          [](const Scanner& a, const Scanner& b) { return a.rows < b.rows; });
      if (least->rows > rows_of_scans) return;
      scanners.erase(least);
    }
    found = scanners.insert(scanners.end(), {std::string(caller), 0, 0, 0});
  }
  found->scans += scans;
  found->rows += rows_of_scans;
  found->rows_max = std::max(found->rows_max, rows_max);
}

void ColumnFacts::Trim() {
  std::erase_if(rows, [&](const HotRow& row) { return row.ops() < kRowShareMin * static_cast<double>(ops); });
  SortRows(&rows);
  if (rows.size() > kRowsMax) rows.resize(kRowsMax);
  std::sort(scanners.begin(), scanners.end(),
            [](const Scanner& a, const Scanner& b) { return a.rows > b.rows; });
}

void PutFacts(std::string* out, ColumnFacts facts) {
  facts.Trim();
  for (const uint64_t number : {facts.keys, facts.ops, facts.order.seconds, facts.order.writes,
                                facts.order.above_all, facts.order.below_all, uint64_t{facts.rows.size()}}) {
    PutVarint(out, number);
  }
  for (const HotRow& row : facts.rows) {
    PutBytes(out, row.row_key);
    PutVarint(out, static_cast<uint64_t>(std::llround(row.reads)));
    PutVarint(out, static_cast<uint64_t>(std::llround(row.writes)));
  }
  PutVarint(out, facts.scanners.size());
  for (const Scanner& scanner : facts.scanners) {
    PutBytes(out, scanner.caller);
    for (const uint64_t number : {scanner.scans, scanner.rows, scanner.rows_max}) PutVarint(out, number);
  }
}

bool GetFacts(std::string_view* in, ColumnFacts* facts) {
  uint64_t rows = 0, scanners = 0;
  WriteOrder& order = facts->order;
  for (uint64_t* number : {&facts->keys, &facts->ops, &order.seconds, &order.writes, &order.above_all,
                           &order.below_all, &rows}) {
    if (!GetVarint(in, number)) return false;
  }
  if (rows > ColumnFacts::kRowsMax) return false;
  std::string_view text;
  for (uint64_t i = 0; i < rows; ++i) {
    uint64_t reads = 0, writes = 0;
    if (!GetBytes(in, &text) || !GetVarint(in, &reads) || !GetVarint(in, &writes)) return false;
    facts->rows.push_back({std::string(text), static_cast<double>(reads), static_cast<double>(writes)});
  }
  if (!GetVarint(in, &scanners) || scanners > ColumnFacts::kScannersMax) return false;
  for (uint64_t i = 0; i < scanners; ++i) {
    Scanner scanner;
    if (!GetBytes(in, &text) || !GetVarint(in, &scanner.scans) || !GetVarint(in, &scanner.rows) ||
        !GetVarint(in, &scanner.rows_max)) {
      return false;
    }
    scanner.caller = text;
    facts->scanners.push_back(std::move(scanner));
  }
  return true;
}

}  // namespace sonde
