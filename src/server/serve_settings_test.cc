#include "server/serve_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

namespace sonde {
namespace {

std::string Load(const std::string& text, ServeSettings* settings) {
  // Tests run beside each other, each in a process of its own.
  const std::string file = testing::TempDir() + "/sonde_serve_settings_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(file) << text;
  const absl::Status status = LoadServeSettings(file, settings);
  std::remove(file.c_str());
  std::string message(status.message());
  if (const size_t at = message.find(file); at != std::string::npos) message.replace(at, file.size(), "FILE");
  return message;
}

TEST(ServeSettings, AFileSetsWhatItNames) {
  ServeSettings settings;
  EXPECT_EQ(Load("port: 9000\nmemory: 256MiB\ndurability: os\nsql_dialect: production\nclusters: refuse\n",
                 &settings),
            "");
  EXPECT_EQ(settings.port, 9000);
  EXPECT_EQ(settings.memory_bytes, 256u << 20);
  EXPECT_EQ(settings.durability, "os");
  EXPECT_EQ(settings.sql_dialect, "production");
  EXPECT_EQ(settings.clusters, "refuse");
  EXPECT_EQ(settings.host, "127.0.0.1");
  EXPECT_EQ(settings.data_dir, std::nullopt);
  EXPECT_FALSE(settings.temporary);
  EXPECT_EQ(Load("data_dir: d\ntemporary: true\n", &settings), "");
  EXPECT_EQ(settings.data_dir, "d");
  EXPECT_TRUE(settings.temporary);
}

TEST(ServeSettings, ErrorsNameFileAndLine) {
  ServeSettings settings;
  EXPECT_THAT(Load("port: 1\nprot: 2\n", &settings),
              testing::StartsWith("FILE:2: unknown key 'prot'; known are host"));
  EXPECT_EQ(Load("port: many\n", &settings), "FILE:1: 'port' has a value of the wrong kind");
  EXPECT_THAT(Load("memory: lots\n", &settings), testing::StartsWith("FILE:1: 'lots' is no number of bytes"));
  EXPECT_THAT(Load("a: b: c\n", &settings), testing::StartsWith("FILE:1: "));
}

TEST(ServeSettings, RefusesWhatIsOutOfBounds) {
  const auto message = [](ServeSettings settings) {
    return std::string(CheckServeSettings(settings).message());
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.port = 65536}), "--port must be from 0 to 65535, but is 65536");
  EXPECT_EQ(message({.http_port = -1}), "--http-port must be from 0 to 65535, but is -1");
  EXPECT_EQ(message({.http_port = 0, .no_http = true}), "--http-port and --no-http do not go together");
  EXPECT_EQ(message({.sql_dialect = "production"}), "");
  EXPECT_EQ(message({.sql_dialect = "ansi"}), "--sql-dialect must be extended or production, but is 'ansi'");
  EXPECT_EQ(message({.clusters = "refuse"}), "");
  EXPECT_EQ(message({.clusters = "copies"}), "--clusters must be names or refuse, but is 'copies'");
  EXPECT_EQ(message({.undelete_days = 0}), "");
  EXPECT_EQ(message({.undelete_days = -1}), "--undelete-days must be from 0 (off) to 3650, but is -1");
  EXPECT_EQ(message({.undelete_days = 3'651}), "--undelete-days must be from 0 (off) to 3650, but is 3651");
  EXPECT_EQ(message({.durability = "maybe"}), "--durability must be fsync or os, but is 'maybe'");
  EXPECT_THAT(message({.host = "0.0.0.0"}), testing::HasSubstr("--insecure-allow-remote"));
  EXPECT_EQ(message({.host = "0.0.0.0", .insecure_allow_remote = true}), "");
  EXPECT_EQ(message({.writes_per_second = -1}),
            "--writes-per-second must be from 0 (no quota) to 1000000000, but is -1");
  EXPECT_EQ(message({.log_format = "xml"}), "--log-format must be logfmt or json, but is 'xml'");
  EXPECT_EQ(message({.slow_ms = -1}), "--slow-ms must be from 0 to 3600000, but is -1");
  EXPECT_EQ(message({.auth = "a", .audit = "required", .audit_data = "all"}), "");
  EXPECT_EQ(message({.auth = "a", .audit = "maybe"}), "--audit must be usual or required, but is 'maybe'");
  EXPECT_EQ(message({.auth = "a", .audit_data = "rows"}),
            "--audit-data must be one of none, reads, writes, all, but is 'rows'");
  EXPECT_THAT(message({.audit = "required"}), testing::HasSubstr("need an authentication file (--auth)"));
  EXPECT_THAT(message({.audit_data = "reads"}), testing::HasSubstr("need an authentication file (--auth)"));
  EXPECT_EQ(message({.log_file = ""}), "--log-file must not be empty");
  EXPECT_EQ(message({.drain_delay = absl::Hours(1)}), "--drain-delay must be from 0 to 10m, but is 1h");
  EXPECT_EQ(message({.grace = absl::Seconds(-1)}), "--grace must be from 0 to 1h, but is -1s");
  EXPECT_EQ(message({.data_dir = ""}), "--data-dir must not be empty");
  EXPECT_THAT(message({.memory_bytes = 1}), testing::HasSubstr("--memory must be at least"));
}

TEST(ServeSettings, ParsesBytes) {
  uint64_t bytes = 0;
  EXPECT_TRUE(ParseBytes("10", &bytes).ok());
  EXPECT_EQ(bytes, 10u);
  EXPECT_TRUE(ParseBytes("2g", &bytes).ok());
  EXPECT_EQ(bytes, uint64_t{2} << 30);
  for (const char* bad : {"", "-1", "1x", "1mb2", "99999999999t"})
    EXPECT_FALSE(ParseBytes(bad, &bytes).ok()) << bad;
}

TEST(ServeSettings, TheEnvironmentSetsWhatItNames) {
  const std::map<std::string, std::string> environment = {{"SONDE_PORT", "9001"},
                                                          {"SONDE_NO_HTTP", "true"},
                                                          {"SONDE_MEMORY", "128MiB"},
                                                          {"SONDE_TLS", "no section"}};
  const auto read = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  ServeSettings settings;
  SettingOrigins origins = {{"port", "FILE:1"}};
  ASSERT_TRUE(LoadEnvironment(read, &settings, &origins).ok());
  EXPECT_EQ(settings, (ServeSettings{.port = 9001, .no_http = true, .memory_bytes = 128 << 20}));
  EXPECT_EQ(origins, (SettingOrigins{
                         {"port", "SONDE_PORT"}, {"no_http", "SONDE_NO_HTTP"}, {"memory", "SONDE_MEMORY"}}));
  const auto wrong = [](const char* name) { return name == std::string("SONDE_PORT") ? "many" : nullptr; };
  EXPECT_EQ(LoadEnvironment(wrong, &settings).message(), "SONDE_PORT: 'many' is a value of the wrong kind");
}

TEST(ServeSettings, TheListHasEachSettingWithItsValue) {
  ServeSettings settings;
  ASSERT_EQ(
      Load(
          "host: h\nport: 1\nhttp_port: 2\nno_http: true\nno_keyviz: true\ndata_dir: d\n"
          "temporary: true\nstore: s\nstore_tls_ca: m\nstore_tls_certificate: n\nstore_tls_key: o\n"
          "store_tls_server_name: r\nmemory: 1GiB\ndurability: os\nlog_level: warn\nlog_format: json\n"
          "log_file: l\nslow_ms: 7\ndrain_delay: 5s\ngrace: 1m\ninsecure_allow_remote: true\n"
          "declared_series_only: true\npromql_experimental: true\nreads_per_second: 3\nwrites_per_second: 4\n"
          "sql_dialect: production\nclusters: refuse\nstrict_instances: true\nundelete_days: 9\n"
          "pitr_tables: t*\npitr_keep: 2h\nplain_tables: p\npacked_tables: q\nauth: "
          "a\naudit_log: b\naudit: required\naudit_data: all\nallow_root: true\n"
          "tls: {certificate: c, key: k, client_ca: e, require_client_certificate: true}\n",
          &settings),
      "");
  std::string text;
  for (const SettingLine& line : ListSettings(settings)) text += line.key + "=" + line.value + " ";
  EXPECT_EQ(
      text,
      "host=h port=1 http_port=2 no_http=true no_keyviz=true data_dir=d temporary=true "
      "store=s store_tls_ca=m store_tls_certificate=n store_tls_key=o store_tls_server_name=r "
      "memory=1073741824 durability=os log_level=warn log_format=json log_file=l slow_ms=7 "
      "drain_delay=5s "
      "grace=1m insecure_allow_remote=true declared_series_only=true promql_experimental=true "
      "reads_per_second=3 "
      "writes_per_second=4 sql_dialect=production clusters=refuse strict_instances=true undelete_days=9 "
      "pitr_tables=t* pitr_keep=2h plain_tables=p packed_tables=q "
      "auth=a audit_log=b audit=required audit_data=all allow_root=true "
      "tls.certificate=c tls.key=k tls.client_ca=e tls.require_client_certificate=true ");
}

TEST(ServeSettings, AFileTellsTheLineOfEachSetting) {
  const std::string file =
      testing::TempDir() + "/sonde_setting_origins_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(file) << "# a comment\nport: 1\n\ngrace: 2s\n";
  ServeSettings settings;
  SettingOrigins origins;
  ASSERT_TRUE(LoadServeSettings(file, &settings, &origins).ok());
  std::remove(file.c_str());
  EXPECT_EQ(origins, (SettingOrigins{{"port", file + ":2"}, {"grace", file + ":4"}}));
}

TEST(ServeSettings, ParsesTimes) {
  ServeSettings settings;
  EXPECT_EQ(Load("drain_delay: 1.5s\ngrace: 2m\n", &settings), "");
  EXPECT_EQ(settings.drain_delay, absl::Milliseconds(1500));
  EXPECT_EQ(settings.grace, absl::Minutes(2));
  EXPECT_EQ(Load("grace: 30\n", &settings), "FILE:1: '30' is no time: write for example 30s, 500ms or 2m");
}

TEST(ServeSettings, HowCellsAreKeptIsAChoiceOfAStoreInACluster) {
  ServeSettings settings;
  ASSERT_EQ(Load("data_dir: d\npacked_tables: 'bench*'\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings).message(),
            "--plain-tables and --packed-tables need --store: a data directory has one way to keep cells");
  ASSERT_EQ(Load("store: hbase://example.org/sonde\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings), absl::OkStatus());
}

TEST(ServeSettings, AStoreInAClusterIsChecked) {
  ServeSettings settings;
  ASSERT_EQ(Load("store: hbase://example.org:16000/sonde\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings), absl::OkStatus());
  ASSERT_EQ(Load("pitr_tables: '*'\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings).message(),
            "--pitr-tables needs a store in the data directory: journals are not built for --store");
  ASSERT_EQ(Load("store: example.org\n", &settings), "");
  EXPECT_EQ(
      CheckServeSettings(settings).message(),
      "--store: The store's address 'example.org' is not hbase://HOST[:PORT]/NAMESPACE: it does not begin "
      "with hbase://");
}

TEST(ServeSettings, TlsToAStoreIsChecked) {
  ServeSettings settings;
  ASSERT_EQ(Load("store_tls_ca: ca.pem\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings).message(),
            "--store-tls-ca needs --store: it is for the way to an HBase cluster");
  ASSERT_EQ(Load("store: hbase://example.org/sonde\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings), absl::OkStatus());
  ASSERT_EQ(Load("store_tls_certificate: c.pem\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings).message(),
            "--store-tls-certificate and --store-tls-key go together: a certificate is shown with its key");
  ASSERT_EQ(Load("store_tls_key: c.key\nstore_tls_server_name: hbase\n", &settings), "");
  EXPECT_EQ(CheckServeSettings(settings), absl::OkStatus());
  EXPECT_EQ(settings.store_tls, (tls::ClientFiles{.ca = "ca.pem", .certificate = "c.pem", .key = "c.key"}));
  EXPECT_EQ(settings.store_tls_server_name, "hbase");
}

TEST(ServeSettings, TakesTheEmulatorsForm) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(AcceptEmulatorForm({"-host", "[127.0.0.1]", "-port", "9000"}),
            (Words{"serve", "--temporary", "--host", "127.0.0.1", "--port", "9000"}));
  EXPECT_EQ(AcceptEmulatorForm({"serve", "-host=[127.0.0.1]", "-port=0"}),
            (Words{"serve", "--host=127.0.0.1", "--port=0"}));
  EXPECT_EQ(AcceptEmulatorForm({"serve", "--host", "[::1]"}), (Words{"serve", "--host", "[::1]"}));
  EXPECT_EQ(AcceptEmulatorForm({"version"}), (Words{"version"}));
}

}  // namespace
}  // namespace sonde
