"""One instance a test, seen through both official clients: on the server that BIGTABLE_EMULATOR_HOST names, or by TLS on the one at
SONDE_ADDRESS, with the admin's key in SONDE_SECURE."""

import itertools
import os
import time

import pytest
from google.api_core.client_options import ClientOptions
from google.cloud import bigtable
from google.cloud.bigtable.data import BigtableDataClient
from google.oauth2 import service_account

PROJECT = "conformance"
SECURE = os.environ.get("SONDE_SECURE")
_instance_count = itertools.count(1)


def pytest_configure(config):
    if not os.environ.get("BIGTABLE_EMULATOR_HOST") and not SECURE:
        raise pytest.UsageError("BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run python SONDE")


def place():
    """The options of a client that say where the server is, and who calls."""
    if not SECURE:
        return {}
    key = os.path.join(SECURE, "admin-key.json")
    return {"credentials": service_account.Credentials.from_service_account_file(key, always_use_jwt_access=True),
            "client_options": ClientOptions(api_endpoint="localhost:" + os.environ["SONDE_ADDRESS"].rsplit(":", 1)[1])}


@pytest.fixture
def instance():
    """The classic client's instance; it needs no creation."""
    client = bigtable.Client(project=PROJECT, admin=True, **place())
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
    with BigtableDataClient(project=PROJECT, **place()) as client:
        yield client


@pytest.fixture
def data_table(table, instance, data_client):
    """The data client's view of `table`."""
    with data_client.get_table(instance.instance_id, table.table_id) as data_table:
        yield data_table
