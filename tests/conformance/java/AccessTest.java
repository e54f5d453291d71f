package sonde.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.cloud.bigtable.admin.v2.BigtableTableAdminClient;
import com.google.cloud.bigtable.admin.v2.models.CreateTableRequest;
import com.google.cloud.bigtable.admin.v2.models.ModifyColumnFamiliesRequest;
import com.google.cloud.bigtable.data.v2.BigtableDataClient;
import com.google.cloud.bigtable.data.v2.models.ConditionalRowMutation;
import com.google.cloud.bigtable.data.v2.models.Mutation;
import com.google.cloud.bigtable.data.v2.models.Query;
import com.google.cloud.bigtable.data.v2.models.ReadModifyWriteRow;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import io.grpc.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Accounts with few rights, by TLS and with keys that Sonde has issued, may do exactly what their roles have. */
final class AccessTest {
  private static String table;

  @BeforeAll
  static void makeTable() {
    assumeTrue(Fixture.isSecure(), "the server asks nobody who he is: run tests/conformance/run java-secure SONDE");
    table = Fixture.newTable("f");
    Fixture.write(table, "r", "f", "q", 1, "v");
  }

  @AfterAll
  static void nothingHasChanged() {
    if (table != null) {
      assertEquals(List.of("r f:q @1 v"), Fixture.read(table));
    }
  }

  /** The calls that no viewer may make, with the permission that each lacks first. */
  private static Map<String, List<Executable>> changes(BigtableTableAdminClient admin, BigtableDataClient data) {
    Map<String, List<Executable>> calls = new LinkedHashMap<>();
    calls.put(
        "tables.readRows", List.of(() -> Fixture.render(data.readRows(Query.create(table))), () -> data.readRow(table, "r")));
    calls.put("tables.sampleRowKeys", List.of(() -> data.sampleRowKeys(table)));
    calls.put(
        "tables.mutateRows",
        List.of(
            () -> data.mutateRow(RowMutation.create(table, "r").setCell("f", "q", 2000, "w")),
            () -> data.readModifyWriteRow(ReadModifyWriteRow.create(table, "r").append("f", "q", "w")),
            () ->
                data.checkAndMutateRow(
                    ConditionalRowMutation.create(table, "r").otherwise(Mutation.create().deleteRow())),
            () -> admin.dropAllRows(table)));
    calls.put("tables.update", List.of(() -> admin.modifyFamilies(ModifyColumnFamiliesRequest.of(table).addFamily("g"))));
    calls.put("tables.create", List.of(() -> admin.createTable(CreateTableRequest.of("other"))));
    calls.put("tables.delete", List.of(() -> admin.deleteTable(table)));
    calls.put("tables.getIamPolicy", List.of(() -> admin.getIamPolicy(table)));
    return calls;
  }

  private static void assertDenied(Map<String, List<Executable>> calls) {
    calls.forEach(
        (permission, some) ->
            some.forEach(
                call ->
                    Fixture.refused(
                        Status.Code.PERMISSION_DENIED,
                        "Access denied. Missing IAM permission: bigtable." + permission + ".",
                        call)));
  }

  @Test
  void aViewerSeesTablesAndNoRows() {
    try (BigtableTableAdminClient admin = Fixture.adminClient(Fixture.INSTANCE, "look");
        BigtableDataClient data = Fixture.dataClient("look")) {
      assertEquals(table, admin.getTable(table).getId());
      admin.listTables();
      assertDenied(changes(admin, data));
    }
  }

  @Test
  void aReaderReadsRowsAndChangesNothing() {
    try (BigtableTableAdminClient admin = Fixture.adminClient(Fixture.INSTANCE, "read");
        BigtableDataClient data = Fixture.dataClient("read")) {
      assertEquals(table, admin.getTable(table).getId());
      assertEquals("r", data.readRow(table, "r").getKey().toStringUtf8());
      data.sampleRowKeys(table);
      Map<String, List<Executable>> calls = changes(admin, data);
      calls.remove("tables.readRows");
      calls.remove("tables.sampleRowKeys");
      assertDenied(calls);
    }
  }

  @Test
  void withoutAKeyNobodyDoesAnything() {
    try (BigtableTableAdminClient admin = Fixture.adminClient(Fixture.INSTANCE, Fixture.KEYLESS);
        BigtableDataClient data = Fixture.dataClient(Fixture.KEYLESS)) {
      String text = "Request had invalid authentication credentials.";
      Fixture.refused(Status.Code.UNAUTHENTICATED, text, admin::listTables);
      changes(admin, data)
          .values()
          .forEach(some -> some.forEach(call -> Fixture.refused(Status.Code.UNAUTHENTICATED, text, call)));
    }
  }

  @Test
  void anAccountWithoutARoleSeesNothing() {
    try (BigtableTableAdminClient admin = Fixture.adminClient(Fixture.INSTANCE, "stranger");
        BigtableDataClient data = Fixture.dataClient("stranger")) {
      assertDenied(Map.of("tables.get", List.of(() -> admin.getTable(table), () -> admin.getTable("none"))));
      assertDenied(Map.of("tables.list", List.of(admin::listTables)));
      assertDenied(changes(admin, data));
    }
  }

  @Test
  void aKeyThatTheServerDoesNotKnowProvesNobody() {
    try (BigtableTableAdminClient admin = Fixture.adminClient(Fixture.INSTANCE, "nobody");
        BigtableDataClient data = Fixture.dataClient("nobody")) {
      String text = "Request had invalid authentication credentials.";
      Fixture.refused(Status.Code.UNAUTHENTICATED, text, () -> admin.getTable(table));
      Fixture.refused(Status.Code.UNAUTHENTICATED, text, () -> data.readRow(table, "r"));
    }
  }
}
