"""The derived tables of the worked examples (examples/*), once as they are declared and once as materialized views: the same answers.

A view is made over the series' own table, before its points come, and keeps itself; a correction that comes later reaches both.  What no
view can say has none: a table of newest values (CURRENT_METRIC), since a view has no aggregate that takes one column by the order of another.
"""

import os
import pathlib
import subprocess
import sys
import time

import pytest
from google.cloud.bigtable_admin_v2 import types as admin

from conftest import PROJECT, SECURE

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "bench"))
from example_views import CASES  # noqa: E402

SONDE, EXAMPLES = os.environ.get("SONDE_BINARY"), pathlib.Path(__file__).parents[3] / "examples"
pytestmark = pytest.mark.skipif(SONDE is None or SECURE is not None, reason="the program's own tools load the examples, without keys")
CATCH_UP_SECONDS = 60


@pytest.mark.parametrize("name", CASES)
def test_a_view_answers_as_the_declared_table_does(instance, name):
    declaration, files, table, arguments, query, question = CASES[name]
    client, parent = instance._client.instance_admin_client, f"projects/{PROJECT}/instances/{instance.instance_id}"

    def sonde(*command):
        done = subprocess.run([SONDE, *command, "--endpoint", os.environ["BIGTABLE_EMULATOR_HOST"], "--project", PROJECT, "--instance",
                               instance.instance_id], check=False, capture_output=True, text=True, timeout=120, cwd=EXAMPLES)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def load(file):
        sonde("series", "load", declaration, file)

    def declared():
        return sonde("series", "query", f"{declaration}@{table}", *arguments, "--format", "csv")

    load(files[0])
    view = admin.MaterializedView(query=query)
    client.create_materialized_view(parent=parent, materialized_view_id="v", materialized_view=view).result(timeout=60)
    for file in files:  # the first one again, which changes nothing
        load(file)
        wanted, until = declared(), time.monotonic() + CATCH_UP_SECONDS
        assert wanted.count("\n") > 4
        while (got := sonde("sql", question.format(view="v"), "--format", "csv")) != wanted and time.monotonic() < until:
            time.sleep(0.1)
        assert got == wanted
