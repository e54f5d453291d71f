"""Logical views by the administration's client, and in SQL."""

import pytest
from google.api_core import exceptions
from google.cloud.bigtable.data import SetCell
from google.cloud.bigtable_admin_v2 import types as admin
from google.protobuf.field_mask_pb2 import FieldMask

from conftest import PROJECT

QUERY = "SELECT  _key,\n\tf['q'] AS `q`  FROM t -- as it was given"


@pytest.fixture
def views(instance, data_table):
    """The client of the administration, the instance's name, and a row in its table `t`."""
    data_table.mutate_row("a", SetCell("f", "q", b"1", timestamp_micros=1000))
    data_table.mutate_row("b", SetCell("f", "q", b"2", timestamp_micros=1000))
    return instance._client.instance_admin_client, f"projects/{PROJECT}/instances/{instance.instance_id}"


def create(views, view_id, query, **fields):
    client, parent = views
    view = admin.LogicalView(query=query, **fields)
    return client.create_logical_view(parent=parent, logical_view_id=view_id, logical_view=view).result(timeout=60)


def update(views, view, *paths):
    return views[0].update_logical_view(logical_view=view, update_mask=FieldMask(paths=paths)).result(timeout=60)


def test_a_view_is_made_listed_altered_and_deleted(views):
    client, parent = views
    made = create(views, "v", QUERY)
    assert made.name == f"{parent}/logicalViews/v" and made.query == QUERY and made.etag and not made.deletion_protection
    assert client.get_logical_view(name=made.name) == made
    with pytest.raises(exceptions.AlreadyExists, match="Logical view already exists"):
        create(views, "v", "SELECT 1 AS value")
    create(views, "one", "SELECT 1 AS value", deletion_protection=True)
    pages = client.list_logical_views(request={"parent": parent, "page_size": 1})
    assert [view.name.split("/")[-1] for view in pages] == ["one", "v"]

    altered = update(views, admin.LogicalView(name=made.name, query="SELECT 2 AS value", etag=made.etag), "query")
    assert altered.query == "SELECT 2 AS value" and altered.etag != made.etag
    with pytest.raises(exceptions.Aborted):
        update(views, made, "query")
    with pytest.raises(exceptions.Aborted):
        client.delete_logical_view(request={"name": made.name, "etag": made.etag})
    client.delete_logical_view(request={"name": made.name, "etag": altered.etag})
    with pytest.raises(exceptions.NotFound):
        client.get_logical_view(name=made.name)

    one = f"{parent}/logicalViews/one"
    with pytest.raises(exceptions.FailedPrecondition):
        client.delete_logical_view(name=one)
    update(views, admin.LogicalView(name=one), "deletion_protection")
    client.delete_logical_view(name=one)


def test_rows_of_views_in_sql(views, instance, data_client):
    def ask(query):
        return [tuple(value for _, value in row.fields) for row in data_client.execute_query(query, instance.instance_id)]

    create(views, "v", QUERY)
    create(views, "w", "SELECT CAST(q AS STRING) AS text FROM v WHERE _key > 'a'")
    assert ask("SELECT * FROM v") == [(b"a", b"1"), (b"b", b"2")]
    assert ask("SELECT q FROM v WHERE _key = 'b'") == [(b"2",)]
    assert ask("SELECT text FROM w") == [("2",)]
    # Altered, it gives other rows, also to queries that were prepared before.
    update(views, admin.LogicalView(name=f"{views[1]}/logicalViews/v", query="SELECT _key, b'x' AS q FROM t"), "query")
    assert ask("SELECT * FROM v") == [(b"a", b"x"), (b"b", b"x")]
    assert ask("SELECT text FROM w") == [("x",)]


def test_what_a_view_reads_from_stays(views, table, instance):
    create(views, "v", QUERY)
    create(views, "w", "SELECT q FROM v")
    with pytest.raises(exceptions.FailedPrecondition, match="view .*/logicalViews/v reads from it"):
        table.delete()
    with pytest.raises(exceptions.FailedPrecondition, match="Column family 'f'"):
        table.column_family("f").delete()
    with pytest.raises(exceptions.FailedPrecondition, match="view .*/logicalViews/w reads from it"):
        views[0].delete_logical_view(name=f"{views[1]}/logicalViews/v")
    # A view is no table.
    assert not instance.table("v").exists()
    assert [one.table_id for one in instance.list_tables()] == ["t"]


def test_a_query_that_does_not_bind_makes_no_view(views):
    for query, error, words in [("SELECT none FROM t", exceptions.InvalidArgument, "Unrecognized name: none"),
                                ("SELECT * FROM other", exceptions.NotFound, "Table not found: other"),
                                ("SELECT", exceptions.InvalidArgument, "Syntax error"),
                                ("", exceptions.InvalidArgument, "It is empty")]:
        with pytest.raises(error, match=words):
            create(views, "v", query)
    assert not list(views[0].list_logical_views(parent=views[1]))
