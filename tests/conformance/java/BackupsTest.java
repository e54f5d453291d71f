package sonde.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.INSTANCE;
import static sonde.conformance.Fixture.admin;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.newTable;
import static sonde.conformance.Fixture.refused;
import static sonde.conformance.Fixture.write;

import com.google.cloud.bigtable.admin.v2.models.Backup;
import com.google.cloud.bigtable.admin.v2.models.CopyBackupRequest;
import com.google.cloud.bigtable.admin.v2.models.CreateBackupRequest;
import com.google.cloud.bigtable.admin.v2.models.OptimizeRestoredTableOperationToken;
import com.google.cloud.bigtable.admin.v2.models.RestoreTableRequest;
import com.google.cloud.bigtable.admin.v2.models.RestoredTableResult;
import com.google.cloud.bigtable.admin.v2.models.UpdateBackupRequest;
import com.google.cloud.bigtable.data.v2.models.Query;
import com.google.cloud.bigtable.data.v2.models.Row;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.threeten.bp.Duration;
import org.threeten.bp.Instant;
import org.threeten.bp.temporal.ChronoUnit;

/** Backups: made, copied, altered, restored, optimized, deleted, as the client's own system tests use them. */
class BackupsTest {
  private static final String CLUSTER = "c1";

  private static Instant inHours(int hours) {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).plus(Duration.ofHours(hours));
  }

  private static List<Row> rowsOf(String table) {
    List<Row> rows = new ArrayList<>();
    data.readRows(Query.create(table)).forEach(rows::add);
    return rows;
  }

  private static String writtenTable() {
    String table = newTable("f");
    for (int i = 0; i < 50; i++) {
      write(table, "row-" + i, "f", "q", 1_000L * i, "value " + i);
    }
    return table;
  }

  @Test
  void aBackupIsMadeAlteredRestoredAndDeleted() throws Exception {
    String table = writtenTable();
    List<Row> before = rowsOf(table);
    Instant expires = inHours(8);
    Backup made = admin.createBackup(CreateBackupRequest.of(CLUSTER, "made").setSourceTableId(table).setExpireTime(expires));
    assertEquals("made", made.getId());
    assertEquals(table, made.getSourceTableId());
    assertEquals(Backup.State.READY, made.getState());
    assertEquals(expires, made.getExpireTime());
    assertFalse(made.getStartTime().toEpochMilli() > made.getEndTime().toEpochMilli());
    assertEquals(made.getId(), admin.getBackup(CLUSTER, "made").getId());
    assertTrue(admin.listBackups(CLUSTER).contains("made"));
    refused(
        Code.ALREADY_EXISTS,
        () -> admin.createBackup(CreateBackupRequest.of(CLUSTER, "made").setSourceTableId(table).setExpireTime(expires)));

    Instant later = inHours(30);
    admin.updateBackup(UpdateBackupRequest.of(CLUSTER, "made").setExpireTime(later));
    assertEquals(later, admin.getBackup(CLUSTER, "made").getExpireTime());

    admin.dropAllRows(table);
    write(table, "later", "f", "q", 1_000L, "x");
    String copy = table + "-restored";
    RestoredTableResult restored = admin.restoreTable(RestoreTableRequest.of(CLUSTER, "made").setTableId(copy));
    assertEquals(copy, restored.getTable().getId());
    OptimizeRestoredTableOperationToken token = restored.getOptimizeRestoredTableOperationToken();
    if (token != null) {
      admin.awaitOptimizeRestoredTable(token);
    }
    assertEquals(before, rowsOf(copy));
    assertEquals(1, rowsOf(table).size());

    admin.deleteBackup(CLUSTER, "made");
    refused(Code.NOT_FOUND, () -> admin.getBackup(CLUSTER, "made"));
    assertEquals(before, rowsOf(copy));
  }

  @Test
  void aCopyIsABackupOfItsOwn() {
    String table = writtenTable();
    List<Row> before = rowsOf(table);
    admin.createBackup(CreateBackupRequest.of(CLUSTER, "source").setSourceTableId(table).setExpireTime(inHours(30)));
    Instant expires = inHours(24);
    Backup copy =
        admin.copyBackup(
            CopyBackupRequest.of(CLUSTER, "source").setDestination("c2", "copied").setExpireTime(expires));
    assertEquals("copied", copy.getId());
    assertNotNull(copy.getSourceBackupId());
    assertEquals("source", copy.getSourceBackupId());
    assertEquals(expires, copy.getExpireTime());
    assertTrue(admin.listBackups("c2").contains("copied"));
    assertFalse(admin.listBackups(CLUSTER).contains("copied"));
    admin.deleteBackup(CLUSTER, "source");
    admin.deleteTable(table);
    assertRestored(table + "-again", before);
    admin.deleteBackup("c2", "copied");
  }

  private static void assertRestored(String table, List<Row> rows) {
    try {
      admin.restoreTable(RestoreTableRequest.of("c2", "copied").setTableId(table));
    } catch (Exception e) {
      throw new AssertionError(INSTANCE, e);
    }
    assertEquals(rows, rowsOf(table));
  }

  @Test
  void whatCannotBeIsRefused() {
    String table = writtenTable();
    refused(
        Code.INVALID_ARGUMENT,
        () -> admin.createBackup(CreateBackupRequest.of(CLUSTER, "soon").setSourceTableId(table).setExpireTime(inHours(1))));
    refused(
        Code.NOT_FOUND,
        () -> admin.createBackup(CreateBackupRequest.of(CLUSTER, "none").setSourceTableId("none").setExpireTime(inHours(8))));
    refused(Code.NOT_FOUND, () -> admin.restoreTable(RestoreTableRequest.of(CLUSTER, "none").setTableId("t")));
  }
}
