"""Questions in PromQL about TSBS's cpu-only: TSBS's own, as PromQL says them, and those of dashboards: by other labels than the first
of a key, by patterns, counts, ranks, rates, quantiles, values of labels.  Every query is the same text for all that are asked.

An answer is compared as {labels: {time: value}}.
"""

import dataclasses
import json
import math
import random
import urllib.parse

import tsbs_questions as tsbs

HOUR, MINUTE = tsbs.HOUR, tsbs.MINUTE


@dataclasses.dataclass
class Kind:
    # Of a chance, the labels of the data and the hosts: a query.
    query: object
    hours: float = 1   # of the range; 0: one time
    step: int = MINUTE
    # Whether both must answer the same: VictoriaMetrics' rate does not extrapolate, and knows the value before the window.
    is_same: bool = True
    has_names: bool = False  # names of metrics are compared; VictoriaMetrics keeps some that functions drop


@dataclasses.dataclass
class Question:
    path: str
    has_names: bool = False
    is_list: bool = False  # of values of a label, or of series without points


def selector(metric, *conditions):
    return f"cpu_{metric}{{{','.join(conditions)}}}" if conditions else f"cpu_{metric}"


def hosts_of(chance, hosts, count):
    names = [f"host_{number}" for number in sorted(chance.sample(range(hosts), min(count, hosts)))]
    return f'hostname="{names[0]}"' if len(names) == 1 else f'hostname=~"{"|".join(names)}"'


def together(metrics, query_of):
    """Several metrics in one answer, each with its name in a label, as functions drop names."""
    if metrics == 1:
        return query_of(tsbs.METRICS[0])
    return " or ".join(f'label_replace({query_of(metric)}, "metric", "{metric}", "", "")' for metric in tsbs.METRICS[:metrics])


def max_of_hosts(metrics, count, step):
    def query(chance, labels, hosts):
        condition = hosts_of(chance, hosts, count)
        return together(metrics, lambda metric: f"max(max_over_time({selector(metric, condition)}[{step}s]))")
    return query


def means_by_host(metrics):
    return lambda chance, labels, hosts: together(
        metrics, lambda metric: f"avg by (hostname) (avg_over_time({selector(metric)}[1h]))")


def by_label(name, operator="="):
    return lambda chance, labels, hosts: (
        f"avg(avg_over_time({selector('usage_user', f'''{name}{operator}{json.dumps(chance.choice(labels[name]))}''')}[5m]))")


def by_three_labels(chance, labels, hosts):
    conditions = [f"{name}={json.dumps(chance.choice(labels[name]))}" for name in ("team", "os", "service_environment")]
    return f"avg(avg_over_time({selector('usage_user', *conditions)}[5m]))"


def text(query):
    """A query that has the number of a host in it, or nothing."""
    return lambda chance, labels, hosts: query.replace("HOST", str(chance.randrange(hosts)))


KINDS = {
    "single-groupby-1-1-1": Kind(max_of_hosts(1, 1, MINUTE)),
    "single-groupby-1-1-12": Kind(max_of_hosts(1, 1, MINUTE), hours=12),
    "single-groupby-1-8-1": Kind(max_of_hosts(1, 8, MINUTE)),
    "single-groupby-5-1-1": Kind(max_of_hosts(5, 1, MINUTE)),
    "single-groupby-5-1-12": Kind(max_of_hosts(5, 1, MINUTE), hours=12),
    "single-groupby-5-8-1": Kind(max_of_hosts(5, 8, MINUTE)),
    "cpu-max-all-1": Kind(max_of_hosts(10, 1, HOUR), hours=8, step=HOUR),
    "cpu-max-all-8": Kind(max_of_hosts(10, 8, HOUR), hours=8, step=HOUR),
    "double-groupby-1": Kind(means_by_host(1), hours=12, step=HOUR),
    "double-groupby-5": Kind(means_by_host(5), hours=12, step=HOUR),
    "double-groupby-all": Kind(means_by_host(10), hours=12, step=HOUR),
    "high-cpu-1": Kind(lambda chance, labels, hosts: f"{selector('usage_user', hosts_of(chance, hosts, 1))} > {tsbs.HIGH}", hours=12),
    "high-cpu-all": Kind(text(f"cpu_usage_user > {tsbs.HIGH}"), hours=12, step=5 * MINUTE),
    "lastpoint": Kind(text('{__name__=~"cpu_usage_.+"}'), hours=0, has_names=True),
    "groupby-orderby-limit": Kind(text("max(max_over_time(cpu_usage_user[1m]))"), hours=5 / 60),
    "second label": Kind(by_label("region")),
    "third label": Kind(by_label("datacenter")),
    "eighth label": Kind(by_label("service")),
    "three labels": Kind(by_three_labels),
    "not a value": Kind(by_label("region", "!=")),
    "pattern, prefix": Kind(text('avg(avg_over_time(cpu_usage_user{hostname=~"host_1.*"}[5m]))')),
    "pattern, inside": Kind(text('avg(avg_over_time(cpu_usage_user{hostname=~".*HOST.*"}[5m]))')),
    "count by": Kind(text("count by (region) (cpu_usage_user)")),
    "topk": Kind(text("topk(10, avg_over_time(cpu_usage_user[1h]))"), hours=0),
    "rate, 1 h": Kind(text("sum by (region) (rate(cpu_usage_user[5m]))"), is_same=False),
    "rate, 12 h": Kind(text("sum by (region) (rate(cpu_usage_user[5m]))"), hours=12, is_same=False),
    "quantile": Kind(text("quantile by (region) (0.95, cpu_usage_user)")),
    "values of a label": Kind(None),
}


def make(kind, labels, hosts, hours, seed):
    """A question of this kind about data of so many hosts and hours, whose labels have these values."""
    chance = random.Random(f"{kind} {seed}")
    made = KINDS[kind]
    end_of_data = tsbs.START + hours * HOUR
    seconds = int(min(made.hours, hours) * HOUR)
    # Windows look back by an hour at most, and end with a reading.
    begin = tsbs.START + made.step if made.step == HOUR else tsbs.START + min(HOUR, hours * HOUR - seconds)
    last = end_of_data - seconds
    start = begin + chance.randrange(max((last - begin) // MINUTE, 0) + 1) * MINUTE
    if made.query is None:
        words = {"match[]": f'cpu_usage_user{{region={json.dumps(chance.choice(labels["region"]))}}}', "start": tsbs.START,
                 "end": end_of_data}
        return Question("/api/v1/label/hostname/values?" + urllib.parse.urlencode(words), is_list=True)
    words = {"query": made.query(chance, labels, hosts), "nocache": "1"}
    if made.hours == 0:
        return Question("/api/v1/query?" + urllib.parse.urlencode(words | {"time": end_of_data - 10}), made.has_names)
    words |= {"start": start, "end": min(start + seconds, end_of_data), "step": made.step}
    return Question("/api/v1/query_range?" + urllib.parse.urlencode(words))


def read(question, body):
    data = json.loads(body)["data"]
    if question.is_list:  # of values, or of series
        return {tuple(sorted(item.items())) if isinstance(item, dict) else (item,): {} for item in data}
    found = {}
    for series in data["result"]:
        points = series["values"] if "values" in series else [series["value"]]
        labels = {name: value for name, value in series["metric"].items() if question.has_names or name != "__name__"}
        found[tuple(sorted(labels.items()))] = {round(float(time)): float(value) for time, value in points}
    return found


def difference(wanted, found):
    """In words; nothing: there is none but for rounding."""
    if wanted.keys() != found.keys():
        return f"{len(wanted)} and {len(found)} series, such as {sorted(wanted.keys() ^ found.keys())[:2]}"
    for labels, points in wanted.items():
        if points.keys() != found[labels].keys():
            return f"{labels}: {len(points)} and {len(found[labels])} points"
        for time, value in points.items():
            if not math.isclose(value, found[labels][time], rel_tol=1e-9, abs_tol=1e-9):
                return f"{labels} at {time}: {value} and {found[labels][time]}"
    return None


def shown(question):
    """Its query as a cell of a table."""
    url = urllib.parse.urlsplit(question.path)
    words = urllib.parse.parse_qs(url.query)
    if "query" in words:
        text = words["query"][0]
    else:
        *_, label, last = url.path.split("/")
        text = (f"values of {label} of " if last == "values" else "series of ") + words["match[]"][0]
    cell = text.replace("|", "\\|")
    return f"`{cell[:197]}...`" if len(cell) > 200 else f"`{cell}`"
