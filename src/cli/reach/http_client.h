// Asks a server of ours over HTTP: for the command line.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde {

// The body of GET http://ADDRESS/PATH; `address`: HOST:PORT.  UNAVAILABLE: nobody answers there;
// INVALID_ARGUMENT: no such address; an answer other than 200 as the status that it names, or UNKNOWN.
absl::StatusOr<std::string> HttpGet(const std::string& address, const std::string& path);

// Which server is asked, and how the caller proves who he is.
struct HttpAccess {
  std::string address = "127.0.0.1:8087";  // HOST:PORT, or http(s)://HOST:PORT
  std::string token_file;                  // a static token, which is sent as `Bearer`; empty: none
  std::string ca_file;  // PEM file of the CAs that are trusted, with https; empty: those of the system
};

// Adds --http, --token-file and --ca.  `access` must outlive the parsing.
void AddHttpFlags(CLI::App& app, HttpAccess* access);

// As HttpGet of an address.  INVALID_ARGUMENT: no such address, or the token's file cannot be read, is empty, or others may read it.
// UNAUTHENTICATED: 401.
absl::StatusOr<std::string> HttpGet(const HttpAccess& access, const std::string& path);

// For a part of a path or a query.
std::string PercentEncode(std::string_view text);

}  // namespace sonde
