package sonde.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.api.gax.core.CredentialsProvider;
import com.google.api.gax.core.FixedCredentialsProvider;
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.api.gax.rpc.ApiException;
import com.google.auth.oauth2.ServiceAccountCredentials;
import com.google.cloud.bigtable.admin.v2.BigtableInstanceAdminClient;
import com.google.cloud.bigtable.admin.v2.BigtableInstanceAdminSettings;
import com.google.cloud.bigtable.admin.v2.BigtableTableAdminClient;
import com.google.cloud.bigtable.admin.v2.BigtableTableAdminSettings;
import com.google.cloud.bigtable.admin.v2.models.CreateTableRequest;
import com.google.cloud.bigtable.data.v2.BigtableDataClient;
import com.google.cloud.bigtable.data.v2.BigtableDataSettings;
import com.google.cloud.bigtable.data.v2.models.Filters.Filter;
import com.google.cloud.bigtable.data.v2.models.Query;
import com.google.cloud.bigtable.data.v2.models.Row;
import com.google.cloud.bigtable.data.v2.models.RowCell;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import com.google.cloud.bigtable.data.v2.stub.metrics.NoopMetricsProvider;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.function.Executable;

/**
 * The official Java client on the server that BIGTABLE_EMULATOR_HOST names, or by TLS on that of SONDE_ADDRESS.  All tests share one instance, which needs
 * no creation, and its two clients; a test has tables of its own.
 */
final class Fixture {
  static final String PROJECT = "conformance";

  /** The account that speaks TLS and shows no key. */
  static final String KEYLESS = "keyless";

  static final String INSTANCE = "java-" + System.nanoTime();
  static final BigtableTableAdminClient admin = adminClient(INSTANCE);
  static final BigtableInstanceAdminClient instanceAdmin = instanceAdminClient();
  static final BigtableDataClient data = dataClient();

  private static final AtomicInteger tableCount = new AtomicInteger();

  private Fixture() {}

  static BigtableTableAdminClient adminClient(String instance) {
    return adminClient(instance, "admin");
  }

  /** {@code account}: of a key in SONDE_SECURE; towards a server without authentication nobody shows one. */
  static BigtableTableAdminClient adminClient(String instance, String account) {
    try {
      BigtableTableAdminSettings.Builder settings =
          isSecure()
              ? BigtableTableAdminSettings.newBuilder()
              : BigtableTableAdminSettings.newBuilderForEmulator(host(), port());
      settings.setProjectId(PROJECT).setInstanceId(instance);
      if (isSecure()) {
        settings.setCredentialsProvider(keyOf(account));
        settings.stubSettings().setEndpoint("localhost:" + port());
      }
      return BigtableTableAdminClient.create(settings.build());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static BigtableInstanceAdminClient instanceAdminClient() {
    try {
      BigtableInstanceAdminSettings.Builder settings =
          isSecure()
              ? BigtableInstanceAdminSettings.newBuilder()
              : BigtableInstanceAdminSettings.newBuilderForEmulator(host(), port());
      settings.setProjectId(PROJECT);
      if (isSecure()) {
        settings.setCredentialsProvider(keyOf("admin"));
        settings.stubSettings().setEndpoint("localhost:" + port());
      }
      return BigtableInstanceAdminClient.create(settings.build());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static BigtableDataClient dataClient() {
    return dataClient("admin");
  }

  static BigtableDataClient dataClient(String account) {
    try {
      BigtableDataSettings.Builder settings =
          isSecure()
              ? BigtableDataSettings.newBuilder()
              : BigtableDataSettings.newBuilderForEmulator(host(), port());
      settings.setProjectId(PROJECT).setInstanceId(INSTANCE);
      if (isSecure()) {
        settings.setCredentialsProvider(keyOf(account)).setMetricsProvider(NoopMetricsProvider.INSTANCE);
        settings.stubSettings().setEndpoint("localhost:" + port());
      }
      return BigtableDataClient.create(settings.build());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether the clients go by TLS to SONDE_ADDRESS, with the keys in SONDE_SECURE; the trust store is the machine's. */
  static boolean isSecure() {
    return System.getenv("SONDE_SECURE") != null;
  }

  /** The client signs its tokens itself, with a scope, and asks nobody for one. */
  private static CredentialsProvider keyOf(String account) throws IOException {
    if (account.equals(KEYLESS)) {
      return NoCredentialsProvider.create();
    }
    Path key = Path.of(System.getenv("SONDE_SECURE"), account + "-key.json");
    try (InputStream in = Files.newInputStream(key)) {
      return FixedCredentialsProvider.create(
          ServiceAccountCredentials.fromStream(in)
              .createWithUseJwtAccessWithScope(true)
              .createScoped("https://www.googleapis.com/auth/cloud-platform"));
    }
  }

  private static String address() {
    String address = System.getenv(isSecure() ? "SONDE_ADDRESS" : "BIGTABLE_EMULATOR_HOST");
    if (address == null) {
      throw new IllegalStateException(
          "BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run java SONDE");
    }
    return address;
  }

  private static String host() {
    return address().substring(0, address().lastIndexOf(':'));
  }

  private static int port() {
    return Integer.parseInt(address().substring(address().lastIndexOf(':') + 1));
  }

  static String newTableId() {
    return "t" + tableCount.incrementAndGet();
  }

  /** A table of these families, which keep everything. */
  static String newTable(String... families) {
    CreateTableRequest request = CreateTableRequest.of(newTableId());
    for (String family : families) {
      request.addFamily(family);
    }
    return admin.createTable(request).getId();
  }

  static String tableName(String table) {
    return "projects/" + PROJECT + "/instances/" + INSTANCE + "/tables/" + table;
  }

  static void write(String table, String row, String family, String qualifier, long ms, String value) {
    data.mutateRow(RowMutation.create(table, row).setCell(family, qualifier, ms * 1000, value));
  }

  /** One text a cell: row family:qualifier @ms value [labels]. */
  static List<String> render(Iterable<Row> rows) {
    List<String> lines = new ArrayList<>();
    for (Row row : rows) {
      for (RowCell cell : row.getCells()) {
        lines.add(
            String.format(
                "%s %s:%s @%d %s%s",
                row.getKey().toStringUtf8(),
                cell.getFamily(),
                cell.getQualifier().toStringUtf8(),
                cell.getTimestamp() / 1000,
                cell.getValue().toStringUtf8(),
                cell.getLabels().isEmpty() ? "" : " " + cell.getLabels()));
      }
    }
    return lines;
  }

  static List<String> read(Query query) {
    return render(data.readRows(query));
  }

  static List<String> read(String table) {
    return read(Query.create(table));
  }

  static List<String> read(String table, Filter filter) {
    return read(Query.create(table).filter(filter));
  }

  static List<String> keys(Query query) {
    List<String> keys = new ArrayList<>();
    for (Row row : data.readRows(query)) {
      keys.add(row.getKey().toStringUtf8());
    }
    return keys;
  }

  static List<String> keys(String table) {
    return keys(Query.create(table));
  }

  /** The code of a refusal, and its whole message. */
  static void refused(Status.Code code, String text, Executable call) {
    assertEquals(text, refused(code, call));
  }

  static void refusedWith(Status.Code code, String part, Executable call) {
    String text = refused(code, call);
    assertTrue(text.contains(part), "'" + text + "' does not hold '" + part + "'");
  }

  static String refused(Status.Code code, Executable call) {
    Status status = Status.fromThrowable(assertThrows(ApiException.class, call));
    assertEquals(code, status.getCode(), status.toString());
    return status.getDescription();
  }

  static String unknownFamily(String table, String row) {
    return String.format(
        "Error while mutating the row '%s' (%s) : Requested column family not found.", row, tableName(table));
  }
}
