// How far a copy is, table by table, kept in a file: what a copy that was broken off goes on from.
//
// The file is JSON: {"copy_version": 1, "from": PLACE, "to": PLACE, "tables": {NAME: {"next_key": HEX, "is_done": false, "rows": 1,
// "cells": 2, "bytes": 3}}}.  Not for several threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde {

struct CopiedTable {
  std::string next_key;  // all rows before it are copied, and were compared
  bool is_done = false;  // so are all others
  // The counts of the rows before it.
  int64_t rows = 0;
  int64_t cells = 0;
  int64_t bytes = 0;  // of keys, names and values

  bool operator==(const CopiedTable&) const = default;
};

class CopyState {
 public:
  // `file`: its name; empty: none, and the state goes with the process.  A file that does not exist is the state of a copy that has
  // not begun.  INVALID_ARGUMENT: the file is something else, or of another copy.  UNAVAILABLE: it cannot be written.
  static absl::StatusOr<CopyState> Open(std::string file, std::string from, std::string to);

  // By name; those that have begun.
  std::map<std::string, CopiedTable> tables;

  // Either what was there before or this is in the file, whenever the machine stops.  UNAVAILABLE: it cannot be written.
  absl::Status Save() const;
  // The copy is complete.
  void Remove() const;
  const std::string& file() const { return file_; }

 private:
  CopyState(std::string file, std::string from, std::string to)
      : file_(std::move(file)), from_(std::move(from)), to_(std::move(to)) {}
  absl::Status Read();

  std::string file_;
  std::string from_;
  std::string to_;
};

}  // namespace sonde
