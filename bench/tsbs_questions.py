"""The questions of TSBS's cpu-only, each in the words of those that are asked: Sonde's series over HTTP, VictoriaMetrics,
DuckDB.  https://github.com/timescale/tsbs, "DevOps: cpu-only", has their meaning.

An answer is compared as {(host, or "-" where hosts are together; start of the bucket in seconds): values}.
"""

import dataclasses
import datetime
import http.client
import json
import random
import urllib.parse

METRICS = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq",
           "usage_steal", "usage_guest", "usage_guest_nice"]
START = 1_451_606_400  # 2016-01-01T00:00:00Z
TOGETHER = "-"
HIGH = 90  # of high-cpu
MINUTE, HOUR = 60, 3_600


@dataclasses.dataclass
class Question:
    """One of a kind, with its hosts and its range of time.  metrics: the first so many; step: of the buckets, or None."""
    kind: str
    aggregate: str  # max, avg; latest; high: all readings with usage_user above HIGH
    hosts: list     # None: all
    metrics: int
    start: int
    end: int
    step: int = None
    by_host: bool = False

    @property
    def fields(self):
        return METRICS[:self.metrics]


# kind: (aggregate, hosts or None for all, metrics, hours or None for all, step, whether hosts are apart)
KINDS = {
    "single-groupby-1-1-1": ("max", 1, 1, 1, MINUTE, False),
    "single-groupby-1-1-12": ("max", 1, 1, 12, MINUTE, False),
    "single-groupby-1-8-1": ("max", 8, 1, 1, MINUTE, False),
    "single-groupby-5-1-1": ("max", 1, 5, 1, MINUTE, False),
    "single-groupby-5-1-12": ("max", 1, 5, 12, MINUTE, False),
    "single-groupby-5-8-1": ("max", 8, 5, 1, MINUTE, False),
    "cpu-max-all-1": ("max", 1, 10, 8, HOUR, False),
    "cpu-max-all-8": ("max", 8, 10, 8, HOUR, False),
    "double-groupby-1": ("avg", None, 1, 12, HOUR, True),
    "double-groupby-5": ("avg", None, 5, 12, HOUR, True),
    "double-groupby-all": ("avg", None, 10, 12, HOUR, True),
    "high-cpu-1": ("high", 1, 10, 12, None, True),
    "high-cpu-all": ("high", None, 10, 12, None, True),
    "lastpoint": ("latest", None, 10, None, None, True),
    # The newest five minutes before a time, as a range: there are readings in every minute.
    "groupby-orderby-limit": ("max", None, 1, 5 / 60, MINUTE, False),
}


def make(kind, hosts, hours, seed):
    """A question of this kind about data of so many hosts and hours."""
    chance = random.Random(f"{kind} {seed}")
    aggregate, some, metrics, span, step, by_host = KINDS[kind]
    names = None if some is None else [f"host_{number}" for number in chance.sample(range(hosts), min(some, hosts))]
    seconds = hours * HOUR if span is None else int(min(span, hours) * HOUR)
    grain = step or MINUTE
    start = START + chance.randrange((hours * HOUR - seconds) // grain + 1) * grain
    return Question(kind, aggregate, names, metrics, start, start + seconds, step, by_host)


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Unasked(Exception):
    """This one has no words for the question."""


class HttpPeer:
    """Answers over one connection that stays open."""

    def __init__(self, endpoint):
        host, port = endpoint.split(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=600)

    def get(self, path):
        self.connection.request("GET", path)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise RuntimeError(f"GET {path[:300]}: status {response.status}: {body[:300].decode(errors='replace')}")
        return body


class Sonde(HttpPeer):
    def prepare(self, question):
        words = {"field": ",".join(question.fields), "limit": "1000000"}
        where = [f"hostname={host}" for host in question.hosts or []]
        if question.aggregate == "latest":
            words["latest"] = "1"
        else:
            words.update({"from": iso(question.start), "to": iso(question.end)})
        if question.step:
            words.update({"agg": question.aggregate, "every": {MINUTE: "minute", HOUR: "hour"}[question.step],
                          "group_by": "hostname" if question.by_host else TOGETHER})
        if question.aggregate == "high":
            where.append(f"usage_user>{HIGH}")
        path = "/api/v1/series/cpu/query?" + urllib.parse.urlencode([("where", text) for text in where] + list(words.items()))
        return lambda: self.get(path)

    def answer(self, question):
        answer = json.loads(self.prepare(question)())
        names = [column["name"] for column in answer["columns"]]
        kinds = [column["kind"] for column in answer["columns"]]
        values = [index for index, kind in enumerate(kinds) if kind == "number"]
        time = kinds.index("time")
        host = names.index("hostname") if "hostname" in names else None
        seconds = {}
        found = {}
        for row in answer["rows"]:
            text = row[time]
            if text not in seconds:
                seconds[text] = int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())
            found[row[host] if host is not None else TOGETHER, seconds[text]] = [row[index] for index in values]
        return found


class VictoriaMetrics(HttpPeer):
    """Its windows have their end and not their start: asked a millisecond before the next bucket, they are Sonde's."""

    def prepare(self, question):
        if question.aggregate == "high":
            raise Unasked("PromQL has no rows")  # TSBS does not ask it, either
        metrics = "|".join(question.fields)
        hosts = f',hostname=~"{"|".join(question.hosts)}"' if question.hosts else ""
        selector = f'{{__name__=~"cpu_({metrics})"{hosts}}}'
        words = {"nocache": "1"}
        if question.aggregate == "latest":
            words.update({"query": f"last_over_time({selector}[{question.end - question.start}s])",
                          "time": f"{question.end - 0.001:.3f}"})
            path = "/api/v1/query?"
        else:
            by = "__name__, hostname" if question.by_host else "__name__"
            words.update({
                "query": f"{question.aggregate}({question.aggregate}_over_time({selector}[{question.step}s])) by ({by})",
                "start": f"{question.start + question.step - 0.001:.3f}", "end": f"{question.end - 0.001:.3f}",
                "step": f"{question.step}s"})
            path = "/api/v1/query_range?"
        path += urllib.parse.urlencode(words)
        return lambda: self.get(path)

    def answer(self, question):
        found = {}
        for series in json.loads(self.prepare(question)())["data"]["result"]:
            labels = series["metric"]
            place = question.fields.index(labels["__name__"].removeprefix("cpu_"))
            host = labels["hostname"] if question.by_host else TOGETHER
            if question.aggregate == "latest":  # which has no time of its own
                found.setdefault((host, question.end - 10), [None] * question.metrics)[place] = float(series["value"][1])
                continue
            for time, value in series["values"]:
                start = round(time + 0.001) - question.step
                found.setdefault((host, start), [None] * question.metrics)[place] = float(value)
        return found


class DuckDb:
    """In this process, with all processors; a table in a file, by host and time."""

    def __init__(self, path):
        import duckdb
        self.version = duckdb.__version__
        self.connection = duckdb.connect(str(path))
        self.connection.execute("SET TimeZone = 'UTC'")

    def load(self, files):
        self.connection.execute(
            "CREATE TABLE cpu AS SELECT hostname, CAST(time AS TIMESTAMP) AS time, "
            + ", ".join(f"CAST({metric} AS DOUBLE) AS {metric}" for metric in METRICS)
            + " FROM read_csv(?) ORDER BY hostname, time", [[str(file) for file in files]])
        self.connection.execute("CHECKPOINT")

    def prepare(self, question):
        def moment(seconds):
            return f"TIMESTAMP '{iso(seconds).rstrip('Z').replace('T', ' ')}'"
        conditions = [f"time >= {moment(question.start)}", f"time < {moment(question.end)}"]
        if question.hosts:
            conditions.append("hostname IN (" + ", ".join(f"'{host}'" for host in question.hosts) + ")")
        if question.aggregate == "latest":
            values = ", ".join(f"arg_max({field}, time)" for field in question.fields)
            sql = f"SELECT hostname, max(time) AS start, {values} FROM cpu GROUP BY hostname ORDER BY hostname"
        elif question.aggregate == "high":
            sql = (f"SELECT hostname, time AS start, {', '.join(question.fields)} FROM cpu "
                   f"WHERE usage_user > {HIGH} AND {' AND '.join(conditions)} ORDER BY hostname, time")
        else:
            unit = {MINUTE: "minute", HOUR: "hour"}[question.step]
            values = ", ".join(f"{question.aggregate}({field})" for field in question.fields)
            by = "hostname, start" if question.by_host else "start"
            host = "hostname, " if question.by_host else ""
            sql = (f"SELECT {host}date_trunc('{unit}', time) AS start, {values} FROM cpu WHERE {' AND '.join(conditions)} "
                   f"GROUP BY {by} ORDER BY {by}")
        return lambda: self.connection.execute(sql).fetchnumpy()

    def answer(self, question):
        columns = list(self.prepare(question)().values())
        hosts = columns.pop(0) if question.by_host else [TOGETHER] * len(columns[0])
        starts = columns.pop(0).astype("datetime64[s]").astype("int64").tolist()
        rows = zip(hosts, starts, *[column.tolist() for column in columns])
        return {(host, start): list(values) for host, start, *values in rows}
