"""SQL by the data client, in both its forms: PrepareQuery and ExecuteQuery."""

import asyncio
import datetime

import pytest
from google.api_core import exceptions
from google.cloud.bigtable.column_family import MaxVersionsGCRule
from google.cloud.bigtable.data import BigtableDataClientAsync, RowMutationEntry, SetCell
from google.cloud.bigtable.data.execute_query import SqlType, Struct

from conftest import PROJECT, place

MILLENNIUM = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)


@pytest.fixture
def ask(instance, data_client, data_table):
    """Asks the instance of `data_table`, and gives the rows as tuples."""
    def ask(query, **arguments):
        rows = data_client.execute_query(query, instance.instance_id, **arguments)
        return [tuple(value for _, value in row.fields) for row in rows]

    return ask


def write(table, *cells):
    for key, family, qualifier, ms, value in cells:
        table.mutate_row(key, SetCell(family, qualifier, value, timestamp_micros=ms * 1000))


def test_rows_are_maps_by_family(ask, data_table, table):
    table.column_family("g").create()
    write(data_table, ("a", "f", "p", 1, b"old"), ("a", "f", "p", 2, b"new"), ("a", "f", "q", 1, b"1"),
          ("b", "g", "x", 1, b"y"))
    assert ask("SELECT * FROM t") == [(b"a", {b"p": b"new", b"q": b"1"}, {}), (b"b", {}, {b"x": b"y"})]
    assert ask("SELECT _key, f['p'], f['absent'] AS none FROM t") == [(b"a", b"new", None), (b"b", None, None)]
    assert ask("SELECT CAST(f['q'] AS STRING) FROM t WHERE f['q'] IS NOT NULL") == [("1",)]


def test_history_is_an_array_of_times_and_values(ask, data_table):
    write(data_table, ("a", "f", "q", 1, b"old"), ("a", "f", "q", 2, b"new"))
    rows = ask("SELECT f['q'] FROM t(with_history => TRUE)")
    assert [(pair["timestamp"].timestamp(), pair["value"]) for pair in rows[0][0]] == [(0.002, b"new"), (0.001, b"old")]
    rows = ask("SELECT f FROM t(with_history => TRUE, latest_n => 1)")
    assert [list(pairs) for pairs in rows[0][0].values()] == [[Struct([
        ("timestamp", rows[0][0][b"q"][0]["timestamp"]), ("value", b"new")])]]
    assert ask("SELECT _key, _timestamp, q FROM UNPACK((SELECT _key, f['q'] AS q FROM t(with_history => TRUE)))")[1][2] == b"old"


def test_a_row_whose_bytes_would_have_the_checksum_0(ask, data_table):
    assert ask(r"SELECT b'\xb7\xe2\x2f\x8b'") == [(b"\xb7\xe2\x2f\x8b",)]


def test_parameters_of_each_type(ask, data_table):
    write(data_table, ("a", "f", "q", 1, b"7"))
    parameters = {"bytes": b"a", "text": "x", "int": 7, "float": 1.5, "bool": True, "time": MILLENNIUM,
                  "date": datetime.date(2024, 2, 29), "none": None, "list": [1, None, 3], "keys": [b"a", b"b"]}
    types = {"float": SqlType.Float64(), "none": SqlType.Int64(), "list": SqlType.Array(SqlType.Int64()),
             "keys": SqlType.Array(SqlType.Bytes())}
    rows = ask("SELECT @bytes, @text, @int, @float, @bool, @time, @date, @none, @list FROM t WHERE _key IN UNNEST(@keys)",
               parameters=parameters, parameter_types=types)
    assert len(rows) == 1
    assert rows[0][:5] == (b"a", "x", 7, 1.5, True)
    assert rows[0][5].timestamp() == MILLENNIUM.timestamp()
    assert (rows[0][6].year, rows[0][6].month, rows[0][6].day) == (2024, 2, 29)
    assert rows[0][7:] == (None, [1, None, 3])


def test_many_rows_come_in_order_in_several_messages(ask, data_table):
    value = b"v" * 1000
    for first in range(0, 2000, 500):
        with data_table.mutations_batcher() as batcher:
            for i in range(first, first + 500):
                batcher.append(RowMutationEntry(f"row{i:05}", SetCell("f", "q", value)))
    rows = ask("SELECT _key, f['q'] FROM t")
    assert [key for key, _ in rows] == [b"row%05d" % i for i in range(2000)]
    assert {value for _, value in rows} == {value}
    assert ask("SELECT COUNT(*) FROM t") == [(2000,)]
    assert ask("SELECT _key FROM t WHERE STARTS_WITH(_key, 'row0001') ORDER BY _key DESC LIMIT 2") == [
        (b"row00019",), (b"row00018",)]


def test_a_long_row_comes_in_pieces(ask, data_table):
    write(data_table, ("a", "f", "q", 1, b"x" * 5_000_000))
    assert [len(value) for value, in ask("SELECT f['q'] FROM t")] == [5_000_000]


def test_groups(ask, data_table):
    for i in range(10):
        write(data_table, (f"host#{i}", "f", "load", 1, str(i).encode()))
    assert ask("""SELECT MOD(CAST(CAST(f['load'] AS STRING) AS INT64), 2) AS odd, SUM(CAST(CAST(f['load'] AS STRING) AS INT64)) AS sum
                  FROM t GROUP BY odd ORDER BY odd""") == [(0, 20), (1, 25)]


def test_nothing_is_no_row(ask, data_table):
    assert ask("SELECT * FROM t") == []
    assert ask("SELECT COUNT(*) AS n, SUM(1) FROM t") == [(0, None)]


def test_columns_have_names_and_types(instance, data_client, data_table):
    result = data_client.execute_query("SELECT _key, f, 1 + 1, f['q'] AS q FROM t", instance.instance_id)
    list(result)
    assert [(column.column_name, column.column_type) for column in result.metadata.columns] == [
        ("_key", SqlType.Bytes()), ("f", SqlType.Map(SqlType.Bytes(), SqlType.Bytes())), ("$col3", SqlType.Int64()),
        ("q", SqlType.Bytes())]


@pytest.mark.parametrize("query, error, text", [
    ("SELECT", exceptions.InvalidArgument, "Syntax error: Unexpected end of statement"),
    ("SELECT nope FROM t", exceptions.InvalidArgument, "Unrecognized name: nope"),
    ("SELECT FOO(1)", exceptions.InvalidArgument, "Function not found: FOO"),
    ("SELECT 1 FROM absent", exceptions.NotFound, "Table not found: absent"),
    ("SELECT 1 / 0 FROM t", exceptions.OutOfRange, "division by zero: 1 / 0"),
    ("INSERT INTO t VALUES (1)", exceptions.InvalidArgument, "Statement not supported: InsertStatement"),
])
def test_errors_are_googlesqls(ask, data_table, query, error, text):
    write(data_table, ("a", "f", "q", 1, b"1"))
    with pytest.raises(error) as raised:
        ask(query)
    assert text in str(raised.value)


def test_a_query_follows_the_families_of_its_table(instance, data_client, data_table, table):
    """The client prepares anew by itself when its query has expired."""
    write(data_table, ("a", "f", "q", 1, b"1"))
    assert len(list(data_client.execute_query("SELECT * FROM t", instance.instance_id))) == 1
    table.column_family("g", MaxVersionsGCRule(1)).create()
    rows = list(data_client.execute_query("SELECT * FROM t", instance.instance_id))
    assert [name for name, _ in rows[0].fields] == ["_key", "f", "g"]


def test_the_asynchronous_client(instance, data_table):
    write(data_table, ("a", "f", "q", 1, b"1"), ("b", "f", "q", 1, b"2"))

    async def ask():
        async with BigtableDataClientAsync(project=PROJECT, **place()) as client:
            rows = await client.execute_query("SELECT _key FROM t", instance.instance_id)
            return [row["_key"] async for row in rows]

    assert asyncio.run(ask()) == [b"a", b"b"]
