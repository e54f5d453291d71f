// YAML with exact complaints: what reads the maps, texts and numbers of files that people write.
//
// Threads: not for several threads.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace sonde {

inline int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

// So many problems of a file are told in full.
constexpr int kProblemsMax = 20;

// Collects what is wrong with one file.
class Problems {
 public:
  explicit Problems(std::string_view file) : file_(file) {}

  void Add(int line, std::string what) { lines_.emplace(line, std::move(what)); }
  bool empty() const { return lines_.empty(); }
  // INVALID_ARGUMENT with a line for each, in the order of the file; OK when there is none.
  absl::Status ToStatus() const;

 private:
  std::string file_;
  std::multimap<int, std::string> lines_;
};

// The entries of a map whose keys are known.  `what` says in messages where we are, such as "tag 'host'".
class MapReader {
 public:
  // Complains of a node that is no map, of keys that are not in `allowed`, and of keys that come twice.
  MapReader(const YAML::Node& node, std::string what, std::vector<std::string> allowed, Problems* problems);

  // Undefined when the map has no such key.
  YAML::Node Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key).IsDefined(); }
  int line() const { return line_; }

  // Each complains and returns nothing when the value is there and of another type.
  std::optional<std::string> Text(std::string_view key) const;
  std::optional<int64_t> Integer(std::string_view key, int64_t min, int64_t max) const;
  std::optional<bool> Boolean(std::string_view key) const;

 private:
  std::string what_;
  Problems* problems_;
  int line_ = 0;
  std::vector<std::pair<std::string, YAML::Node>> entries_;
};

// A scalar's text; complains otherwise.
std::optional<std::string> TextOf(const YAML::Node& node, std::string_view what, Problems* problems);

std::string JoinNames(const std::vector<std::string>& names);

}  // namespace sonde
