#!/usr/bin/env python3
"""Runs the transcripts beside this file with Google's command-line client, cbt.

usage: run.py --cbt PROGRAM [--rewrite] [FILE.transcript ...]

Commands: `cbt ARGUMENTS...`, and `file NAME`, which writes its input lines to a file for cbt to read.  The server is
the one that BIGTABLE_EMULATOR_HOST names; each transcript has an instance of its own.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
import transcript  # noqa: E402

COMMAND_TIMEOUT_SECONDS = 60
# What cbt's logger puts before a message, and what it says about credentials whatever it is told.
LOG_TIME = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ")
CREDENTIALS = "-creds flag unset, will use gcloud credential"


class Cbt:
    def __init__(self, program, instance, directory):
        self.base = [program, "-project", "conformance", "-instance", instance]
        self.instance = instance
        self.directory = directory
        self.environment = {**os.environ, "TZ": "UTC", "HOME": directory}

    def execute(self, block):
        command, *arguments = block.command
        if command == "file" and len(arguments) == 1:
            path = pathlib.Path(self.directory, arguments[0])
            path.write_text("".join(line + "\n" for line in block.input), encoding="utf-8")
            return []
        if command != "cbt":
            raise transcript.TranscriptError(f"line {block.line}: unknown command '{block.text}': cbt or file NAME")
        done = subprocess.run(self.base + arguments, env=self.environment, cwd=self.directory, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=COMMAND_TIMEOUT_SECONDS, check=False)
        lines = [LOG_TIME.sub("", line).replace(self.instance, "INSTANCE") for line in done.stdout.splitlines()]
        lines = [line for line in lines if line.strip() and line != CREDENTIALS]
        if done.returncode:
            lines.append(f"exit status {done.returncode}")
        return lines


def main():
    parser = argparse.ArgumentParser(description="Runs transcripts with cbt.")
    parser.add_argument("--cbt", required=True)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if not os.environ.get("BIGTABLE_EMULATOR_HOST"):
        parser.error("BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run cbt SONDE")
    with tempfile.TemporaryDirectory() as directory:
        def execute_for(path):
            return Cbt(arguments.cbt, f"{path.stem}-{time.time_ns()}", directory).execute
        return transcript.main(arguments.files or transcript.transcripts(here), execute_for, arguments.rewrite)


if __name__ == "__main__":
    sys.exit(main())
