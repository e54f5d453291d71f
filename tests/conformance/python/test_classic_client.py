"""google.cloud.bigtable: the classic client, administration included."""

import datetime

import pytest
from google.api_core import exceptions
from google.cloud.bigtable import column_family, row_filters
from google.cloud.bigtable.row_set import RowSet

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def at(ms):
    return EPOCH + datetime.timedelta(milliseconds=ms)


def write(table, *cells):
    rows = {}
    for key, family, qualifier, ms, value in cells:
        row = rows.setdefault(key, table.direct_row(key))
        row.set_cell(family, qualifier, value, timestamp=at(ms))
    for status in table.mutate_rows(list(rows.values())):
        assert status.code == 0, status


def cells_of(row):
    """(family, qualifier, ms, value), in the server's order within a family."""
    return [
        (family, qualifier.decode(), cell.timestamp_micros // 1000, cell.value)
        for family, columns in sorted(row.cells.items())
        for qualifier, cells in columns.items()
        for cell in cells
    ]


def keys(rows):
    return [row.row_key for row in rows]


def test_tables_are_created_listed_and_deleted(instance, make_table):
    make_table("pear")
    make_table("apple")
    assert [table.table_id for table in instance.list_tables()] == ["apple", "pear"]
    assert instance.table("pear").exists()
    instance.table("pear").delete()
    assert not instance.table("pear").exists()
    assert [table.table_id for table in instance.list_tables()] == ["apple"]
    with pytest.raises(exceptions.AlreadyExists):
        make_table("apple")
    with pytest.raises(exceptions.NotFound):
        instance.table("pear").delete()


def test_families_carry_their_rules(make_table):
    versions = column_family.MaxVersionsGCRule(3)
    age = column_family.MaxAgeGCRule(datetime.timedelta(days=30))
    rules = {
        "versions": versions,
        "age": age,
        "either": column_family.GCRuleUnion([versions, age]),
        "both": column_family.GCRuleIntersection([versions, age]),
    }
    table = make_table("t", {**rules, "all": None})
    families = table.list_column_families()
    assert sorted(families) == ["age", "all", "both", "either", "versions"]
    assert {name: families[name].gc_rule for name in rules} == rules


def test_families_are_added_changed_and_dropped(table):
    table.column_family("g").create()
    write(table, ("r", "f", "q", 1, b"1"), ("r", "g", "q", 1, b"2"), ("r", "g", "q", 2, b"3"))
    table.column_family("g", gc_rule=column_family.MaxVersionsGCRule(1)).update()
    assert cells_of(table.read_row("r")) == [("f", "q", 1, b"1"), ("g", "q", 2, b"3")]
    table.column_family("f").delete()
    assert cells_of(table.read_row("r")) == [("g", "q", 2, b"3")]
    with pytest.raises(exceptions.NotFound):
        table.column_family("f").delete()
    with pytest.raises(exceptions.AlreadyExists):
        table.column_family("g").create()


def test_initial_splits_are_sampled(make_table):
    table = make_table("t", splits=[b"d", b"m"])
    samples = list(table.sample_row_keys())
    assert [sample.row_key for sample in samples] == [b"d", b"m", b""]
    assert [sample.offset_bytes for sample in samples] == sorted(sample.offset_bytes for sample in samples)


def test_rows_are_written_and_read_back(table):
    write(table, ("a", "f", "q", 1, b"old"), ("a", "f", "q", 2, b"new"), ("b", "f", b"\xff\x00", 1, b""))
    assert cells_of(table.read_row("a")) == [("f", "q", 2, b"new"), ("f", "q", 1, b"old")]
    assert table.read_row("b").cells["f"][b"\xff\x00"][0].value == b""
    assert table.read_row("c") is None


def test_bulk_write_reports_each_row(table):
    good, bad = table.direct_row("good"), table.direct_row("bad")
    good.set_cell("f", "q", b"v")
    bad.set_cell("f", "q", b"v")
    bad.set_cell("absent", "q", b"v")
    statuses = table.mutate_rows([good, bad])
    assert [status.code for status in statuses] == [0, 5]
    assert statuses[1].message == (
        f"Error while mutating the row 'bad' ({table.name}) : Requested column family not found.")
    assert keys(table.read_rows()) == [b"good"]


def test_ranges_prefixes_limits_and_lists(table):
    write(table, *[(key, "f", "q", 1, b"v") for key in ("a", "b#1", "b#2", "c", "d")])
    assert keys(table.read_rows()) == [b"a", b"b#1", b"b#2", b"c", b"d"]
    assert keys(table.read_rows(start_key="b#2", end_key="d")) == [b"b#2", b"c"]
    assert keys(table.read_rows(start_key="b#2", end_key="d", end_inclusive=True)) == [b"b#2", b"c", b"d"]
    assert keys(table.read_rows(limit=2)) == [b"a", b"b#1"]
    prefix = RowSet()
    prefix.add_row_range_with_prefix("b#")
    assert keys(table.read_rows(row_set=prefix)) == [b"b#1", b"b#2"]
    listed = RowSet()
    for key in ("d", "absent", "a"):
        listed.add_row_key(key)
    listed.add_row_range_from_keys("b#1", "b#2")
    assert keys(table.read_rows(row_set=listed)) == [b"a", b"b#1", b"d"]


def test_deletes(table):
    write(table, *[("r", "f", qualifier, ms, b"v") for qualifier in ("a", "b") for ms in (1, 2, 3)])
    row = table.direct_row("r")
    row.delete_cell("f", "a", time_range=row_filters.TimestampRange(start=at(2), end=at(3)))
    row.commit()
    assert [ms for _, qualifier, ms, _ in cells_of(table.read_row("r")) if qualifier == "a"] == [3, 1]
    row.delete_cells("f", ["a"])
    row.commit()
    assert {qualifier for _, qualifier, _, _ in cells_of(table.read_row("r"))} == {"b"}
    row.delete()
    row.commit()
    assert table.read_row("r") is None


def test_conditional_row(table):
    write(table, ("r", "f", "state", 1, b"free"))
    row = table.conditional_row("r", filter_=row_filters.ValueRegexFilter(b"free"))
    row.set_cell("f", "state", b"taken", timestamp=at(1), state=True)
    row.set_cell("f", "refused", b"1", timestamp=at(1), state=False)
    assert row.commit() is True
    again = table.conditional_row("r", filter_=row_filters.ValueRegexFilter(b"free"))
    again.set_cell("f", "state", b"stolen", timestamp=at(1), state=True)
    again.set_cell("f", "refused", b"1", timestamp=at(1), state=False)
    assert again.commit() is False
    assert cells_of(table.read_row("r")) == [("f", "refused", 1, b"1"), ("f", "state", 1, b"taken")]


def test_append_row(table):
    row = table.append_row("r")
    row.increment_cell_value("f", "n", 41)
    row.increment_cell_value("f", "n", 1)
    row.append_cell_value("f", "text", b"ab")
    row.append_cell_value("f", "text", b"c")
    result = row.commit()
    assert result["f"][b"n"][0][0] == (42).to_bytes(8, "big")
    assert result["f"][b"text"][0][0] == b"abc"
    text = table.append_row("r")
    text.increment_cell_value("f", "text", 1)
    with pytest.raises(exceptions.FailedPrecondition):
        text.commit()


def test_rows_are_dropped(table):
    write(table, *[(key, "f", "q", 1, b"v") for key in ("a", "ab", "abc", "b")])
    table.drop_by_prefix("ab")
    assert keys(table.read_rows()) == [b"a", b"b"]
    table.truncate()
    assert keys(table.read_rows()) == []


def test_batcher_writes_everything(table):
    with table.mutations_batcher(flush_count=100) as batcher:
        for i in range(1000):
            row = table.direct_row(f"row{i:04}")
            row.set_cell("f", "q", str(i), timestamp=at(1))
            batcher.mutate(row)
    assert keys(table.read_rows()) == [f"row{i:04}".encode() for i in range(1000)]


def test_expired_cells_are_not_returned(make_table):
    table = make_table("t", {
        "age": column_family.MaxAgeGCRule(datetime.timedelta(hours=1)), "versions": column_family.MaxVersionsGCRule(1)})
    now = int(datetime.datetime.now(datetime.timezone.utc).timestamp() * 1000)
    write(table, ("r", "age", "q", now - 7200_000, b"old"), ("r", "age", "q", now, b"new"),
          ("r", "versions", "q", 1, b"first"), ("r", "versions", "q", 2, b"second"))
    assert cells_of(table.read_row("r")) == [("age", "q", now, b"new"), ("versions", "q", 2, b"second")]
