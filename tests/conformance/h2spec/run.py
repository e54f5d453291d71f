#!/usr/bin/env python3
"""Runs h2spec's cases against the gRPC port, in plain text and through grpc_relay.py, and holds them to the list `expected.txt` beside this file.

usage: run.py --h2spec PROGRAM [SECTION ...]      SECTION as h2spec takes it: generic, http2/6.5, hpack/4.2
The server is the one that BIGTABLE_EMULATOR_HOST names.
Exit status: 0 each case ended as listed, 1 otherwise; a case that is not listed, and a line without its case, are faults, too.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import grpc_relay

LIST = pathlib.Path(__file__).resolve().parent / "expected.txt"
OUTCOMES = ("pass", "fails", "either", "strict")
PATH = "/google.bigtable.v2.Bigtable/ReadRows"
ANSWER_SECONDS_MAX = 2
RUN_SECONDS_MAX = 300
OUTPUT_LINES_MAX = 60


def read_list():
    """{case: (outcome, reason)}, and what is wrong with the list."""
    expected, wrong = {}, []
    for number, line in enumerate(LIST.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        case, *words = line.split(None, 2)
        if not words or words[0] not in OUTCOMES:
            wrong.append(f"line {number}: a case and one of {', '.join(OUTCOMES)} are wanted: {line}")
            continue
        if words[0] in ("fails", "either") and len(words) < 2:
            wrong.append(f"line {number}: no reason: {line}")
        if case in expected:
            wrong.append(f"line {number}: {case} is listed twice")
        expected[case] = words[0]
    return expected, wrong


def run_cases(program, sections):
    """{SECTION:NUMBER: (ended, title)}, and what the program said."""
    host, port = os.environ["BIGTABLE_EMULATOR_HOST"].rsplit(":", 1)
    relay_port = str(grpc_relay.start(host, int(port)))
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.xml"
        done = subprocess.run([program, "-h", "127.0.0.1", "-p", relay_port, "--path", PATH, "-o", str(ANSWER_SECONDS_MAX), "-j", str(report), *sections],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                              timeout=RUN_SECONDS_MAX)
        if not report.exists():
            sys.exit(f"h2spec made no report:\n{done.stdout}")
        suites = xml.etree.ElementTree.parse(report).getroot()
    ended = {}
    for suite in suites.iter("testsuite"):
        for number, case in enumerate(suite.iter("testcase"), 1):
            outcome = "fails" if len(case) and case[0].tag in ("error", "failure") else "strict" if len(case) else "pass"
            ended[f"{case.get('package')}:{number}"] = (outcome, case.get("classname"))
    return ended, done.stdout


def main():
    parser = argparse.ArgumentParser(description="Runs h2spec against the gRPC port.")
    parser.add_argument("--h2spec", required=True)
    parser.add_argument("sections", nargs="*")
    arguments = parser.parse_args()
    if not os.environ.get("BIGTABLE_EMULATOR_HOST"):
        parser.error("BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run h2spec SONDE")

    expected, surprises = read_list()
    ended, said = run_cases(arguments.h2spec, arguments.sections)
    counts = {}
    for case, (outcome, title) in ended.items():
        listed = expected.get(case)
        if listed == outcome or (listed == "either" and outcome in ("pass", "fails")):
            counts[outcome] = counts.get(outcome, 0) + 1
        else:
            surprises.append(f"{case} ({title}): listed as '{listed or 'nothing'}', ended as '{outcome}'")
    if not arguments.sections:
        surprises += [f"{case} is listed, but h2spec has no such case" for case in expected if case not in ended]
    print(f"h2spec: as listed: {', '.join(f'{count} {word}' for word, count in sorted(counts.items()))}; {len(surprises)} surprises")
    if surprises:
        print("\n".join(surprises + said.splitlines()[-OUTPUT_LINES_MAX:]))
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
