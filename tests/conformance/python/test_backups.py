"""Backups, copies and restored tables by the classic client and by the administration's own, as their users write it."""

import datetime

import pytest
from google.api_core import exceptions
from google.cloud.bigtable_admin_v2 import types as admin
from google.protobuf import field_mask_pb2

from conftest import PROJECT

CLUSTER = "c1"
WAIT_SECONDS = 120


def in_hours(hours):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)).replace(microsecond=0)


def expires(backup):
    """As the server has it now."""
    backup.reload()
    return datetime.datetime.fromtimestamp(backup.expire_time.seconds, datetime.timezone.utc)


def rows_of(table):
    return {row.row_key: {column: [cell.value for cell in cells] for column, cells in row.cells["f"].items()} for row in table.read_rows()}


@pytest.fixture
def written(table):
    """A table with 500 rows of two versions, and what they are."""
    rows = []
    for number in range(500):
        row = table.direct_row(b"row-%03d" % number)
        for version in (1, 2):
            row.set_cell("f", b"q", b"value %d of %d" % (version, number), timestamp=datetime.datetime.fromtimestamp(version, datetime.timezone.utc))
        rows.append(row)
    assert all(status.code == 0 for status in table.mutate_rows(rows))
    return table, rows_of(table)


def test_a_backup_is_made_changed_restored_and_deleted(written, instance):
    table, before = written
    first = in_hours(8)
    backup = table.backup("b1", cluster_id=CLUSTER, expire_time=first)
    assert not backup.exists()
    backup.create().result(timeout=WAIT_SECONDS)
    assert backup.exists()
    assert expires(backup) == first and backup.state == admin.Backup.State.READY
    assert backup.source_table == table.name and backup.start_time.seconds <= backup.end_time.seconds
    assert [one.name for one in table.list_backups(CLUSTER)] == [backup.name]
    later = in_hours(30)
    backup.update_expire_time(later)
    assert expires(backup) == later

    # What is written and deleted behind the backup is not in it.
    table.truncate()
    row = table.direct_row(b"later")
    row.set_cell("f", b"q", b"x")
    row.commit()
    table.restore("restored", cluster_id=CLUSTER, backup_id="b1").result(timeout=WAIT_SECONDS)
    assert rows_of(instance.table("restored")) == before
    assert list(rows_of(table)) == [b"later"]

    backup.delete()
    assert not backup.exists()
    assert rows_of(instance.table("restored")) == before, "the restored table stands by itself"


def test_a_copy_outlives_its_source(written, instance):
    table, before = written
    source = table.backup("source", cluster_id=CLUSTER, expire_time=in_hours(30))
    source.create().result(timeout=WAIT_SECONDS)
    client = instance._client.table_admin_client
    other = instance._client.instance(f"{instance.instance_id}-other")
    parent = f"{other.name}/clusters/{CLUSTER}"
    until = in_hours(24)
    copied = client.copy_backup(request=admin.CopyBackupRequest(parent=parent, backup_id="copy", source_backup=source.name, expire_time=until)).result(
        timeout=WAIT_SECONDS)
    assert copied.name == f"{parent}/backups/copy" and copied.source_backup == source.name
    copy = other.table(table.table_id).backup("copy", cluster_id=CLUSTER)
    assert expires(copy) == until
    source.delete()
    table.delete()
    copy.restore("again", instance.instance_id).result(timeout=WAIT_SECONDS)
    again = instance.table("again")
    assert rows_of(again) == before
    restored = client.get_table(name=again.name)
    assert restored.restore_info.backup_info.backup == copied.name
    copy.delete()


def test_backups_are_listed_by_filter_and_order(written, instance):
    table, _ = written
    client = instance._client.table_admin_client
    parent = f"projects/{PROJECT}/instances/{instance.instance_id}/clusters/{CLUSTER}"
    for name, hours in (("a", 30), ("b", 8), ("c", 20)):
        table.backup(name, cluster_id=CLUSTER, expire_time=in_hours(hours)).create().result(timeout=WAIT_SECONDS)

    def found(**fields):
        return [one.name.rsplit("/", 1)[1] for one in client.list_backups(request=admin.ListBackupsRequest(parent=parent, **fields))]

    assert found(order_by="expire_time") == ["b", "c", "a"]
    assert found(order_by="expire_time desc", page_size=1) == ["a", "c", "b"]
    assert found(filter=f'expire_time < "{in_hours(25).strftime("%Y-%m-%dT%H:%M:%SZ")}"', order_by="name") == ["b", "c"]
    assert found(filter="name:backups/a") == ["a"] and found(filter=f'name:"{parent}/backups/b"') == ["b"]
    assert sorted(found(filter="state:READY")) == ["a", "b", "c"] and found(filter="state:CREATING") == []
    with pytest.raises(exceptions.InvalidArgument):
        found(filter="nothing:1")


def test_what_cannot_be_is_refused(written, instance):
    table, _ = written
    client = instance._client.table_admin_client
    with pytest.raises(exceptions.InvalidArgument):
        table.backup("soon", cluster_id=CLUSTER, expire_time=in_hours(1)).create()
    with pytest.raises(exceptions.NotFound):
        instance.table("none").backup("b", cluster_id=CLUSTER, expire_time=in_hours(8)).create()
    backup = table.backup("twice", cluster_id=CLUSTER, expire_time=in_hours(8))
    backup.create().result(timeout=WAIT_SECONDS)
    with pytest.raises(exceptions.AlreadyExists):
        backup.create()
    with pytest.raises(exceptions.AlreadyExists):
        table.restore(table.table_id, cluster_id=CLUSTER, backup_id="twice")
    with pytest.raises(exceptions.InvalidArgument):
        client.update_backup(backup=admin.Backup(name=backup.name, source_table="x"), update_mask=field_mask_pb2.FieldMask(paths=["source_table"]))
    with pytest.raises(exceptions.NotFound):
        table.restore("new", cluster_id=CLUSTER, backup_id="none")
