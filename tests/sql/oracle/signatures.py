"""The functions of docs/sql.md: what they take and give, as the page says.

A type is a text (INT64) or a tuple: ("ARRAY", type), ("STRUCT", ((name, type), ...)), ("MAP", key, value), ("VARIABLE", "T1", class).
"""
import dataclasses
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "sql.md"


@dataclasses.dataclass
class Argument:
    kind: str  # value, part, interval, lambda
    type: object = None  # of a lambda its result
    parameters: tuple = ()  # of a lambda
    is_optional: bool = False
    repeats: bool = False
    name: str = ""  # of `name => TYPE`


@dataclasses.dataclass
class Signature:
    name: str
    section: str  # Operators, Functions, Aggregates, Window functions
    arguments: list
    result: object


def split(text):
    """The parts between commas that stand in no brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "(<[":
            depth += 1
        elif c in ")]" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [part for part in [*parts, text[begin:].strip()] if part]


def parse_type(text):
    text = text.strip()
    if text.startswith("ARRAY<"):
        return ("ARRAY", parse_type(text[6:-1]))
    if text.startswith("MAP<"):
        key, value = split(text[4:-1])
        return ("MAP", parse_type(key), parse_type(value))
    if text.startswith("STRUCT<"):
        return ("STRUCT", tuple((name, parse_type(kind)) for name, kind in
                                (field.split(" ", 1) for field in split(text[7:-1]))))
    variable = re.fullmatch(r"(T\d)(?::(\w+))?", text)
    if variable:
        return ("VARIABLE", variable[1], variable[2] or "")
    return text


def parse_argument(text):
    if text.startswith("["):
        argument = parse_argument(text[1:-1])
        argument.is_optional = True
        return argument
    if text.endswith("..."):
        argument = parse_argument(text[:-3])
        argument.repeats = True
        return argument
    if " => " in text:
        name, text = text.split(" => ", 1)
        argument = parse_argument(text)
        argument.name = name
        return argument
    if " -> " in text:
        parameters, result = text.rsplit(" -> ", 1)
        if parameters.startswith("("):
            parameters = parameters[1:-1]
        return Argument("lambda", parse_type(result), tuple(parse_type(p) for p in split(parameters)))
    if text in ("PART", "INTERVAL"):
        return Argument(text.lower())
    return Argument("value", parse_type(text))


def read_page():
    """All signatures of the page."""
    signatures, section = [], ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        match = re.fullmatch(r"    ([A-Z$][\w.]*|\$\w+)\((.*)\) -> (\S.*)", line)
        if not match or "--" in line:
            continue
        name, arguments, result = match.groups()
        signatures.append(Signature(name, section, [parse_argument(a) for a in split(arguments)], parse_type(result)))
    return signatures
