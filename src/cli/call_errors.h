// What is wrong with a call, in the words of this program; and how its help says which values are allowed.  The parser's own texts are
// shown nowhere.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// Parsing ended with this error, or with nothing (null): "sonde: no command 'serv'; did you mean 'serve'?  `sonde --help` lists the
// commands".  Empty: help was asked for, or no command was named, and help is the answer.
std::string CallErrorText(const CLI::App& app, const CLI::ParseError& error);

// The command that was parsed last, of which the error is.
const CLI::App& CommandOf(const CLI::App& app);

// The words that call a command: "sonde series load".
std::string PathOf(const CLI::App& command);

// Writes "INT, 30 to 1000" and "TEXT: table, csv, json" where CLI11 writes its validators.  To be set before commands are added, which
// take it over.
std::shared_ptr<CLI::FormatterBase> MakeHelpForm();

}  // namespace sonde
