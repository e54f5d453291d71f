#!/usr/bin/env python3
"""Compares Sonde's PromQL with Prometheus' own engine on generated expressions and samples.

usage: compare.py ENGINE ANSWERS [--queries N] [--seed N] [--show N]

ENGINE is the program of engine.go, ANSWERS that of answers.cc.  Times, labels and errors must be equal.  Values must
be equal bit by bit (any NaN is NaN), but for those that ALLOWED names.  Exit status: 0 equal, 1 not, 2 the call was wrong.
"""

import argparse
import json
import math
import random
import re
import struct
import subprocess
import sys

ALLOWED = [
    "values within 1e-9 of each other where the expression adds: the order of Go's maps and of its sums is not ours",
    "values within 1e-12 of each other where the expression calls exp, ln, log2, log10, trigonometry or ^: Go's "
    "mathematics is not glibc's",
    "the order of series in instant answers, but of sort, topk and bottomk: Prometheus has none",
    "answers with topk, bottomk, limitk, and count_values of calculated numbers: Go's maps decide between equal values, "
    "and what is calculated may differ as above; where such a call is outermost, the number of samples is compared",
    "logarithms of subnormal numbers, and what is calculated of them, and their powers by fractions: Go's are those of normal ones",
    "values behind % of numbers that may differ as above: the rest of a division makes much of a little",
    "functions of functions and of sums, as asin(log10(x)), minute(ln(x)) and changes(x atan2 y), and deviations of times: they make much of a little",
    "a parameter with @ of an aggregation, over a range: Prometheus moves the time behind @ with the steps, against its own "
    "documents; ours is at that time in each step",
    "the sign of a zero that min or max took of calculated ones: they come in the order of Go's maps",
    "which error of several: both fail",
    "a range with anchored or smoothed as the whole query, where a series has no samples: Prometheus ends by an index out of range",
    "the tenth and further digits of numbers in warnings and errors, where values may differ as above",
    "over how many samples buckets fell: Prometheus counts some of them several times",
]
START = 1_700_000_000_000
STALE = 0x7FF0000000000002
STEPS = [1, 7_000, 15_000, 60_000, 3_600_000]
VALUES = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308, 0.1, 3.0, 1e15, 1e-7]


def bits(value):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]


def number(text):
    return struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0]


class Data:
    """Series of one round."""

    def __init__(self, rng):
        self.rng = rng

    def times(self):
        rng = self.rng
        spacing = rng.choice([1_000, 15_000, 15_000, 30_000, 60_000])
        jitter = rng.choice([0, 0, 1, spacing // 3])
        time = START + rng.choice([0, 0, 1, -1, 7_000])
        times = []
        for _ in range(rng.choice([1, 2, 5, 40, 120])):
            times.append(time + (rng.randint(0, jitter) if jitter else 0))
            gap = rng.random() < 0.04
            time += rng.choice([300_000 - 1, 300_000, 300_000 + 1, 900_000]) if gap else spacing + jitter
        return times

    def values(self, count):
        rng = self.rng
        kind = rng.choice(["gauge", "counter", "constant", "odd", "counter", "gauge", "whole"])
        value = rng.choice([0.0, 1.0, 100.0])
        result = []
        for _ in range(count):
            if kind == "gauge":
                value = rng.gauss(0, 100)
            elif kind == "whole":
                value = float(rng.randint(0, 5))
            elif kind == "counter":
                value = 0.0 if rng.random() < 0.05 else value + rng.choice([0.0, 1.0, rng.random() * 10])
            elif kind == "odd":
                value = rng.choice(VALUES)
            result.append("%016x" % STALE if rng.random() < 0.02 else bits(value))
        return result

    def series(self):
        rng = self.rng
        lines = []
        has_targets = rng.random() < 0.4
        for name in ["a", "b", "requests_total"]:
            for i in range(rng.choice([1, 2, 4, 6])):
                labels = {"__name__": name, "i": str(i % 3), "j": rng.choice(["x", "y", "10", "9"])}
                if rng.random() < 0.3:
                    del labels["j"]
                if rng.random() < 0.2:
                    labels["Upper"] = "u"
                if has_targets and rng.random() < 0.9:
                    labels["instance"], labels["job"] = rng.choice("mn"), rng.choice(["p", "p", "q"])
                    if rng.random() < 0.05:
                        del labels[rng.choice(["instance", "job"])]
                lines.append(labels)
        for i in "12":
            for bound in ["0.1", "1", "1.0", "5", "+Inf"][: rng.choice([3, 5, 5])]:
                lines.append({"__name__": "h_bucket", "i": i, "le": bound})
        lines.append({"__name__": "h_bucket", "i": "1", "le": "bad"})
        # Info series: of a target one of each name at a time, or two that may be in conflict.
        for name in ["target_info", "build_info"]:
            for target in rng.sample(["mp", "mq", "np", "nq", "m", ""], rng.choice([2, 4, 5])) if has_targets else []:
                for _ in range(rng.choice([1, 1, 1, 2])):
                    labels = {"__name__": name, "data": rng.choice("xyz"), "version" if name == "build_info" else "zone": rng.choice("12")}
                    labels |= dict(zip(["instance", "job"], target))
                    lines.append(labels | ({"j": "info"} if rng.random() < 0.2 else {}))
        known = {}
        for labels in lines:
            known[tuple(sorted(labels.items()))] = labels
        result = []
        shared = self.times()
        for labels in known.values():
            times = shared if labels["__name__"] == "h_bucket" else self.times()
            result.append({"labels": labels, "t": times, "v": self.values(len(times))})
        return result


class Grammar:
    """Random expressions by type."""

    OVER_TIME = ["rate", "increase", "delta", "irate", "idelta", "changes", "resets", "avg_over_time", "sum_over_time",
                 "min_over_time", "max_over_time", "count_over_time", "last_over_time", "first_over_time",
                 "stddev_over_time", "stdvar_over_time", "present_over_time", "absent_over_time", "deriv",
                 "mad_over_time", "ts_of_first_over_time", "ts_of_last_over_time", "ts_of_max_over_time",
                 "ts_of_min_over_time"]
    NUMBERS = ["abs", "ceil", "floor", "exp", "sqrt", "ln", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan",
               "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "rad", "deg", "sgn", "minute", "hour", "day_of_week",
               "day_of_month", "day_of_year", "days_in_month", "month", "year", "timestamp", "round", "absent"]
    SIMPLE = ["sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"]
    LENGTHS = ["1ms", "15s", "30s", "1m", "5m", "5m1ms", "10m", "1h", "300", "1m*2", "step()", "max_of(1m, step())"]

    def __init__(self, rng):
        self.rng = rng

    def pick(self, *choices):
        return self.rng.choice(choices)()

    def length(self):
        return self.rng.choice(self.LENGTHS)

    def shift(self):
        rng = self.rng
        result = ""
        if rng.random() < 0.15:
            result += " offset " + rng.choice(["1m", "-1m", "5m", "15s", "-7s", "1ms", "(1m + 15s)"])
        if rng.random() < 0.12:
            result += " @ " + rng.choice(["start()", "end()", str(START / 1000 + 300), str(START / 1000 + 61.5)])
        return result

    def selector(self):
        rng = self.rng
        name = rng.choice(["a", "b", "requests_total", "h_bucket", "a", "b", "missing"])
        conditions = []
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            conditions.append(rng.choice(['i="1"', 'i!="1"', 'i=~"0|1"', 'i!~"2"', 'j="x"', 'j=""', 'j!=""', 'j=~".+"',
                                          'j=~".*"', 'Upper=~"u?"']))
        if rng.random() < 0.08:
            return '{__name__=~"a|b"%s}' % "".join("," + one for one in conditions)
        return name + ("{%s}" % ",".join(conditions) if conditions else "")

    def extension(self, share, words):
        return " " + self.rng.choice(words) if self.rng.random() < share else ""

    def matrix(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.75:
            return "%s[%s]%s%s" % (self.selector(), self.length(), self.extension(0.1, ["anchored", "smoothed"]), self.shift())
        inner = self.vector(depth - 1)
        step = rng.choice(["", "15s", "1m", "7s", "30s"])
        return "(%s)[%s:%s]%s" % (inner, rng.choice(["1m", "5m", "2m1s", "10m"]), step, self.shift())

    def grouping(self):
        rng = self.rng
        labels = rng.sample(["i", "j", "__name__", "le", "Upper", "none"], rng.choice([0, 1, 1, 2]))
        return rng.choice(["", " by (%s) " % ", ".join(labels), " without (%s) " % ", ".join(labels)])

    def aggregate(self, depth):
        rng = self.rng
        inner = self.vector(depth - 1)
        kind = rng.random()
        if kind < 0.6:
            return "%s%s(%s)" % (rng.choice(self.SIMPLE), self.grouping(), inner)
        if kind < 0.7:
            return "quantile%s(%s, %s)" % (self.grouping(), self.scalar(depth - 1), inner)
        if kind < 0.9:
            count = rng.choice(["0", "1", "2", "3", "100", "1.9", "-1", self.scalar(depth - 1)])
            return "%s%s(%s, %s)" % (rng.choice(["topk", "bottomk", "limitk"]), self.grouping(), count, inner)
        if kind < 0.95:
            ratio = rng.choice(["0.5", "0.3", "-0.3", "0.9", "0", "-1", "1", "1.5", "-2", self.scalar(depth - 1)])
            return "limit_ratio%s(%s, %s)" % (self.grouping(), ratio, inner)
        return 'count_values%s("%s", %s)' % (self.grouping(), rng.choice(["v", "i"]), inner)

    def call(self, depth):
        rng = self.rng
        kind = rng.random()
        if kind < 0.45:
            return "%s(%s)" % (rng.choice(self.OVER_TIME), self.matrix(depth - 1))
        if kind < 0.7:
            return "%s(%s)" % (rng.choice(self.NUMBERS), self.vector(depth - 1))
        vector = self.vector(depth - 1)
        return rng.choice([
            lambda: "quantile_over_time(%s, %s)" % (self.scalar(0), self.matrix(depth - 1)),
            lambda: "predict_linear(%s, %s)" % (self.matrix(depth - 1), self.scalar(0)),
            lambda: "double_exponential_smoothing(%s, 0.3, %s)" % (self.matrix(depth - 1), rng.choice(["0.5", "0.9", "2"])),
            lambda: "clamp(%s, %s, %s)" % (vector, self.scalar(0), self.scalar(0)),
            lambda: "clamp_min(%s, %s)" % (vector, self.scalar(0)),
            lambda: "clamp_max(%s, %s)" % (vector, self.scalar(0)),
            lambda: "round(%s, %s)" % (vector, self.scalar(0)),
            lambda: "%s(%s)" % (rng.choice(["sort", "sort_desc"]), vector),
            lambda: '%s(%s, "j")' % (rng.choice(["sort_by_label", "sort_by_label_desc"]), vector),
            lambda: 'label_replace(%s, "%s", "%s", "%s", "%s")' % (
                vector, rng.choice(["n", "i", "__name__"]), rng.choice(["$1", "x$1y", "", "${1}z", "$$"]),
                rng.choice(["i", "j", "__name__", "none"]), rng.choice(["(.*)", "(.).*", "1", "(?P<n>x|y)"])),
            lambda: 'label_join(%s, "%s", "-", "i", "j")' % (vector, rng.choice(["n", "j", "__name__"])),
            lambda: "histogram_quantile(%s, %s)" % (rng.choice(["0.5", "0.9", "0", "1", "2", "NaN"]),
                                                    rng.choice(["h_bucket", "rate(h_bucket[1m])", vector])),
            lambda: "histogram_fraction(%s, 3, h_bucket)" % rng.choice(["0", "0.05", "-1"]),
            lambda: "vector(%s)" % self.scalar(depth - 1),
            lambda: "histogram_count(%s)" % vector,
            lambda: "start_timestamp(%s)" % vector,
            lambda: "info(%s%s)" % (self.vector(rng.choice([0, 0, depth - 1])), self.info_selector()),
            lambda: "info(%s%s)" % (self.vector(rng.choice([0, 0, depth - 1])), self.info_selector()),
            lambda: "year()",
        ])()

    def info_selector(self):
        rng = self.rng
        conditions = rng.sample(['data="x"', 'data=~".+"', 'data!="x"', 'zone=~".*"', 'zone=~"1"', 'version=~".+"', '__name__="build_info"',
                                 '__name__=~".+_info"', '__name__!="build_info"', 'job="p"', 'j=~".+"'], rng.choice([0, 0, 1, 1, 2]))
        return rng.choice(["", ", {%s}" % ",".join(conditions), ", {%s}" % ",".join(conditions)])

    def binary(self, depth):
        rng = self.rng
        operator = rng.choice(["+", "-", "*", "/", "%", "^", "atan2", "==", "!=", "<", ">", "<=", ">=", "and", "or", "unless"])
        is_set = operator in ("and", "or", "unless")
        comparison = operator in ("==", "!=", "<", ">", "<=", ">=")
        word = " bool" if comparison and rng.random() < 0.3 else ""
        kind = rng.random()
        if kind < 0.35 and not is_set:
            sides = [self.vector(depth - 1), self.scalar(depth - 1)]
            rng.shuffle(sides)
            return "(%s) %s%s (%s)" % (sides[0], operator, word, sides[1])
        matching = rng.choice(["", " on(i)", " ignoring(j)", " on(i, j)", " on()", " on(__name__, i)", " ignoring(le, Upper)"])
        if matching and not is_set and rng.random() < 0.4:
            group = rng.choice(["group_left", "group_right"]) + rng.choice(["", "(j)", "(Upper)"])
            if not (matching == " on(i, j)" and group.endswith("(j)")):
                matching += " " + group
        if rng.random() < 0.15:
            fill = rng.choice(["0", "1", "-2.5", "5m", "NaN", "1e9"])
            matching += rng.choice([" fill(%s)", " fill_left(%s)", " fill_right (%s)", " fill_left(3) fill_right(%s)"]) % fill
        return "(%s) %s%s%s (%s)" % (self.vector(depth - 1), operator, word, matching, self.vector(depth - 1))

    def vector(self, depth):
        if depth <= 0:
            return self.selector() + self.extension(0.05, ["smoothed", "smoothed", "anchored"]) + self.shift()
        return self.pick(lambda: self.vector(0), lambda: self.aggregate(depth), lambda: self.call(depth),
                         lambda: self.call(depth), lambda: self.binary(depth), lambda: "-(%s)" % self.vector(depth - 1))

    def scalar(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.7:
            return rng.choice(["0", "1", "-1", "0.5", "2", "NaN", "Inf", "-Inf", "1e300", "010", "time()", "pi()", "5m"])
        return self.pick(lambda: "scalar(%s)" % self.vector(depth - 1),
                         lambda: "(%s %s %s)" % (self.scalar(depth - 1), rng.choice("+-*/%^"), self.scalar(depth - 1)),
                         lambda: "%s(%s, %s)" % (rng.choice(["max_of", "min_of"]), self.scalar(0), self.scalar(0)),
                         lambda: rng.choice(["start()", "end()", "range()", "step()"]))

    def query(self):
        rng = self.rng
        start = START + rng.choice([0, 15_000, 300_000, 300_001, 299_999, 420_000, 61_500])
        kind = rng.random()
        if kind < 0.4:
            top = self.matrix(2) if kind < 0.03 else self.vector(rng.choice([1, 2, 3]))
            return {"query": top, "start": start, "end": start, "step": 0}
        step = rng.choice(STEPS)
        end = start + step * rng.choice([0, 1, 5, 20]) + rng.choice([0, 0, step // 2])
        text = self.scalar(2) if kind < 0.43 else self.vector(rng.choice([1, 2, 2, 3]))
        return {"query": text, "start": start, "end": end, "step": step}


ADDS = ["sum", "avg", "std", "rate", "increase", "delta", "deriv", "predict", "quantile", "smoothing", "histogram", "mad"]
MATHS = ["atan2", "exp", "ln", "log", "sin", "cos", "tan", "asin", "^", "rad", "deg"]
RANKS = ["topk", "bottomk", "limitk", "count_values"]
SUBNORMAL = -290


def tolerance(text):
    if any(word in text for word in ADDS):
        return 1e-9
    return 1e-12 if any(word in text for word in MATHS) else 0


def turns_logarithms(text):
    """Whether logarithms may come with the other sign."""
    return "-" in text and re.search(r"\b(ln|log2|log10)\(", text) is not None


def same_value(left, right, allowed, is_turned=False):
    if left == right:
        return True
    a, b = number(left), number(right)
    if math.isnan(a) and math.isnan(b):
        return True
    if allowed and (a == b or -800 < min(a, b) <= max(a, b) < SUBNORMAL):
        return True
    if is_turned and -SUBNORMAL < min(a, b) <= max(a, b) < 800:
        return True
    if not allowed or math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= allowed * max(abs(a), abs(b), 1e-290 if allowed else 0)


def counts(series):
    result = {}
    for one in series:
        for time in one["t"]:
            result[time] = result.get(time, 0) + 1
    return result


def parameters(text):
    """The parameters of aggregations that have one, as text."""
    for found in re.finditer(r"\b(quantile|topk|bottomk|limitk|limit_ratio)\s*((by|without)\s*\([^()]*\)\s*)?\(", text):
        depth, quote = 0, ""
        for at in range(found.end(), len(text)):
            letter = text[at]
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'`":
                quote = letter
            elif letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            elif letter == "," and depth == 0:
                yield text[found.end():at]
                break


def is_parameter_at_a_time(case):
    """Whether an aggregation over a range of time has a parameter with @."""
    return case["step"] > 0 and any("@" in parameter for parameter in parameters(case["query"]))


FUNCTIONS = r"(\b(exp|ln|log2|log10|rad|deg|a?(sin|cos|tan)h?)\(|\^| atan2 )"
STEPS_OF = r"\b(minute|hour|day_of_\w+|days_in_month|month|year|round|floor|ceil|changes|resets)\("


def magnifies(text):
    """Whether a mathematical function's last digit, or one of deviations of times, can become one that differs much."""
    functions = len(re.findall(FUNCTIONS, text))
    if functions == 0:
        return re.search(r"\bstd(dev|var)\b.*\b(time(stamp)?|ts_of_\w+)\(", text) is not None
    adds = any(word in text for word in ADDS)
    return functions > 1 or adds or re.search(r" [-+*/] |" + STEPS_OF, text) is not None


# Differences that are not counted as such, by why; of each there must be few: what is wrong would differ more often.
EXCUSES_MAX = {"calculated": 5e-5, "zeros": 5e-5, "rest": 5e-5, "parameter": 5e-5, "ranks": 1e-3, "crash": 1e-3}
EXCUSES_MIN = 5   # in a short run


def difference(case, theirs, ours):
    """What differs, or nothing, and why that is excused, or nothing."""
    what = whole_difference(theirs, ours, case)
    if what is None:
        return None, None
    text = case["query"]
    is_value = what.startswith("value")
    if is_parameter_at_a_time(case) and not what.startswith(("printed", "type")):
        return what, "parameter"
    if what == "error" and re.search(r"\] (anchored|smoothed)", text) and "runtime error: index out of range" in (theirs.get("error") or ""):
        return what, "crash"
    if what.startswith(("error", "printed", "type")):
        return what, None
    if is_value and tolerance(text):
        if "%" in text:
            return what, "rest"
        if magnifies(text) or "^" in text:
            return what, "calculated"
    if what.startswith("value, a zero"):
        return what, "zeros"
    if not any(word in text for word in RANKS):
        return what, None
    if text.startswith(tuple(RANKS)) and counts(theirs.get("series") or []) != counts(ours.get("series") or []):
        return what, None
    return what, "ranks"


def words(text, allowed, has_logarithms=False):
    """A warning, without what may differ in it."""
    text = re.sub(r"over -?\d+ samples", "over N samples", text)
    if has_logarithms:
        text = re.sub(r"max diff of \S+,", "max diff of N,", text)
    return re.sub(r"\d\.\d{9,}(e[+-]\d+)?", lambda found: "%.9g" % float(found[0]), text) if allowed else text


def whole_difference(theirs, ours, case):
    if theirs.get("error") or ours.get("error"):
        if bool(theirs.get("error")) != bool(ours.get("error")):
            return "error"
        allowed = tolerance(case["query"])
        same = words(theirs["error"], allowed) == words(ours["error"], allowed) or "found duplicate series" in theirs["error"]
        return None if same or "labels" in theirs["error"] else "error text"
    if theirs.get("printed") != ours.get("printed"):
        return "printed text"
    if theirs.get("lines") != ours.get("lines"):
        return "printed lines"
    if theirs.get("samples") != ours.get("samples"):
        return "samples"
    if theirs.get("type") != ours.get("type"):
        return "type"
    left = {json.dumps(one.get("labels") or {}, sort_keys=True): one for one in theirs.get("series") or []}
    right = {json.dumps(one.get("labels") or {}, sort_keys=True): one for one in ours.get("series") or []}
    if left.keys() != right.keys():
        return "series"
    allowed = tolerance(case["query"])
    is_turned = turns_logarithms(case["query"])
    takes_zeros = re.search(r"\b(min|max)\b.*(\b(or|and|unless|on|ignoring)\b|[-+*/%^<>=]|\w\()", case["query"]) is not None
    zeros = None
    for key, one in left.items():
        if one["t"] != right[key]["t"]:
            return "times of " + key
        for time, a, b in zip(one["t"], one["v"], right[key]["v"]):
            if takes_zeros and a != b and number(a) == number(b) == 0:
                zeros = "value, a zero of %s at %d: %r, ours %r" % (key, time, number(a), number(b))
                continue
            if not same_value(a, b, allowed, is_turned):
                return "value of %s at %d: %r, ours %r" % (key, time, number(a), number(b))
    if case["query"].startswith(("sort(", "sort_desc(")) and case["step"] == 0:
        a = [number(one["v"][0]) for one in theirs.get("series") or []]
        b = [number(one["v"][0]) for one in ours.get("series") or []]
        if not all(same_value(bits(x), bits(y), allowed) for x, y in zip(a, b)):
            return "order"
    for kind in ["warnings", "infos"]:
        has_logarithms = re.search(r"\b(ln|log2|log10)\(", case["query"]) is not None
        a, b = (sorted(words(one, allowed, has_logarithms) for one in answer.get(kind) or []) for answer in (theirs, ours))
        if a != b:
            return "%s %s, ours %s" % (kind, a, b)
    return zeros


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")

    def ask(self, lines):
        for line in lines:
            self.tell(line)
        self.process.stdin.flush()
        return [self.answer(line) for line in lines]

    def answer(self, line):
        text = self.process.stdout.readline()
        if not text:
            raise SystemExit("compare.py: a program ended at %s" % json.dumps(line))
        return json.loads(text)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("answers")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20, help="how many differences are shown")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    engine, ours = Program(options.engine), Program(options.answers)
    differences = failed = 0
    excused = dict.fromkeys(EXCUSES_MAX, 0)
    compared = 0
    while compared < options.queries:
        series = {"series": Data(rng).series()}
        engine.tell(series)
        ours.tell(series)
        # One after the other: the answers of a batch could fill a pipe that nobody reads.
        for case in [Grammar(rng).query() for _ in range(min(50, options.queries - compared))]:
            [a], [b] = engine.ask([case]), ours.ask([case])
            compared += 1
            failed += bool(a.get("error"))
            what, excuse = difference(case, a, b)
            if excuse is not None:
                excused[excuse] += 1
            if what is None or excuse is not None:
                continue
            differences += 1
            if differences <= options.show:
                print("%s\n  %s\n  theirs %s\n  ours   %s" % (what, json.dumps(case), json.dumps(a)[:500], json.dumps(b)[:500]))
    engine.end()
    ours.end()
    print("%d queries, %d of which are errors in Prometheus; %d differ" % (compared, failed, differences))
    too_many = [why for why, share in EXCUSES_MAX.items() if excused[why] > max(EXCUSES_MIN, share * compared)]
    print("excused: " + ", ".join("%s %d" % one for one in excused.items()))
    for why in too_many:
        print("too many are excused by %s: %d; at most %g of all may be" % (why, excused[why], EXCUSES_MAX[why]))
    for line in ALLOWED:
        print("allowed: " + line)
    return 1 if differences or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
