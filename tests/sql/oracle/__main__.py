#!/usr/bin/env python3
"""Random expressions and queries, answered by Sonde and by GoogleSQL's reference evaluator; says where the answers differ.

usage: oracle PROGRAM [--statements N] [--from N] [--seed N] [--only KIND] [--differences N] [--module FILE] [--compile]
PROGRAM is sonde_sql_answers.  --from: the number of the statement before the first one that is asked; a difference says the
number of its statement, or of one of the five behind it.  --only: expressions or queries.  A statement that differs is reduced to its smallest part that differs.
Compared are columns, types, values, the codes of errors, and the texts of errors where only one error is possible.  What
differs with a reason is listed in deviations.py and restatements.py.
A signal TERM ends the run with its figures.
Exit status: 0: no difference; 1: some; 2: a wrong call.
"""
import argparse
import collections
import os
import random
import signal
import sys
import time

import deviations
from answers import Answer, Sonde, same_value
from expressions import Case, Expressions
from queries import Queries
from restatements import restatements
from signatures import read_page

BATCH = 6  # expressions that are asked in one statement, while none fails
DIFFERENCES_MAX = 40


class Comparison:
    def __init__(self, sonde, judge):
        self.sonde, self.judge = sonde, judge
        self.figures = collections.Counter()

    def differs(self, statement, case, ours=None, theirs=None):
        """The two answers, where they differ; else nothing."""
        ours = ours or self.sonde.ask(statement)
        theirs = theirs or self.judge.ask(statement)
        if self.is_same(statement, ours, theirs, case) or deviations.reason(statement, ours, theirs):
            return None
        if self.is_restated(ours, case) or self.hides_limit(case):
            return None
        return ours, theirs

    def is_restated(self, ours, case):
        """Whether the judge gives our answer to the statement in other words."""
        for statement, is_retold in restatements(case):
            theirs = self.judge.ask(statement)
            if self.is_same(statement, ours, theirs, case) or (is_retold and ours.code == theirs.code == "OUT_OF_RANGE"):
                return True
        return False

    def hides_limit(self, case):
        """Whether a part fails by the judge's limit of generated arrays, which SAFE or IFERROR hide."""
        for part in case.parts():
            text = str(part).removeprefix("SAFE.")
            if text.startswith("GENERATE_") and not part.is_open and deviations.LIMIT_OF_ARRAYS in self.judge.ask(f"SELECT {text}").text:
                return True
        return False

    def is_same(self, statement, ours, theirs, case):
        if (ours.columns is None) != (theirs.columns is None):
            return False
        if ours.columns is None:
            if ours.code != theirs.code:
                return False
            return ours.text == theirs.text or deviations.same_text(ours.text, theirs.text) or self.is_other_error(ours, case)
        if ours.columns != theirs.columns or len(ours.rows) != len(theirs.rows):
            return False
        tolerance = deviations.tolerance(statement)
        a, b = ours.rows, theirs.rows
        if not case.is_ordered:
            a, b = sorted(a), sorted(b)
        return all(same_value(x, y, tolerance) for row, other in zip(a, b) for x, y in zip(row, other))

    def is_other_error(self, ours, case):
        """Whether another part of the statement has this error: which part comes first is not said."""
        return any(deviations.same_text(self.judge.ask(f"SELECT {part}").text, ours.text)
                   for part in case.parts() if not part.is_open)

    def smallest(self, case):
        """The smallest part of an expression that differs by itself."""
        for part in case.parts():
            if part is case.node or part.is_open or part.type in ("PART", "INTERVAL", "LAMBDA"):
                continue
            if self.differs(f"SELECT {part}", Case(part)):
                return self.smallest(Case(part))
        return case


def lacking(judge):
    """Names of functions that the judge does not have."""
    names = {s.name for s in read_page() if not s.name.startswith("$")}
    return {name for name in names if judge.ask(f"SELECT {name}()").text.startswith("Function not found")}


def ask_expressions(comparison, cases):
    """One statement of all, or one each if that fails."""
    statement = "SELECT " + ", ".join(str(c.node) for c in cases)
    ours, theirs = comparison.sonde.ask(statement), comparison.judge.ask(statement)
    if theirs.columns is not None and comparison.is_same(statement, ours, theirs, Case(statement=statement)):
        comparison.figures["values"] += len(cases)
        return []
    found = []
    for case in cases:
        theirs = comparison.judge.ask(case.statement)
        comparison.figures["values" if theirs.columns is not None else "errors"] += 1
        if comparison.differs(case.statement, case, theirs=theirs):
            found.append(comparison.smallest(case))
    return found


def ask_query(comparison, case):
    theirs = comparison.judge.ask(case.statement)
    comparison.figures["queries" if theirs.columns is not None else "queries with errors"] += 1
    return [case] if comparison.differs(case.statement, case, theirs=theirs) else []


def end_early(_signal, _frame):
    raise KeyboardInterrupt


def run(options, comparison):
    begin, missing = time.time(), lacking(comparison.judge)
    print(f"not judged, as the evaluator does not have them: {', '.join(sorted(missing))}", flush=True)
    signal.signal(signal.SIGTERM, end_early)
    asked, failures = options.first, 0
    try:
        for asked, failures in differences(options, comparison, missing):
            if failures >= options.differences:
                break
    except KeyboardInterrupt:
        print("\nended early")
    figures = ", ".join(f"{count} {what}" for what, count in sorted(comparison.figures.items()))
    print(f"\n{asked - options.first} statements of seed {options.seed} ({figures}): {failures} differ, {time.time() - begin:.0f} s")
    return 1 if failures else 0


def differences(options, comparison, missing):
    """Asks the statements one by one, and prints what differs; gives how many were asked, the first ones too, and how many differ."""
    asked, batch, failures = options.first, [], 0
    while asked < options.statements:
        source = random.Random(f"{options.seed}/{asked}")
        expressions = Expressions(source, missing)
        found = []
        if options.only == "queries" or (options.only != "expressions" and source.random() < 0.25):
            found = ask_query(comparison, Queries(source, expressions).any())
        else:
            node = expressions.any(source.choice([1, 2, 2, 3, 4]))
            if node is not None:
                batch.append(Case(node))
        asked += 1
        if len(batch) == BATCH or (batch and asked == options.statements):
            found += ask_expressions(comparison, batch)
            batch = []
        for case in found:
            failures += 1
            print(f"\n#{asked} {case.statement}\n  sonde:     {comparison.sonde.ask(case.statement)}\n"
                  f"  GoogleSQL: {comparison.judge.ask(case.statement)}", flush=True)
        yield asked, failures


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--statements", type=int, default=2000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", choices=["expressions", "queries"])
    parser.add_argument("--module", default=os.environ.get("SONDE_GOOGLESQL_MODULE", "googlesql.module"))
    parser.add_argument("--differences", type=int, default=DIFFERENCES_MAX, help="so many end the run")
    parser.add_argument("--compile", action="store_true", help="compile the evaluator into --module, and end")
    options = parser.parse_args()
    import googlesql  # pylint: disable=import-outside-toplevel  (so that --help needs no packages)
    if options.compile:
        googlesql.compile_module(options.module)
        return 0
    if not options.program:
        parser.print_usage(sys.stderr)
        return 2
    return run(options, Comparison(Sonde(options.program), googlesql.GoogleSql(options.module)))


if __name__ == "__main__":
    sys.exit(main())
