// How dense and how fast are pages (cellblock/page.h), data set by data set, in tall and in bucket rows?
//
// Prints a Markdown table.  The baseline is what the head of the store would leave on disk: the same rows as
// fragments, with known row shapes, in blocks of kBaselineBlockBytes compressed by zstd -3.  Every page is
// read back and compared; the hash is CellSum of the cells.  Speeds are by the CPU time of the one thread.
#include <fmt/format.h>
#include <time.h>
#include <zstd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include "absl/strings/numbers.h"
#include "base/varint.h"
#include "bench/inside/double_codecs.h"
#include "bench/inside/page_data.h"
#include "cellblock/fragment.h"
#include "cellblock/page_cursor.h"
#include "cellblock/page_reader.h"
#include "cellblock/page_writer.h"
#include "codec/values.h"

namespace sonde::bench {
namespace {

constexpr size_t kBaselineBlockBytes = 16 << 10;
constexpr int kBaselineLevel = 3;
// As many as a column of ten has in a page.
constexpr size_t kColumnValues = 13'107;
// A measured step is repeated until it has taken so long.
constexpr double kSecondsMin = 0.5;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The least CPU seconds of `step`, over repetitions.
template <typename Step>
double LeastSeconds(const Step& step) {
  double least = 0, total = 0;
  do {
    const double start = CpuSeconds();
    step();
    const double seconds = CpuSeconds() - start;
    least = total == 0 ? seconds : std::min(least, seconds);
    total += seconds;
  } while (total < kSecondsMin);
  return least;
}

// Knows every list of qualifiers that it is asked for.
class AllShapes final : public ShapeSource {
 public:
  const Shape* Get(ShapeId) const override { return nullptr; }
  bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const override {
    const Shape shape(qualifiers.begin(), qualifiers.end());
    *id = ids_.try_emplace(shape, static_cast<ShapeId>(ids_.size())).first->second;
    return true;
  }

 private:
  mutable std::map<Shape, ShapeId> ids_;
};

size_t BaselineBytes(const std::vector<PageRow>& rows) {
  const AllShapes shapes;
  std::string block, packed;
  size_t total = 0;
  const auto pack = [&] {
    packed.resize(ZSTD_compressBound(block.size()));
    total += ZSTD_compress(packed.data(), packed.size(), block.data(), block.size(), kBaselineLevel);
    block.clear();
  };
  for (const PageRow& row : rows) {
    Fragment fragment;
    fragment.puts = row.cells;
    block += row.key;
    EncodeFragment(fragment, shapes, &block);
    if (block.size() >= kBaselineBlockBytes) pack();
  }
  if (!block.empty()) pack();
  return total;
}

std::vector<std::string> MakePages(const std::vector<PageRow>& rows) {
  std::vector<std::string> pages;
  PageWriter writer;
  for (const PageRow& row : rows) {
    absl::Span<const CellView> left = row.cells;
    while (!left.empty()) {
      left.remove_prefix(writer.Add(row.key, left));
      if (!left.empty()) writer.Finish(&pages.emplace_back());
    }
  }
  writer.Finish(&pages.emplace_back());
  return pages;
}

// A step that must not fail.
template <typename Value>
Value Checked(absl::StatusOr<Value> value) {
  if (value.ok()) return *std::move(value);
  fmt::print(stderr, "page_bench: {}\n", value.status().ToString());
  std::exit(1);
}

CellSum SumOf(std::string_view row_key, absl::Span<const CellView> cells) {
  CellSum sum;
  const uint64_t row = CellSum::Hash(row_key);
  for (const CellView& cell : cells) {
    sum.Add(row, CellSum::Hash(cell.qualifier), cell.timestamp_micros, CellSum::Hash(cell.value));
  }
  return sum;
}

template <typename Each>
void ReadCells(const std::vector<std::string>& pages, const Each& each) {
  RowPiece piece;
  for (const std::string& page : pages) {
    const auto reader = Checked(PageReader::Open(page));
    PageCursor cursor(reader.get(), RowRange::All(), {}, false);
    while (Checked(cursor.Next(&piece))) each(piece);
  }
}

// How many numbers there are, of all columns that hold numbers that are written so.
size_t ReadNumbers(const std::vector<std::string>& pages, NumberBytes written) {
  size_t count = 0;
  RowPiece piece;
  for (const std::string& page : pages) {
    const auto reader = Checked(PageReader::Open(page));
    ReadHints hints;
    hints.columns.emplace(1);
    hints.numbers = {written};
    PageCursor cursor(reader.get(), RowRange::All(), hints, false);
    while (Checked(cursor.Next(&piece))) {
      for (const NumberColumn& column : piece.numbers) count += column.numbers.size();
    }
  }
  return count;
}

// Prints a line of the table; false: what was read is not what was written.
bool Run(const DataSet& data, Schema schema) {
  const std::vector<PageRow> rows = MakeRows(data, schema);
  CellSum written, read;
  for (const PageRow& row : rows) written.Merge(SumOf(row.key, row.cells));
  const auto cells = static_cast<double>(written.cells());
  std::vector<std::string> pages;
  const double encode_seconds = LeastSeconds([&] { pages = MakePages(rows); });
  size_t bytes = 0;
  for (const std::string& page : pages) bytes += page.size();
  ReadCells(pages, [&](const RowPiece& piece) { read.Merge(SumOf(piece.row_key, piece.cells)); });
  size_t count = 0;
  const double cells_seconds =
      LeastSeconds([&] { ReadCells(pages, [&](const RowPiece& piece) { count += piece.cells.size(); }); });
  const NumberBytes number_bytes = ReadNumbers(pages, NumberBytes::kDecimalText) > 0
                                       ? NumberBytes::kDecimalText
                                       : NumberBytes::kBigEndianDouble;
  size_t numbers = 0;
  const double numbers_seconds = LeastSeconds([&] { numbers = ReadNumbers(pages, number_bytes); });
  fmt::print("| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.0f} | {:.0f} | {} | `{:016x}` |\n", data.name,
             schema == Schema::kTall ? "tall" : "bucket", written.cells(), pages.size(),
             static_cast<double>(bytes) / cells, static_cast<double>(BaselineBytes(rows)) / cells,
             cells / encode_seconds / 1e6, cells / cells_seconds / 1e6,
             numbers == 0 ? "" : fmt::format("{:.0f}", static_cast<double>(numbers) / numbers_seconds / 1e6),
             written.sum());
  std::fflush(stdout);
  return read.cells() == written.cells() && read.sum() == written.sum();
}

// The numbers of a metric, of one entity after the other; what is none is left out.
std::vector<double> NumbersOf(const DataSet& data, size_t metric) {
  std::vector<double> numbers;
  for (const EntityReadings& entity : data.entities) {
    for (const std::string& text : entity.values[metric]) {
      double number = 0;
      if (absl::SimpleAtod(text, &number)) numbers.push_back(number);
    }
  }
  return numbers;
}

uint64_t OurBits(absl::Span<const double> numbers) {
  std::string bytes;
  for (size_t begin = 0; begin < numbers.size(); begin += kColumnValues) {
    std::vector<std::string> values;
    for (const double number : numbers.subspan(begin, kColumnValues)) {
      PutFixed64(&values.emplace_back(), std::bit_cast<uint64_t>(number));
    }
    const std::vector<std::string_view> views(values.begin(), values.end());
    codec::EncodeValues(views, &bytes);
  }
  return 8 * bytes.size();
}

// Prints a line of the table of doubles.
void TellDoubles(const DataSet& data) {
  uint64_t values = 0, gorilla = 0, alp = 0, ours = 0;
  for (size_t metric = 0; metric < data.entities[0].metrics.size(); ++metric) {
    const std::vector<double> numbers = NumbersOf(data, metric);
    values += numbers.size();
    gorilla += GorillaBits(numbers);
    alp += AlpBits(numbers);
    ours += OurBits(numbers);
  }
  const auto of_value = [&](uint64_t bits) {
    return static_cast<double>(bits) / static_cast<double>(values);
  };
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} |\n", data.name, values, of_value(gorilla), of_value(alp),
             of_value(ours));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  CLI::App app{"Measures pages: bytes a cell, and cells encoded and decoded by a second of CPU time."};
  int64_t cells = 2'000'000;
  std::string datasets;
  std::vector<std::string> lines;
  app.add_option("--cells", cells, "cells of each generated data set")
      ->check(CLI::Range(10'000, 100'000'000));
  app.add_option("--datasets", datasets,
                 "the directory data/ of the npm package vega-datasets, if it is there");
  app.add_option("--lines", lines, "files of lines TIME_MS METRIC VALUE, as bench/sample-proc writes them");
  app.footer(
      "Examples:\n"
      "  page_bench\n"
      "  bench/sample-proc --seconds 60 > /tmp/proc.lines && page_bench --lines /tmp/proc.lines");
  CLI11_PARSE(app, argc, argv);

  std::vector<DataSet> sets;
  for (const NumberKind kind :
       {NumberKind::kText, NumberKind::kBigEndianInteger, NumberKind::kBigEndianDouble}) {
    sets.push_back(MakeCpu(kind, cells));
  }
  for (const NumberKind kind : {NumberKind::kText, NumberKind::kBigEndianDouble}) {
    sets.push_back(MakeTrucks(kind, cells));
  }
  sets.push_back(MakeCounters(cells));
  if (!datasets.empty()) {
    sets.push_back(Checked(ReadCsv(datasets + "/stocks.csv", 0, {2})));
    sets.push_back(Checked(ReadCsv(datasets + "/sp500-2000.csv", -1, {4, 2, 3, 1, 6})));
    sets.push_back(Checked(ReadCsv(datasets + "/weather.csv", 0, {2, 3, 4, 6, 5})));
  }
  std::vector<DataSet> doubles;
  if (!datasets.empty()) {
    for (const auto& [file, columns] : std::vector<std::pair<std::string, std::vector<int>>>{
             {"weather.csv", {2, 3, 4, 5}},
             {"seattle-weather-hourly-normals.csv", {1, 2, 3}},
             {"sp500-2000.csv", {1, 2, 3, 4}},
             {"co2-concentration.csv", {1, 2}},
             {"windvectors.csv", {0, 1, 4}},
             {"zipcodes.csv", {1, 2}}}) {
      doubles.push_back(Checked(ReadCsv(datasets + "/" + file, -1, columns)));
    }
  }
  for (const std::string& path : lines) {
    sets.push_back(Checked(ReadLines(path)));
    doubles.push_back(sets.back());
  }

  fmt::print(
      "| data | rows | cells | pages | B/cell | B/cell, fragments zstd -{} | encode, M cells/s | decode to "
      "cells, M "
      "cells/s | decode to numbers, M cells/s | hash |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
      kBaselineLevel);
  for (DataSet& set : sets) {
    for (EntityReadings& entity : set.entities) {
      if (!std::is_sorted(entity.metrics.begin(), entity.metrics.end())) {
        fmt::print(stderr, "page_bench: the metrics of {} are not in order\n", set.name);
        return 1;
      }
    }
    for (const Schema schema : {Schema::kTall, Schema::kBucket}) {
      if (Run(set, schema)) continue;
      fmt::print(stderr, "page_bench: {} was not read as it was written\n", set.name);
      return 1;
    }
  }
  if (datasets.empty() && lines.empty()) return 0;
  fmt::print(
      "\nEach metric as a column of doubles, bits a value:\n\n"
      "| data | values | Gorilla | ALP | ours |\n| --- | ---: | ---: | ---: | ---: |\n");
  for (const DataSet& set : doubles) TellDoubles(set);
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main(int argc, char** argv) { return sonde::bench::Main(argc, argv); }
