// `sonde series init`: a first declaration from a sample.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "cli/series/series_commands.h"
#include "codec/unpack.h"
#include "series/advise/draft.h"
#include "series/input/stream_source.h"

namespace sonde {
namespace {

struct InitOptions {
  std::string csv;
  std::string name;
  std::string separator = ",";
  series::DraftOptions draft;
};

// Without the endings of a packed file and of its format.
std::string SeriesNameOf(const std::string& file) {
  if (file == "-") return "series";
  std::filesystem::path name = std::filesystem::path(file).filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return name.stem().string();
}

int Init(InitOptions options) {
  if (options.separator != "\\t" && options.separator.size() != 1) {
    return ReportStatus("init", absl::InvalidArgumentError(fmt::format(
                                    "--separator '{}'; allowed: one character, or \\t", options.separator)));
  }
  options.draft.separator = options.separator == "\\t" ? '\t' : options.separator[0];
  const bool is_stdin = options.csv == "-";
  const int descriptor = is_stdin ? STDIN_FILENO : open(options.csv.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return ReportStatus(
        "init", absl::NotFoundError(fmt::format("can't open '{}': {}", options.csv, std::strerror(errno))));
  }
  const absl::StatusOr<std::string> text = series::DraftDeclaration(
      UnpackedBySign(series::SourceOfDescriptor(descriptor, nullptr)),
      options.name.empty() ? SeriesNameOf(options.csv) : options.name, options.draft);
  if (!is_stdin) close(descriptor);
  if (!text.ok()) return ReportStatus("init", text.status());
  std::cout << *text;
  return 0;
}

}  // namespace

void AddSeriesInit(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("init", "Write a first declaration, with comments, from a sample CSV file");
  auto options = std::make_shared<InitOptions>();
  command
      ->add_option("CSV", options->csv, "the file, with a header, packed by gzip or zstd or not; - for stdin")
      ->required();
  command->add_option("--name", options->name, "Name of the series (default: that of the file)");
  command->add_option("--records", options->draft.records_max, "Records to sample")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--time-format", options->draft.time_format,
                      "Form of the times, such as '%m/%d/%Y', as `sonde series load` takes it (default: told "
                      "from the values)");
  command->add_option("--separator", options->separator, "between values; \\t for a tab")
      ->capture_default_str();
  command->footer(
      "Example:\n  sonde series init weather.csv > weather.yaml && sonde series check weather.yaml");
  command->callback([options, exit_status] { *exit_status = Init(*options); });
}

}  // namespace sonde
