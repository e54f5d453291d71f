"""An answer to a statement, and the program that gives Sonde's."""
import dataclasses
import math
import re
import subprocess

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?![\w.])")


@dataclasses.dataclass
class Answer:
    columns: list = None  # of (name, type); None: an error
    rows: list = None
    code: str = ""
    text: str = ""

    def __str__(self):
        if self.columns is None:
            return f"{self.code}: {self.text}"
        return " ".join(f"{name} {kind}" for name, kind in self.columns) + " | " + " | ".join(" ; ".join(r) for r in self.rows)


class Sonde:
    """tests/sql/answers.cc, one process for all statements."""

    def __init__(self, program):
        self.program = program
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, statement):
        try:
            self.process.stdin.write(statement.encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            status = self.process.wait()
            self.start()
            return Answer(code="CRASH", text=f"the program ended with status {status}")
        fields = line.rstrip(b"\n").decode(errors="replace").split("\t")
        if fields[0] == "error":
            text = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), fields[2])
            return Answer(code=fields[1], text=text)
        count = int(fields[1])
        columns = [(fields[2 + 2 * i], fields[3 + 2 * i]) for i in range(count)]
        cells = fields[2 + 2 * count:]
        return Answer(columns=columns, rows=[cells[i:i + count] for i in range(0, len(cells), count)])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def same_number(a, b, tolerance):
    x, y = float(a), float(b)
    if x == y or (math.isnan(x) and math.isnan(y)):
        return True
    return abs(x - y) <= tolerance * max(abs(x), abs(y))


def same_value(a, b, tolerance):
    """Whether two texts are those of one value; `tolerance` is relative, and of numbers only."""
    if a == b:
        return True
    if tolerance is None or NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(same_number(x, y, tolerance) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))
