#!/usr/bin/env python3
"""Holds `sonde series advise` against the worked examples.

usage: advice.py examples SONDE ROOT     the advice for every example is no key that takes all writes in one place
       advice.py pages SONDE ROOT        the tables of the examples' pages are what is measured
       advice.py rewrite SONDE ROOT      writes them

On a page, a table follows its command.  What is counted must be as it stands there; bytes a point may differ
by a tenth, with the version of the storage engine; milliseconds are only looked at for being numbers.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

COMMAND = re.compile(r"^    sonde (series advise .*)$")
BYTES_DIFFER_MAX = 0.1


def advise(sonde, root, arguments):
    result = subprocess.run([sonde, *arguments, "--json"], cwd=root, capture_output=True, text=True, timeout=300,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(arguments)}: {result.stderr}")
    return json.loads(result.stdout)


def split_parts(name):
    """The layout and the parts of the key of "row, [{ salt: 8, of: time }, time]"."""
    layout, key = name.split(", [", 1)
    return layout, [part.strip() for part in re.findall(r"\{[^}]*\}|[^,{}]+", key.rstrip("]")) if part.strip()]


def is_hot(name):
    """Read off the name, without what the program says of it: time comes before anything that spreads writes."""
    layout, parts = split_parts(name)
    for part in parts:
        if "const:" in part or part == "field":
            continue
        if "salt:" in part:
            if "of: time" in part and " by " in layout:
                continue
            return False
        return part in ("time", "bucket") or part.startswith(("{ time:", "{ bucket:"))
    return True


def loads(root):
    """Declarations of the examples, each with the file that its questions load into it, if they do."""
    for path in sorted(root.glob("examples/**/*.yaml")):
        questions = path.parent / "questions.txt"
        found = re.search(rf"^\$.? load {re.escape(path.name)} (\S+\.csv)", questions.read_text(), re.M) if \
            questions.exists() else None
        yield path, (path.parent / found[1] if found else None)


def check_examples(sonde, root):
    problems = []
    runs = []
    for path, data in loads(root):
        runs.append([path, ["--points", "2000", "--series", "10"]])
        if data:
            runs.append([path, ["--data", str(data)]])
    for path, more in runs:
        what = f"{path.relative_to(root)} {' '.join(pathlib.Path(text).name for text in more)}"
        candidates = advise(sonde, root, ["series", "advise", str(path), *more])["candidates"]
        for candidate in candidates:
            if is_hot(candidate["name"]) and not candidate["hot_key"]:
                problems.append(f"{what}: not called hot: {candidate['name']}")
        if is_hot(candidates[0]["name"]) or candidates[0]["hot_key"]:
            problems.append(f"{what}: the advice is hot: {candidates[0]['name']}")
    return problems, f"{len(runs)} pieces of advice without a hot key"


def draw(advice, tablets=10):
    """The lines of a page: a heading, a table, the recommendation."""
    candidates = advice["candidates"]
    asks = [query["ask"] for query in candidates[0]["queries"]]
    header = ["candidate", "bytes/point", "rows", "largest row", f"hottest of {tablets} tablets",
              *(f"{ask}: rows, ms" for ask in asks)]
    lines = [f"{advice['points']} points of {advice['series']} series; the declaration in bold.", "",
             "| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    for candidate in candidates:
        name = f"**{candidate['name']}**" if candidate["declared"] else candidate["name"]
        share = f"{candidate['hottest_share'] * 100:.0f}%" + (", hot key" if candidate["hot_key"] else "")
        queries = [f"{query['rows']:.0f}, {query['milliseconds']:.2f}" for query in candidate["queries"]]
        lines.append("| " + " | ".join([name, f"{candidate['bytes_per_point']:.1f}", str(candidate["rows"]),
                                        f"{candidate['largest_row_bytes']} B", share, *queries]) + " |")
    return [*lines, "", f"> {advice['recommendation']}"]


def pages(root):
    """Each page, its lines, and for each command on it where the lines of its advice begin and end."""
    for path in sorted(root.glob("examples/*/README.md")):
        lines = path.read_text().splitlines()
        places = []
        for at, line in enumerate(lines):
            command = COMMAND.match(line)
            if not command:
                continue
            end = next(i for i in range(at, len(lines)) if lines[i].startswith("> "))
            places.append((shlex.split(command[1]), at + 2, end + 1))
        yield path, lines, places


def differs(written, measured):
    """Why two cells of a table are not the same; milliseconds aside."""
    if re.fullmatch(r"\d+, \d+\.\d\d", written) and re.fullmatch(r"\d+, \d+\.\d\d", measured):
        return written.split(",")[0] != measured.split(",")[0]
    if re.fullmatch(r"\d+\.\d", written) and re.fullmatch(r"\d+\.\d", measured):
        return abs(float(written) - float(measured)) > BYTES_DIFFER_MAX * float(measured) + 0.1
    return written != measured


def numbers_left_out(text):
    return re.sub(r"\d+(\.\d+)?(e-\d+)?", "N", text)


def compare(where, written, measured):
    problems = []
    for old, new in zip(written, measured):
        if old.startswith("| ") and new.startswith("| "):
            old_cells, new_cells = old.strip("| ").split(" | "), new.strip("| ").split(" | ")
            if len(old_cells) == len(new_cells) and not any(map(differs, old_cells, new_cells)):
                continue
        elif numbers_left_out(old) == numbers_left_out(new):
            continue
        problems.append(f"{where}:\n  written:  {old}\n  measured: {new}")
    if len(written) != len(measured):
        problems.append(f"{where}: {len(written)} lines are written, {len(measured)} are measured")
    return problems


def check_pages(sonde, root, rewrite):
    problems, count = [], 0
    for path, lines, places in pages(root):
        for arguments, begin, end in reversed(places):
            measured = draw(advise(sonde, root, arguments))
            problems += compare(f"{path.relative_to(root)}: {shlex.join(arguments)}", lines[begin:end], measured)
            lines[begin:end] = measured
            count += 1
        if rewrite:
            path.write_text("\n".join(lines) + "\n")
    return [] if rewrite else problems, f"{count} tables are as measured"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("examples", "pages", "rewrite"):
        sys.exit(__doc__)
    sonde, root = str(pathlib.Path(sys.argv[2]).resolve()), pathlib.Path(sys.argv[3]).resolve()
    if sys.argv[1] == "examples":
        problems, said = check_examples(sonde, root)
    else:
        problems, said = check_pages(sonde, root, sys.argv[1] == "rewrite")
    print("\n".join(problems) or said)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
