"""The life of one series: it is declared, points are sent, its declaration changes, questions are asked.

A course is {"seed", "steps"}, and a step is plain data:
  open           {declaration}: how a series that nobody declares comes to be
  declare        {declaration, may_refuse?}; what may be refused and is, leaves all as it was, and ends the course
  send           {points, way: json csv line line_ns, gzip?, cut?, comments?}; cut: the body ends too early
  kill           as send; the server is killed meanwhile (delay in seconds), started again, and the request repeated
  ask            {table?, question}; left out while the table lacks points
  rebuild        `sonde series rebuild`
  rebuild_index  `sonde series rebuild stored:SERIES@index`
  check_index    the same with --check: the index has all of the series where it should
  rewrite, drop_versions {declaration}, finish    the three steps of `sonde series rewrite`
"""
import copy
import random
import threading
import time

import declarations
import judge
import sql
from clocks import DAY, END, MINUTE, text_of
from doors import Gone, Refused, wait_until
from model import Model
from points import Points, Scene
from questions import is_refused, random_question

ROLLUP_SECONDS = 12
PROBLEMS_SHOWN = 10
OPEN_SHARE = 0.07
ENDS = "ends"  # what a step answers when the course is over
WAYS = ["json", "json", "csv", "line", "line", "line_ns"]
COMMENTS = ["# a comment", "   # note=\"x", "\t", " ", "#", "  # m,a=b x=\"1"]


class Difference(Exception):
    """The server and the model do not agree."""

    def __init__(self, place, text, is_gone=False):
        super().__init__(f"step {place}: {text}")
        self.place, self.is_gone = place, is_gone


class CourseMaker:
    """Makes a course at random; `is_short`: for doors where each step is a process."""

    def __init__(self, seed, is_short=False, kills=0):
        self.rng = random.Random(seed)
        self.seed, self.is_short, self.kills = seed, is_short, kills
        self.steps = []
        self.derived = {}  # by table, as it was declared last

    def make(self):
        rng = self.rng
        if not self.is_short and not self.kills and rng.random() < OPEN_SHARE:
            return self._make_open()
        self.declaration = declarations.random_declaration(rng)
        self.scene = Scene(rng, self.declaration)
        self._set_untils()
        self.points = Points(rng, self.declaration, self.scene)
        self.model = Model(self.declaration)
        self._declare(self.declaration)
        if rng.random() < 0.9:
            self._send_some()
        phases = rng.choice([0, 0, 1, 1, 2]) if not self.is_short else rng.choice([0, 1])
        self._ask_some()
        for _ in range(phases):
            self._change()
            self._send_some()
            self._ask_some()
        for _ in range(self.kills):
            batch, step = self._batch(rng.choice([20, 60, 200])), {"way": rng.choice(WAYS[:3])}
            self._dress(step, batch, has_refused=False)
            self._add("kill", points=batch, delay=rng.random() ** 3 * 0.03, **step)
            self._ask_some()
        self._ask_derived()
        if rng.random() < 0.3 or self.kills:
            self._add("check_index")
        return {"seed": self.seed, "steps": self.steps}

    def _make_open(self):
        rng = self.rng
        self.declaration = declarations.random_open_series(rng)
        self.scene = Scene(rng, self.declaration)
        self.points = Points(rng, self.declaration, self.scene)
        self.model = Model(self.declaration)
        self._add("open", declaration=self.declaration)
        # The first point has all labels and fields, so that they are known in this order.
        tags = [rng.choice([text for text in [*values, "web-1"] if text]) for values in self.scene.tags]
        fields = {field["name"]: self.scene.value(rng, field, tags) for field in self.declaration["fields"]}
        fields = {name: float(value) if isinstance(value, int) and name in ("x", "y z") else value
                  for name, value in fields.items()}
        first = self.points.keep([tags, max(0, self.scene.time(rng)), fields])
        self._add("send", points=[first], way="line")
        for _ in range(rng.choice([1, 1, 2])):
            self._send_some()
            self._ask_some()
        return {"seed": self.seed, "steps": self.steps}

    def _add(self, do, **step):
        step = {"do": do, **step}
        # The generator goes on with its declaration and its points; what was added stays as it is.
        self.steps.append(copy.deepcopy(step))
        if do in ("send", "kill") and not step.get("cut"):
            for point in step["points"]:
                if not self.model.refuses(point):
                    self.model.write(point)
        elif do in ("declare", "drop_versions"):
            self.model.declare(copy.deepcopy(step["declaration"]))
        elif do == "rebuild":
            self.model.rebuild()

    def _set_untils(self):
        versions = self.declaration["versions"]
        if not versions:
            return
        times = sorted({min(self.scene.time(self.rng), END - 9 * DAY) // MINUTE * MINUTE + (i + 1) * MINUTE
                        for i in range(len(versions) * 3)})
        if self.rng.random() < 0.5:
            times = sorted({t // DAY * DAY + DAY for t in times})
        chosen = sorted(self.rng.sample(times, min(len(versions), len(times))))
        # A key part says until when it can; the end of time does not.
        self.declaration["versions"] = [{"until": t, **version} for t, version in zip(chosen, versions)]

    def _batch(self, count):
        return self.points.batch(count)

    def _send_some(self):
        rng = self.rng
        for _ in range(rng.choice([1, 2, 3]) if not self.is_short else 1):
            size = rng.choice([1, 3, 8, 20, 40])
            if rng.random() < 0.01 and not self.is_short:
                size = 2000
            batch = self._batch(size)
            step = {"way": rng.choice(WAYS)}
            has_refused = rng.random() < 0.15
            if has_refused:
                for _ in range(rng.choice([1, 1, 3])):
                    batch.insert(rng.randrange(len(batch) + 1), self.points.refused())
            self._dress(step, batch, has_refused)
            self._add("send", points=batch, **step)
            if rng.random() < 0.1:
                self._hammer(step)
            if rng.random() < 0.04 and not step.get("comments"):
                self._add("send", points=self.fresh_batch(30), way="csv" if self.is_short else self._way(), cut=True)

    def fresh_batch(self, count):
        """Points that are not remembered: they must not be taken."""
        return [self.scene.point(self.rng) for _ in range(count)]

    def _dress(self, step, batch, has_refused):
        rng = self.rng
        # Which point was refused is told by its line.
        needs_lines = has_refused or any(self.model.refuses(point) is None for point in batch)
        has_newlines = any(isinstance(value, str) and "\n" in value for _, _, fields in batch for value in fields.values())
        # An empty text of CSV is no value.
        has_empty = any(value == "" for _, _, fields in batch for value in fields.values())
        if (needs_lines and (has_newlines or self.is_short)) or (has_empty and step["way"] == "csv"):
            step["way"] = "json"
        if step["way"] == "line_ns" and any(micros >= 1 << 53 for _, micros, _ in batch):
            step["way"] = "line"
        if any(micros < 0 or micros >= 1 << 57 for _, micros, _ in batch) and step["way"].startswith("line"):
            step["way"] = "json"
        if "open" in self.declaration and step["way"] != "line_ns":
            step["way"] = "line"
        if rng.random() < 0.15:
            step["gzip"] = True
        if step["way"].startswith("line") and not needs_lines and rng.random() < 0.2:
            step["comments"] = [(place, rng.choice(COMMENTS)) for place in
                                sorted(rng.sample(range(len(batch)), min(len(batch), rng.choice([1, 2]))))]

    def _way(self):
        return "line" if "open" in self.declaration else self.rng.choice(["json", "line"])

    def _hammer(self, step):
        """One point corrected many times in one request, then once more."""
        if not self.points.sent:
            return
        way = "json" if self.is_short else self._way()
        hammered = self.points.hammered(self.rng.choice([2, 40, 150]))
        self._add("send", points=hammered, way=way)
        tags, micros, _ = hammered[0]
        key = (tuple(tags), micros - micros % self.declaration["resolution"])
        if key in self.points.sent:
            self._add("send", points=[self.points.again(key)], way=way)

    # Changes of the declaration.

    def _change(self):
        changes = [self._add_derived, self._add_derived, self._drop_derived, self._put_back, self._redefine, self._add_field,
                   self._add_version, self._rewrite, self._rebuild, self._toggle_index]
        self.rng.choice(changes)()

    def _declare(self, declaration, may_refuse=False):
        self.declaration = declaration
        self.points.declaration = declaration
        may_refuse |= declarations.is_too_fine(declaration) and any(d["kind"] == "latest" for d in declaration["derive"])
        # A table that went and comes back otherwise may still have the rows that it had.
        may_refuse |= any(self.derived.get(d["table"], d) != d for d in declaration["derive"])
        self.derived.update((d["table"], d) for d in declaration["derive"])
        self._add("declare", declaration=declaration, **({"may_refuse": True} if may_refuse else {}))

    def _add_derived(self):
        declaration = copy.deepcopy(self.declaration)
        derived = declarations.random_derived(self.rng, declaration, self.rng.choice([None, "latest", "latest"]))
        if derived is None:
            return
        declaration["derive"].append(derived)
        self._declare(declaration)

    def _drop_derived(self):
        if self.declaration["derive"]:
            declaration = copy.deepcopy(self.declaration)
            self.dropped = declaration["derive"].pop(self.rng.randrange(len(declaration["derive"])))
            self._declare(declaration)

    def _put_back(self):
        self._drop_derived()
        if getattr(self, "dropped", None) is None:
            return
        self._send_some()
        self._ask_some()
        declaration = copy.deepcopy(self.declaration)
        if all(derived["table"] != self.dropped["table"] for derived in declaration["derive"]):
            declaration["derive"].append(self.dropped)
            self._declare(declaration)

    def _redefine(self):
        """Another table under the name of one that is there: refused, or right after a rebuild."""
        rng = self.rng
        places = [i for i, derived in enumerate(self.declaration["derive"]) if derived["kind"] in ("order", "rollup")]
        if not places:
            return self._add_derived()
        declaration = copy.deepcopy(self.declaration)
        place = rng.choice(places)
        old = declaration["derive"][place]
        made = declarations.random_derived(rng, declaration, old["kind"])
        if made is not None:
            declaration["derive"][place] = {**made, "table": old["table"]}
            self._send_some()
            self._declare(declaration, may_refuse=True)
            self._rebuild()
            self._ask_derived()

    def _add_field(self):
        declaration = copy.deepcopy(self.declaration)
        shapes = declarations.shapes_of(declaration)
        if any(shape["layout"] == "columns" and "field" not in shape["key"] for shape in shapes):
            return
        taken = {field["name"] for field in declaration["fields"]}
        declaration["fields"].append({"name": next(name for name in ("z", "q", "r", "u") if name not in taken),
                                      "type": self.rng.choice(["double", "int", "string"])})
        self._declare(declaration, may_refuse=any(shape["layout"] == "offsets" for shape in shapes))

    def _add_version(self):
        """What was declared holds the points until now; those to come go to another table."""
        rng = self.rng
        declaration = copy.deepcopy(self.declaration)
        times = [t for points in self.model.series.values() for t in points]
        old = declaration["shape"]
        until = (max(times, default=0) // DAY + rng.choice([1, 2])) * DAY
        if len(declaration["versions"]) > 2 or until > 250_000_000_000 * 1_000_000:
            return
        layouts = None if not declaration["derive"] else [old["layout"]]
        shape = declarations.random_shape(rng, declaration, f"_w{len(declaration['versions'])}", layouts)
        if shape["layout"] == "blob" and (old["layout"] != "blob" or any(
                version["layout"] != "blob" for version in declaration["versions"])) and any(
                    len(field) > 2 for field in declaration["fields"]):
            return
        if shape["layout"] == "columns" and self.points.corrects:
            return
        if declarations.forgets_versions(declaration) and not declarations.is_row_per_point(shape):
            return
        if declaration["derive"]:
            # Derived tables take these from the series.
            for name in ("delimiter", "slot", "blob", "corrections"):
                shape.pop(name, None)
                if name in old:
                    shape[name] = old[name]
            if shape.get("delimiter") == "" or shape["layout"] == "offsets":
                return
        declaration["versions"].append({**old, "until": until})
        declaration["shape"] = shape
        if declaration.get("index") and not declarations.may_be_indexed(declaration):
            declaration["index"] = False
        self._declare(declaration, may_refuse=True)
        self.scene.spans.append((until, until + 2 * DAY))
        self._send_some()
        self._rebuild()

    def _toggle_index(self):
        """An index that is declared anew has not all of the series, which is answered all the same."""
        declaration = copy.deepcopy(self.declaration)
        declaration["index"] = not declaration.get("index", False)
        if declaration["index"] and not declarations.may_be_indexed(declaration):
            return
        self._declare(declaration)
        if declaration["index"] and self.rng.random() < 0.5:
            self._send_some()
            self._add("rebuild_index")
            self._send_some()

    def _rewrite(self):
        if not self.declaration["versions"]:
            self._add_version()
        if not self.declaration["versions"]:
            return
        self._send_some()
        self._add("rewrite")
        # Whoever has the versions still corrects points of their tables.
        if self.rng.random() < 0.7:
            keys = self.rng.sample(sorted(self.points.sent), min(len(self.points.sent), 4))
            if keys:
                self._add("send", points=[self.points.again(key) for key in keys], way="json")
        declaration = copy.deepcopy(self.declaration)
        declaration["versions"] = []
        self.declaration = self.points.declaration = declaration
        self._add("drop_versions", declaration=declaration)
        if self.rng.random() < 0.5:
            self._add("send", points=self._batch(5), way="json")
        self._add("finish")
        self._ask_some()

    def _rebuild(self):
        if self.declaration["derive"]:
            self._add("rebuild")

    # Questions.

    def _ask_some(self):
        count = self.rng.choice([2, 4, 8]) if not self.is_short else 2
        for _ in range(count):
            self._ask(None)

    def _ask(self, table, is_plain=False):
        source = self.model.source(table)
        question = random_question(self.rng, source, self.scene.zones, is_plain)
        if question["way"] == "csv" and not question.get("agg") and any(
                source.kinds[name] == "string" for name in source.fields_of(question)):
            question["way"] = "get"  # CSV does not tell an empty text from none
        self._add("ask", **({"table": table} if table else {}), question=question)

    def _ask_derived(self):
        for derived in self.model.declaration["derive"]:
            if derived["kind"] == "order":
                self._ask(derived["table"])
                self._ask(derived["table"], is_plain=True)
            elif derived["kind"] != "period":
                self._ask(derived["table"], is_plain=True)


class Player:
    """Plays a course through a door, and compares."""

    def __init__(self, door, series, sees=None, rollup_seconds=ROLLUP_SECONDS, asks_in_sql=False):
        self.door, self.series, self.rollup_seconds = door, series, rollup_seconds
        self.sees = sees  # told of each answer that was compared
        self.asks_in_sql = asks_in_sql  # each question that SQL has words for, as well
        self.model = None
        self.kills_at_work = 0  # those whose request got no answer
        self.waiting = []  # questions to roll-ups, which follow their series
        self.last_write = 0.0

    def play(self, course, waits=True):
        """Raises Difference.  Without `waits`, roll-ups are looked at by finish()."""
        for place, step in enumerate(course["steps"]):
            try:
                if getattr(self, "_" + step["do"])(place, step) == ENDS:
                    break
            except Gone as gone:
                raise Difference(place, f"the server is gone: {gone}", is_gone=True) from gone
        if waits:
            self.finish()

    def finish(self):
        for place, step in self.waiting:
            if not self._can_still_ask(step):
                continue
            def problem():
                return self._problem(step)
            found = None
            def is_right():
                nonlocal found
                found = problem()
                return found is None
            if not wait_until(is_right, self.rollup_seconds):
                raise Difference(place, f"{found} (after {self.rollup_seconds} s)")
        self.waiting = []

    def _can_still_ask(self, step):
        """A roll-up that has gone since, or came back without the points before it, is not asked any more."""
        return self.model.complete.get(step["table"], False)

    def _declare(self, place, step):
        declaration = copy.deepcopy(step["declaration"])
        try:
            self.door.declare(self.series, declaration)
        except Refused as refused:
            if step.get("may_refuse"):
                # What follows was made for it.  All is as it was.
                for table in [None, *self.model.complete] if self.model else []:
                    if table is None or not table.endswith("}"):
                        self._ask(place, {"do": "ask", "table": table, "question": {"way": "get"}})
                return ENDS
            raise Difference(place, f"the declaration was refused: {refused}") from refused
        is_indexed = declaration.get("index", False)
        if self.model is None:
            self.model = Model(declaration)
            self.is_index_whole = is_indexed
        else:
            self.is_index_whole &= is_indexed
            self.model.declare(declaration)
        return None

    def _open(self, place, step):
        self.model = Model(copy.deepcopy(step["declaration"]))
        self.door.open(self.series, self.model.declaration)

    def _send(self, place, step):
        self.last_write = time.monotonic()
        points = step["points"]
        doubtful = sum(self.model.refuses(point) is not False for point in points)
        # An answer names no more refused points than these.
        size = len(points) if doubtful <= PROBLEMS_SHOWN else PROBLEMS_SHOWN
        for begin in range(0, len(points), size):
            self._send_at_once(place, {**step, "points": points[begin:begin + size]})

    def _send_at_once(self, place, step):
        sent = self.door.send(self.series, self.model.declaration, step)
        if step.get("cut"):
            if sent.refused is not None:
                raise Difference(place, "a body that was cut was taken")
            return
        verdicts = [self.model.refuses(point) for point in step["points"]]
        if sent.refused is None:
            if False in verdicts:
                raise Difference(place, f"all points were refused: {sent.message}")
            return
        for i, (point, verdict) in enumerate(zip(step["points"], verdicts)):
            refused = i in sent.refused
            if verdict is not None and verdict != refused:
                raise Difference(place, f"point {i + 1} {point} was {'refused' if refused else 'taken'}: {sent.message}")
            if not refused:
                self.model.write(point)

    def _ask(self, place, step):
        table = step.get("table")
        if table is not None:
            if not self.model.complete.get(table):
                return
            derived = next(d for d in self.model.declaration["derive"] if d["table"] == table)
            if derived["kind"] == "rollup" and self.door.name == "http":
                self.waiting.append((place, step))
                return
        if problem := self._problem(step):
            raise Difference(place, problem)

    def _problem(self, step):
        table, question = step.get("table"), step["question"]
        source = self.model.source(table)
        try:
            answer = self.door.ask(self.series, table, source, question)
        except Refused as refused:
            is_right = is_refused(question) or (
                "leaves the 64 bits" in str(refused) and source.leaves_64_bits(question))
            return None if is_right else f"refused: {refused}"
        if is_refused(question):
            return "the question was not refused"
        if self.sees:
            self.sees(len(answer.rows))
        is_split = declarations.is_split(self.model.declaration)
        problem = judge.compare(source, question, answer, is_split)
        if problem is None and self.asks_in_sql and table is None:
            problem = self._problem_in_sql(source, question, is_split)
        return problem

    def _problem_in_sql(self, source, question, is_split):
        statement = sql.statement_of(self.series, self.model.declaration, source, question)
        if statement is None:
            return None
        answer, refusal = sql.answer_of(self.door, statement, sql.tags_of(source, question))
        if answer is None:
            is_right = "leaves 64 bits" in refusal or (
                "overflow" in refusal and source.leaves_64_bits(question))
            return None if is_right else f"{statement} was refused: {refusal}"
        if self.sees:
            self.sees(len(answer.rows))
        problem = judge.compare(source, question, answer, is_split)
        return f"{statement}: {problem}" if problem else None

    def _command(self, place, name, *more):
        is_done, text = self.door.command(name, self.series, *more)
        if not is_done:
            raise Difference(place, f"series {name} failed: {text}")

    def _rebuild(self, place, step):
        if not self.model.declaration["derive"]:
            return None
        try:
            self._command(place, "rebuild")
        except Difference:
            if not self.model.may_not_be_rebuilt():
                raise
            return self._end_unchanged(place)
        self.model.rebuild()
        return None

    def _rebuild_index(self, place, step):
        if self.model.declaration.get("index"):
            is_done, text = self.door.index_command(self.series)
            if is_done is False:
                raise Difference(place, f"series rebuild of the index failed: {text}")
            self.is_index_whole = True

    def _check_index(self, place, step):
        if self.model.declaration.get("index"):
            is_whole, text = self.door.index_command(self.series, "--check")
            if is_whole is not None and is_whole != self.is_index_whole:
                raise Difference(place, f"the index {'has' if is_whole else 'lacks'} some of the series: {text}")

    def _rewrite(self, place, step):
        if not self.model.declaration["versions"]:
            return None
        try:
            self._command(place, "rewrite")
        except Difference:
            if not self.model.may_not_be_rewritten():
                raise
            return self._end_unchanged(place)
        return None

    def _end_unchanged(self, place):
        self._ask(place, {"do": "ask", "question": {"way": "get"}})
        return ENDS

    def _drop_versions(self, place, step):
        if not self.model.declaration["versions"]:
            return
        # What the declaration was refused in between stays so.
        declaration = {**copy.deepcopy(self.model.declaration), "versions": []}
        try:
            self.door.declare(self.series, declaration)
        except Refused:
            self._command(place, "rewrite")
            try:
                self.door.declare(self.series, declaration)
            except Refused as refused:
                raise Difference(place, f"the declaration without versions was refused: {refused}") from refused
        self.model.declare(declaration)
        self.has_dropped = True

    def _finish(self, place, step):
        if getattr(self, "has_dropped", False):
            self._command(place, "rewrite", "--finish")

    def _kill(self, place, step):
        """The request dies with the server at some moment; then it is sent again."""
        server = self.door.server
        outcome = {}

        def send():
            try:
                outcome["sent"] = self.door.send(self.series, self.model.declaration, step)
            except Gone:
                pass
        sender = threading.Thread(target=send)
        sender.start()
        time.sleep(step["delay"])
        server.kill()
        sender.join()
        self.door.close()
        server.start()
        before = copy.deepcopy(self.model.series)
        self.kills_at_work += "sent" not in outcome
        self._look_after_kill(place, step, before, "sent" in outcome)
        self._send(place, {**step, "do": "send"})

    def _look_after_kill(self, place, step, before, is_acknowledged):
        """Each acknowledged value is there, or one of the request that was under way; copies have what the series has."""
        after = Model(self.model.declaration)
        after.series, after.has_points = copy.deepcopy(before), True
        allowed = {}  # (tags, time, field) to values that may be found
        doubtful = set()  # of points that may be refused
        for point in step["points"]:
            refuses = self.model.refuses(point)
            if refuses is not True:
                after.write(point)
                tags, micros, fields = point
                micros -= micros % self.model.declaration["resolution"]
                values = after.series[self.model.identity(tags)][micros]
                for name in self.model.source().kinds:
                    key = (self.model.identity(tags), micros, name)
                    allowed.setdefault(key, []).append(values.get(name))
                    if refuses is None:
                        doubtful.add(key)
        own = self._values(place, None)
        known = {(of, t, name): value for of, points in before.items() for t, values in points.items()
                 for name, value in values.items()}
        last = {(of, t, name): value for of, points in after.series.items() for t, values in points.items()
                for name, value in values.items()}
        for key in known.keys() | own.keys() | last.keys():
            is_sure = is_acknowledged and key not in doubtful
            wanted = [last.get(key)] if is_sure else [known.get(key), *allowed.get(key, [])]
            if own.get(key) not in wanted:
                raise Difference(place, f"after the kill {key} is {own.get(key)!r}, not one of {wanted!r}"
                                        f" ({'acknowledged' if is_acknowledged else 'not acknowledged'})")
        for derived in self.model.declaration["derive"]:
            if derived["kind"] == "order" and self.model.complete[derived["table"]]:
                copies = self._values(place, derived["table"])
                for key, value in own.items():
                    if copies.get(key) not in [value, *allowed.get(key, [])]:
                        raise Difference(place, f"after the kill {derived['table']} has {copies.get(key)!r} for {key}: {value!r}")

    def _values(self, place, table):
        source = self.model.source(table)
        question = {"way": "get"}
        answer = self.door.ask(self.series, table, source, question)
        names = source.fields_of(question)
        return {(tuple(of), t, name): value for of, t, values in answer.rows for name, value in zip(names, values)
                if value is not None}


def describe(step):
    """A step in a line."""
    if step["do"] in ("send", "kill"):
        return f"{step['do']} {len(step['points'])} points as {step['way']}" + "".join(
            f", {name}" for name in ("gzip", "cut", "comments") if step.get(name))
    if step["do"] == "ask":
        return f"ask {step.get('table', 'the series')}: " + ", ".join(
            f"{name}={text_of(value) if name in ('from', 'to') else value}" for name, value in step["question"].items())
    return step["do"]
