"""The derived tables of the worked examples (examples/*) that a materialized view can say, with such a view of each.

tests/conformance/python/test_example_views.py compares their answers; bench/sql measures them side by side.
"""


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
