"""google.cloud.bigtable.data: the data client, in both its forms."""

import asyncio
import os

import pytest
from conftest import PROJECT, place
from google.api_core import exceptions
from google.cloud.bigtable.data import (
    BigtableDataClientAsync, DeleteAllFromFamily, DeleteAllFromRow, DeleteRangeFromColumn, MutationsExceptionGroup,
    ReadRowsQuery, RowMutationEntry, RowRange, SetCell, row_filters)
from google.cloud.bigtable.data.read_modify_write_rules import AppendValueRule, IncrementRule
from google.cloud.bigtable_admin_v2.types import AuthorizedView

LARGE_VALUE_BYTES = 1_500_000


def set_cell(family, qualifier, ms, value):
    return SetCell(family, qualifier, value, timestamp_micros=ms * 1000)


def write(table, *cells):
    for key, *cell in cells:
        table.mutate_row(key, set_cell(*cell))


def cells_of(rows):
    return [(cell.row_key, cell.family, cell.qualifier, cell.timestamp_micros // 1000, cell.value)
            for row in rows for cell in row.cells]


def keys(rows):
    return [row.row_key for row in rows]


def test_rows_are_written_and_read_back(data_table):
    write(data_table, ("a", "f", "q", 1, b"old"), ("a", "f", "q", 2, b"new"), ("b", "f", b"\xff\x00", 1, b""))
    assert cells_of([data_table.read_row("a")]) == [(b"a", "f", b"q", 2, b"new"), (b"a", "f", b"q", 1, b"old")]
    assert cells_of([data_table.read_row("b")]) == [(b"b", "f", b"\xff\x00", 1, b"")]
    assert data_table.read_row("c") is None
    assert data_table.row_exists("a") and not data_table.row_exists("c")


def test_ranges_limits_and_lists(data_table):
    write(data_table, *[(key, "f", "q", 1, b"v") for key in ("a", "b#1", "b#2", "c", "d")])

    def read(**arguments):
        return keys(data_table.read_rows(ReadRowsQuery(**arguments)))

    assert read() == [b"a", b"b#1", b"b#2", b"c", b"d"]
    assert read(row_ranges=RowRange("b#", "c")) == [b"b#1", b"b#2"]
    assert read(row_ranges=RowRange("b#1", "c", start_is_inclusive=False, end_is_inclusive=True)) == [b"b#2", b"c"]
    assert read(row_ranges=[RowRange("c", None), RowRange(None, "b#1")]) == [b"a", b"c", b"d"]
    assert read(row_keys=["d", "absent", "a"]) == [b"a", b"d"]
    assert read(limit=3) == [b"a", b"b#1", b"b#2"]


def test_filters(data_table, table):
    table.column_family("g").create()
    write(data_table, ("a", "f", "pressure", 1, b"94558"), ("a", "f", "pressure", 2, b"94122"),
          ("a", "f", "temp", 2, b"9.4"), ("b", "f", "temp", 3, b"9.2"))
    pressure2, pressure1 = (b"a", "f", b"pressure", 2, b"94122"), (b"a", "f", b"pressure", 1, b"94558")
    temp_a, temp_b = (b"a", "f", b"temp", 2, b"9.4"), (b"b", "f", b"temp", 3, b"9.2")
    column = row_filters.ColumnQualifierRegexFilter
    for name, row_filter, want in [
        ("pass", row_filters.PassAllFilter(True), [pressure2, pressure1, temp_a, temp_b]),
        ("block", row_filters.BlockAllFilter(True), []),
        ("row key", row_filters.RowKeyRegexFilter("b"), [temp_b]),
        ("family", row_filters.FamilyNameRegexFilter("g"), []),
        ("qualifier", column("te.*"), [temp_a, temp_b]),
        ("value", row_filters.ValueRegexFilter(b"9\\.."), [temp_a, temp_b]),
        ("exact value", row_filters.LiteralValueFilter(b"9.4"), [temp_a]),
        ("value range", row_filters.ValueRangeFilter(b"9.2", b"9.4", inclusive_end=False), [temp_b]),
        ("column range", row_filters.ColumnRangeFilter("f", b"p", b"q"), [pressure2, pressure1]),
        ("timestamp range", row_filters.TimestampRangeFilter(), [pressure2, pressure1, temp_a, temp_b]),
        ("latest", row_filters.CellsColumnLimitFilter(1), [pressure2, temp_a, temp_b]),
        ("row limit", row_filters.CellsRowLimitFilter(2), [pressure2, pressure1, temp_b]),
        ("row offset", row_filters.CellsRowOffsetFilter(1), [pressure1, temp_a]),
        ("strip", row_filters.RowFilterChain([column("temp"), row_filters.StripValueTransformerFilter(True)]),
         [(*temp_a[:4], b""), (*temp_b[:4], b"")]),
        ("chain", row_filters.RowFilterChain([column("pressure"), row_filters.CellsColumnLimitFilter(1)]), [pressure2]),
        ("interleave", row_filters.RowFilterUnion([column("temp"), row_filters.ValueRegexFilter(b"9.2")]),
         [temp_a, temp_b, temp_b]),
        ("condition", row_filters.ConditionalRowFilter(
            column("pressure"), true_filter=column("temp"), false_filter=row_filters.BlockAllFilter(True)), [temp_a]),
    ]:
        got = cells_of(data_table.read_rows(ReadRowsQuery(row_filter=row_filter)))
        assert got == want, name


def test_labels(data_table):
    write(data_table, ("r", "f", "q", 1, b"v"))
    row = data_table.read_row("r", row_filter=row_filters.ApplyLabelFilter("seen"))
    assert row.cells[0].labels == ["seen"]


def test_mutations_apply_in_order(data_table):
    data_table.mutate_row("r", [set_cell("f", "q", 1, b"masked"), DeleteAllFromRow(), set_cell("f", "q", 2, b"kept"),
                                set_cell("f", "other", 2, b"x"), set_cell("f", "other", 3, b"y"),
                                DeleteRangeFromColumn("f", b"other", 2000, 3000)])
    assert cells_of([data_table.read_row("r")]) == [(b"r", "f", b"other", 3, b"y"), (b"r", "f", b"q", 2, b"kept")]
    data_table.mutate_row("r", DeleteAllFromFamily("f"))
    assert data_table.read_row("r") is None


def test_bulk_write_reports_each_entry(data_table, table):
    entries = [RowMutationEntry("good", set_cell("f", "q", 1, b"v")),
               RowMutationEntry("bad", [set_cell("f", "q", 1, b"v"), set_cell("absent", "q", 1, b"v")])]
    with pytest.raises(MutationsExceptionGroup) as failed:
        data_table.bulk_mutate_rows(entries)
    (failure,) = failed.value.exceptions
    assert failure.index == 1
    assert isinstance(failure.__cause__, exceptions.NotFound)
    assert failure.__cause__.message == (
        f"Error while mutating the row 'bad' ({table.name}) : Requested column family not found.")
    assert keys(data_table.read_rows(ReadRowsQuery())) == [b"good"]


def test_unknown_family_applies_nothing(data_table):
    with pytest.raises(exceptions.NotFound, match="Requested column family not found"):
        data_table.mutate_row("r", [set_cell("f", "q", 1, b"v"), set_cell("absent", "q", 1, b"v")])
    assert data_table.read_row("r") is None


def test_empty_ranges_are_refused(data_table):
    text = "Error in field 'row_ranges' : Error in element #0 : start_key must be less than end_key"
    query = ReadRowsQuery(row_ranges=RowRange("k", "k", start_is_inclusive=False, end_is_inclusive=True))
    with pytest.raises(exceptions.InvalidArgument) as refused:
        data_table.read_rows(query)
    assert refused.value.message == text


def test_a_filter_that_names_a_family_that_is_not_there_is_refused(data_table, table):
    query = ReadRowsQuery(row_filter=row_filters.FamilyNameRegexFilter("absent"))
    with pytest.raises(exceptions.NotFound) as refused:
        data_table.read_rows(query)
    assert refused.value.message == f"Error while reading table '{table.name}' : Requested column family not found"


def test_timestamps_that_are_no_milliseconds_are_refused(data_table):
    with pytest.raises(exceptions.InvalidArgument):
        data_table.mutate_row("r", SetCell("f", "q", b"v", timestamp_micros=1001))
    with pytest.raises(exceptions.InvalidArgument):
        data_table.mutate_row("r", DeleteRangeFromColumn("f", b"q", 1001, 2000))


def test_check_and_mutate(data_table):
    def check(predicate, **cases):
        return data_table.check_and_mutate_row("r", predicate, **cases)

    first = set_cell("f", "q", 1, b"first")
    assert check(None, true_case_mutations=set_cell("f", "q", 1, b"never"), false_case_mutations=first) is False
    assert check(row_filters.ValueRegexFilter(b"first"), true_case_mutations=set_cell("f", "q", 1, b"second")) is True
    assert check(row_filters.ValueRegexFilter(b"first"), true_case_mutations=set_cell("f", "q", 1, b"third")) is False
    assert cells_of([data_table.read_row("r")]) == [(b"r", "f", b"q", 1, b"second")]


def test_read_modify_write(data_table):
    row = data_table.read_modify_write_row("r", [IncrementRule("f", "n", 41), IncrementRule("f", "n", 1),
                                                 AppendValueRule("f", "text", "ab")])
    assert [(cell.qualifier, cell.value) for cell in row.cells] == [(b"n", (42).to_bytes(8, "big")), (b"text", b"ab")]
    with pytest.raises(exceptions.FailedPrecondition):
        data_table.read_modify_write_row("r", IncrementRule("f", "text", 1))


def test_samples_end_with_the_empty_key(data_table):
    assert data_table.sample_row_keys()[-1][0] == b""


# Each row comes in one message: this client refuses one that starts inside a row, and takes 4 MiB at most.
def test_large_rows_come_whole(data_table):
    for key in ("a", "b", "c"):
        data_table.mutate_row(key, [set_cell("f", f"q{i:02}", 1, os.urandom(LARGE_VALUE_BYTES)) for i in range(2)])
    rows = data_table.read_rows(ReadRowsQuery())
    assert keys(rows) == [b"a", b"b", b"c"]
    assert [[len(cell.value) for cell in row.cells] for row in rows] == [[LARGE_VALUE_BYTES] * 2] * 3


def test_batcher_and_sharded_read(data_table):
    with data_table.mutations_batcher() as batcher:
        for i in range(5000):
            batcher.append(RowMutationEntry(f"row{i:05}", set_cell("f", "q", 1, str(i).encode())))
    shards = ReadRowsQuery().shard(data_table.sample_row_keys())
    assert keys(data_table.read_rows_sharded(shards)) == [f"row{i:05}".encode() for i in range(5000)]


def test_asynchronous_client(table, instance):
    async def write_and_read():
        async with BigtableDataClientAsync(project=PROJECT, **place()) as client:
            async with client.get_table(instance.instance_id, table.table_id) as async_table:
                await asyncio.gather(*[
                    async_table.mutate_row(f"row{i:02}", set_cell("f", "q", 1, b"v")) for i in range(50)])
                return [row.row_key async for row in await async_table.read_rows_stream(ReadRowsQuery())]

    assert asyncio.run(write_and_read()) == [f"row{i:02}".encode() for i in range(50)]


def test_authorized_views(data_client, instance, make_table):
    table = make_table("t", families=("f", "g"))
    subset = AuthorizedView.SubsetView(row_prefixes=[b"a#"], family_subsets={
        "f": AuthorizedView.FamilySubsets(qualifiers=[b"q"], qualifier_prefixes=[b"p"])})
    operation = instance._client.table_admin_client.create_authorized_view(
        parent=table.name, authorized_view_id="v", authorized_view=AuthorizedView(subset_view=subset))
    assert operation.result(timeout=10).name == f"{table.name}/authorizedViews/v"
    with (data_client.get_table(instance.instance_id, "t") as whole,
          data_client.get_authorized_view(instance.instance_id, "t", "v") as view):
        write(whole, ("a#1", "f", "q", 1, b"1"), ("a#1", "f", "r", 1, b"2"), ("a#1", "g", "q", 1, b"3"), ("b", "f", "q", 1, b"4"))
        write(view, ("a#1", "f", "p2", 1, b"5"))
        assert cells_of(view.read_rows(ReadRowsQuery())) == [(b"a#1", "f", b"p2", 1, b"5"), (b"a#1", "f", b"q", 1, b"1")]
        assert view.read_row("b") is None
        for key, mutation in [("b", set_cell("f", "q", 1, b"x")), ("a#1", set_cell("f", "r", 1, b"x")),
                              ("a#1", DeleteAllFromRow())]:
            with pytest.raises(exceptions.PermissionDenied, match="outside the Authorized View"):
                view.mutate_row(key, mutation)
        assert cells_of([whole.read_row("b")]) == [(b"b", "f", b"q", 1, b"4")]
