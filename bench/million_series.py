"""A million series that came at once, and questions about them by labels that do not lead a key: pods of a large installation, as a
restart of all of them brings them.  Each series is a metric of one field; its first label, the pod's name, is nobody else's.

The lines are the same for all that are measured, and are made before anything is timed.
"""

import concurrent.futures
import http.client
import random
import time
import urllib.parse

import promql_questions as questions
from processes import Failure
from tsbs_servers import LINES_A_BODY

START = 1_700_000_000 - 1_700_000_000 % 86_400 + 43_200  # noon: all points are in one day
STEP = 300
ROUNDS = 3
METRIC = "requests_total"
NODES_A_SERIES, NAMESPACES, REGIONS, VERSIONS, TEAMS = 100, 1_000, 10, 50, 20
SENDERS = 2


def labels_of(number, count):
    """The labels of a series, in the order of a line."""
    return {"pod": f"web-{number:07}-{number * 7919 % 99_991:05x}", "namespace": f"ns-{number * 31 % NAMESPACES:03}",
            "node": f"node-{number * 17 % max(count // NODES_A_SERIES, 1):05}", "region": f"region-{number % REGIONS}",
            "team": f"team-{number // 7 % TEAMS}", "version": f"v{number // 11 % VERSIONS}"}


def bodies(count, moment):
    """Requests of lines, one for each series, at a round."""
    seconds = START + moment * STEP
    made = []
    for begin in range(0, count, LINES_A_BODY):
        lines = []
        for number in range(begin, min(begin + LINES_A_BODY, count)):
            tags = ",".join(f"{name}={value}" for name, value in labels_of(number, count).items())
            lines.append(f"requests,{tags} total={number % 977 + moment * (number % 13)} {seconds}000000000\n")
        made.append("".join(lines).encode())
    return made


def post(endpoint, requests):
    """Sends them over several connections at once; returns how many seconds that took."""
    host, port = endpoint.split(":")

    def send(part):
        connection = http.client.HTTPConnection(host, int(port), timeout=600)
        for body in part:
            connection.request("POST", "/write", body)
            response = connection.getresponse()
            text = response.read()
            if response.status != 204:
                raise Failure(f"lines were answered with {response.status}: {text[:300].decode(errors='replace')}")
        connection.close()

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(SENDERS) as senders:
        for done in [senders.submit(send, requests[sender::SENDERS]) for sender in range(SENDERS)]:
            done.result()
    return time.perf_counter() - start


def chosen(chance, count, *names):
    """Conditions that some series fulfils."""
    labels = labels_of(chance.randrange(count), count)
    return [f'{name}="{labels[name]}"' for name in names]


def by(*names):
    return lambda chance, count: f"sum({METRIC}{{{','.join(chosen(chance, count, *names))}}})"


def several_nodes(chance, count):
    nodes = {labels_of(chance.randrange(count), count)["node"] for _ in range(8)}
    return f'sum by (node) ({METRIC}{{node=~"{"|".join(sorted(nodes))}"}})'


def not_a_region(chance, count):
    labels = labels_of(chance.randrange(count), count)
    return f'sum({METRIC}{{namespace="{labels["namespace"]}",team!="{labels["team"]}"}})'


def pattern(made):
    return lambda chance, count: f'count({METRIC}{{pod=~"{made(chance.randrange(count))}"}})'


# A query of a chance and the count of series; its time is the newest.
KINDS = {
    "pod (first label)": by("pod"),
    "node: 100 series": by("node"),
    "namespace: 1,000": by("namespace"),
    "team and version: 1,000": by("team", "version"),
    "region: 100,000": by("region"),
    "eight nodes": several_nodes,
    "namespace, not a team": not_a_region,
    "pattern of pods, prefix: 100": pattern(lambda number: f"web-{number // 100:05}.+"),
    "pattern of pods, inside": pattern(lambda number: f".*{number % 10_000:04}-.*"),
    "pattern of pods, end": pattern(lambda number: f".+-{number * 7919 % 99_991:05x}"),
    "namespace over 10 minutes": lambda chance, count: f"sum(increase({METRIC}{{{chosen(chance, count, 'namespace')[0]}}}[10m]))",
    "count by, all": lambda chance, count: f"count by (region) ({METRIC})",
    "topk of all": lambda chance, count: f"topk(10, {METRIC})",
    "values of a label": None,
    "list of series": None,
}
# VictoriaMetrics' increase does not extrapolate.  Of many that are alike topk may choose others.
UNLIKE = {"namespace over 10 minutes", "topk of all"}
# Of these the must is that of all questions.
ALL = {"count by, all", "topk of all"}


def make(kind, count, seed):
    chance = random.Random(f"{kind} {seed}")
    newest = START + (ROUNDS - 1) * STEP
    if KINDS[kind] is not None:
        words = {"query": KINDS[kind](chance, count), "time": newest + 1, "nocache": "1"}
        return questions.Question("/api/v1/query?" + urllib.parse.urlencode(words))
    selector = f"{METRIC}{{{chosen(chance, count, 'namespace')[0]}}}"
    words = {"match[]": selector, "start": START, "end": newest + 1}
    path = "/api/v1/label/node/values?" if kind == "values of a label" else "/api/v1/series?"
    return questions.Question(path + urllib.parse.urlencode(words), is_list=True)
