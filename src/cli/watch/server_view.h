// What `sonde top` and `sonde status` show of a server: figures of now, and rates between two answers of /metrics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/watch/metrics_text.h"

namespace sonde {

struct ServerView {
  struct Method {
    std::string name;
    double per_second = 0;
    double errors_per_second = 0;  // calls that did not end with OK
    double p50_seconds = 0;        // about; 0 without calls
    double p99_seconds = 0;
  };
  struct Table {
    std::string name;
    double bytes = 0;
    double rows_read_per_second = 0;
    double rows_written_per_second = 0;
  };
  struct Load {
    std::string kind;
    double part = 0;  // 1 is full
  };

  std::string version;
  double uptime_seconds = 0;
  double processors = 0;  // that are busy for the server
  double resident_bytes = 0;
  double budget_bytes = 0;
  double disk_free_bytes = 0;
  double disk_size_bytes = 0;
  double settling_waiting_bytes = 0;
  double settling_cells_per_second = 0;
  double connections = 0;
  double backups = 0;
  std::optional<double> backup_age_seconds;  // of the newest; unset: there is none
  std::vector<std::string> warnings;         // the worst first (metrics/health.h)
  std::vector<Load> loads;
  std::vector<Method> methods;  // the busiest first
  std::vector<Table> tables;    // the busiest first
};

// `seconds`: between `before` and `now`.  Without `before` there are no rates, and the methods are those since the start.
ServerView ViewServer(const MetricSamples* before, const MetricSamples& now, double seconds,
                      double now_seconds);

// The value that a part `q` of the counts are below.  `bounds` ascend, the last is infinite; `counts`, of each bucket, are not
// cumulative.
double QuantileOf(const std::vector<double>& bounds, const std::vector<double>& counts, double q);

}  // namespace sonde
