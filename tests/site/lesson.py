#!/usr/bin/env python3
"""docs/designing.md shows what is: a block titled by a command has lines of its output, in their order, and one titled by a file has lines of
the file.

usage: lesson.py SONDE ROOT
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def missing(lines, there):
    """The first line that does not follow those before it, or None."""
    at = 0
    for line in lines:
        found = next((i for i in range(at, len(there)) if there[i].rstrip() == line.rstrip()), None)
        if found is None:
            return line
        at = found + 1
    return None


def main():
    sonde, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    faults, seen = [], 0
    for title, text in BLOCK.findall((root / "docs/designing.md").read_text(encoding="utf-8")):
        seen += 1
        if title.startswith("sonde "):
            done = subprocess.run([sonde, *title.split()[1:]], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            there = (done.stdout + done.stderr).splitlines()
        else:
            there = (root / title).read_text(encoding="utf-8").splitlines()
        if (line := missing(text.splitlines(), there)) is not None:
            faults.append(f"{title}: it has no line, behind those before it: {line}")
    if seen < 6 or missing(["no such line"], ["a line"]) is None:
        faults.append(f"the test looks at nothing: {seen} blocks")
    if faults:
        sys.exit("FAILED: docs/designing.md: " + "\n".join(faults))
    print(f"{seen} blocks of the lesson are what the program and the examples have")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
