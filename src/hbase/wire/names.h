// Names of HBase's tables, servers and regions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::hbase {

struct TableName {
  std::string space;  // the namespace
  std::string name;

  // As HBase writes it in keys of hbase:meta.
  std::string Text() const { return space == "default" ? name : space + ":" + name; }
  auto operator<=>(const TableName&) const = default;
};

struct ServerAddress {
  std::string host;
  uint16_t port = 0;

  std::string Text() const { return host + ":" + std::to_string(port); }
  auto operator<=>(const ServerAddress&) const = default;
};

// A part of a table, [start_key, end_key); an empty end_key is the end of the table.
struct Region {
  std::string name;  // the key of its row in hbase:meta
  TableName table;
  uint64_t id = 0;
  std::string start_key;
  std::string end_key;
  ServerAddress server;

  bool Contains(std::string_view row) const { return row >= start_key && (end_key.empty() || row < end_key); }
  // What HBase calls it in paths and in some calls: the hash at the end of its name.
  std::string EncodedName() const {
    std::string_view rest = name;
    if (rest.ends_with('.')) rest.remove_suffix(1);
    return std::string(rest.substr(rest.rfind('.') + 1));  // npos + 1 is 0
  }
  bool operator==(const Region&) const = default;
};

}  // namespace sonde::hbase
