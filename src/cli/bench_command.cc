// `sonde bench`: the workloads of src/bench on the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/report.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/sql_session.h"

namespace sonde {
namespace {

constexpr char kBenchExamples[] =
    "Examples:\n"
    "  sonde serve --data-dir /tmp/bench --durability fsync &\n"
    "  sonde bench all --data-dir /tmp/bench --durability fsync --cells 10000000\n"
    "  sonde bench ingest --clients 2 --rows-per-request 100 --cells-per-row 10 --seconds 10 --json\n"
    "  sonde bench point-read --endpoint 127.0.0.1:8086 --requests 200000 --in-flight 16\n"
    "  sonde bench ingest --data devops --hosts 100 --schema tall\n"
    "  sonde bench point-read --endpoint 127.0.0.1:8086 --ca-file ca.pem --key-file key.json\n"
    "  sonde bench large-row --row-bytes 104857600 --requests 500\n\n"
    "Data is generated from --seed. Run a read workload with the same flags as the ingest before it.\n"
    "bench/run measures servers of its own and writes bench/RESULTS.md: these workloads, and what takes "
    "more\n"
    "than a server that runs: settle, bytes-per-cell, many-series, engine, inside (bench/run --help).";

// The default of large-values: the largest value that there may be, two a row.
constexpr int kLargeValueBytes = 100 << 20;

struct Flags {
  bench::Options options;
  std::string data = "cpu";
  bool no_build = false;
  std::string schema = "bucket";
  int cells_per_row = 0;
  std::vector<std::string> parameters;
  int in_flight = 0;
  double seconds = 0;
  bool json = false;
};

void AddFlags(CLI::App& command, Flags* flags) {
  bench::Options& options = flags->options;
  command.add_option("--endpoint", options.endpoint, "HOST:PORT of the server; by TLS unless it is loopback")
      ->capture_default_str();
  command.add_option("--ca-file", options.ca_file, "PEM: the CA of the server's certificate; means TLS");
  command.add_option("--key-file", options.key_file, "the key of an account, which is shown to the server");
  command.add_option("--project", options.project, "project of the table")->capture_default_str();
  command.add_option("--instance", options.instance, "instance of the table")->capture_default_str();
  command.add_option("--table", options.table,
                     "table; made when it is not there (bench_tall or bench_bucket)");
  command
      .add_option("--data", flags->data,
                  "cpu: TSBS's cpu-only; devops: 101 fields in 9 groups; iot: readings are missing and late; "
                  "machines: 100 "
                  "metrics every 5 s; meters: 96 readings a day; market: trades, most of them of few tickers")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(bench::kDataKindNames), std::end(bench::kDataKindNames))))
      ->capture_default_str();
  command
      .add_option("--schema", flags->schema,
                  "tall: a row per entity, group and time; bucket: a row per entity, group and hour (meters: "
                  "day), to "
                  "which steps add cells")
      ->check(CLI::IsMember({"tall", "bucket"}))
      ->capture_default_str();
  command.add_option("--hosts", options.shape.hosts, "entities that report: hosts, meters, ...")
      ->capture_default_str();
  command
      .add_option("--cells-per-row", flags->cells_per_row,
                  "With cpu: metrics of a host, which are the cells of a step")
      ->default_str("10, of point-write 1");
  command.add_option("--seed", options.shape.seed, "Seed of the generated data")->capture_default_str();
  command.add_option("--clients,--threads", options.clients, "threads, each with a connection of its own")
      ->capture_default_str();
  command
      .add_option("--in-flight", flags->in_flight,
                  "requests under way at a time, for each client; scan has one")
      ->default_str(fmt::format("{} of ingest, {} of points", bench::kIngestInFlight, bench::kPointInFlight));
  command
      .add_option("--rows-per-request", options.rows_per_request,
                  "With ingest: readings in a request; with lines: lines")
      ->capture_default_str();
  command
      .add_option("--cells", options.cells,
                  "With ingest: cells to write, rounded up to whole steps of all hosts")
      ->capture_default_str();
  command
      .add_option("--requests", options.requests,
                  "Requests of all clients together, for workloads other than ingest and scan")
      ->capture_default_str();
  command.add_option(
      "--rate", options.rate,
      "Requests a second of all clients together, evenly, for workloads other than ingest and scan; "
      "without it as many as can be");
  command
      .add_option("--range-seconds", options.range_seconds,
                  "With range: seconds of data that a request asks for")
      ->capture_default_str();
  command
      .add_option("--row-bytes", options.large_row.bytes,
                  "With large-row: bytes of the row that is built, qualifiers and times included; with "
                  "large-values: of "
                  "a row [two values]")
      ->capture_default_str();
  command
      .add_option("--row-columns", options.large_row.columns, "With large-row: columns that share its cells")
      ->capture_default_str();
  command
      .add_option("--value-bytes", options.large_row.value_bytes,
                  "With large-row: bytes of a value; with large-values, too [100 MiB]")
      ->capture_default_str();
  command.add_flag("--no-build", flags->no_build, "With large-row: the row is there already");
  command.add_flag("--big-endian", options.shape.big_endian,
                   "With cpu: values are INT64 in eight bytes, not text");
  command.add_option("--query", options.question.text, "With sql and workloads like it: the statement");
  command.add_option("--param", flags->parameters,
                     "With sql: NAME=VALUE or NAME:TYPE=VALUE (sonde sql --help)");
  command.add_option("--blob-bytes", options.blob_bytes, "With json-blobs: bytes of a text")
      ->capture_default_str();
  command.add_option("--http-endpoint", options.http_endpoint, "With lines: HOST:PORT of the server")
      ->capture_default_str();
  command.add_option("--seconds", flags->seconds, "ends by the clock, instead of --cells and --requests");
  command.add_option("--data-dir", options.data_dir,
                     "the server's data directory, to measure its files; else SampleRowKeys is asked");
  command
      .add_option("--durability", options.durability,
                  "Durability that the server was started with; it is only printed")
      ->capture_default_str();
  command.add_flag("--json", flags->json, "print the result as JSON");
}

void RunBench(const CLI::App& command, Flags flags, int* exit_status) {
  const std::string name = command.get_name();
  bench::Options& options = flags.options;
  options.shape.kind = bench::DataKindOf(flags.data).value();
  options.large_row.build = !flags.no_build;
  options.shape.schema = flags.schema == "tall" ? bench::Schema::kTall : bench::Schema::kBucket;
  if (command.count("--cells-per-row") > 0) {
    (name == "point-write" ? options.point_write_cells : options.shape.cells_per_row) = flags.cells_per_row;
  }
  if (name == "large-values") {
    if (command.count("--value-bytes") == 0) options.large_row.value_bytes = kLargeValueBytes;
    if (command.count("--row-bytes") == 0) options.large_row.bytes = int64_t{2} * kLargeValueBytes;
  }
  if (command.count("--in-flight") > 0) options.in_flight = flags.in_flight;
  if (command.count("--seconds") > 0) options.seconds = flags.seconds;
  for (const std::string& text : flags.parameters) {
    auto parameter = ParseSqlParameter(text);
    if (!parameter.ok()) {
      *exit_status = EndOfCommand(fmt::format("sonde bench {}", name), parameter.status());
      return;
    }
    options.question.parameters.push_back(*std::move(parameter));
  }
  const auto results = bench::RunWorkloads(name, options);
  if (!results.ok()) {
    *exit_status = EndOfCommand(fmt::format("sonde bench {}", name), results.status());
    return;
  }
  const bench::Machine machine = bench::DescribeMachine();
  fmt::print("{}", flags.json ? bench::JsonReport(machine, options, *results)
                              : bench::TextReport(machine, options, *results));
}

}  // namespace

void AddBenchCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("bench", "Measure a Bigtable server through its API");
  command->require_subcommand(1);
  command->footer(kBenchExamples);
  for (const bench::Workload& workload : bench::Workloads()) {
    CLI::App* subcommand =
        command->add_subcommand(std::string(workload.name), std::string(workload.description));
    const auto flags = std::make_shared<Flags>();
    AddFlags(*subcommand, flags.get());
    subcommand->callback([subcommand, flags, exit_status] { RunBench(*subcommand, *flags, exit_status); });
  }
}

}  // namespace sonde
