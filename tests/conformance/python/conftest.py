"""One instance a test on the server that BIGTABLE_EMULATOR_HOST names, seen through both official clients."""

import itertools
import os
import time

import pytest
from google.cloud import bigtable
from google.cloud.bigtable.data import BigtableDataClient

PROJECT = "conformance"
_instance_count = itertools.count(1)


def pytest_configure(config):
    if not os.environ.get("BIGTABLE_EMULATOR_HOST"):
        raise pytest.UsageError("BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run python SONDE")


@pytest.fixture
def instance():
    """The classic client's instance; it needs no creation."""
    client = bigtable.Client(project=PROJECT, admin=True)
    yield client.instance(f"py{time.time_ns()}-{next(_instance_count)}")
    client.close()


@pytest.fixture
def make_table(instance):
    def make(table_id="t", families=("f",), splits=()):
        table = instance.table(table_id)
        rules = families if isinstance(families, dict) else dict.fromkeys(families)
        table.create(column_families=rules, initial_split_keys=list(splits))
        return table

    return make


@pytest.fixture
def table(make_table):
    return make_table()


@pytest.fixture
def data_client():
    with BigtableDataClient(project=PROJECT) as client:
        yield client


@pytest.fixture
def data_table(table, instance, data_client):
    """The data client's view of `table`."""
    with data_client.get_table(instance.instance_id, table.table_id) as data_table:
        yield data_table
