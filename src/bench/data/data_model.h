// The model of the benchmarks' data: entities that report groups of fields, step by step.
//
//   cpu       TSBS's cpu-only: ten whole numbers a host every 10 s (or `cells_per_row` of them)
//   devops    like TSBS's devops: 101 fields a host in nine groups every 10 s, of all kinds of counters and
//             gauges
//   iot       like TSBS's iot: two groups a truck every 10 s, numbers of 0 to 5 decimals; readings and fields
//             are missing, and readings come late, one by one and in batches
//   machines  100 metrics a machine every 5 s
//   meters    96 readings a meter a day
//   market    trades of thousands of tickers, a tenth of which makes nine tenths of the messages
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::bench {

enum class DataKind : uint8_t { kCpu, kDevops, kIot, kMachines, kMeters, kMarket };
inline constexpr std::string_view kDataKindNames[] = {"cpu", "devops", "iot", "machines", "meters", "market"};
std::optional<DataKind> DataKindOf(std::string_view name);

// Where the next number of a field comes from.
enum class FieldMotion : uint8_t {
  kWalk,      // begins anywhere in [low, high], moves by N(0, 1) times `step`, is held within
  kCounter,   // begins at 0 to high, grows by 0 to 2 * step, each as likely
  kConstant,  // high
  kDraw,      // low to high, anew each time
  kRest,      // the field at index `first` less that at `second`
  kSame,      // the field at `first`
  kPercent,   // the field at `first` in percent of that at `second`: a double with all its digits
};

// Numbers count units of the last decimal: with two decimals, 150 is 1.5.
struct Field {
  std::string name;
  FieldMotion motion = FieldMotion::kWalk;
  int decimals = 0;
  int64_t low = 0;
  int64_t high = 100;
  int64_t step = 1;
  int first = 0;  // of the same group, before this one
  int second = 0;
};

struct FieldGroup {
  std::string name;  // part of the row keys, unless it is empty
  std::vector<Field> fields;
};

struct DataModel {
  std::string entity;  // what keys begin with: host, truck, ...
  int64_t step_seconds = 10;
  int64_t bucket_seconds = 3'600;
  bool keys_in_millis = false;  // times in row keys: seconds otherwise
  bool regular = true;          // every entity sends every field at every step, in order
  double cells_per_step = 0;    // of an entity, about
  std::vector<FieldGroup> groups;
};

// About this part of the readings of iot and of market is sent: readings.cc.
inline constexpr double kIotSent = 0.87;
inline constexpr double kMarketSent = 0.09;

enum class Schema : uint8_t { kTall, kBucket };

struct DataShape {
  DataKind kind = DataKind::kCpu;
  Schema schema = Schema::kBucket;
  int hosts = 100;         // or trucks, meters, ...
  int cells_per_row = 10;  // of cpu; the others have their own
  uint64_t seed = 1;
  bool big_endian = false;  // of cpu: values are INT64 in eight bytes, not decimal text
};

DataModel ModelOf(const DataShape& shape);

// The name of a metric of cpu: TSBS's for the first ten.
std::string MetricName(int metric);

}  // namespace sonde::bench
