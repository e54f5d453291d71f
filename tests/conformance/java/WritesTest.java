package sonde.conformance;

import static com.google.cloud.bigtable.data.v2.models.Filters.FILTERS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.keys;
import static sonde.conformance.Fixture.newTable;
import static sonde.conformance.Fixture.read;
import static sonde.conformance.Fixture.refused;
import static sonde.conformance.Fixture.refusedWith;
import static sonde.conformance.Fixture.unknownFamily;
import static sonde.conformance.Fixture.write;

import com.google.api.core.ApiFuture;
import com.google.api.core.ApiFutures;
import com.google.api.gax.rpc.FailedPreconditionException;
import com.google.api.gax.rpc.StatusCode;
import com.google.cloud.bigtable.data.v2.models.BulkMutation;
import com.google.cloud.bigtable.data.v2.models.ConditionalRowMutation;
import com.google.cloud.bigtable.data.v2.models.MutateRowsException;
import com.google.cloud.bigtable.data.v2.models.Mutation;
import com.google.cloud.bigtable.data.v2.models.Range.TimestampRange;
import com.google.cloud.bigtable.data.v2.models.ReadModifyWriteRow;
import com.google.cloud.bigtable.data.v2.models.Row;
import com.google.cloud.bigtable.data.v2.models.RowCell;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import com.google.cloud.bigtable.data.v2.models.RowMutationEntry;
import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WritesTest {
  private static Mutation set(String value) {
    return Mutation.create().setCell("f", "q", 1000, value);
  }

  @Test
  void bytesSurviveAsTheyAre() {
    String table = newTable("f");
    ByteString bytes = ByteString.copyFrom(new byte[] {0, 1, '#', -1, -2, '\n', 0});
    data.mutateRow(RowMutation.create(table, bytes).setCell("f", bytes, 5000, bytes));
    Row row = data.readRow(table, bytes);
    assertEquals(bytes, row.getKey());
    RowCell cell = row.getCells().get(0);
    assertEquals(bytes, cell.getQualifier());
    assertEquals(bytes, cell.getValue());
    assertEquals(5000, cell.getTimestamp());
  }

  /** This client sends microseconds of its own clock, and leaves it to the server to cut them to the table's. */
  @Test
  void timestampsOfTheClientsOwnAreCutToMilliseconds() {
    String table = newTable("f");
    long before = System.currentTimeMillis();
    data.mutateRow(RowMutation.create(table, "r").setCell("f", "q", "v"));
    long after = System.currentTimeMillis();
    long micros = data.readRow(table, "r").getCells().get(0).getTimestamp();
    assertEquals(0, micros % 1000);
    assertTrue(before <= micros / 1000 && micros / 1000 <= after, micros + " is not in " + before + " to " + after);
  }

  @Test
  void timestampsThatAreNoMillisecondsAreRefused() {
    String table = newTable("f");
    refused(
        Code.INVALID_ARGUMENT,
        () -> data.mutateRow(RowMutation.create(table, "r").setCell("f", "q", 1001, "v")));
  }

  @Test
  void mutationsApplyInOrder() {
    String table = newTable("f");
    data.mutateRow(
        RowMutation.create(table, "r")
            .setCell("f", "q", 1000, "masked")
            .deleteRow()
            .setCell("f", "q", 2000, "kept")
            .setCell("f", "q", 3000, "overwritten")
            .setCell("f", "q", 3000, "last"));
    assertEquals(List.of("r f:q @3 last", "r f:q @2 kept"), read(table));
  }

  @Test
  void deletesCellsColumnsFamiliesAndRows() {
    String table = newTable("f", "g");
    for (long ms = 1; ms <= 3; ms++) {
      write(table, "r", "f", "a", ms, "v");
      write(table, "r", "f", "b", ms, "v");
    }
    write(table, "r", "g", "a", 1, "v");
    ByteString a = ByteString.copyFromUtf8("a");
    data.mutateRow(
        RowMutation.create(table, "r").deleteCells("f", a, TimestampRange.create(2000, 3000)).deleteCells("f", "b"));
    assertEquals(List.of("r f:a @3 v", "r f:a @1 v", "r g:a @1 v"), read(table));
    data.mutateRow(RowMutation.create(table, "r").deleteFamily("f"));
    assertEquals(List.of("r g:a @1 v"), read(table));
    data.mutateRow(RowMutation.create(table, "r").deleteRow());
    assertEquals(List.of(), read(table));
  }

  @Test
  void anUnknownFamilyIsNotFoundAndNothingIsApplied() {
    String table = newTable("f");
    refused(
        Code.NOT_FOUND,
        unknownFamily(table, "r"),
        () -> data.mutateRow(RowMutation.create(table, "r", set("v").setCell("absent", "q", 1000, "v"))));
    assertEquals(List.of(), keys(table));
  }

  @Test
  void aBulkWriteReportsEachEntry() {
    String table = newTable("f");
    BulkMutation bulk =
        BulkMutation.create(table)
            .add("a", set("v"))
            .add("b", set("v").setCell("absent", "q", 1000, "v"))
            .add("c", set("v"))
            .add("d", Mutation.create().setCell("absent", "q", 1000, "v"));
    MutateRowsException failed = assertThrows(MutateRowsException.class, () -> data.bulkMutateRows(bulk));
    List<String> failures = new ArrayList<>();
    for (MutateRowsException.FailedMutation failure : failed.getFailedMutations()) {
      assertEquals(StatusCode.Code.NOT_FOUND, failure.getError().getStatusCode().getCode());
      failures.add(failure.getIndex() + " " + Status.fromThrowable(failure.getError()).getDescription());
    }
    assertEquals(List.of("1 " + unknownFamily(table, "b"), "3 " + unknownFamily(table, "d")), failures);
    assertEquals(List.of("a", "c"), keys(table));
  }

  @Test
  void aBatcherWritesTenThousandRows() throws InterruptedException {
    String table = newTable("f");
    List<String> want = IntStream.range(0, 10_000).mapToObj(i -> String.format("row%05d", i)).toList();
    try (var batcher = data.newBulkMutationBatcher(table)) {
      for (String row : want) {
        batcher.add(RowMutationEntry.create(row).setCell("f", "q", 1000, row));
      }
    }
    assertEquals(want, keys(table));
  }

  @Test
  void checksAndMutates() {
    String table = newTable("f");
    ConditionalRowMutation any =
        ConditionalRowMutation.create(table, "r").condition(FILTERS.pass()).then(set("yes")).otherwise(set("no"));
    assertFalse(data.checkAndMutateRow(any));
    assertEquals(List.of("r f:q @1 no"), read(table));
    ConditionalRowMutation value =
        ConditionalRowMutation.create(table, "r")
            .condition(FILTERS.value().exactMatch("no"))
            .then(set("yes"));
    assertTrue(data.checkAndMutateRow(value));
    assertEquals(List.of("r f:q @1 yes"), read(table));
    assertFalse(data.checkAndMutateRow(value));
    assertEquals(List.of("r f:q @1 yes"), read(table));
    // Without a condition, a row matches that has a cell.
    assertTrue(data.checkAndMutateRow(
        ConditionalRowMutation.create(table, "r").then(Mutation.create().deleteRow())));
    assertEquals(List.of(), keys(table));
  }

  @Test
  void aCheckThatMatchesAndFailsAppliesNothing() {
    String table = newTable("f");
    refusedWith(
        Code.NOT_FOUND,
        "Requested column family not found.",
        () -> data.checkAndMutateRow(
            ConditionalRowMutation.create(table, "r")
                .condition(FILTERS.pass())
                .otherwise(set("v").setCell("absent", "q", 1000, "v"))));
    assertEquals(List.of(), keys(table));
  }

  @Test
  void incrementsAndAppends() {
    String table = newTable("f");
    Row row =
        data.readModifyWriteRow(
            ReadModifyWriteRow.create(table, "r")
                .increment("f", "n", 41)
                .increment("f", "n", -43)
                .append("f", "text", "a")
                .append("f", "text", "b"));
    assertEquals(2, row.getCells().size());
    assertEquals(-2, row.getCells("f", "n").get(0).getValue().asReadOnlyByteBuffer().getLong());
    assertEquals("ab", row.getCells("f", "text").get(0).getValue().toStringUtf8());
    assertThrows(
        FailedPreconditionException.class,
        () -> data.readModifyWriteRow(
            ReadModifyWriteRow.create(table, "r").append("f", "other", "x").increment("f", "text", 1)));
    assertEquals(List.of(), read(table, FILTERS.qualifier().exactMatch("other")));
    refused(
        Code.NOT_FOUND,
        () -> data.readModifyWriteRow(ReadModifyWriteRow.create(table, "r").increment("absent", "n", 1)));
  }

  @Test
  void incrementsOfManyAtOnceAllCount() throws Exception {
    String table = newTable("f");
    List<ApiFuture<Row>> answers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      answers.add(data.readModifyWriteRowAsync(ReadModifyWriteRow.create(table, "r").increment("f", "n", 1)));
    }
    List<Long> values = new ArrayList<>();
    for (Row row : ApiFutures.allAsList(answers).get()) {
      values.add(row.getCells().get(0).getValue().asReadOnlyByteBuffer().getLong());
    }
    assertEquals(IntStream.rangeClosed(1, 100).mapToObj(Long::valueOf).toList(), values.stream().sorted().toList());
  }

  @Test
  void anEmptyRowKeyIsRefused() {
    String table = newTable("f");
    refused(
        Code.INVALID_ARGUMENT,
        "Row keys must be non-empty",
        () -> data.mutateRow(RowMutation.create(table, "", set("v"))));
  }
}
