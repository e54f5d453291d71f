package sonde.conformance;

import static com.google.cloud.bigtable.admin.v2.models.GCRules.GCRULES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.admin;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.keys;
import static sonde.conformance.Fixture.newTable;
import static sonde.conformance.Fixture.newTableId;
import static sonde.conformance.Fixture.read;
import static sonde.conformance.Fixture.refused;
import static sonde.conformance.Fixture.refusedWith;
import static sonde.conformance.Fixture.write;

import com.google.cloud.bigtable.admin.v2.models.ColumnFamily;
import com.google.cloud.bigtable.admin.v2.models.CreateTableRequest;
import com.google.cloud.bigtable.admin.v2.models.GCRules.GCRule;
import com.google.cloud.bigtable.admin.v2.models.ModifyColumnFamiliesRequest;
import com.google.cloud.bigtable.admin.v2.models.Table;
import com.google.cloud.bigtable.admin.v2.models.Type;
import com.google.cloud.bigtable.data.v2.models.KeyOffset;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import com.google.protobuf.ByteString;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TablesTest {
  private static Map<String, GCRule> rules(Table table) {
    return table.getColumnFamilies().stream()
        .collect(Collectors.toMap(ColumnFamily::getId, ColumnFamily::getGCRule));
  }

  @Test
  void createsATableWithFamiliesAndRules() {
    GCRule versions = GCRULES.maxVersions(3);
    GCRule age = GCRULES.maxAge(36, TimeUnit.HOURS);
    Map<String, GCRule> want =
        Map.of(
            "all", GCRULES.defaultRule(),
            "versions", versions,
            "age", age,
            "either", GCRULES.union().rule(versions).rule(age),
            "both", GCRULES.intersection().rule(versions).rule(age),
            "nested", GCRULES.union().rule(versions).rule(GCRULES.intersection().rule(versions).rule(age)));
    CreateTableRequest request = CreateTableRequest.of(newTableId());
    want.forEach(request::addFamily);
    String table = admin.createTable(request).getId();
    assertEquals(want, rules(admin.getTable(table)));
  }

  @Test
  void aRuleIsObeyedByTheNextRead() {
    String table =
        admin
            .createTable(CreateTableRequest.of(newTableId()).addFamily("f", GCRULES.maxVersions(1)))
            .getId();
    write(table, "r", "f", "q", 1, "old");
    write(table, "r", "f", "q", 2, "new");
    assertEquals(List.of("r f:q @2 new"), read(table));
  }

  @Test
  void splitsAreSamples() {
    CreateTableRequest request = CreateTableRequest.of(newTableId()).addFamily("f");
    for (String split : List.of("d", "m", "t")) {
      request.addSplit(ByteString.copyFromUtf8(split));
    }
    String table = admin.createTable(request).getId();
    List<String> samples = new ArrayList<>();
    for (KeyOffset sample : data.sampleRowKeys(table)) {
      samples.add(sample.getKey().toStringUtf8());
    }
    assertEquals(List.of("d", "m", "t", ""), samples);
  }

  @Test
  void aTableThatExistsIsNotCreatedAgain() {
    String table = newTable("f");
    refusedWith(Code.ALREADY_EXISTS, table, () -> admin.createTable(CreateTableRequest.of(table)));
  }

  @Test
  void listsTheTablesOfItsInstance() {
    try (var other = Fixture.adminClient(Fixture.INSTANCE + "-list")) {
      assertEquals(List.of(), other.listTables());
      for (String id : List.of("pear", "apple", "fig")) {
        other.createTable(CreateTableRequest.of(id));
      }
      assertEquals(List.of("apple", "fig", "pear"), other.listTables());
    }
  }

  @Test
  void deletesTables() {
    String table = newTable("f");
    assertTrue(admin.exists(table));
    admin.deleteTable(table);
    assertFalse(admin.exists(table));
    refusedWith(Code.NOT_FOUND, table, () -> admin.deleteTable(table));
    refusedWith(Code.NOT_FOUND, table, () -> admin.getTable(table));
    refusedWith(Code.NOT_FOUND, table, () -> keys(table));
  }

  @Test
  void familiesComeAndGoWithTheirCells() {
    String table = newTable("f", "g");
    write(table, "r", "f", "q", 1, "v");
    write(table, "r", "g", "q", 1, "v");
    Table changed =
        admin.modifyFamilies(
            ModifyColumnFamiliesRequest.of(table)
                .addFamily("h", GCRULES.maxVersions(5))
                .updateFamily("h", GCRULES.maxVersions(7))
                .dropFamily("g"));
    assertEquals(Map.of("f", GCRULES.defaultRule(), "h", GCRULES.maxVersions(7)), rules(changed));
    admin.modifyFamilies(ModifyColumnFamiliesRequest.of(table).addFamily("g"));
    assertEquals(List.of("r f:q @1 v"), read(table));
  }

  @Test
  void modificationsOfFamiliesAreAllMadeOrNone() {
    String table = newTable("f");
    refused(
        Code.ALREADY_EXISTS,
        () -> admin.modifyFamilies(ModifyColumnFamiliesRequest.of(table).addFamily("new").addFamily("f")));
    refusedWith(
        Code.NOT_FOUND,
        "absent",
        () -> admin.modifyFamilies(ModifyColumnFamiliesRequest.of(table).addFamily("new").dropFamily("absent")));
    assertEquals(Map.of("f", GCRULES.defaultRule()), rules(admin.getTable(table)));
  }

  @Test
  void aggregatesAddUp() {
    CreateTableRequest request =
        CreateTableRequest.of(newTableId())
            .addFamily("sum", Type.int64Sum())
            .addFamily("min", Type.int64Min())
            .addFamily("max", Type.int64Max());
    String table = admin.createTable(request).getId();
    for (long value : new long[] {5, -3, 4}) {
      RowMutation mutation = RowMutation.create(table, "r");
      for (String family : List.of("sum", "min", "max")) {
        mutation.addToCell(family, "q", 1000, value);
      }
      data.mutateRow(mutation);
    }
    Map<String, Long> values =
        data.readRow(table, "r").getCells().stream()
            .collect(Collectors.toMap(
                cell -> cell.getFamily(), cell -> cell.getValue().asReadOnlyByteBuffer().getLong()));
    assertEquals(Map.of("sum", 6L, "min", -3L, "max", 5L), values);
    refused(
        Code.INVALID_ARGUMENT,
        "Error while mutating the row 'r' (" + Fixture.tableName(table) + ") : Column family type mismatch",
        () -> write(table, "r", "sum", "q", 1, "text"));
  }

  @Test
  void dropsTheRowsOfAPrefixAndAll() {
    String table = newTable("f");
    for (String row : List.of("a", "ab#1", "ab#2", "b")) {
      write(table, row, "f", "q", 1, "v");
    }
    admin.dropRowRange(table, "ab#");
    assertEquals(List.of("a", "b"), keys(table));
    admin.dropAllRows(table);
    assertEquals(List.of(), keys(table));
    refused(Code.INVALID_ARGUMENT, () -> admin.dropRowRange(table, ByteString.EMPTY));
  }

  @Test
  void isConsistentAtOnce() {
    admin.awaitReplication(newTable("f"));
  }
}
