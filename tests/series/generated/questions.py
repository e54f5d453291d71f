"""Random questions: all that the query API knows.

A question is plain data, by the names of the HTTP parameters: where [(tag, sign, text)] with the signs = =* != =~ !~,
from and to in microseconds, lists for field, agg, group_by and window, ints for latest, top and limit; `group_by` [] is
all in one group.  `way`: get, post or csv, for HTTP.
"""
import re

from clocks import BEGIN, DAY, END, HOUR, Pieces, text_of, width_of

EVERY = ["minute", "15m", "hour", "hour", "6h", "2h", "day", "day", "3d", "week", "month", "quarter", "year", "2mo",
         "12h", "7d", "2w"]
ODD_EVERY = ["7s", "90m", "25h", "1000ms", "5h"]  # in UTC only
AGGREGATES = ["avg", "min", "max", "count", "sum", "first", "last", "stddev", "median", "p0", "p95", "p12", "p100"]
FILLED_MAX = 400


def random_question(rng, source, zones, is_plain=False):
    """Of a model's Source.  `is_plain`: only what every table can answer exactly."""
    question = {"way": rng.choice(["get", "get", "post", "csv"])}
    if is_plain:
        return question
    if rng.random() < 0.1:
        return {**question, "latest": 1}  # what a table of newest values is for
    numbers = [name for name, kind in source.kinds.items() if kind != "string"]
    times = sorted({t for points in source.series.values() for t in points})
    _select(rng, source, question, times)
    kind = rng.choice(["raw", "latest", "latest", "aggregate", "aggregate", "buckets", "buckets", "buckets"])
    if rng.random() < 0.6 or not numbers:
        question["field"] = rng.sample(list(source.kinds), rng.randrange(1, len(source.kinds) + 1))
    if kind == "latest":
        question["latest"] = rng.choice([1, 1, 2, 3, 10])
    elif numbers and rng.random() < 0.35:
        question["change"] = rng.choice(["delta", "increase", "rate"])
        if any(name not in numbers for name in question.get("field", [])):
            question["field"] = numbers[:2]
    if kind in ("aggregate", "buckets"):
        _aggregate(rng, source, question, numbers)
    if kind == "buckets":
        _buckets(rng, question, times, zones)
    columns = source.columns(question)
    number_columns = columns if question.get("agg") else [c for c, f in zip(columns, source.fields_of(question)) if f in numbers]
    if number_columns and rng.random() < 0.15:
        question["top"] = rng.choice([1, 2, 4, 30, -1, -3])
        if rng.random() < 0.5:
            question["by"] = rng.choice(number_columns)
    if rng.random() < 0.1:
        question["limit"] = rng.choice([1, 2, 5, 50])
    return question


def _select(rng, source, question, times):
    where = []
    taken = set()
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        if not source.tags or not source.series:
            break
        place = rng.randrange(len(source.tags))
        tag = source.tags[place]
        value = rng.choice(list(source.series))[place]
        if tag["name"] in taken or value == "":
            continue
        taken.add(tag["name"])
        kinds = ["=", "=", "two", "!=", "=~", "!~", "alternatives"]
        if tag["type"] == "string":
            kinds += ["=*", "nobody"]
        kind = rng.choice(kinds)
        other = rng.choice(list(source.series))[place] or value
        if kind == "two":
            where += [(tag["name"], "=", value), (tag["name"], "=", other)]
        elif kind == "=*":
            where.append((tag["name"], "=*", value[:rng.randrange(1, len(value) + 1)]))
        elif kind in ("=~", "!~"):
            where.append((tag["name"], kind, rng.choice([
                re.escape(value[:1]) + ".*", ".*" + re.escape(value[-1:]), "[a-z]+-[0-9]", ".*[0-9]",
                "(?i)" + re.escape(value.upper()) if value.isascii() else "."])))
        elif kind == "alternatives":
            where.append((tag["name"], "=~", "|".join(re.escape(text) for text in {value, other, "none"})))
        elif kind == "nobody":
            where.append((tag["name"], "=", "nobody"))
        elif not (kind == "=" and value.endswith("*")):
            where.append((tag["name"], kind, value))
    if where:
        question["where"] = where
    if times:
        near = lambda: max(BEGIN, min(END - 1, rng.choice(times) + rng.choice([0, 0, 1, -1, 1000, HOUR, -HOUR, DAY, -DAY])))
        if rng.random() < 0.35:
            question["from"] = near()
        if rng.random() < 0.35:
            question["to"] = near()
        if question.get("from", BEGIN) >= question.get("to", END):
            del question["to"]


def _aggregate(rng, source, question, numbers):
    is_text = any(name not in numbers for name in question.get("field", [])) or not numbers
    question["agg"] = ["count"] if is_text else rng.sample(AGGREGATES, rng.choice([1, 2, 3]))
    if "median" in question["agg"] and "p50" in question["agg"]:
        question["agg"].remove("p50")
    if rng.random() < 0.5:
        names = source.tag_names
        question["group_by"] = rng.sample(names, rng.randrange(0, len(names) + 1))


def _buckets(rng, question, times, zones):
    question["every"] = rng.choice(EVERY)
    if rng.random() < 0.7:
        question["zone"] = rng.choice(zones)
    elif rng.random() < 0.3:
        question["every"] = rng.choice(ODD_EVERY)
    if rng.random() < 0.2:
        question["window"] = rng.choice([[3], [2], [1, 2, 5], [30]])
    if rng.random() < 0.4:
        question["fill"] = rng.choice(["null", "previous", "linear", "none"])
    if question.get("fill", "none") != "none" and times:
        _narrow(rng, question, times)


def _narrow(rng, question, times):
    """Filled gaps of a few hundred pieces, not of millions."""
    pieces = Pieces(question["every"], question.get("zone"))
    low, high = question.get("from", times[0]), question.get("to", times[-1] + 1)
    width = pieces.width if isinstance(pieces.width, int) else 28 * DAY
    if (high - low) / width <= FILLED_MAX:
        return
    question["from"] = max(BEGIN, rng.choice(times) - rng.randrange(1, 20) * width)
    question["to"] = min(END - 1, question["from"] + rng.randrange(1, FILLED_MAX) * width)


def is_refused(question):
    """Whether the API refuses the question: its parts do not go together."""
    width = width_of(question["every"]) if question.get("every") else None
    zone = question.get("zone", "UTC")
    return zone != "UTC" and isinstance(width, int) and DAY % width != 0 and width % DAY != 0


def parameters(question):
    """(name, text) pairs as the HTTP API takes them; those of the command line differ by dashes only."""
    pairs = []
    for tag, sign, text in question.get("where", []):
        pairs.append(("where", f"{tag}={text}*" if sign == "=*" else f"{tag}{sign}{text}"))
    for name in ("from", "to"):
        if name in question:
            pairs.append((name, text_of(question[name])))
    for name in ("field", "agg", "window"):
        if question.get(name):
            pairs.append((name, ",".join(map(str, question[name]))))
    if question.get("group_by") is not None:
        pairs.append(("group_by", ",".join(question["group_by"]) or "-"))
    for name in ("latest", "every", "zone", "change", "fill", "top", "by", "limit"):
        if name in question:
            pairs.append((name, str(question[name])))
    return pairs
