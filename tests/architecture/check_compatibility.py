#!/usr/bin/env python3
"""Checks that docs/compatibility.md speaks of every call, filter and mutation of the Bigtable API.

usage: check_compatibility.py --protos DIRECTORY --document FILE
Exit status: 0 it does; 1 names are missing.
"""

import argparse
import pathlib
import re
import sys

SERVICES = ["google/bigtable/v2/bigtable.proto", "google/bigtable/admin/v2/bigtable_table_admin.proto",
            "google/bigtable/admin/v2/bigtable_instance_admin.proto"]
MESSAGES = {"RowFilter": "google/bigtable/v2/data.proto", "Mutation": "google/bigtable/v2/data.proto"}


def calls(text):
    return re.findall(r"^\s*rpc\s+(\w+)", text, re.MULTILINE)


def alternatives(text, message):
    """The fields of the message's oneofs at its own level, or what mutations are called: their types."""
    body = re.search(rf"^message {message} \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL).group(1)
    oneof = re.search(r"^  oneof \w+ \{\n(.*?)^  \}", body, re.MULTILINE | re.DOTALL).group(1)
    fields = re.findall(r"^    (\w+) (\w+) = \d+", oneof, re.MULTILINE)
    return [type_name if message == "Mutation" else field for type_name, field in fields]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--protos", type=pathlib.Path, required=True)
    parser.add_argument("--document", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    words = set(re.findall(r"\w+", arguments.document.read_text()))
    names = [name for service in SERVICES for name in calls((arguments.protos / service).read_text())]
    for message, file in MESSAGES.items():
        names += alternatives((arguments.protos / file).read_text(), message)
    missing = [name for name in dict.fromkeys(names) if name not in words]
    for name in missing:
        print(f"{arguments.document}: says nothing of {name}", file=sys.stderr)
    print(f"{len(names)} calls, filters and mutations, {len(missing)} missing")
    return 1 if missing or len(names) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
