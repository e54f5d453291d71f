// The commands below `sonde series`, one file each, and what they share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/reach/access.h"
#include "model/table_access.h"
#include "series/known/known_series.h"
#include "series/schema/schema.h"

namespace sonde {

// Adds `sonde series` with all of them, as cli/commands.h says.
void AddSeriesCommand(CLI::App& app, int* exit_status);

void AddSeriesCheck(CLI::App& series, int* exit_status);
void AddSeriesExplain(CLI::App& series, int* exit_status);
void AddSeriesLoad(CLI::App& series, int* exit_status);
void AddSeriesQuery(CLI::App& series, int* exit_status);
void AddSeriesCollect(CLI::App& series, int* exit_status);
void AddSeriesAdvise(CLI::App& series, int* exit_status);
void AddSeriesInit(CLI::App& series, int* exit_status);
void AddSeriesShow(CLI::App& series, int* exit_status);
void AddSeriesRebuild(CLI::App& series, int* exit_status);
void AddSeriesRewrite(CLI::App& series, int* exit_status);

// FILE, the declaration: a file, or stored:SERIES, the one that is stored with the tables; with @TABLE behind
// it, one of its derived tables as a series of its own.
void AddDeclarationArgument(CLI::App& command, std::string* file);

// Says on stderr what is wrong with `sonde series COMMAND`; 0 when nothing is, 2 for what the caller asked wrongly, else 1.
int ReportStatus(std::string_view command, const absl::Status& status);

// Finds the declaration, refuses it when `check` finds errors, and opens the tables.
struct OpenSeries {
  series::SeriesSchema schema;
  std::unique_ptr<TableAccess> tables;
  std::optional<series::KnownSeries> open;  // a series that nobody declared; `schema` has its labels as tags
};
absl::StatusOr<OpenSeries> OpenAnySeries(const std::string& file, const AccessFlags& access,
                                         DataDir data_dir = DataDir::kIsThere);
// FAILED_PRECONDITION: nobody declared it.
absl::StatusOr<OpenSeries> OpenDeclaredSeries(const std::string& file, const AccessFlags& access,
                                              DataDir data_dir = DataDir::kIsThere);

}  // namespace sonde
