// `sonde series init`: a first declaration from a sample.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "series/advise/draft.h"
#include "server/commands.h"
#include "server/series_commands.h"

namespace sonde {
namespace {

constexpr size_t kRecordsDefault = 20'000;

int Init(const std::string& csv, const std::string& name, size_t records_max) {
  std::ifstream file;
  if (csv != "-") {
    file.open(csv, std::ios::binary);
    if (!file) return ReportStatus(absl::NotFoundError(fmt::format("can't open '{}'", csv)));
  }
  std::istream& stream = csv == "-" ? std::cin : file;
  const absl::StatusOr<std::string> text = series::DraftDeclaration(
      [&](char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
        stream.read(buffer, static_cast<std::streamsize>(bytes_max));
        return static_cast<size_t>(stream.gcount());
      },
      !name.empty() ? name
      : csv == "-"  ? "series"
                    : std::filesystem::path(csv).stem().string(),
      records_max);
  if (!text.ok()) return ReportStatus(text.status());
  std::cout << *text;
  return 0;
}

}  // namespace

void AddSeriesInit(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("init", "Write a first declaration, with comments, from a sample CSV file");
  struct Options {
    std::string csv;
    std::string name;
    size_t records_max = kRecordsDefault;
  };
  auto options = std::make_shared<Options>();
  command->add_option("CSV", options->csv, "the file, with a header; - for stdin")->required();
  command->add_option("--name", options->name, "of the series (the file's)");
  command->add_option("--records", options->records_max, "to look at, at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->footer(
      "Example:\n  sonde series init weather.csv > weather.yaml && sonde series check weather.yaml");
  command->callback(
      [options, exit_status] { *exit_status = Init(options->csv, options->name, options->records_max); });
}

}  // namespace sonde
