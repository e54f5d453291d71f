// Warnings and infos about a query, each text once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "promql/syntax/token.h"

namespace sonde::promql {

class Annotations {
 public:
  // `text` without the place, which is added: "PromQL warning: TEXT (LINE:COLUMN)".
  void Warn(std::string_view text, Range place);
  void Inform(std::string_view text, Range place);
  // Buckets that fell: all of a query's are told as one.
  void InformOfFalls(Range place, int64_t time_millis, double least, double most, double difference);

  // As if all of `later` were told now.
  void Add(const Annotations& later);

  std::vector<std::string> Warnings(std::string_view query) const;
  std::vector<std::string> Infos(std::string_view query) const;

 private:
  struct Falls {
    size_t start = 0;  // of the first call's place
    int64_t from_millis = 0;
    int64_t to_millis = 0;
    double least = 0;
    double most = 0;
    double difference = 0;
    int64_t count = 0;
  };
  void Join(const Falls& later);

  // By text; of one text the last place counts, which is the outermost expression's.
  std::map<std::string, Range, std::less<>> warnings_;
  std::map<std::string, Range, std::less<>> infos_;
  std::optional<Falls> falls_;  // of all calls of histogram_quantile, as Prometheus joins them
};

}  // namespace sonde::promql
