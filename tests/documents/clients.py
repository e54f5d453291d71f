#!/usr/bin/env python3
"""Each snippet of docs/clients.md stands in the file that the text before it names: its lines occur there in this order, but for their
indentation.  A file that is named must be part of a suite, so that what the page shows is run.

usage: clients.py ROOT
"""

import pathlib
import re
import sys

NAMED = re.compile(r"`(tests/conformance/[^`]+)`")


def missing(lines, text):
    """The first line that does not follow those before it, or None."""
    there = [line.strip() for line in text.splitlines()]
    at = 0
    for line in lines:
        # A line of the page may be a part of a line of the file.
        found = next((i for i in range(at, len(there)) if line in there[i]), None)
        if found is None:
            return line
        at = found + 1
    return None


def snippets(page):
    """(language, lines, the file that was named last) of each block."""
    named, block, language = None, None, ""
    for line in page.splitlines():
        if line.startswith("```"):
            if block is None:
                block, language = [], line[3:]
            else:
                yield language, block, named
                block = None
        elif block is not None:
            block.append(line.strip())
        elif line.startswith("#"):
            named = None
        elif (found := NAMED.search(line)) and " from " in f" {line.lower()}":
            named = found[1]


def main():
    root = pathlib.Path(sys.argv[1])
    faults, seen = [], 0
    for language, lines, named in snippets((root / "docs/clients.md").read_text(encoding="utf-8")):
        seen += 1
        if named is None:
            faults.append(f"a snippet of {language} names no file: {lines[0]}")
        elif not (root / named).is_file():
            faults.append(f"there is no {named}")
        elif (line := missing(lines, (root / named).read_text(encoding="utf-8"))) is not None:
            faults.append(f"{named} does not have the line, or not behind those before it: {line}")
    if missing(["no such line"], "a line") is None or seen < 6:
        faults.append(f"the test looks at nothing: {seen} snippets")
    if faults:
        sys.exit("FAILED: docs/clients.md: " + "\n".join(faults))
    print(f"docs/clients.md: {seen} snippets are those of the tests")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
