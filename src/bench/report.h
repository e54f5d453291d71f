// Writes a benchmark's results, with the machine that it ran on: as text for people, as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.h"

namespace sonde::bench {

// The machine of this process, and this build.
struct Machine {
  std::string cpu;
  int cores = 0;  // that this process may use
  double memory_gib = 0;
  std::string kernel;
  std::string build_type;
  std::string version;
};

Machine DescribeMachine();

// A header with the machine and the options, then a table with a line for each result.
std::string TextReport(const Machine& machine, const Options& options, const std::vector<Result>& results);

// The same as one JSON object: machine, options, results.
std::string JsonReport(const Machine& machine, const Options& options, const std::vector<Result>& results);

}  // namespace sonde::bench
