"""What a series must answer, worked out naively from its points.  It shares no code and no way of storing with Sonde.

Where the documents are silent, this is what is meant:
  point        the set of fields at one time of one series (all its tags).  The time is rounded down to the resolution.
  correction   a later write of a point.  The fields that it has win, the others stay, whatever the layout.  (In layout
               columns a reading that is corrected stays beside the first: points.py makes no such corrections.)
  newest point the one with the largest time that has any of the fields that are asked for; with all its fields, those
               that are missing being null.  Which derived tables there are changes no answer.
  derived      an order or period table has the points of its series, a latest table the newest value of each field under
               its own time, a roll-up the aggregates of each piece, all of the points as they are now.
  numbers      ints are exact in everything but avg, stddev, percentiles, rates and filled gaps.  A question for a sum or a
               change that leaves 64 bits may be refused, with these words (Source.leaves_64_bits); a roll-up has all
               digits of such a sum.  Doubles are exact where a value is picked or two are subtracted; sums and what
               is made of them may differ in the last digits (Near).
  refused      a point whose time a table of it can't say (before 1970 or the declared origin; more digits than the key
               has) may be refused or taken ("either"): the answer tells, and goes for the whole point, in all tables.
"""
import math
import re

import declarations
from clocks import BEGIN, END, Pieces, width_of

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
PAD = {"string": " ", "int": "0"}


class Near:
    """A number that may be off by `slack`."""

    def __init__(self, value, slack):
        self.value, self.slack = float(value), float(slack)

    def __repr__(self):
        return f"~{self.value!r}"


class Wide(Near):
    """An int that 64 bits do not hold."""

    count = 0

    def __init__(self, value):
        super().__init__(value, abs(value) * 1e-12)
        self.int = value
        Wide.count += 1


def stored(value):
    """What a roll-up has of an aggregate: all digits of a sum of ints."""
    return value.int if isinstance(value, Wide) else value


def number_of(value):
    return value.value if isinstance(value, Near) else value


def slack_of(value):
    return value.slack if isinstance(value, Near) else 0.0


def is_same(expected, got):
    if expected is None or got is None:
        return expected is got
    if isinstance(expected, Near):
        return not isinstance(got, str) and abs(got - expected.value) <= expected.slack
    if isinstance(expected, str) != isinstance(got, str):
        return False
    return expected == got  # ints and floats are compared exactly


class Model:
    """The points of one series, and what is to be answered of them."""

    def __init__(self, declaration):
        self.declaration = declaration
        self.series = {}  # tags to {time: {field: value}}
        self.has_points = False
        self.complete = {derived["table"]: True for derived in declaration["derive"]}

    def declare(self, declaration):
        """Derived tables that come when there are points already lack these, until a rebuild."""
        before = {derived["table"]: derived for derived in self.declaration["derive"]}
        self.complete = {
            derived["table"]: (not self.has_points or
                               (before.get(derived["table"]) == derived and self.complete.get(derived["table"], False)))
            for derived in declaration["derive"]}
        self.declaration = declaration

    def rebuild(self):
        self.complete = dict.fromkeys(self.complete, True)

    def refuses(self, point):
        """True, False, or None: either."""
        tags, micros, fields = point
        declaration = self.declaration
        if not BEGIN <= micros < END or all(value is None for value in fields.values()):
            return True
        if len(tags) != len(declaration["tags"]):
            return True
        kinds = {field["name"]: field["type"] for field in declaration["fields"]}
        if any(kinds[name] != "string" and isinstance(value, str) for name, value in fields.items()):
            return True
        if any(isinstance(value, int) and kinds[name] == "int" and not INT_MIN <= value <= INT_MAX
               for name, value in fields.items()):
            return True
        if "open" in declaration:
            return micros < 0
        micros -= micros % declaration["resolution"]
        own = declarations.shape_at(declaration, micros)
        shapes = [own] + [declarations.order_shape(declaration, derived) for derived in declaration["derive"]
                          if derived["kind"] == "order"]
        if any(derived["kind"] == "period" for derived in declaration["derive"]):
            shapes.append(declaration["shape"])  # their rows are those of the present version
        # Constants and times hold no delimiter; tags may.
        for shape in shapes:
            delimiter = shape.get("delimiter", "#")
            if any(self._refuses_tag(tag, text, delimiter) for tag, text in zip(declaration["tags"], tags)):
                return True
        origin = declaration.get("origin", 0)
        has_rollup = any(derived["kind"] == "rollup" for derived in declaration["derive"])
        can_say = micros >= origin and all(self._can_say(shape, micros, origin) for shape in shapes) and (
            not has_rollup or "origin" in declaration or micros < 10 ** 16)
        return False if can_say else None

    def may_not_be_rewritten(self):
        """Whether the present table can't say the time of some point, which an earlier one holds."""
        shape, origin = self.declaration["shape"], self.declaration.get("origin", 0)
        return any(t < origin or not self._can_say(shape, t, origin) for points in self.series.values() for t in points)

    def may_not_be_rebuilt(self):
        """Whether a derived table can't say the time of some point, which the series has from before it was declared."""
        return any(self.refuses((of, t, values)) is not False for of, points in self.series.items()
                   for t, values in points.items())

    @staticmethod
    def _refuses_tag(tag, text, delimiter):
        if text == "" or (delimiter and delimiter in text):
            return True
        if tag["type"] == "int" and not (re.fullmatch(r"-?\d+", text) and INT_MIN <= int(text) <= INT_MAX):
            return True
        if "width" not in tag:
            return False
        if len(text.encode()) > tag["width"]:
            return True
        if tag["type"] == "int":
            return text.startswith("-")
        pad = tag.get("pad", " ")
        return text.endswith(pad) or any(byte < ord(pad) for byte in text.encode())

    @staticmethod
    def _can_say(shape, micros, origin):
        for part in shape["key"]:
            if part == "field" or not ("time" in part or "bucket" in part) or part.get("reverse"):
                continue
            name = part.get("time") or part.get("format")
            at = micros if "time" in part else declarations.piece_start(part["bucket"], micros)
            if name is None:
                width = width_of(part["bucket"])
                name = "epoch_us" if isinstance(width, int) and width % 1_000_000 else None
            if name in declarations.EPOCH_WIDTHS:
                unit = declarations.FORMAT_UNITS[name]
                width = part.get("width", declarations.EPOCH_WIDTHS[name] if origin == 0 else 99)
                if at < origin or len(str((at - origin) // unit)) > width:
                    return False
        return True

    def identity(self, tags):
        return tuple(str(int(text)) if tag["type"] == "int" else text
                     for tag, text in zip(self.declaration["tags"], tags))

    def write(self, point):
        tags, micros, fields = point
        micros -= micros % self.declaration["resolution"]
        kinds = {field["name"]: field["type"] for field in self.declaration["fields"]}
        values = {name: float(value) if kinds[name] == "double" else value
                  for name, value in fields.items() if value is not None}
        points = self.series.setdefault(self.identity(tags), {})
        points[micros] = {**points.get(micros, {}), **values}
        self.has_points = True

    def source(self, table=None):
        """What is asked: the series, or one of its derived tables as a series of its own."""
        tags, fields = self.declaration["tags"], self.declaration["fields"]
        if table is None:
            return Source(tags, fields, self.series)
        derived = next(d for d in self.declaration["derive"] if d["table"] == table)
        if derived["kind"] == "latest":
            return Source(tags, fields, {of: _newest_values(points) for of, points in self.series.items()})
        if derived["kind"] == "rollup":
            return self._rollup(derived)
        return Source(tags, fields, self.series)

    def period(self, derived, start):
        end = Pieces(derived["every"]).next(start)
        return Source(self.declaration["tags"], self.declaration["fields"], {
            of: {t: p for t, p in points.items() if start <= t < end} for of, points in self.series.items()})

    def _rollup(self, derived):
        numbers = [field for field in self.declaration["fields"] if field["type"] != "string"]
        fields = [{"name": f"{field['name']}_{name}", "type": "int" if name == "count" else field["type"]}
                  for field in numbers for name in derived["aggregates"]]
        series = {}
        origin = self.declaration.get("origin", 0)
        for of, points in self.series.items():
            pieces = {}
            for t, values in sorted(points.items()):
                for field in numbers:
                    if field["name"] in values:
                        start = declarations.piece_start(derived["every"], t)
                        if start < origin <= t:
                            start = origin  # a piece that would begin before it begins there
                        piece = pieces.setdefault(start, {})
                        piece.setdefault(field["name"], []).append((t, values[field["name"]]))
            series[of] = {start: {f"{name}_{kind}": stored(aggregate(kind, pairs)) for name, pairs in piece.items()
                                  for kind in derived["aggregates"]} for start, piece in pieces.items()}
        return Source(self.declaration["tags"], fields, series)


def _newest_values(points):
    """Each field's newest value under its own time, in whole milliseconds as cells have it."""
    newest = {}
    for t, values in points.items():
        for name, value in values.items():
            if name not in newest or t > newest[name][0]:
                newest[name] = (t, value)
    rows = {}
    for name, (t, value) in newest.items():
        rows.setdefault(t - t % 1000, {})[name] = value
    return rows


class Source:
    """Points that questions are asked of."""

    def __init__(self, tags, fields, series):
        self.tags, self.fields, self.series = tags, fields, series
        self.tag_names = [tag["name"] for tag in tags]
        self.kinds = {field["name"]: field["type"] for field in fields}

    def fields_of(self, question):
        if question.get("field"):
            return question["field"]
        takes_texts = all(name == "count" for name in question.get("agg", [])) and not question.get("change")
        return [name for name, kind in self.kinds.items() if takes_texts or kind != "string"]

    def leaves_64_bits(self, question):
        """Whether an int on the way to the answer is wider than an int may be."""
        before = Wide.count
        self.answer(question)
        return Wide.count > before

    def answer(self, question):
        """Rows (tags, time, values) in no particular order; those of `top` in order.  Limits are not applied."""
        fields = self.fields_of(question)
        if question.get("latest"):
            rows = self._newest(question, fields)
        elif question.get("agg"):
            rows = Fold(self, question, fields).rows()
        else:
            rows = [(of, t, [values.get(name) for name in fields])
                    for of, points in self._selected(question, fields).items() for t, values in points
                    if any(name in values for name in fields)]
        if question.get("top"):
            rows = self._top(rows, question, fields)
        return rows

    def columns(self, question):
        """The names of the columns of values."""
        names = []
        for field in self.fields_of(question):
            value = f"{question['change']}({field})" if question.get("change") else field
            if not question.get("agg"):
                names.append(value)
            for name in question.get("agg", []):
                name = "p50" if name == "median" else name
                for window in question.get("window") or [None]:
                    names.append(f"{name}({value})" if window is None else f"{name}({value}, {window})")
        return names

    def _selected(self, question, fields, low=None):
        """Of each series that was asked for its points in the range, by time, with changes in place of values."""
        low = question.get("from", BEGIN) if low is None else low
        high = question.get("to", END)
        selected = {}
        for of, points in self.series.items():
            if not all(self._matches(of, condition) for condition in self._conditions(question)):
                continue
            found = [(t, values) for t, values in sorted(points.items())
                     if low <= t < high and any(name in values for name in fields)]
            selected[of] = self._changes(found, question["change"], fields) if question.get("change") else found
        return selected

    def _conditions(self, question):
        """(tag, sign, values): those with a plain = of one tag are one condition, any of them."""
        equal, others = {}, []
        for tag, sign, text in question.get("where", []):
            if sign in ("=", "=*"):
                equal.setdefault(tag, []).append((sign, text))
            else:
                others.append((tag, sign, text))
        return [(tag, "any", values) for tag, values in equal.items()] + others

    def _matches(self, of, condition):
        tag, sign, text = condition
        place = self.tag_names.index(tag)
        value = of[place]
        if sign == "any":
            if self.tags[place]["type"] == "int":
                return any(int(one) == int(value) for _, one in text)
            return any(value == one if kind == "=" else value.startswith(one) for kind, one in text)
        if sign == "!=":
            return value != text
        return (re.fullmatch(text, value, re.DOTALL) is not None) == (sign == "=~")

    def _changes(self, points, change, fields):
        before, changed = {}, []
        for t, values in points:
            made = {}
            for name in fields:
                if name not in values:
                    continue
                if name in before:
                    made[name] = change_of(change, before[name], (t, values[name]))
                before[name] = (t, values[name])
            changed.append((t, made))
        return changed

    def _newest(self, question, fields):
        rows = []
        for of, points in self._selected(question, fields).items():
            rows += [(of, t, [values.get(name) for name in fields]) for t, values in points[-question["latest"]:]]
        return rows

    def _top(self, rows, question, fields):
        columns = self.columns(question)
        by = question.get("by")
        if by is None:
            is_number = [question.get("agg") or self.kinds[name] != "string" for name in fields
                         for _ in range(len(columns) // len(fields))]
            place = is_number.index(True) if True in is_number else 0
        else:
            place = columns.index(by)
        rows = [row for row in rows if row[2][place] is not None]
        sign = -1 if question["top"] > 0 else 1
        rows.sort(key=lambda row: (sign * number_of(row[2][place]), row[0], row[1]))
        return [(*row, place) for row in rows]


def change_of(change, before, now):
    """delta: value - value before; increase: the same of a counter that starts again from 0; rate: a second."""
    (t0, v0), (t1, v1) = before, now
    value = v1 if change != "delta" and v1 < v0 else v1 - v0
    if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        value = Wide(value)
    if change != "rate":
        return value
    rate = number_of(value) * 1e6 / (t1 - t0)
    return Near(rate, abs(rate) * 1e-9 + abs(number_of(v1)) * 1e-12)


def aggregate(name, pairs):
    """Of (time, value) pairs; None where there is nothing."""
    if name == "count":
        return len(pairs)
    if not pairs:
        return None
    values = [value for _, value in pairs]
    plain = [number_of(value) for value in values]
    slack = sum(map(slack_of, values))
    if name in ("min", "max", "first", "last"):
        pick = {"min": lambda: min(plain), "max": lambda: max(plain),
                "first": lambda: number_of(min(pairs, key=lambda pair: (pair[0], number_of(pair[1])))[1]),
                "last": lambda: number_of(max(pairs, key=lambda pair: (pair[0], number_of(pair[1])))[1])}[name]()
        return Near(pick, slack) if slack else pick
    scale = sum(abs(value) for value in plain)
    ints = [value.int if isinstance(value, Wide) else value for value in values]
    if all(isinstance(value, int) for value in ints):
        total = sum(ints)
        if name == "sum":
            return total if INT_MIN <= total <= INT_MAX else Wide(total)
        if name == "avg":
            mean = total / len(values)
            return Near(mean, abs(mean) * 1e-12)
    else:
        total = math.fsum(plain)
        if name in ("sum", "avg"):
            count = len(values) if name == "avg" else 1
            return Near(total / count, (scale * 1e-12 + slack) / count)
    largest = max(abs(value) for value in plain)
    if name == "stddev":
        if len(values) == 1:
            return None
        mean = total / len(values)
        # Calculated with doubles, also of ints that these do not hold exactly.
        found = math.sqrt(math.fsum((value - mean) ** 2 for value in plain) / (len(values) - 1))
        return Near(found, found * 1e-9 + largest * 1e-12 + slack)
    place = percentile_of(name) / 100 * (len(plain) - 1)
    plain.sort()
    below = int(place)
    above = plain[min(below + 1, len(plain) - 1)]
    return Near(plain[below] + (above - plain[below]) * (place - below), largest * 1e-9 + slack)


def percentile_of(name):
    return 50.0 if name == "median" else float(name[1:])


class Fold:
    """Aggregates over groups, pieces of time and windows; gaps are filled."""

    def __init__(self, source, question, fields):
        self.source, self.question, self.fields = source, question, fields
        self.windows = question.get("window") or [1]
        self.pieces = Pieces(question["every"], question.get("zone")) if question.get("every") else None

    def rows(self):
        question = self.question
        low, first_asked = question.get("from", BEGIN), None
        if self.pieces and low > BEGIN:  # from the beginning of time: no bound
            first_asked = self.pieces.start(low)
            if max(self.windows) > 1:
                # Windows look back: whole pieces, the first one that is asked for included.
                low = self.pieces.before(first_asked, max(self.windows) - 1)
        groups = {}  # tags to {piece: {field: pairs}}
        for of, points in self.source._selected(question, self.fields, low).items():
            for t, values in points:
                start = self.pieces.start(t) if self.pieces else 0
                piece = groups.setdefault(self._group(of), {}).setdefault(start, {})
                piece.setdefault(None, []).append(t)
                for name, value in values.items():
                    if name in self.fields:
                        piece.setdefault(name, []).append((t, value))
        rows = []
        for of, pieces in groups.items():
            made = [(of, start if self.pieces else min(pieces[start][None]), self._values(pieces, start))
                    for start in self._starts(pieces, first_asked)]
            rows += self._filled(made)
        return rows

    def _group(self, of):
        group_by = self.question.get("group_by")
        if group_by is None:
            return of
        return tuple(of[self.source.tag_names.index(name)] for name in group_by)

    def _starts(self, pieces, first_asked):
        """The pieces that are rows of the answer."""
        asked = sorted(start for start in pieces if first_asked is None or start >= first_asked)
        if not self.pieces or self.question.get("fill", "none") == "none":
            return asked
        if first_asked is None:
            if not asked:
                return []
            first_asked = asked[0]
        end = self.question.get("to", max(pieces) + 1)
        starts = []
        while first_asked < end:
            starts.append(first_asked)
            first_asked = self.pieces.next(first_asked)
        return starts

    def _values(self, pieces, start):
        values = []
        joined = []
        for window in self.windows:
            first = self.pieces.before(start, window - 1) if window > 1 else start
            joined.append([piece for at, piece in pieces.items() if first <= at <= start])
        for field in self.fields:
            for name in self.question["agg"]:
                for window in joined:
                    values.append(aggregate(name, [pair for piece in window for pair in piece.get(field, [])]))
        return values

    def _filled(self, rows):
        fill = self.question.get("fill")
        if fill == "previous":
            for before, row in zip(rows, rows[1:]):
                row[2][:] = [old if value is None else value for old, value in zip(before[2], row[2])]
        if fill == "linear" and rows:
            for column in range(len(rows[0][2])):
                known = [place for place, row in enumerate(rows) if row[2][column] is not None]
                for low, high in zip(known, known[1:]):
                    ends = rows[low][2][column], rows[high][2][column]
                    a, b = map(number_of, ends)
                    slack = max(map(slack_of, ends)) + (abs(a) + abs(b)) * 1e-9
                    for place in range(low + 1, high):
                        share = (rows[place][1] - rows[low][1]) / (rows[high][1] - rows[low][1])
                        rows[place][2][column] = Near(a + (b - a) * share, slack)
        return rows
