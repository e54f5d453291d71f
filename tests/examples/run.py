#!/usr/bin/env python3
"""Runs the worked examples: each examples/NAME/questions.txt, command by command, against the answers written there.

usage: run.py [--rewrite] SONDE ROOT [NAME ...]

A file of questions is a list of blocks:

    # What is said about it.
    $ query tall.yaml --where place=VEGGIEGARDEN --limit 3
    the answer, as it is printed
    an empty line

`$ COMMAND ...` is `sonde series COMMAND ...`, and `$ sql ...` is `sonde sql ...`, run in the example's folder; commands that need tables get a data
directory of their own for the whole file.  What it prints to stdout must be the lines that follow, up to an empty line.
`$! ` is the same for a command that must fail.  `$? ` (and `$!? `) also compares stderr, with times of the day and durations left out.
`$= ` must print what the last `query` printed to stdout, in its order, and no lines follow: the same question in SQL.  Numbers may differ by a
part in 10^12, since sums of SQL are exact and those of a query are added up.
`--rewrite` writes what was printed instead: it is your claim about what is right, not the program's.
"""
import math
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

NEEDS_TABLES = {"load", "query", "show", "rebuild", "rewrite", "collect", "sql"}
UNSTABLE = [
    (re.compile(r"in \d+\.\d+ s, \d+ points/s"), "in N s"),
    (re.compile(r"\d+\.\d+ ms"), "N ms"),
    (re.compile(r"\(20(?:2[6-9]|[3-9]\d)-[^)]*Z\)"), "(now)"),  # the examples' points are older
]


def stable(text):
    for pattern, replacement in UNSTABLE:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def blocks(lines):
    """Yields the comments, the command and the expected lines of each block."""
    comments, command, expected = [], None, []
    for line in [*lines, ""]:
        if command is None:
            if line.startswith("$"):
                command, expected = line, []
            else:
                comments.append(line)
        elif line == "":
            yield comments, command, "\n".join(expected)
            comments, command = [], None
        else:
            expected.append("" if line == "." else line)
    yield comments, None, ""


def same(one, other):
    def is_near(a, b):
        try:
            return a == b or math.isclose(float(a), float(b), rel_tol=1e-12)
        except ValueError:
            return False
    rows, others = ([line.split(",") for line in text.splitlines()] for text in (one, other))
    return [len(row) for row in rows] == [len(row) for row in others] and all(
        is_near(a, b) for row, of_other in zip(rows, others) for a, b in zip(row, of_other))


def run(sonde, folder, command, data):
    kind, words = command.split(" ", 1)
    arguments = shlex.split(words)
    if arguments[0] in NEEDS_TABLES:
        arguments += ["--data-dir", data]
    result = subprocess.run([sonde, *(["series"] if arguments[0] != "sql" else []), *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
                            check=False)
    printed = result.stdout + (result.stderr if "?" in kind else "")
    failed = result.returncode != 0
    problem = None
    if failed != ("!" in kind):
        problem = f"exit status {result.returncode}: {result.stderr.strip()}"
    return stable(printed), stable(result.stdout), problem


def run_file(sonde, path, rewrite):
    problems, text, answer = [], [], ""
    with tempfile.TemporaryDirectory(prefix="sonde-examples-") as data:
        for comments, command, expected in blocks(path.read_text().splitlines()):
            text += comments
            if command is None:
                break
            printed, stdout, problem = run(sonde, path.parent, command, data + "/data")
            if command.startswith("$="):
                text += [command, ""]
                if problem or not answer or not same(stdout, answer):
                    problems.append(f"{path}: {command}\n{problem or ''}\nexpected, as the query before:\n{answer}\nprinted:\n{stdout}")
                continue
            if re.match(r"\$\S* query ", command):
                answer = stdout
            text += [command, *("." if line == "" else line for line in printed.splitlines()), ""]
            if problem:
                problems.append(f"{path}: {command}\n{problem}")
            elif printed != expected and not rewrite:
                problems.append(f"{path}: {command}\nexpected:\n{expected}\nprinted:\n{printed}")
    if rewrite:
        path.write_text("\n".join(text).rstrip("\n") + "\n")
    return problems


def main():
    arguments = sys.argv[1:]
    rewrite = arguments[:1] == ["--rewrite"]
    if rewrite:
        arguments = arguments[1:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    sonde, root, *names = arguments
    files = sorted(pathlib.Path(root).glob("examples/*/questions.txt"))
    if names:
        files = [path for path in files if path.parent.name in names]
    problems = [problem for path in files for problem in run_file(str(pathlib.Path(sonde).resolve()), path, rewrite)]
    print("\n\n".join(problems) or f"{len(files)} examples answer as they should")
    sys.exit(1 if problems or not files else 0)


if __name__ == "__main__":
    main()
