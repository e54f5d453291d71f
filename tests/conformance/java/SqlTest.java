package sonde.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.admin;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.newTable;
import static sonde.conformance.Fixture.refused;
import static sonde.conformance.Fixture.write;

import com.google.cloud.Date;
import com.google.cloud.bigtable.admin.v2.models.ModifyColumnFamiliesRequest;
import com.google.cloud.bigtable.data.v2.models.BulkMutation;
import com.google.cloud.bigtable.data.v2.models.Mutation;
import com.google.cloud.bigtable.data.v2.models.sql.BoundStatement;
import com.google.cloud.bigtable.data.v2.models.sql.ColumnMetadata;
import com.google.cloud.bigtable.data.v2.models.sql.PreparedStatement;
import com.google.cloud.bigtable.data.v2.models.sql.ResultSet;
import com.google.cloud.bigtable.data.v2.models.sql.SqlType;
import com.google.cloud.bigtable.data.v2.models.sql.Struct;
import com.google.protobuf.ByteString;
import io.grpc.Status.Code;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** SQL as the client prepares, binds, runs and reads it. */
class SqlTest {
  private static final SqlType.Map<ByteString, ByteString> FAMILY = SqlType.mapOf(SqlType.bytes(), SqlType.bytes());

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private static ResultSet run(String sql) {
    return data.executeQuery(data.prepareStatement(sql, new HashMap<>()).bind().build());
  }

  /** Runs a query of one row. */
  private static void one(ResultSet rows, Consumer<ResultSet> check) {
    try (rows) {
      assertTrue(rows.next());
      check.accept(rows);
      assertFalse(rows.next());
    }
  }

  @Test
  void aRowWhoseBytesWouldHaveTheChecksum0() {
    one(
        run("SELECT b'\\xb7\\xe2\\x2f\\x8b' AS b"),
        row -> assertEquals(ByteString.fromHex("b7e22f8b"), row.getBytes("b")));
  }

  @Test
  void allOfATable() {
    String table = newTable("a", "b");
    write(table, "r1", "a", "q", 1, "old");
    write(table, "r1", "a", "q", 2, "new");
    write(table, "r2", "a", "p", 1, "x");
    write(table, "r2", "b", "z", 1, "y");
    try (ResultSet rows = run("SELECT * FROM " + table)) {
      assertEquals(
          List.of("_key", "a", "b"), rows.getMetadata().getColumns().stream().map(ColumnMetadata::name).toList());
      assertTrue(rows.next());
      assertEquals(bytes("r1"), rows.getBytes("_key"));
      assertEquals(Map.of(bytes("q"), bytes("new")), rows.getMap("a", FAMILY));
      assertEquals(Map.of(), rows.getMap("b", FAMILY));
      assertTrue(rows.next());
      assertEquals(Map.of(bytes("p"), bytes("x")), rows.getMap("a", FAMILY));
      assertEquals(Map.of(bytes("z"), bytes("y")), rows.getMap("b", FAMILY));
      assertFalse(rows.next());
    }
  }

  @Test
  void historyIsNewestFirst() {
    String table = newTable("f");
    write(table, "r", "f", "q", 1, "one");
    write(table, "r", "f", "q", 2, "two");
    one(
        run("SELECT f FROM " + table + "(with_history => TRUE)"),
        rows -> {
          List<Struct> cells = rows.getMap("f", SqlType.historicalMap()).get(bytes("q"));
          assertEquals(2, cells.size());
          assertEquals(Instant.ofEpochMilli(2), cells.get(0).getTimestamp("timestamp"));
          assertEquals(bytes("two"), cells.get(0).getBytes("value"));
          assertEquals(bytes("one"), cells.get(1).getBytes("value"));
        });
  }

  @Test
  void columnsThatARowDoesNotHaveAreNull() {
    String table = newTable("f");
    write(table, "r1", "f", "q", 1, "v");
    write(table, "r2", "f", "other", 1, "v");
    try (ResultSet rows = run("SELECT f['q'] AS q FROM " + table)) {
      assertTrue(rows.next());
      assertEquals(bytes("v"), rows.getBytes("q"));
      assertTrue(rows.next());
      assertTrue(rows.isNull("q"));
      assertFalse(rows.next());
    }
  }

  @Test
  void valuesOfAllTypes() {
    String sql =
        "SELECT b'a' AS bytes, 'ä' AS string, -5 AS int64, CAST(1.5 AS FLOAT32) AS float32, 2.25 AS float64, TRUE AS bool,"
            + " TIMESTAMP '2024-02-29 12:00:00.000001+00' AS timestamp, DATE '2024-02-29' AS date,"
            + " STRUCT(1 AS a, 'x' AS b) AS pair, ['p', NULL] AS list";
    one(
        run(sql),
        rows -> {
          assertEquals(bytes("a"), rows.getBytes("bytes"));
          assertEquals("ä", rows.getString("string"));
          assertEquals(-5, rows.getLong("int64"));
          assertEquals(1.5f, rows.getFloat("float32"));
          assertEquals(2.25, rows.getDouble("float64"));
          assertTrue(rows.getBoolean("bool"));
          assertEquals(Instant.parse("2024-02-29T12:00:00.000001Z"), rows.getTimestamp("timestamp"));
          assertEquals(Date.fromYearMonthDay(2024, 2, 29), rows.getDate("date"));
          assertEquals(1, rows.getStruct("pair").getLong("a"));
          assertEquals("x", rows.getStruct("pair").getString("b"));
          assertEquals(Arrays.asList("p", null), rows.getList("list", SqlType.arrayOf(SqlType.string())));
        });
  }

  private static final Map<String, SqlType<?>> PARAMETERS =
      Map.of(
          "string", SqlType.string(), "bytes", SqlType.bytes(), "int", SqlType.int64(), "double", SqlType.float64(),
          "float", SqlType.float32(), "bool", SqlType.bool(), "time", SqlType.timestamp(), "date", SqlType.date(),
          "list", SqlType.arrayOf(SqlType.int64()));

  @Test
  void parametersOfAllTypesAndNull() {
    PreparedStatement statement =
        data.prepareStatement(
            "SELECT @string AS string, @bytes AS bytes, @int AS i, @double AS d, @float AS f, @bool AS b, @time AS t,"
                + " @date AS day, @list AS list",
            PARAMETERS);
    BoundStatement bound =
        statement
            .bind()
            .setStringParam("string", "s")
            .setBytesParam("bytes", bytes("b"))
            .setLongParam("int", Long.MIN_VALUE)
            .setDoubleParam("double", -0.5)
            .setFloatParam("float", 0.25f)
            .setBooleanParam("bool", false)
            .setTimestampParam("time", Instant.ofEpochSecond(-1))
            .setDateParam("date", Date.fromYearMonthDay(1, 1, 1))
            .setListParam("list", Arrays.asList(1L, null, 3L), SqlType.arrayOf(SqlType.int64()))
            .build();
    one(
        data.executeQuery(bound),
        rows -> {
          assertEquals("s", rows.getString("string"));
          assertEquals(bytes("b"), rows.getBytes("bytes"));
          assertEquals(Long.MIN_VALUE, rows.getLong("i"));
          assertEquals(-0.5, rows.getDouble("d"));
          assertEquals(0.25f, rows.getFloat("f"));
          assertFalse(rows.getBoolean("b"));
          assertEquals(Instant.ofEpochSecond(-1), rows.getTimestamp("t"));
          assertEquals(Date.fromYearMonthDay(1, 1, 1), rows.getDate("day"));
          assertEquals(Arrays.asList(1L, null, 3L), rows.getList("list", SqlType.arrayOf(SqlType.int64())));
        });
    BoundStatement nulls =
        statement
            .bind()
            .setStringParam("string", null)
            .setBytesParam("bytes", null)
            .setLongParam("int", null)
            .setDoubleParam("double", null)
            .setFloatParam("float", null)
            .setBooleanParam("bool", null)
            .setTimestampParam("time", null)
            .setDateParam("date", null)
            .setListParam("list", null, SqlType.arrayOf(SqlType.int64()))
            .build();
    one(
        data.executeQuery(nulls),
        rows -> {
          for (int column = 0; column < 9; ++column) {
            assertTrue(rows.isNull(column), "column " + column);
          }
        });
  }

  @Test
  void manyRowsInTheirOrder() {
    String table = newTable("f");
    BulkMutation bulk = BulkMutation.create(table);
    String value = "v".repeat(1_000);
    for (int row = 0; row < 2_000; ++row) {
      bulk.add(String.format("r%05d", row), Mutation.create().setCell("f", "q", 1_000, value));
    }
    data.bulkMutateRows(bulk);
    int count = 0;
    try (ResultSet rows = run("SELECT _key, f['q'] AS q FROM " + table)) {
      for (; rows.next(); ++count) {
        assertEquals(bytes(String.format("r%05d", count)), rows.getBytes("_key"));
        assertEquals(value.length(), rows.getBytes("q").size());
      }
    }
    assertEquals(2_000, count);
  }

  @Test
  void aStatementOutlivesAChangeOfItsTable() {
    String table = newTable("f");
    write(table, "r", "f", "q", 1, "v");
    PreparedStatement statement = data.prepareStatement("SELECT f['q'] AS q FROM " + table, new HashMap<>());
    admin.modifyFamilies(ModifyColumnFamiliesRequest.of(table).addFamily("g"));
    one(data.executeQuery(statement.bind().build()), rows -> assertEquals(bytes("v"), rows.getBytes("q")));
  }

  @Test
  void resultsCanBeLeft() {
    String table = newTable("f");
    write(table, "r", "f", "q", 1, "v");
    for (int i = 0; i < 20; ++i) {
      run("SELECT * FROM " + table).close();
    }
    one(run("SELECT COUNT(*) AS n FROM " + table), rows -> assertEquals(1, rows.getLong("n")));
  }

  @Test
  void errorsAreGoogleSqls() {
    String table = newTable("f");
    assertEquals(
        "Unrecognized name: nope [at 1:8]",
        refused(Code.INVALID_ARGUMENT, () -> data.prepareStatement("SELECT nope FROM " + table, new HashMap<>())));
    assertEquals(
        "Syntax error: Unexpected end of statement [at 1:7]",
        refused(Code.INVALID_ARGUMENT, () -> data.prepareStatement("SELECT", new HashMap<>())));
    assertEquals(
        "Table not found: absent [at 1:15]",
        refused(Code.NOT_FOUND, () -> data.prepareStatement("SELECT * FROM absent", new HashMap<>())));
    assertEquals(
        "division by zero: 1 / 0",
        refused(
            Code.OUT_OF_RANGE,
            () -> {
              try (ResultSet rows = run("SELECT 1 / 0")) {
                rows.next();
              }
            }));
    PreparedStatement statement = data.prepareStatement("SELECT @p AS p", Map.of("p", SqlType.int64()));
    assertThrows(IllegalArgumentException.class, () -> statement.bind().build());
  }
}
