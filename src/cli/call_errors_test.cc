#include "cli/call_errors.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace sonde {
namespace {

// A command line as the program's, with one of each kind of option.
class CallErrorTest : public testing::Test {
 protected:
  CallErrorTest() {
    app_.formatter(MakeHelpForm());
    app_.require_subcommand(1);
    CLI::App* const serve = app_.add_subcommand("serve", "Run the server");
    serve->add_option("--port", port_, "Port of the Bigtable API");
    serve->add_option("--size", size_, "Size of the plot")->check(CLI::Range(30, 1'000));
    CLI::App* const series = app_.add_subcommand("series", "Work with series");
    series->require_subcommand(1);
    CLI::App* const query = series->add_subcommand("query", "Ask");
    query->add_option("FILE", file_, "Declaration of the series")->required();
    query->add_option("--format", format_, "Form of the answer")->check(CLI::IsMember({"table", "csv"}));
    CLI::Option* const from = query->add_option("--from", from_, "First time");
    query->add_option("--last", last_, "How far back")->excludes(from);
  }

  std::string Parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      return CallErrorText(app_, error);
    }
    return "parsed";
  }

  CLI::App app_{"", "sonde"};
  int port_ = 0, size_ = 0;
  std::string file_, format_, from_, last_;
};

TEST_F(CallErrorTest, NamesTheNearestCommandAndFlag) {
  EXPECT_EQ(Parse({"serv"}), "sonde: no command 'serv'; did you mean 'serve'? `sonde --help` says more");
  EXPECT_EQ(Parse({"series", "qurey"}),
            "sonde series: no command 'qurey'; did you mean 'query'? `sonde series --help` says more");
  EXPECT_EQ(Parse({"xyzzy"}), "sonde: no command 'xyzzy'; `sonde --help` says more");
  EXPECT_EQ(Parse({"serve", "--prot", "1"}),
            "sonde serve: no flag '--prot'; did you mean '--port'? `sonde serve --help` says more");
  EXPECT_EQ(Parse({"serve", "more"}),
            "sonde serve: one argument too many: 'more'; `sonde serve --help` says more");
}

TEST_F(CallErrorTest, IsEmptyWithoutACommand) {
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(Parse({"series"}), "");
  EXPECT_EQ(Parse({"series", "query", "--help"}), "");
  EXPECT_EQ(Parse({"series", "qurey", "--help"}),
            "sonde series: no command 'qurey'; did you mean 'query'? `sonde series --help` says more");
}

TEST_F(CallErrorTest, SaysWhichValuesAreAllowed) {
  EXPECT_EQ(Parse({"serve", "--port", "abc"}),
            "sonde serve: --port 'abc'; allowed: a whole number; `sonde serve --help` says more");
  EXPECT_EQ(Parse({"serve", "--size", "5"}),
            "sonde serve: --size '5'; allowed: 30 to 1000; `sonde serve --help` says more");
  EXPECT_EQ(Parse({"series", "query", "f", "--format", "jsn"}),
            "sonde series query: --format 'jsn'; allowed: table, csv; `sonde series query --help` says more");
}

TEST_F(CallErrorTest, SaysWhatIsMissing) {
  EXPECT_EQ(Parse({"series", "query"}),
            "sonde series query: FILE is missing: Declaration of the series; `sonde series query --help` "
            "says more");
  EXPECT_EQ(Parse({"serve", "--port"}),
            "sonde serve: --port takes a value: Port of the Bigtable API; `sonde serve --help` says more");
}

TEST_F(CallErrorTest, HelpSaysWhichValuesAreAllowed) {
  const std::string help = app_.get_subcommand("serve")->help();
  EXPECT_NE(help.find("--size INT, 30 to 1000"), std::string::npos) << help;
  const std::string query = app_.get_subcommand("series")->get_subcommand("query")->help();
  EXPECT_NE(query.find("--format TEXT: table, csv"), std::string::npos) << query;
}

}  // namespace
}  // namespace sonde
