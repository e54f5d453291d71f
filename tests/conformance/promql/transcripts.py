#!/usr/bin/env python3
"""Asks a program the PromQL of transcripts and compares its answers with theirs.

usage: transcripts.py PROGRAM [FILE...]            the files of transcripts/ unless some are named
       transcripts.py PROGRAM --write FILE...      writes the program's answers into the files

PROGRAM is that of promql_answers.cc, or that of engine.go: Prometheus' own engine, from which the answers come.  Each
answer must be equal to the last bit, with its warnings.  Exit status: 0 equal, 1 not, 2 the call or a file was wrong.
"""

import argparse
import contextlib
import json
import math
import pathlib
import re
import sys
from dataclasses import dataclass, field

from compare import STALE, Program, bits, number

EXAMPLES = """\
examples:
  transcripts.py build/dev/bin/sonde_promql_answers
  transcripts.py build/dev/bin/sonde_promql_answers tests/conformance/promql/transcripts/literals.txt
  transcripts.py ENGINE --write tests/conformance/promql/transcripts/*.txt    then read what has changed

A file has blocks, and comments, whose lines start with '#'.  Times count from 1970.  Data are series with samples at
a regular spacing from time 0 on.  'data' takes the place of all series before it, 'also' adds series:

  data every 1m
    loaves{shop="north"}  0,5..50         0, 5, 10 and so on until 50
    loaves{shop="south"}  7 7*3 _*2 8     7 four times, no sample twice, 8
  also every 15s
    oven{}                NaN Inf -Inf stale

A query names its time, or its first and last time and its step.  Its answer follows.  Series are sorted by their labels,
but for a query 'in order', where their order is a part of the answer.  A range's answer has a value for each step, or '_':

  at 10m: sum(loaves)
    {} 58
  at 10m in order: topk(1, loaves)
    loaves{shop="north"} 50
  from 0s to 2m by 1m: loaves{shop="north"}
    loaves{shop="north"} 0 5 10

A query for a range of samples gives each with its time ('5 @60s').  Other answers are 'scalar 5', 'string "text"',
'nothing' and 'error: text'.  Lines 'warning: text' and 'info: text' follow where there are some.
"""

HERE = pathlib.Path(__file__).resolve().parent
UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'\s*(%s|"(?:[^"\\]|\\.)*")\s*=\s*("(?:[^"\\]|\\.)*")\s*(,|(?=\}))' % NAME)
QUERY = re.compile(r"(?:at (?P<at>\S+?)(?P<order> in order)?|from (?P<start>\S+) to (?P<end>\S+) by (?P<step>\S+?)): (?P<text>.+)")
DATA = re.compile(r"(data|also) every (\S+)")
REPEATS_MIN = 3   # which an answer says as one word


class FileError(Exception):
    pass


@dataclass
class Block:
    """Data or a query, with the lines below it."""
    line: int   # from 1
    text: str
    below: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)   # blanks and comments before it, as they stand


def blocks_of(path):
    """The file's blocks, and the lines after the last of them."""
    found, loose = [], []
    for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            loose.append(line)
        elif line.startswith("  "):
            if not found or loose:
                raise FileError("%d: no query and no data above this line: %s" % (at, line))
            found[-1].below.append(line[2:])
        else:
            found.append(Block(at, line, lines=loose))
            loose = []
    return found, loose


def millis(text):
    parts = re.fullmatch(r"(-?)((?:\d+(?:ms|[smhd]))+)", text)
    if not parts:
        raise FileError("'%s' is no time such as 1h30m, -5s or 250ms" % text)
    total = sum(int(count) * UNITS_MS[unit] for count, unit in re.findall(r"(\d+)(ms|[smhd])", parts[2]))
    return -total if parts[1] else total


def labels_of(text):
    """The labels at the text's start, and what follows them."""
    name = re.match(NAME, text)
    labels = {"__name__": name[0]} if name else {}
    at = name.end() if name else 0
    if at < len(text) and text[at] == "{":
        at += 1
        while at < len(text) and text[at] != "}":
            pair = LABEL.match(text, at)
            if not pair:
                raise FileError("no label at '%s'" % text[at:])
            labels[json.loads(pair[1]) if pair[1].startswith('"') else pair[1]] = json.loads(pair[2])
            at = pair.end()
        at += 1
    if at == 0 or at > len(text):
        raise FileError("no labels in '%s'" % text)
    return labels, text[at:]


def samples_of(word):
    """The bits of the samples that a word stands for; None is no sample."""
    repeat = re.fullmatch(r"(.+)\*(\d+)", word)
    if repeat:
        return samples_of(repeat[1]) * int(repeat[2])
    if word == "_":
        return [None]
    if word == "stale":
        return ["%016x" % STALE]
    row = re.fullmatch(r"([^,]+),([^,]+)\.\.([^,]+)", word)
    try:
        if not row:
            return [bits(float(word))]
        first, second, last = float(row[1]), float(row[2]), float(row[3])
        count = round((last - first) / (second - first))
    except (ValueError, ZeroDivisionError) as error:
        raise FileError("'%s' is no sample" % word) from error
    if first + count * (second - first) != last:
        raise FileError("'%s' does not reach its end" % word)
    return [bits(first + i * (second - first)) for i in range(count + 1)]


def series_of(text, spacing_ms):
    labels, rest = labels_of(text)
    samples = [sample for word in rest.split() for sample in samples_of(word)]
    kept = [i for i, sample in enumerate(samples) if sample is not None]
    return {"labels": labels, "t": [i * spacing_ms for i in kept], "v": [samples[i] for i in kept]}


def case_of(query):
    if query["at"]:
        return {"query": query["text"], "start": millis(query["at"]), "end": millis(query["at"]), "step": 0}
    case = {"query": query["text"], "start": millis(query["start"]), "end": millis(query["end"]), "step": millis(query["step"])}
    if case["step"] <= 0 or case["end"] < case["start"]:
        raise FileError("no range of times: %s" % query[0])
    return case


def value_text(text):
    """The shortest decimal that reads back as the same number."""
    value = number(text)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return re.sub(r"\.0$", "", repr(value))


def time_text(time_ms):
    return "%ds" % (time_ms // 1_000) if time_ms % 1_000 == 0 else "%dms" % time_ms


def labels_text(labels):
    rest = sorted((name, value) for name, value in labels.items() if name != "__name__")
    name = labels.get("__name__", "")
    if name and not re.fullmatch(NAME, name):
        rest, name = [("__name__", name)] + rest, ""
    pairs = [(key if re.fullmatch(NAME, key) else json.dumps(key, ensure_ascii=False)) + "=" + json.dumps(value, ensure_ascii=False)
             for key, value in rest]
    return name + "{" + ", ".join(pairs) + "}" if pairs or not name else name


def values_text(case, kind, one):
    if case["step"] == 0 and kind == "matrix":
        return " ".join("%s @%s" % (value_text(value), time_text(time)) for time, value in zip(one["t"], one["v"]))
    at = dict(zip(one["t"], one["v"]))
    steps = range(case["start"], case["end"] + 1, case["step"]) if case["step"] else [case["start"]]
    if any(time not in steps for time in at):
        return "at other times than asked for: %s" % sorted(at)
    words = [value_text(at[time]) if time in at else "_" for time in steps]
    joined = []
    while words:
        count = next((i for i, word in enumerate(words) if word != words[0]), len(words))
        joined += ["%s*%d" % (words[0], count)] if count >= REPEATS_MIN else words[:count]
        words = words[count:]
    return " ".join(joined)


def without_kind(text, kind):
    return text.removeprefix("PromQL %s: " % kind)


def answer_lines(case, answer, is_ordered):
    """The answer of a program as a file says it."""
    lines = []
    kind, series = answer.get("type"), answer.get("series") or []
    if answer.get("error"):
        lines.append("error: " + answer["error"].replace("\n", "\\n"))
    elif kind == "string":
        lines.append("string " + json.dumps(answer.get("text", ""), ensure_ascii=False))
    elif kind == "scalar" and case["step"] == 0:
        lines.append("scalar " + values_text(case, kind, series[0]))
    else:
        if not is_ordered:
            series = sorted(series, key=lambda one: sorted((one.get("labels") or {}).items()))
        lines += ["%s %s" % (labels_text(one.get("labels") or {}), values_text(case, kind, one)) for one in series] or ["nothing"]
    lines += ["warning: " + without_kind(text, "warning") for text in sorted(answer.get("warnings") or [])]
    return lines + ["info: " + without_kind(text, "info") for text in sorted(answer.get("infos") or [])]


def answers_of(program, blocks):
    """Each block with a query, and its answer by the program."""
    series = []
    for block in blocks:
        data, query = DATA.fullmatch(block.text), QUERY.fullmatch(block.text)
        try:
            if data:
                series = (series if data[1] == "also" else []) + [series_of(line, millis(data[2])) for line in block.below]
                program.tell({"series": series})
                continue
            if not query:
                raise FileError("no data and no query: %s" % block.text)
            case = case_of(query)
        except FileError as error:
            raise FileError("%d: %s" % (block.line, error)) from error
        [answer] = program.ask([case])
        yield block, answer_lines(case, answer, query["order"] is not None)


def write(path, blocks, after, answers):
    for block, answer in answers:
        block.below = answer
    lines = []
    for block in blocks:
        lines += block.lines + [block.text] + ["  " + line for line in block.below]
    path.write_text("\n".join(lines + after) + "\n", encoding="utf-8")


def show(path, block, answer):
    print("%s:%d: %s" % (path, block.line, block.text))
    for title, lines in [("the file", block.below or ["(no answer)"]), ("the program", answer)]:
        print("  %s:" % title)
        for line in lines:
            print("    " + line)


def run(options, program):
    queries = differences = 0
    for path in options.files or sorted((HERE / "transcripts").glob("*.txt")):
        try:
            blocks, after = blocks_of(path)
            answers = list(answers_of(program, blocks))
        except FileError as error:
            raise FileError("%s:%s" % (path, error)) from error
        queries += len(answers)
        if options.write:
            write(path, blocks, after, answers)
            continue
        for block, answer in answers:
            if block.below != answer:
                differences += 1
                if differences <= options.show:
                    show(path, block, answer)
    print("%d queries; %s" % (queries, "their answers are written" if options.write else "%d differ" % differences))
    return 1 if differences or not queries else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("files", metavar="FILE", nargs="*", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write the program's answers into the files")
    parser.add_argument("--show", type=int, default=20, help="how many differences are shown")
    options = parser.parse_intermixed_args()   # FILE may stand behind --write
    if options.write and not options.files:
        parser.error("--write needs the names of files")
    try:
        program = Program(options.program)
    except OSError as error:
        parser.error("%s does not start: %s" % (options.program, error.strerror))
    try:
        return run(options, program)
    except (FileError, OSError, UnicodeDecodeError) as error:
        print("transcripts.py: %s" % error, file=sys.stderr)
        return 2
    finally:
        with contextlib.suppress(BrokenPipeError):   # of a program that has ended before
            program.end()


if __name__ == "__main__":
    sys.exit(main())
