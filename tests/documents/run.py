#!/usr/bin/env python3
"""Runs the transcripts beside this file: the example tables of the time-series documents, cell for cell.

usage: run.py [--rewrite] [FILE.transcript ...]      (tests/conformance/run documents SONDE starts a server for it)

Commands (tests/conformance/transcript.py has the form of the files; README.md here explains them):
    create TABLE FAMILY[=RULE]...           RULE: maxversions:N or maxage:HOURSh
    write TABLE                             the rows to write are the input, as `read` prints them
    delete TABLE KEY...
    read TABLE [key=K]... [prefix=P] [start=K] [end=K] [limit=N] [columns=REGEX] [family=REGEX] [value=REGEX]
               [latest=N] [from=TIME] [to=TIME]
    sql                                     the input is a statement; the names of its columns come on a line, then a line a row
Rows are a key on a line, then a line a cell:
      family:qualifier @TIME "value"
TIME is 2021-03-05-1204 where it is a whole minute, otherwise milliseconds since 1970.  Bytes that are not printable
ASCII are written \\xNN.
"""

import argparse
import datetime
import itertools
import os
import pathlib
import re
import sys
import time
import warnings

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "conformance"))
import transcript  # noqa: E402

PROJECT = "documents"
MS_PER_MINUTE = 60_000
CELL = re.compile(r'^  (?P<family>[-_.a-zA-Z0-9]+):(?P<qualifier>\S*) @(?P<time>\S+) "(?P<value>.*)"$')
_instance_count = itertools.count(1)


def to_ms(text):
    if re.fullmatch(r"\d{4}-\d\d-\d\d-\d{4}", text):
        at = datetime.datetime.strptime(text, "%Y-%m-%d-%H%M").replace(tzinfo=datetime.timezone.utc)
        return int(at.timestamp()) * 1000
    if re.fullmatch(r"\d+", text):
        return int(text)
    raise transcript.TranscriptError(f"'{text}' is neither YYYY-MM-DD-HHMM nor milliseconds")


def from_micros(micros):
    ms = micros // 1000
    if micros % (MS_PER_MINUTE * 1000):
        return str(ms)
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%d-%H%M")


def to_bytes(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), text.encode())


def from_bytes(value):
    return "".join(chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in value)


class Tables:
    """The commands, in an instance of their own."""

    def __init__(self, clients, instance):
        self.admin, self.data = clients
        self.instance = instance

    def execute(self, block):
        command, *arguments = block.command
        run = {"create": self.create, "write": self.write, "delete": self.delete, "read": self.read}.get(command)
        if command == "sql" and not arguments:
            return self.sql(" ".join(block.input))
        if run is None or not arguments:
            raise transcript.TranscriptError(f"line {block.line}: '{block.text}' is no command")
        return run(arguments[0], arguments[1:], block.input) or []

    def table(self, table_id):
        return self.data.get_table(self.instance, table_id)

    def create(self, table_id, families, _):
        from google.cloud.bigtable import column_family

        rules = {}
        for family in families:
            name, _, rule = family.partition("=")
            kind, _, amount = rule.partition(":")
            if kind == "maxversions":
                rules[name] = column_family.MaxVersionsGCRule(int(amount))
            elif kind == "maxage":
                rules[name] = column_family.MaxAgeGCRule(datetime.timedelta(hours=int(amount.removesuffix("h"))))
            elif not rule:
                rules[name] = None
            else:
                raise transcript.TranscriptError(f"'{rule}' is no rule: maxversions:N or maxage:HOURSh")
        self.admin.instance(self.instance).table(table_id).create(column_families=rules)

    def write(self, table_id, _, lines):
        from google.cloud.bigtable.data import RowMutationEntry, SetCell

        rows = {}
        key = None
        for line in lines:
            cell = CELL.match(line)
            if not line.startswith(" "):
                key = to_bytes(line)
            elif cell and key is not None:
                rows.setdefault(key, []).append(SetCell(cell["family"], to_bytes(cell["qualifier"]), to_bytes(cell["value"]),
                                                        timestamp_micros=to_ms(cell["time"]) * 1000))
            else:
                raise transcript.TranscriptError(f"'{line}' is neither a row key nor a cell")
        with self.table(table_id) as table:
            table.bulk_mutate_rows([RowMutationEntry(row, cells) for row, cells in rows.items()])

    def delete(self, table_id, keys, _):
        from google.cloud.bigtable.data import DeleteAllFromRow

        with self.table(table_id) as table:
            for key in keys:
                table.mutate_row(to_bytes(key), DeleteAllFromRow())

    def read(self, table_id, arguments, _):
        from google.cloud.bigtable.data import ReadRowsQuery, RowRange

        keys, options = [], {}
        for argument in arguments:
            name, _, value = argument.partition("=")
            if name == "key":
                keys.append(to_bytes(value))
            else:
                options[name] = value
        start, end = options.pop("start", None), options.pop("end", None)
        prefix, limit = options.pop("prefix", None), options.pop("limit", None)
        row_ranges = None
        if prefix is not None:
            first = to_bytes(prefix)
            row_ranges = RowRange(first, first[:-1] + bytes([first[-1] + 1]))
        elif start or end:
            row_ranges = RowRange(start and to_bytes(start), end and to_bytes(end))
        query = ReadRowsQuery(row_keys=keys or None, row_ranges=row_ranges, limit=limit and int(limit),
                              row_filter=row_filter(options))
        with self.table(table_id) as table:
            rows = table.read_rows(query)
        lines = []
        for row in rows:
            lines.append(from_bytes(row.row_key))
            lines += [f'  {cell.family}:{from_bytes(cell.qualifier)} @{from_micros(cell.timestamp_micros)} '
                      f'"{from_bytes(cell.value)}"' for cell in row.cells]
        return lines


    def sql(self, statement):
        from google.api_core.exceptions import GoogleAPICallError

        try:
            result = self.data.execute_query(statement, self.instance)
            rows = [" | ".join(shown(row[i]) for i in range(len(row.fields))) for row in result]
            return [" | ".join(column.column_name or "-" for column in result.metadata.columns), *rows]
        except GoogleAPICallError as error:
            return [f"{error.grpc_status_code.name}: {line}" if i == 0 else line for i, line in enumerate(error.message.split("\n"))]


def shown(value):
    """A value of a result, as a person would write it."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f'"{from_bytes(value)}"'
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, list):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, datetime.datetime):
        return "@" + from_micros(round(value.timestamp() * 1_000_000))
    if hasattr(value, "fields"):
        return "(" + ", ".join(shown(item) for _, item in value.fields) + ")"
    return str(value)


def row_filter(options):
    from google.cloud.bigtable.data import row_filters

    filters = []
    if "family" in options:
        filters.append(row_filters.FamilyNameRegexFilter(options.pop("family")))
    if "columns" in options:
        filters.append(row_filters.ColumnQualifierRegexFilter(options.pop("columns")))
    if "from" in options or "to" in options:
        bounds = [options.pop(name, None) for name in ("from", "to")]
        filters.append(row_filters.TimestampRangeFilter(*[
            bound and datetime.datetime.fromtimestamp(to_ms(bound) / 1000, datetime.timezone.utc) for bound in bounds]))
    if "latest" in options:
        filters.append(row_filters.CellsColumnLimitFilter(int(options.pop("latest"))))
    if "value" in options:
        filters.append(row_filters.ValueRegexFilter(options.pop("value")))
    if options:
        raise transcript.TranscriptError(f"read takes no {', '.join(options)}")
    if len(filters) < 2:
        return filters[0] if filters else None
    return row_filters.RowFilterChain(filters)


def main():
    parser = argparse.ArgumentParser(description="Runs the documents' example tables.")
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if not os.environ.get("BIGTABLE_EMULATOR_HOST"):
        parser.error("BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run documents SONDE")
    warnings.filterwarnings("ignore", message="Connecting to Bigtable emulator")
    from google.cloud import bigtable
    from google.cloud.bigtable.data import BigtableDataClient

    clients = bigtable.Client(project=PROJECT, admin=True), BigtableDataClient(project=PROJECT)

    def execute_for(path):
        return Tables(clients, f"{path.stem.replace('_', '-')}-{time.time_ns()}-{next(_instance_count)}").execute
    try:
        return transcript.main(arguments.files or transcript.transcripts(here), execute_for, arguments.rewrite)
    finally:
        for client in clients:
            client.close()


if __name__ == "__main__":
    sys.exit(main())
