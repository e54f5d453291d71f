"""Runs transcripts: text files of commands with the output that each must have.

A transcript is a sequence of blocks, separated by blank lines.  A block is a line with a command, input lines for
it (if any), a line "----", and the expected output.  Lines that start with "#" between blocks are comments.

    read balloon prefix=us-west2#
    ----
    us-west2#3698#2021-03-05-1200
      measurements:pressure @2021-03-05-1200 "94558"

With --rewrite, the expected output is replaced by what the commands gave; a person then reads the change.
"""

import difflib
import pathlib
import shlex
import sys
from dataclasses import dataclass, field

SEPARATOR = "----"


@dataclass
class Block:
    line: int  # of the command, from 1
    comments: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    text: str = ""  # the command's line as it stands
    input: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)


class TranscriptError(Exception):
    pass


def parse(path):
    blocks = []
    comments = []
    lines = path.read_text(encoding="utf-8").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or line.startswith("#"):
            comments.append(line)
            at += 1
            continue
        block = Block(line=at + 1, comments=comments, command=shlex.split(line), text=line)
        comments = []
        at += 1
        while at < len(lines) and lines[at] != SEPARATOR:
            if not lines[at].strip():
                raise TranscriptError(f"{path}:{block.line}: '{line}' has no line '{SEPARATOR}'")
            block.input.append(lines[at])
            at += 1
        if at == len(lines):
            raise TranscriptError(f"{path}:{block.line}: '{line}' has no line '{SEPARATOR}'")
        at += 1
        while at < len(lines) and lines[at].strip():
            block.expected.append(lines[at])
            at += 1
        blocks.append(block)
    if not blocks:
        raise TranscriptError(f"{path}: no command")
    return blocks


def run(path, execute, rewrite=False):
    """Runs the blocks of a file; execute(block) returns output lines.  Returns how many blocks passed and failed."""
    blocks = parse(path)
    passed = failed = 0
    written = []
    for block in blocks:
        got = [line.rstrip() for line in execute(block)]
        written += [*block.comments, block.text, *block.input, SEPARATOR, *got]
        if got == block.expected or rewrite:
            passed += 1
            continue
        failed += 1
        print(f"{path}:{block.line}: {block.text}")
        for line in difflib.unified_diff(block.expected, got, "expected", "got", lineterm="", n=1):
            print("    " + line)
    if rewrite:
        path.write_text("\n".join(written).rstrip("\n") + "\n", encoding="utf-8")
    return passed, failed


def main(paths, execute_for, rewrite):
    """Runs files; execute_for(path) gives the function that runs a block of that file.  Returns the exit status."""
    passed = failed = 0
    for path in paths:
        try:
            now_passed, now_failed = run(path, execute_for(path), rewrite)
        except TranscriptError as error:
            print(error, file=sys.stderr)
            return 1
        passed += now_passed
        failed += now_failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def transcripts(directory):
    return sorted(pathlib.Path(directory).glob("*.transcript"))
