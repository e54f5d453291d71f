package sonde.conformance;

import static com.google.cloud.bigtable.data.v2.models.Filters.FILTERS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.admin;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.keys;
import static sonde.conformance.Fixture.newTable;
import static sonde.conformance.Fixture.newTableId;
import static sonde.conformance.Fixture.read;
import static sonde.conformance.Fixture.refused;
import static sonde.conformance.Fixture.refusedWith;
import static sonde.conformance.Fixture.tableName;
import static sonde.conformance.Fixture.write;

import com.google.api.gax.rpc.ServerStream;
import com.google.cloud.bigtable.admin.v2.models.CreateTableRequest;
import com.google.cloud.bigtable.data.v2.models.BulkMutation;
import com.google.cloud.bigtable.data.v2.models.Filters.Filter;
import com.google.cloud.bigtable.data.v2.models.Mutation;
import com.google.cloud.bigtable.data.v2.models.Query;
import com.google.cloud.bigtable.data.v2.models.Range.ByteStringRange;
import com.google.cloud.bigtable.data.v2.models.Row;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import com.google.protobuf.ByteString;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReadsTest {
  private static final String RANGE_TEXT =
      "Error in field 'row_ranges' : Error in element #0 : start_key must be less than end_key";

  private static void writeRows(String table, List<String> rows) {
    BulkMutation bulk = BulkMutation.create(table);
    for (String row : rows) {
      bulk.add(row, Mutation.create().setCell("f", "q", 1000, "v"));
    }
    data.bulkMutateRows(bulk);
  }

  private static List<String> numbered(int count) {
    return IntStream.range(0, count).mapToObj(i -> String.format("row%05d", i)).toList();
  }

  private static ByteStringRange range() {
    return ByteStringRange.unbounded();
  }

  @Test
  void keysRangesPrefixesAndLimits() {
    String table = newTable("f");
    writeRows(table, List.of("a", "b#1", "b#2", "c", "d"));
    Query all = Query.create(table);
    assertEquals(List.of("a", "b#1", "b#2", "c", "d"), keys(all));
    assertEquals(List.of("a", "d"), keys(all.clone().rowKey("d").rowKey("absent").rowKey("a")));
    assertEquals(List.of("b#1", "b#2"), keys(all.clone().prefix("b#")));
    assertEquals(List.of("b#1", "b#2"), keys(all.clone().range("b", "c")));
    assertEquals(List.of("b#2", "c"), keys(all.clone().range(range().startOpen("b#1").endClosed("c"))));
    assertEquals(
        List.of("a", "b#1", "c", "d"),
        keys(all.clone().range(range().startClosed("c")).range(range().endClosed("b#1")).rowKey("c")));
    assertEquals(List.of("a", "b#1"), keys(all.clone().limit(2)));
  }

  @Test
  void rowsTooLargeToReadAreSkipped() {
    String table = newTable("f");
    writeRows(table, List.of("a", "c"));
    ByteString value = ByteString.copyFrom(new byte[90 << 20]);
    for (int i = 0; i < 3; ++i) {
      data.mutateRow(RowMutation.create(table, "b").setCell("f", ByteString.copyFromUtf8("q" + i), 1000, value));
    }
    List<String> rows = new ArrayList<>();
    for (Row row : data.skipLargeRowsCallable().call(Query.create(table))) {
      rows.add(row.getKey().toStringUtf8());
    }
    assertEquals(List.of("a", "c"), rows);
  }

  @Test
  void backwards() {
    String table = newTable("f");
    writeRows(table, List.of("a", "b", "c", "d"));
    Query reversed = Query.create(table).reversed(true);
    assertEquals(List.of("d", "c", "b", "a"), keys(reversed));
    assertEquals(List.of("d", "c"), keys(reversed.clone().limit(2)));
    assertEquals(List.of("c", "b"), keys(reversed.clone().range("b", "d")));
  }

  @Test
  void filters() {
    String table = newTable("f", "g");
    write(table, "a", "f", "pressure", 1, "94558");
    write(table, "a", "f", "pressure", 2, "94122");
    write(table, "a", "f", "temp", 2, "9.4");
    write(table, "b", "f", "temp", 3, "9.2");
    String pressure2 = "a f:pressure @2 94122";
    String pressure1 = "a f:pressure @1 94558";
    String tempA = "a f:temp @2 9.4";
    String tempB = "b f:temp @3 9.2";
    Filter temp = FILTERS.qualifier().exactMatch("temp");
    Filter pressure = FILTERS.qualifier().exactMatch("pressure");
    Map<Filter, List<String>> cases = new LinkedHashMap<>();
    cases.put(FILTERS.pass(), List.of(pressure2, pressure1, tempA, tempB));
    cases.put(FILTERS.block(), List.of());
    cases.put(FILTERS.key().exactMatch("b"), List.of(tempB));
    cases.put(FILTERS.key().regex("a|c"), List.of(pressure2, pressure1, tempA));
    cases.put(FILTERS.family().exactMatch("g"), List.of());
    cases.put(FILTERS.qualifier().regex("te.*"), List.of(tempA, tempB));
    cases.put(
        FILTERS.qualifier().rangeWithinFamily("f").startClosed("p").endOpen("temp"), List.of(pressure2, pressure1));
    cases.put(FILTERS.value().regex("9\\.."), List.of(tempA, tempB));
    cases.put(FILTERS.value().range().startClosed("9.2").endOpen("9.4"), List.of(tempB));
    cases.put(FILTERS.timestamp().range().startClosed(2000L).endOpen(3000L), List.of(pressure2, tempA));
    cases.put(FILTERS.timestamp().exact(3000L), List.of(tempB));
    cases.put(FILTERS.limit().cellsPerColumn(1), List.of(pressure2, tempA, tempB));
    cases.put(FILTERS.limit().cellsPerRow(2), List.of(pressure2, pressure1, tempB));
    cases.put(FILTERS.offset().cellsPerRow(1), List.of(pressure1, tempA));
    cases.put(
        FILTERS.chain().filter(temp).filter(FILTERS.value().strip()), List.of("a f:temp @2 ", "b f:temp @3 "));
    cases.put(
        FILTERS.chain().filter(temp).filter(FILTERS.label("seen")), List.of(tempA + " [seen]", tempB + " [seen]"));
    cases.put(
        FILTERS.interleave().filter(temp).filter(FILTERS.value().exactMatch("9.2")), List.of(tempA, tempB, tempB));
    cases.put(FILTERS.condition(pressure).then(temp).otherwise(FILTERS.block()), List.of(tempA));
    cases.put(
        FILTERS.chain()
            .filter(FILTERS.key().exactMatch("b"))
            .filter(
                FILTERS.interleave()
                    .filter(FILTERS.pass())
                    .filter(FILTERS.chain().filter(FILTERS.label("sunk")).filter(FILTERS.sink())))
            .filter(pressure),
        List.of(tempB + " [sunk]"));
    cases.forEach((filter, want) -> assertEquals(want, read(table, filter), () -> filter.toProto().toString()));
    Filter sample = FILTERS.key().sample(0.5);
    assertTrue(keys(Query.create(table).filter(sample)).size() <= 2);
  }

  @Test
  void aRowWithoutACellThatPassesDoesNotCount() {
    String table = newTable("f");
    for (String row : List.of("a", "b", "c", "d")) {
      write(table, row, "f", "q", 1, row.compareTo("b") > 0 ? "yes" : "no");
    }
    Query query = Query.create(table).filter(FILTERS.value().exactMatch("yes"));
    assertEquals(List.of("c", "d"), keys(query.clone().limit(2)));
    assertEquals(List.of("c"), keys(query.clone().limit(1)));
  }

  @Test
  void oneRowAndOneThatIsAbsent() {
    String table = newTable("f");
    write(table, "r", "f", "q", 1, "v");
    assertEquals("v", data.readRow(table, "r").getCells("f", "q").get(0).getValue().toStringUtf8());
    assertTrue(data.exists(table, "r"));
    assertNull(data.readRow(table, "s"));
    assertFalse(data.exists(table, "s"));
  }

  @Test
  void refusesEmptyRangesAndWrongFilters() {
    String table = newTable("f");
    Query empty = Query.create(table).range(range().startOpen("k").endClosed("k"));
    refused(Code.INVALID_ARGUMENT, RANGE_TEXT, () -> keys(empty));
    refused(Code.INVALID_ARGUMENT, () -> read(table, FILTERS.value().regex("(")));
    refused(Code.INVALID_ARGUMENT, () -> read(table, FILTERS.limit().cellsPerRow(0)));
    refused(Code.INVALID_ARGUMENT, () -> read(table, FILTERS.key().sample(1)));
    refused(Code.INVALID_ARGUMENT, () -> read(table, FILTERS.label("Not A Label")));
    refused(
        Code.NOT_FOUND,
        String.format(
            "Error while reading table '%s' : Requested column family not found", tableName(table)),
        () -> read(table, FILTERS.family().exactMatch("absent")));
    refusedWith(Code.NOT_FOUND, "/tables/absent", () -> keys("absent"));
  }

  @Test
  void largeRowsComeWhole() {
    String table = newTable("f");
    ByteString value = ByteString.copyFrom(new byte[1_500_000]);
    for (String row : List.of("a", "b", "c")) {
      BulkMutation bulk = BulkMutation.create(table);
      bulk.add(row, Mutation.create().setCell("f", bytes("x"), 1000, value).setCell("f", bytes("y"), 1000, value));
      data.bulkMutateRows(bulk);
    }
    int rows = 0;
    for (Row row : data.readRows(Query.create(table))) {
      rows++;
      assertEquals(2, row.getCells().size());
      row.getCells().forEach(cell -> assertEquals(value, cell.getValue()));
    }
    assertEquals(3, rows);
  }

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  @Test
  void aReaderMayStopInTheMiddle() {
    String table = newTable("f");
    writeRows(table, numbered(2000));
    ServerStream<Row> rows = data.readRows(Query.create(table));
    List<String> got = new ArrayList<>();
    for (Row row : rows) {
      got.add(row.getKey().toStringUtf8());
      if (got.size() == 5) {
        rows.cancel();
        break;
      }
    }
    assertEquals(numbered(5), got);
    assertEquals(numbered(2000), keys(table));
  }

  @Test
  void pagesAndShardsLoseNothing() {
    CreateTableRequest request = CreateTableRequest.of(newTableId()).addFamily("f");
    request.addSplit(bytes("row00100")).addSplit(bytes("row00400"));
    String table = admin.createTable(request).getId();
    writeRows(table, numbered(500));

    List<String> paged = new ArrayList<>();
    Query.QueryPaginator paginator = Query.create(table).createPaginator(120);
    List<String> page;
    do {
      page = keys(paginator.getNextQuery());
      paged.addAll(page);
    } while (!page.isEmpty() && paginator.advance(bytes(page.get(page.size() - 1))));
    assertEquals(numbered(500), paged);

    List<String> sharded = new ArrayList<>();
    List<Query> shards = Query.create(table).shard(data.sampleRowKeys(table));
    assertTrue(shards.size() >= 3, shards.toString());
    shards.forEach(shard -> sharded.addAll(keys(shard)));
    assertEquals(numbered(500), sharded);
  }

  @Test
  void aBulkReadAnswersEachKey() throws Exception {
    String table = newTable("f");
    writeRows(table, numbered(200));
    try (var batcher = data.newBulkReadRowsBatcher(table)) {
      var present = batcher.add(bytes("row00007"));
      var absent = batcher.add(bytes("absent"));
      batcher.flush();
      assertEquals("row00007", present.get().getKey().toStringUtf8());
      assertNull(absent.get());
    }
  }
}
