"""The questions of bench/sql: what Sonde and its peers are asked, and the bars of each.

Data: TSBS's cpu-only, a row per host and hour (host_00042#1451606400), ten metrics of family m as INT64 in eight bytes, a cell
a reading.  Peers have a table cpu (hostname, time, ten metrics), sorted by both.
"""

import dataclasses
from typing import Optional

FIRST_SECOND = 1_451_606_400
METRICS = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq",
           "usage_steal", "usage_guest", "usage_guest_nice"]
TABLE = "bench_bucket"
TABLE_OF_NEWEST = "bench_newest"  # a row a host, of one point
# The same rows as a declared series: series.cpu.
DECLARATION = f"""series: cpu
table: {TABLE}
tags: {{ hostname: string }}
fields: {{ {', '.join(f"{metric}: {{ type: int, encoding: int64_be }}" for metric in METRICS)} }}
key: [hostname, {{ bucket: hour, format: epoch_s }}]
retention: {{ max_versions: all }}
"""
DECLARATION_WITH_NEWEST = DECLARATION + "derive:\n  - latest: cpu_now\n"


@dataclasses.dataclass(frozen=True)
class Question:
    name: str
    sonde: str
    duckdb: str
    chdb: str
    must_ms: Optional[float] = None
    aim_ms: Optional[float] = None
    must_ratio: Optional[float] = None  # to the best peer
    parameters: tuple = ()  # of Sonde, NAME:TYPE=VALUE


def host(number):
    return f"host_{number:05}"


def hours_of(number, first_hour, hours):
    """The condition on the keys of a host's rows."""
    first = FIRST_SECOND + first_hour * 3600
    return f"_key BETWEEN '{host(number)}#{first}' AND '{host(number)}#{first + (hours - 1) * 3600}'"


def unpacked(metrics, condition="TRUE", arguments=""):
    """The raw table as rows of hostname, time and metrics."""
    cells = ", ".join(f"m['{metric}'] AS {metric}" for metric in metrics)
    values = ", ".join(f"TO_INT64({metric}) AS {metric}" for metric in metrics)
    return (f"(SELECT SPLIT(_key, '#')[0] AS hostname, _timestamp AS time, {values} FROM UNPACK((SELECT _key, {cells} "
            f"FROM {TABLE}(with_history => TRUE{arguments}) WHERE {condition})))")


def between(start, end):
    """Named arguments of a scan, and the parameters that they take."""
    return (", after_or_equal => @a, before => @b",
            (f"a:TIMESTAMP={stamp(start)}", f"b:TIMESTAMP={stamp(end)}"))


def stamp(second):
    hours, rest = divmod(second, 3600)
    return f"2016-01-01 {hours:02}:{rest // 60:02}:{rest % 60:02}+00"


def time_condition(start, end):
    return f"time >= '{stamp(start)[:-3]}' AND time < '{stamp(end)[:-3]}'"


def maxima(name, bars, metrics, hosts, first_hour, hours, unit):
    arguments, parameters = between(first_hour * 3600, (first_hour + hours) * 3600)
    keys = " OR ".join(hours_of(number, first_hour, hours) for number in hosts)
    names = ", ".join(f"'{host(number)}'" for number in hosts)
    rest = f"WHERE hostname IN ({names}) AND {time_condition(first_hour * 3600, (first_hour + hours) * 3600)} GROUP BY 1 ORDER BY 1"
    most = ", ".join(f"MAX({metric})" for metric in metrics)
    return Question(
        name, f"SELECT TIMESTAMP_TRUNC(time, {unit}) AS t, {most} FROM {unpacked(metrics, keys, arguments)} GROUP BY 1 ORDER BY 1",
        f"SELECT date_trunc('{unit}', time) AS t, {most} FROM cpu {rest}",
        f"SELECT toStartOf{unit.capitalize()}(time) AS t, {most} FROM cpu {rest}",
        *bars, parameters=parameters)


def double_groupby(name, bars, metrics):
    means = ", ".join(f"AVG({metric})" for metric in metrics)
    return Question(
        name, f"SELECT hostname, TIMESTAMP_TRUNC(time, HOUR) AS h, {means} FROM {unpacked(metrics)} GROUP BY 1, 2",
        f"SELECT hostname, date_trunc('hour', time) AS h, {means} FROM cpu GROUP BY 1, 2",
        f"SELECT hostname, toStartOfHour(time) AS h, {means} FROM cpu GROUP BY 1, 2", *bars)


def high_cpu(name, bars, hosts, keys, start, end):
    arguments, parameters = between(start, end)
    condition = f"usage_user > 90 AND {time_condition(start, end)}" + (f" AND hostname = '{host(hosts)}'" if hosts is not None else "")
    plain = f"SELECT * FROM cpu WHERE {condition}"
    return Question(name, f"SELECT * FROM {unpacked(METRICS, keys, arguments)} WHERE usage_user > 90", plain, plain, *bars,
                    parameters=parameters)


def questions(hosts, hours):
    """Of a table of so many hosts and hours.  The bars are those of declared series; the raw table may take twice as long."""
    some = [number * max(1, hosts // 9) % hosts for number in range(1, 9)]
    lastpoint = ("SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
                 "SELECT * FROM cpu ORDER BY hostname, time DESC LIMIT 1 BY hostname")
    last_hour = FIRST_SECOND + (hours - 1) * 3600
    newest = ", ".join(f"TO_INT64(m['{metric}']) AS {metric}" for metric in METRICS)
    keys = ", ".join(f"b'{host(number)}#{last_hour}'" for number in range(hosts))
    end = hours * 3600 * 5 // 6
    arguments, parameters = between(0, end)
    top = "GROUP BY 1 ORDER BY 1 DESC LIMIT 5"
    some_hours = min(8, hours)
    return [
        maxima("single-groupby-1-1-1", (1.0, 0.5), METRICS[:1], [some[0]], hours // 2, 1, "MINUTE"),
        maxima("single-groupby-5-8-1", (3.0, 1.5), METRICS[:5], some, hours // 2, 1, "MINUTE"),
        maxima("cpu-max-all-8", (10.0, 5.0), METRICS, some, 0, some_hours, "HOUR"),
        double_groupby("double-groupby-1", (140, 70), METRICS[:1]),
        double_groupby("double-groupby-5", (520, 260), METRICS[:5]),
        double_groupby("double-groupby-all", (900, 450), METRICS),
        high_cpu("high-cpu-1", (4.0, 2.0), some[0], hours_of(some[0], 0, hours), 0, hours * 3600),
        high_cpu("high-cpu-all", (None, None, 3.0), None, "TRUE", 0, hours * 3600),
        # A declared series has a table of its newest points, and so have rows made by hand.
        Question("lastpoint", f"SELECT SPLIT(_key, '#')[0] AS hostname, {newest} FROM {TABLE_OF_NEWEST}", *lastpoint, 10.0, 5.0),
        Question("lastpoint, of the rows of the last hour", f"SELECT SPLIT(_key, '#')[0] AS hostname, {newest} FROM {TABLE} "
                 "WHERE _key IN UNNEST(@keys)", *lastpoint, parameters=(f"keys:ARRAY<BYTES>=[{keys}]",)),
        Question("groupby-orderby-limit",
                 f"SELECT TIMESTAMP_TRUNC(time, MINUTE) AS t, MAX(usage_user) FROM {unpacked(METRICS[:1], 'TRUE', arguments)} {top}",
                 f"SELECT date_trunc('minute', time) AS t, MAX(usage_user) FROM cpu WHERE {time_condition(0, end)} {top}",
                 f"SELECT toStartOfMinute(time) AS t, MAX(usage_user) FROM cpu WHERE {time_condition(0, end)} {top}",
                 60.0, 30.0, parameters=parameters),
    ]


def series_questions(hosts, hours):
    """TSBS's questions of series.cpu, by the names of questions(), with the bars of the specification."""
    def maxima_of(name, bars, metrics, numbers, first_hour, count, unit):
        most = ", ".join(f"MAX({metric})" for metric in metrics)
        return (name, bars, f"SELECT TIMESTAMP_TRUNC(time, {unit}) AS t, {most} FROM series.cpu WHERE hostname IN UNNEST(@h) AND "
                "time >= @a AND time < @b GROUP BY t ORDER BY t",
                ("h:ARRAY<STRING>=[" + ", ".join(f"'{host(number)}'" for number in numbers) + "]",
                 *between(first_hour * 3600, (first_hour + count) * 3600)[1]))

    def means_of(name, bars, metrics):
        means = ", ".join(f"AVG({metric})" for metric in metrics)
        return (name, bars, f"SELECT hostname, TIMESTAMP_TRUNC(time, HOUR) AS h, {means} FROM series.cpu GROUP BY hostname, h", ())

    some = [number * max(1, hosts // 9) % hosts for number in range(1, 9)]
    end = hours * 3600 * 5 // 6
    return [
        maxima_of("single-groupby-1-1-1", (0.5, 0.25), METRICS[:1], some[:1], hours // 2, 1, "MINUTE"),
        maxima_of("single-groupby-5-8-1", (1.5, 1.0), METRICS[:5], some, hours // 2, 1, "MINUTE"),
        maxima_of("cpu-max-all-8", (5.0, 2.4), METRICS, some, 0, min(8, hours), "HOUR"),
        means_of("double-groupby-1", (70, None), METRICS[:1]),
        means_of("double-groupby-5", (260, None), METRICS[:5]),
        means_of("double-groupby-all", (450, None), METRICS),
        ("high-cpu-1", (2.0, None), "SELECT * FROM series.cpu WHERE usage_user > 90 AND hostname = @h AND time >= @a AND time < @b",
         (f"h:STRING={host(some[0])}", *between(0, hours * 3600)[1])),
        ("high-cpu-all", (None, None), "SELECT * FROM series.cpu WHERE usage_user > 90 AND time >= @a AND time < @b",
         between(0, hours * 3600)[1]),
        ("lastpoint, without a table of newest values", (None, None), "SELECT * FROM series.cpu(latest_n => 1)", ()),
        ("groupby-orderby-limit", (30, 5), "SELECT TIMESTAMP_TRUNC(time, MINUTE) AS t, MAX(usage_user) FROM series.cpu WHERE time < @b "
         "GROUP BY t ORDER BY t DESC LIMIT 5", between(0, end)[1][1:]),
    ]


def newest_questions():
    """Of series.cpu with a table of newest values, which series that are written through Sonde have if they are declared so."""
    return [("lastpoint", (5.0, 3.0), "SELECT * FROM series.cpu(latest_n => 1)", ())]
