#!/usr/bin/env python3
"""Pages beside what they speak of: each message of docs/troubleshooting.md is a text of the program, and each finding is there; the figures
of docs/sizing.md are those of bench/RESULTS.md.

usage: pages.py ROOT
"""

import pathlib
import re
import sys

FRAGMENT_BYTES_MIN = 6
# Words of clients, and of no single place.
NOT_OURS = ("UNAVAILABLE: failed to connect", "DATA_LOSS", "UNIMPLEMENTED", "is damaged")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def source_text(root):
    """All string literals of the program, those in pieces joined."""
    texts = []
    for file in (root / "src").rglob("*"):
        if file.suffix in (".cc", ".h") and not file.stem.endswith("_test"):
            texts.append(re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8")).replace('\\"', '"'))
    return "\n".join(texts)


def rows(text):
    """Cells of all rows of tables."""
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()
            if line.startswith("|") and not re.match(r"^\|[ :|-]+\|$", line)]


def missing(message, source):
    """The first fragment that the program does not have, or None."""
    for part in message.split("..."):
        part = part.strip(" ;'")
        if len(part) >= FRAGMENT_BYTES_MIN and part not in source:
            return part
    return None


def check_messages(root):
    page = (root / "docs/troubleshooting.md").read_text(encoding="utf-8")
    source = source_text(root)
    messages = [message for row in rows(page) for message in re.findall(r"`([^`]+)`", row[0]) if message not in NOT_OURS]
    check(len(messages) > 40, f"the page has only {len(messages)} messages")
    faults = [f"'{part}' of: {message}" for message in messages if (part := missing(message, source)) is not None]
    check(not faults, "docs/troubleshooting.md: the program has no such text:\n" + "\n".join(faults))
    check(missing("this is ... no text of the program at all", source) is not None, "the test finds everything")

    findings = (root / "src/keyviz/findings.cc").read_text(encoding="utf-8")
    titles = {title.split(":")[0] if "{}" in title else title
              for statement in re.findall(r"title =(.*?);", findings, re.DOTALL) for title in re.findall(r'"([^"]+)"', statement)}
    check(len(titles) >= 9, f"only {titles} are titles of findings")
    lacking = [title for title in titles if f"`{title}`" not in page]
    check(not lacking, f"docs/troubleshooting.md lacks the findings {lacking}")
    return len(messages)


def check_sizing(root):
    page = (root / "docs/sizing.md").read_text(encoding="utf-8")
    results = (root / "bench/RESULTS.md").read_text(encoding="utf-8")
    measured = {}
    for row in rows(re.search(r"^## Bytes\n(.*?)^## ", results, re.MULTILINE | re.DOTALL)[1])[1:]:
        measured[row[0], row[1]] = (float(row[3]), round(float(row[5]) + float(row[6]), 1))
    shown = {(row[0], row[2]): (float(row[3]), float(row[4])) for row in rows(page) if len(row) == 5 and row[2] in ("bucket", "tall")}
    check(len(measured) >= 12, f"bench/RESULTS.md has only {len(measured)} kinds")
    check(shown == measured, f"docs/sizing.md differs from bench/RESULTS.md in {dict(set(shown.items()) ^ set(measured.items()))}")
    rate = next(row[5] for row in rows(results) if row[:4] == ["sonde", "fsync", "bucket", "ingest"])
    check(f"took {rate} cells a second" in page, f"docs/sizing.md does not have the {rate} cells a second of bench/RESULTS.md")
    return len(shown)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    print(f"{check_messages(root)} messages are the program's, {check_sizing(root)} figures those of bench/RESULTS.md")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
