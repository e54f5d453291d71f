"""The derived tables of the worked examples (examples/*), once as they are declared and once as materialized views: the same answers.

A view is made over the series' own table, before its points come, and keeps itself; a correction that comes later reaches both.  What no
view can say has none: a table of newest values (CURRENT_METRIC), since a view has no aggregate that takes one column by the order of another.
"""

import os
import pathlib
import subprocess
import time

import pytest
from google.cloud.bigtable_admin_v2 import types as admin

from conftest import PROJECT, SECURE

SONDE, EXAMPLES = os.environ.get("SONDE_BINARY"), pathlib.Path(__file__).parents[3] / "examples"
pytestmark = pytest.mark.skipif(SONDE is None or SECURE is not None, reason="the program's own tools load the examples, without keys")
CATCH_UP_SECONDS = 60


def part(number):
    return f"SPLIT(CAST(t._key AS STRING), '#')[OFFSET({number})]"


def numbers(of, fields):
    """COUNT, SUM and MAX of each field, as the roll-up METRIC_1M has them; fields are (name, family, column, type)."""
    for name, family, column, type_ in fields:
        value = f"CAST(CAST({of}.{family}['{column}'] AS STRING) AS {type_})"
        yield from (f"COUNT({value}) AS {name}_count", f"SUM({value}) AS {name}_sum", f"MAX({value}) AS {name}_max")


METRICS = [("cpu_usr", "METRIC", "CPU/CPU1_USR", "FLOAT64"), ("cpu_nice", "METRIC", "CPU/CPU1_NICE", "FLOAT64"),
           ("blk_read", "IO", "IO/BLK_READ", "INT64"), ("blk_wrtn", "IO", "IO/BLK_WRTN", "INT64")]
READING = "CAST(CAST(one.value AS STRING) AS FLOAT64)"
# Declaration, files of points, derived table, further arguments of its query, the view's query, and what its rows are asked.
CASES = {
    "a roll-up of machines by the minute": (
        "servers/metrics.yaml", ["servers/metrics.csv"], "METRIC_1M", [],
        f"SELECT CAST(t.METRIC['HOSTNAME'] AS STRING) AS host, TIMESTAMP_TRUNC(TIMESTAMP_MILLIS(CAST({part(1)} AS INT64)), MINUTE) AS time, "
        f"{', '.join(numbers('t', METRICS))} FROM METRIC AS t GROUP BY host, time",
        "SELECT * FROM {view} ORDER BY host, time"),
    "games by their day": (
        "games/games.yaml", ["games/games.csv"], "games_by_day", [],
        f"SELECT {part(0)} AS game, PARSE_TIMESTAMP('%Y%m%d', {part(2)}) AS time, {part(1)} AS player, CAST(t.GAME['WIN'] AS STRING) AS win, "
        "CAST(CAST(t.GAME['KDA'] AS STRING) AS FLOAT64) AS kda FROM games AS t ORDER BY game, time, player",
        "SELECT game, player, time, win, kda FROM {view} ORDER BY game, time, player"),
    "meters by the day, corrected": (
        "meters/meters.yaml", ["meters/readings.csv", "meters/correction.csv"], "SENSOR_DAY",
        ["--field", "kwh_count", "--field", "kwh_min", "--field", "kwh_max"],
        f"SELECT CAST({part(0)} AS INT64) AS meter, PARSE_TIMESTAMP('%Y%m%d', {part(1)}) AS time, COUNT({READING}) AS kwh_count, "
        f"MIN({READING}) AS kwh_min, MAX({READING}) AS kwh_max FROM SENSOR AS t, UNNEST(MAP_ENTRIES(t.METER)) AS one WHERE one.key != b'ID' "
        "GROUP BY meter, time",
        "SELECT * FROM {view} ORDER BY meter, time"),
    "the meters of one day, corrected": (
        "meters/meters.yaml", ["meters/readings.csv", "meters/correction.csv"], "SENSOR_20170726", [],
        f"SELECT {part(1)} AS day, CAST({part(0)} AS INT64) AS meter, PARSE_TIMESTAMP('%Y%m%d%H%M', CONCAT({part(1)}, CAST(one.key AS STRING))) AS time, "
        f"{READING} AS kwh FROM SENSOR AS t, UNNEST(MAP_ENTRIES(t.METER)) AS one WHERE one.key != b'ID' ORDER BY day, meter, time",
        "SELECT meter, time, kwh FROM {view} WHERE day = '20170726' ORDER BY meter, time"),
    "earthquakes by the month, before 1970 too": (
        "earthquakes/quakes.yaml", ["earthquakes/quakes.csv"], "quake_by_month", [],
        f"SELECT {part(0)} AS region, TIMESTAMP_TRUNC(PARSE_TIMESTAMP('%Y%m%d%H%M%S', {part(1)}), MONTH) AS time, COUNT(t.m['m']) AS magnitude_count, "
        "MAX(CAST(CAST(t.m['m'] AS STRING) AS FLOAT64)) AS magnitude_max FROM quake AS t GROUP BY region, time",
        "SELECT * FROM {view} ORDER BY region, time"),
}


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
