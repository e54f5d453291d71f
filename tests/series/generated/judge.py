"""Compares an answer with what the model expects; None: they are the same, else what differs."""
from clocks import text_of
from model import is_same


class Answer:
    """Rows as they came: tags, time in microseconds, values."""

    def __init__(self, columns, rows, is_truncated=False):
        self.columns, self.rows, self.is_truncated = columns, rows, is_truncated


def compare(source, question, answer, is_split=False):
    expected = source.answer(question)
    columns = source.columns(question)
    # Percentiles are named by their number.
    if answer.columns is not None and answer.columns != columns:
        return f"columns {answer.columns}, not {columns}"
    may_be_split = is_split and not question.get("agg") and not question.get("latest")
    if question.get("top"):
        return _compare_top(source, question, answer, expected, may_be_split)
    limit = question.get("limit")
    if may_be_split:
        problem, rows = _joined(answer.rows)
        if problem:
            return problem
        if limit:
            return _each_is_expected(rows, expected, is_part=True) or (
                f"{len(answer.rows)} rows, of a limit of {limit}" if len(answer.rows) > limit else None)
    else:
        rows = answer.rows
    if limit and len(expected) > limit:
        if len(rows) != limit or answer.is_truncated is False:
            return f"{len(rows)} rows (truncated: {answer.is_truncated}) of {len(expected)}, of a limit of {limit}"
        return _each_is_expected(rows, expected)
    if answer.is_truncated:
        return f"said to be truncated at {len(rows)} rows, of {len(expected)}"
    if len(rows) != len(expected):
        return _difference(rows, expected)
    rows = sorted(rows, key=lambda row: row[:2])
    for got, wanted in zip(rows, sorted(expected, key=lambda row: row[:2])):
        if tuple(got[0]) != wanted[0] or got[1] != wanted[1]:
            return _difference(rows, expected)
        if problem := _values_differ(got, wanted):
            return problem
    return None


def _values_differ(got, wanted):
    if len(got[2]) == len(wanted[2]) and all(map(is_same, wanted[2], got[2])):
        return None
    return f"{_text(got)} instead of {_text(wanted)}"


def _text(row):
    return f"({', '.join(map(str, row[0]))} at {text_of(row[1])}: {row[2]})"


def _difference(rows, expected):
    got, wanted = {(tuple(r[0]), r[1]): r for r in rows}, {r[:2]: r for r in expected}
    lacking = sorted(set(wanted) - set(got))
    beyond = sorted(set(got) - set(wanted))
    parts = [f"{len(rows)} rows, not {len(expected)}"]
    if len(got) < len(rows):
        parts.append("some come twice")
    if lacking:
        parts.append(f"{len(lacking)} lack, such as {_text(wanted[lacking[0]])}")
    if beyond:
        parts.append(f"{len(beyond)} should not be there, such as {_text(got[beyond[0]])}")
    return "; ".join(parts)


def _each_is_expected(rows, expected, is_part=False):
    known = {row[:2]: row for row in expected}
    for row in rows:
        wanted = known.get((tuple(row[0]), row[1]))
        if wanted is None:
            return f"{_text(row)} should not be there"
        values = [w if g is not None or not is_part else None for w, g in zip(wanted[2], row[2])]
        if problem := _values_differ(row, (*wanted[:2], values)):
            return problem
    return None


def _joined(rows):
    """Rows of one point, which come for each of its fields, as one."""
    joined = {}
    for tags, at, values in rows:
        row = joined.setdefault((tuple(tags), at), [None] * len(values))
        for i, value in enumerate(values):
            if value is not None and row[i] is not None and row[i] != value:
                return f"{_text((tags, at, values))} comes twice with other values", []
            row[i] = value if row[i] is None else row[i]
    return None, [(tags, at, values) for (tags, at), values in joined.items()]


def _compare_top(source, question, answer, expected, may_be_split):
    count = min(abs(question["top"]), question.get("limit", 1 << 60), len(expected))
    if len(answer.rows) != count:
        return f"the top {question['top']}: {len(answer.rows)} rows, not {count}"
    known = {row[:2]: row for row in expected}
    for got, wanted in zip(answer.rows, expected):
        place = wanted[3]
        value = got[2][place]
        # Rows that are nearly alike may come in another order.
        if value is None or not is_same(wanted[2][place], value):
            return f"{_text(got)} instead of {_text(wanted)}, by column {place + 1}"
        row = known.get((tuple(got[0]), got[1]))
        if row is None:
            return f"{_text(got)} should not be there"
        if not may_be_split and (problem := _values_differ(got, row)):
            return problem
        if not is_same(row[2][place], value):
            return f"{_text(got)} instead of {_text(row)}"
    return None
