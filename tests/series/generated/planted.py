"""Doors with a planted bug of each kind: whether the generator and its judge would find it out.

A planted door answers as a server would, by a model that is right but for the bug.  Each bug is the symptom of a fault
that Sonde once had (docs/reliability.md lists them by these names); the right model must not be found to differ.
"""
import copy
import time

import declarations
import model
from clocks import END, Pieces
from course import CourseMaker, Difference, Player
from doors import Refused, Sent
from judge import Answer
from model import Model, Source, change_of

COURSES_MAX = 3000
RIGHT_COURSES = 150
SALTS_READ_MAX = 64


class Door:
    """What a right server answers."""

    name = "planted"

    def __init__(self):
        self.model = None

    def open(self, series, declaration):
        self.declare(series, declaration)

    def declare(self, series, declaration):
        if self.model is None:
            self.model = Model(declaration)
        else:
            self.model.declare(declaration)

    def send(self, series, declaration, step):
        if step.get("cut"):
            return Sent(None)
        refused = {i for i, point in enumerate(step["points"]) if self.model.refuses(point)}
        for i, point in enumerate(step["points"]):
            if i not in refused:
                self.model.write(point)
        return Sent(refused)

    def ask(self, series, table, source, question):
        if question.get("zone", "UTC") != "UTC":
            width = Pieces(question["every"]).width
            if isinstance(width, int) and (86_400_000_000 % width and width % 86_400_000_000):
                raise Refused("400")
        rows = self.rows(table, question)
        if question.get("top"):
            rows = rows[:abs(question["top"])]
        limit = question.get("limit", END)
        rows = [(row[0], row[1], [model.number_of(value) for value in row[2]]) for row in rows]
        return Answer(self.source(table).columns(question), rows[:limit], len(rows) > limit)

    def source(self, table):
        return self.model.source(table)

    def rows(self, table, question):
        return self.source(table).answer(question)

    def command(self, name, series, *more):
        if name == "rebuild":
            self.model.rebuild()
        return True, ""

    def index_command(self, series, *more):
        return None, ""


class LatestOfTheLateTable(Door):
    """`latest` is answered from a table of newest values that was declared after the first points."""

    def declare(self, series, declaration):
        old = set() if self.model is None else {d["table"] for d in self.model.declaration["derive"]}
        super().declare(series, declaration)
        latest = [d["table"] for d in declaration["derive"] if d["kind"] == "latest"]
        if latest and latest[0] not in old:
            self.since = Model(declaration)
        elif hasattr(self, "since"):
            self.since.declare(declaration)

    def send(self, series, declaration, step):
        sent = super().send(series, declaration, step)
        if hasattr(self, "since") and sent.refused is not None:
            for i, point in enumerate(step["points"]):
                if i not in sent.refused:
                    self.since.write(point)
        return sent

    def rows(self, table, question):
        if table is None and question.get("latest") == 1 and not question.keys() & {"from", "to"} and any(
                d["kind"] == "latest" for d in self.model.declaration["derive"]):
            return self.since.source().answer(question)
        return super().rows(table, question)


class BySalt(Source):
    def _changes(self, points, change, fields):
        points = sorted(points, key=lambda point: (point[0] // 7_000_000 * 2654435761 % self.salts, point[0]))
        return super()._changes(points, change, fields)


class ChangesSaltBySalt(Door):
    """Changes are taken in the order of the keys, where a salt of time stands behind a tag."""

    def source(self, table):
        source = super().source(table)
        key = self.model.declaration["shape"]["key"]
        for place, part in enumerate(key):
            if part != "field" and part.get("of") == ["time"] and any("tag" in other for other in key[:place] if other != "field"):
                salted = BySalt(source.tags, source.fields, source.series)
                salted.salts = part["salt"]
                return salted
        return source


class PiecesOfGroups(Door):
    """Groups come in pieces, a row for each series, where keys have many salts of tags."""

    def rows(self, table, question):
        salts = [part for part in self.model.declaration["shape"]["key"] if part != "field" and "salt" in part]
        if table is None and any(part["salt"] > SALTS_READ_MAX and part["of"] != ["time"] for part in salts) and (
                question.get("group_by") is not None and not question.get("top")):
            rows = self.source(table).answer({name: value for name, value in question.items() if name != "group_by"})
            names = self.source(table).tag_names
            return [(tuple(row[0][names.index(name)] for name in question["group_by"]), *row[1:]) for row in rows]
        return super().rows(table, question)


class LatestOfEachField(Door):
    """With a table of newest values, the newest point is made of fields of several."""

    def rows(self, table, question):
        rows = super().rows(table, question)
        if table is None and question.get("latest") == 1 and not question.keys() & {"from", "to", "top"} and any(
                d["kind"] == "latest" for d in self.model.declaration["derive"]):
            source = self.model.source()
            for of, _, values in rows:
                for place, name in enumerate(source.fields_of(question)):
                    known = [point[name] for _, point in sorted(source.series[of].items()) if name in point]
                    values[place] = known[-1] if known else None
        return rows


class LatestOfOneMillisecond(Door):
    """Points of one millisecond are compared by when they came."""

    def __init__(self):
        super().__init__()
        self.arrivals = {}

    def send(self, series, declaration, step):
        sent = super().send(series, declaration, step)
        for i, (tags, micros, _) in enumerate(step["points"]):
            if sent.refused is not None and i not in sent.refused:
                key = self.model.identity(tags), micros - micros % self.model.declaration["resolution"]
                self.arrivals[key] = len(self.arrivals)
        return sent

    def rows(self, table, question):
        rows = super().rows(table, question)
        declaration = self.model.declaration
        is_by_table = any(d["kind"] == "latest" for d in declaration["derive"])
        if table is not None or not is_by_table or question.get("latest") != 1 or question.keys() & {"from", "to", "top"}:
            return rows
        source = self.model.source()
        names = source.fields_of(question)
        found = []
        for of, t, _ in rows:
            near = [at for at, point in source.series[of].items() if at // 1000 == t // 1000 and any(n in point for n in names)]
            last = max(near, key=lambda at: self.arrivals[of, at])
            found.append((of, last, [source.series[of][last].get(name) for name in names]))
        return found


class BlobsAreReplaced(Door):
    """A correction takes the place of a whole blob in the series, but not in its derived tables."""

    def __init__(self):
        super().__init__()
        self.own = {}

    def send(self, series, declaration, step):
        sent = super().send(series, declaration, step)
        for i, point in enumerate(step["points"]):
            if sent.refused is not None and i not in sent.refused:
                alone = Model(self.model.declaration)
                alone.write(point)
                for of, points in alone.series.items():
                    self.own.setdefault(of, {}).update(points)
        return sent

    def source(self, table):
        source = super().source(table)
        is_blob = all(declarations.shape_at(self.model.declaration, t)["layout"] == "blob"
                      for points in source.series.values() for t in points)
        return Source(source.tags, source.fields, self.own) if table is None and is_blob else source


class IntsAsDoubles(Door):
    """Aggregates of ints lose what is beyond 2^53."""

    def rows(self, table, question):
        rows = super().rows(table, question)
        if question.get("agg") or question.get("change"):
            rows = [(row[0], row[1], [float(v) if isinstance(v, int) else v for v in row[2]], *row[3:]) for row in rows]
        return rows


class OldRowsOfRollups(Door):
    """A roll-up that is declared anew under its name keeps the rows that it had."""

    def declare(self, series, declaration):
        old = {} if self.model is None else {d["table"]: d for d in self.model.declaration["derive"]}
        kept = {d["table"]: self.model.source(d["table"]) for d in declaration["derive"]
                if d["kind"] == "rollup" and d["table"] in old and old[d["table"]] != d}
        super().declare(series, declaration)
        self.kept = kept

    def rows(self, table, question):
        rows = super().rows(table, question)
        if table in self.kept:
            known = {row[:2] for row in rows}
            rows += [row for row in self.kept[table].answer(question) if row[:2] not in known]
        return rows


class PiecesFrom1970(Door):
    """Pieces of time that begin before 1970 begin there."""

    def rows(self, table, question):
        rows = super().rows(table, question)
        return [(row[0], max(0, row[1]), *row[2:]) for row in rows] if question.get("every") else rows


class CutBodies(Door):
    """Of a body that was cut, what there is of it is written."""

    def send(self, series, declaration, step):
        if not step.get("cut"):
            return super().send(series, declaration, step)
        return super().send(series, declaration, {**step, "points": step["points"][:len(step["points"]) // 2], "cut": False})


class LostCorrections(Door):
    """corrections: keep; what follows many corrections of one point at once is older than they are."""

    def send(self, series, declaration, step):
        points = {(tuple(tags), micros) for tags, micros, _ in step["points"]}
        if declaration["shape"].get("corrections") == "keep" and len(step["points"]) > 20 and len(points) < 3:
            sent = super().send(series, declaration, step)
            self.hammered = points
            return sent
        if getattr(self, "hammered", set()) & points and len(points) == 1:
            return Sent(set())
        return super().send(series, declaration, step)


class RewriteLosesCorrections(Door):
    """What is written to an earlier version's table after `rewrite` has copied it is not found any more."""

    copied = None

    def command(self, name, series, *more):
        if name == "rewrite" and not more:
            self.copied = {of: {t: dict(values) for t, values in points.items()} for of, points in self.model.series.items()}
        return super().command(name, series, *more)

    def declare(self, series, declaration):
        before = None if self.model is None else copy.deepcopy(self.model.declaration)
        super().declare(series, declaration)
        if self.copied is not None and before["versions"] and not declaration["versions"]:
            for of, points in self.copied.items():
                for t, values in points.items():
                    if declarations.shape_at(before, t) is not before["shape"]:
                        self.model.series[of][t] = values
            self.copied = None


class OneRefusesAll(Door):
    """A point that a roll-up's key cannot say takes the others of its request with it."""

    def send(self, series, declaration, step):
        if any(d["kind"] == "rollup" for d in declaration["derive"]) and any(
                10 ** 16 <= micros < END for _, micros, _ in step["points"]):
            return Sent(None, "one of them cannot be said")
        return super().send(series, declaration, step)


PLANTED = {"1": LatestOfTheLateTable, "2": ChangesSaltBySalt, "2b": PiecesOfGroups, "3": LatestOfEachField,
           "4": LatestOfOneMillisecond, "5": BlobsAreReplaced, "6": IntsAsDoubles, "7": OldRowsOfRollups,
           "8": PiecesFrom1970, "9": CutBodies, "10": LostCorrections, "11": RewriteLosesCorrections, "12": OneRefusesAll}


def first_difference(door_class, seed, courses):
    """(the number of the first course that differs, how), or None."""
    for number in range(courses):
        course = CourseMaker(f"{seed}/planted/{number}").make()
        try:
            Player(door_class(), "s", rollup_seconds=0).play(course)
        except Difference as different:
            return number, str(different)
    return None


def find_all(seed):
    """0: each planted bug was found, and the door without one was not."""
    start = time.monotonic()
    missed = []
    if found := first_difference(Door, seed, RIGHT_COURSES):
        print(f"planted nothing: differs at declaration {found[0]}: {found[1]}")
        missed.append("none")
    for kind, door_class in PLANTED.items():
        found = first_difference(door_class, seed, COURSES_MAX)
        if found is None:
            missed.append(kind)
        what = " ".join(door_class.__doc__.split())
        print(f"planted {kind:3} {what}\n    " + ("NOT FOUND" if found is None else f"declaration {found[0]}: {found[1][:160]}"),
              flush=True)
    print(f"generated: {len(PLANTED) - len(set(missed) - {'none'})} of {len(PLANTED)} planted bugs found (seed {seed}, "
          f"{time.monotonic() - start:.0f} s)")
    return 1 if missed else 0
