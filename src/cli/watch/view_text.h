// A ServerView for people (one screen) and for programs (JSON).
#pragma once

#include <cstddef>
#include <string>

#include "cli/watch/server_view.h"

namespace sonde {

// At most so many lines of at most so many bytes; what has no room is left out, and the last line says so.
struct ScreenSize {
  size_t lines = 24;
  size_t columns = 80;
};

std::string ScreenOf(const ServerView& view, const ScreenSize& size);
// A JSON object; docs/stability.md lists its members.
std::string JsonOf(const ServerView& view);

// "1.5 GiB", "12 B".
std::string BytesText(double bytes);
// "3d 4h", "12m 5s".
std::string AgeText(double seconds);

}  // namespace sonde
