"""Random points of a declaration: late, twice, corrected, partial, huge, at clock changes, at the ends of time.

A point is (tags, time, fields): texts in the order of the declaration's tags, microseconds, values by field.
"""
import declarations
from clocks import DAY, END, HOUR, MINUTE, SECOND, parse

# Where clocks change, calendars turn, or numbers of times get longer: a start, and zones that it matters to.
SCENES = [
    ("2021-03-26T00:00:00Z", ["Europe/Rome", "Europe/London"]), ("2021-10-30T00:00:00Z", ["Europe/Rome", "Africa/Casablanca"]),
    ("2021-03-13T12:00:00Z", ["America/New_York"]), ("2021-11-06T20:00:00Z", ["America/New_York", "America/Havana"]),
    ("2021-10-02T12:00:00Z", ["Australia/Lord_Howe"]), ("2021-04-03T12:00:00Z", ["Australia/Lord_Howe", "Pacific/Chatham"]),
    ("2018-11-03T20:00:00Z", ["America/Sao_Paulo"]), ("2018-02-17T20:00:00Z", ["America/Sao_Paulo"]),
    ("2011-12-29T00:00:00Z", ["Pacific/Apia"]), ("2010-11-06T18:00:00Z", ["America/St_Johns"]),
    ("2020-12-26T00:00:00Z", ["Asia/Kolkata", "America/New_York"]), ("2024-02-28T00:00:00Z", ["Asia/Kathmandu"]),
    ("1970-01-01T00:00:00Z", ["America/New_York", "Pacific/Honolulu", "Asia/Tokyo"]),
    ("1970-01-01T00:00:00Z", ["Europe/Lisbon"]), ("2286-11-20T10:00:00Z", ["Europe/Rome"]),
    ("2300-06-01T00:00:00Z", ["America/New_York"]), ("9999-12-20T00:00:00Z", ["UTC"]),
    ("2026-01-01T00:00:00Z", ["UTC"]), ("2021-01-01T00:00:00Z", ["Europe/Rome", "UTC"]),
]
# Behind the origins of declarations; the first are before some of them.
OLD_TIMES = ["1850-01-01T00:00:00Z", "1899-12-31T00:00:00Z", "1969-12-30T00:00:00Z", "0001-01-01T00:00:00Z",
             "1582-10-01T00:00:00Z", "1936-02-28T00:00:00Z", "1963-11-22T00:00:00Z"]
TEXTS = ["web-1", "web-2", "web-30", "db-1", "cache", "Ünï", "a b", "x=y", "k,v", "%41", "W", "weB-1", "0", "z~", "a.b"]
NUMBERS = ["1", "2", "12", "7", "120", "-5", "0", "1000000000000"]
WORDS = ["rain", "sun", "", "Ünïcode ☂", 'quo"te', "back\\slash", "two\nlines", "a,b", " blank ", "null", "0", "x" * 300]


class Scene:
    """Where the points of one series lie, and what their tags and values are."""

    def __init__(self, rng, declaration):
        self.declaration = declaration
        starts = rng.sample(SCENES, rng.choice([1, 1, 1, 2]))
        if "origin" in declaration:
            # Zones had odd clocks then.
            starts = [("1970-01-01T00:00:00Z", ["UTC"]), (rng.choice(OLD_TIMES), ["UTC"])]
        self.zones = [zone for _, zones in starts for zone in zones] + ["UTC"]
        if "origin" not in declaration:
            self.zones.append(rng.choice(["Europe/Rome", "Asia/Kolkata"]))
        resolution = declaration["resolution"]
        self.step = max(resolution, 1)
        length = rng.choice([200 * MINUTE, DAY, 3 * DAY, 5 * DAY, 30 * DAY])
        if resolution == 1:
            length = rng.choice([5_000, 3 * SECOND, HOUR])
        length = max(length, 20 * resolution)
        self.spans = []
        for start, _ in starts:
            start = parse(start)
            self.spans.append((start, min(start + length, END - 2 * DAY)))
        if rng.random() < 0.03:
            self.spans.append((END - DAY, END - 1))
        self.grid = rng.choice([1, 1, 1, 60, 3600]) * resolution if length / resolution > 10_000 else resolution
        if resolution == 1 and rng.random() < 0.7:
            self.grid = rng.choice([1, 100, 250])
        self.tags = [self._values_of(rng, tag) for tag in declaration["tags"]]
        self.ints = rng.choice(["small", "counter", "counter", "huge", "wide"])
        self.counters = {}

    def _values_of(self, rng, tag):
        """A few values that every key of the declaration can hold."""
        if "open" in self.declaration:
            return rng.sample([*TEXTS, "", "a#b", "%", ","], rng.choice([1, 3, 5]))
        delimiters = {shape.get("delimiter", "#") for shape in declarations.shapes_of(self.declaration)} | {"#", "|", ":"}
        pool = []
        for text in TEXTS if tag["type"] == "string" else NUMBERS:
            width, pad = tag.get("width"), tag.get("pad", " ")
            if any(delimiter and delimiter in text for delimiter in delimiters):
                continue
            if width and (len(text.encode()) > width or (tag["type"] == "int" and text.startswith("-"))):
                continue
            if width and tag["type"] == "string" and (text.endswith(pad) or any(b < ord(pad) for b in text.encode())):
                continue
            pool.append(text)
        return rng.sample(pool, min(len(pool), rng.choice([1, 2, 3, 5, 7])))

    def time(self, rng):
        start, end = rng.choice(self.spans)
        micros = start + rng.randrange(max(1, (end - start) // self.grid)) * self.grid
        if start == 0 and rng.random() < 0.05:
            micros = -rng.choice([1, 1000, SECOND, DAY, 3000 * DAY])
        if self.grid > 1 and rng.random() < 0.1:
            micros += rng.randrange(self.grid)  # between two points of the resolution
        return min(micros, END - 1)

    def point(self, rng):
        tags = [rng.choice(values) for values in self.tags]
        fields = {field["name"]: self.value(rng, field, tags) for field in self.declaration["fields"]
                  if rng.random() < 0.75}
        if not fields:
            field = rng.choice(self.declaration["fields"])
            fields[field["name"]] = self.value(rng, field, tags)
        return [tags, self.time(rng), fields]

    def value(self, rng, field, tags):
        kind = field["type"]
        if kind == "string":
            return rng.choice(WORDS)
        if kind == "double":
            pick = rng.random()
            if pick < 0.05:
                return rng.randrange(-9, 99)  # a whole number is taken for a double
            if pick < 0.7:
                return round(rng.gauss(20, 8), 3)
            if pick < 0.9:
                return float(rng.randrange(-50, 50))
            return rng.choice([1e15 + 0.3, -1e-7, 123456789.123456789, 1e100, 5e-300, 0.1, 1 / 3, 2.0 ** 53])
        if self.ints == "huge":
            return rng.choice([(1 << 53) + rng.randrange(-5, 12), (1 << 62) + rng.randrange(9), -(1 << 53) - rng.randrange(9),
                               (1 << 55) + 2 * rng.randrange(99) + 1])
        if self.ints == "wide" and rng.random() < 0.2:
            return rng.choice([(1 << 63) - 1, -(1 << 63), 10 ** 18 + 1, 0])
        if self.ints == "small":
            return rng.randrange(-20, 100)
        # A counter that starts again from 0 now and then.
        key = (field["name"], *tags)
        grown = self.counters.get(key, 0) + rng.randrange(100)
        self.counters[key] = rng.randrange(10) if rng.random() < 0.05 else grown
        return self.counters[key]


class Points:
    """The points of a course, batch by batch; remembers what was sent, so as to correct it."""

    def __init__(self, rng, declaration, scene=None):
        self.rng, self.declaration = rng, declaration
        self.scene = scene or Scene(rng, declaration)
        self.sent = {}  # (tags, rounded time) to fields
        # In layout columns a reading that is corrected stays beside the first, as documented.
        shapes = declarations.shapes_of(declaration)
        self.corrects = all(shape["layout"] != "columns" for shape in shapes)

    def batch(self, count, corrections=0.15):
        rng = self.rng
        points = []
        while len(points) < count:
            if self.sent and rng.random() < corrections:
                points.append(self.again(rng.choice(list(self.sent))))
            else:
                points.append(self.keep(self.scene.point(rng)))
        return points

    def keep(self, point):
        """Notes a new point; one that would correct a reading of layout columns repeats it."""
        tags, micros, fields = point
        key = (tuple(tags), micros - micros % self.declaration["resolution"])
        known = self.sent.setdefault(key, {})
        if not self.corrects:
            fields = {name: known.get(name, value) for name, value in fields.items()}
        known.update(fields)
        return [list(tags), micros, fields]

    def again(self, key):
        """A point once more: as it was, or corrected, whole or in part."""
        rng, (tags, micros) = self.rng, key
        known = self.sent[key]
        if not self.corrects or rng.random() < 0.2:
            return [list(tags), micros, dict(known)]
        names = [field for field in self.declaration["fields"] if rng.random() < 0.6] or [rng.choice(self.declaration["fields"])]
        return self.keep([list(tags), micros, {field["name"]: self.scene.value(rng, field, tags) for field in names}])

    def hammered(self, count):
        """One point, corrected again and again in one request."""
        key = self.rng.choice(list(self.sent))
        return [self.again(key) for _ in range(count)]

    def refused(self):
        """A point that must not be taken."""
        rng = self.rng
        tags, micros, fields = self.scene.point(rng)
        kinds = ["after", "no field"]
        numbers = [field["name"] for field in self.declaration["fields"] if field["type"] != "string"]
        if tags and "open" not in self.declaration:
            kinds += ["empty tag"]
            if all(shape.get("delimiter", "#") == "#" for shape in declarations.shapes_of(self.declaration)) and any(
                    tag["type"] == "string" for tag in self.declaration["tags"]):
                kinds.append("delimiter")
            if any("width" in tag for tag in self.declaration["tags"]):
                kinds.append("wide")
            if any(tag["type"] == "int" for tag in self.declaration["tags"]):
                kinds.append("no int")
        if numbers:
            kinds.append("no number")
        kind = rng.choice(kinds)
        place = lambda matches: next(i for i, tag in enumerate(self.declaration["tags"]) if matches(tag))
        if kind == "after":
            micros = END + rng.choice([0, DAY])
        elif kind == "no field":
            fields = {}
        elif kind == "empty tag":
            tags[rng.randrange(len(tags))] = ""
        elif kind == "delimiter":
            tags[place(lambda tag: tag["type"] == "string")] = "a#b"
        elif kind == "wide":
            tags[place(lambda tag: "width" in tag)] = "1" * 30
        elif kind == "no int":
            tags[place(lambda tag: tag["type"] == "int")] = "seven"
        elif kind == "no number":
            fields[rng.choice(numbers)] = "warm"
        return [tags, micros, fields]
