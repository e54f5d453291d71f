package sonde.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.INSTANCE;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.instanceAdmin;
import static sonde.conformance.Fixture.newTable;
import static sonde.conformance.Fixture.refused;
import static sonde.conformance.Fixture.write;

import com.google.cloud.bigtable.admin.v2.models.CreateLogicalViewRequest;
import com.google.cloud.bigtable.admin.v2.models.CreateMaterializedViewRequest;
import com.google.cloud.bigtable.admin.v2.models.LogicalView;
import com.google.cloud.bigtable.admin.v2.models.MaterializedView;
import com.google.cloud.bigtable.admin.v2.models.UpdateLogicalViewRequest;
import com.google.cloud.bigtable.admin.v2.models.UpdateMaterializedViewRequest;
import com.google.cloud.bigtable.data.v2.models.MaterializedViewId;
import com.google.cloud.bigtable.data.v2.models.Query;
import com.google.cloud.bigtable.data.v2.models.Row;
import com.google.cloud.bigtable.data.v2.models.sql.ResultSet;
import com.google.protobuf.ByteString;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Logical and materialized views: as resources, in SQL, and by ReadRows. */
class ViewsTest {
  @Test
  void aViewIsMadeListedAlteredAndDeleted() {
    String id = "made";
    LogicalView made =
        instanceAdmin.createLogicalView(
            CreateLogicalViewRequest.of(INSTANCE, id).setQuery("SELECT 1 AS value").setDeletionProtection(false));
    assertEquals(id, made.getId());
    assertEquals(INSTANCE, made.getInstanceId());
    assertEquals("SELECT 1 AS value", made.getQuery());
    assertFalse(made.isDeletionProtected());
    assertEquals(made, instanceAdmin.getLogicalView(INSTANCE, id));
    assertTrue(instanceAdmin.listLogicalViews(INSTANCE).contains(made));
    refused(
        Code.ALREADY_EXISTS,
        () -> instanceAdmin.createLogicalView(CreateLogicalViewRequest.of(INSTANCE, id).setQuery("SELECT 2 AS x")));

    LogicalView altered =
        instanceAdmin.updateLogicalView(
            UpdateLogicalViewRequest.of(made).setQuery("SELECT 2 AS value").setDeletionProtection(true));
    assertEquals("SELECT 2 AS value", altered.getQuery());
    assertTrue(altered.isDeletionProtected());
    refused(Code.FAILED_PRECONDITION, () -> instanceAdmin.deleteLogicalView(INSTANCE, id));
    instanceAdmin.updateLogicalView(UpdateLogicalViewRequest.of(altered).setDeletionProtection(false));
    instanceAdmin.deleteLogicalView(INSTANCE, id);
    refused(Code.NOT_FOUND, () -> instanceAdmin.getLogicalView(INSTANCE, id));
  }

  @Test
  void aViewHasTheRowsOfItsQuery() {
    String table = newTable("f");
    write(table, "r", "f", "q", 1, "v");
    String query = "SELECT _key, f['q'] AS  `q`\nFROM " + table;
    LogicalView made =
        instanceAdmin.createLogicalView(CreateLogicalViewRequest.of(INSTANCE, "rows").setQuery(query));
    assertEquals(query, made.getQuery());
    try (ResultSet rows =
        data.executeQuery(
            data.prepareStatement("SELECT q FROM `rows` WHERE _key = 'r'", new HashMap<>()).bind().build())) {
      assertTrue(rows.next());
      assertEquals(ByteString.copyFromUtf8("v"), rows.getBytes("q"));
      assertFalse(rows.next());
    }
    instanceAdmin.deleteLogicalView(INSTANCE, "rows");
  }

  @Test
  void aMaterializedViewIsMadeListedAlteredAndDeleted() {
    String table = newTable("f");
    String id = "kept";
    String query = "SELECT _key, COUNT(f['q']) AS `result.count`\nFROM " + table + " GROUP BY _key";
    MaterializedView made =
        instanceAdmin.createMaterializedView(
            CreateMaterializedViewRequest.of(INSTANCE, id).setQuery(query).setDeletionProtection(false));
    assertEquals(id, made.getId());
    assertEquals(INSTANCE, made.getInstanceId());
    assertEquals(query, made.getQuery());
    assertFalse(made.isDeletionProtected());
    assertEquals(made, instanceAdmin.getMaterializedView(INSTANCE, id));
    assertTrue(instanceAdmin.listMaterializedViews(INSTANCE).contains(made));
    refused(
        Code.ALREADY_EXISTS,
        () -> instanceAdmin.createMaterializedView(CreateMaterializedViewRequest.of(INSTANCE, id).setQuery(query)));

    MaterializedView altered =
        instanceAdmin.updateMaterializedView(UpdateMaterializedViewRequest.of(made).setDeletionProtection(true));
    assertTrue(altered.isDeletionProtected());
    assertEquals(query, altered.getQuery());
    refused(Code.FAILED_PRECONDITION, () -> instanceAdmin.deleteMaterializedView(INSTANCE, id));
    instanceAdmin.updateMaterializedView(UpdateMaterializedViewRequest.of(altered).setDeletionProtection(false));
    instanceAdmin.deleteMaterializedView(INSTANCE, id);
    refused(Code.NOT_FOUND, () -> instanceAdmin.getMaterializedView(INSTANCE, id));
  }

  /** It has the rows of its table as soon as the client says that it is made. */
  @Test
  void aMaterializedViewIsReadAsATable() {
    String table = newTable("f");
    write(table, "r", "f", "q", 1, "v");
    write(table, "s", "f", "other", 1, "v");
    String query = "SELECT _key, COUNT(f['q']) AS `result.count` FROM " + table + " GROUP BY _key";
    instanceAdmin.createMaterializedView(CreateMaterializedViewRequest.of(INSTANCE, "read").setQuery(query));
    List<String> counts = new ArrayList<>();
    for (Row row : data.readRows(Query.create(MaterializedViewId.of("read")))) {
      ByteString count = row.getCells("result", "count").get(0).getValue();
      counts.add(row.getKey().toStringUtf8() + "=" + count.asReadOnlyByteBuffer().getLong());
      assertEquals(1, row.getCells("default", "").size());
    }
    assertEquals(List.of("r=1", "s=0"), counts);
    assertFalse(data.sampleRowKeys(MaterializedViewId.of("read")).isEmpty());
    instanceAdmin.deleteMaterializedView(INSTANCE, "read");
  }
}
