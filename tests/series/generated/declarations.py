"""Random declarations of series.

A declaration is plain data, so that a course can be written down, reduced and played again:
  tags    [{name, type, width?, pad?}]             fields  [{name, type, as?, encoding?, family?}]
  resolution, origin?                              microseconds
  shape   {key, bucket?, layout, slot?, blob?, delimiter?, corrections?, table}
  retention                                        as it is declared; missing: none
  derive  [{kind, table, ...}]                     key of an order: as of a shape
  versions [{until, ...shape}]                     the oldest first
  index                                            its tags are indexed
  open                                             nobody declares it: what is said is how it comes to be
Parts of keys are {tag}, {const}, {time, width?, reverse?}, {bucket, format?, reverse?}, "field", {salt, of}.
Tables are written without the series' name; to_yaml puts it in front.
"""
import json

from clocks import DAY, HOUR, MINUTE, SECOND, Pieces, parse, text_of, width_of

BUCKETS = ["minute", "15m", "hour", "6h", "day", "day", "week", "month", "90s", "7h"]
# What each time format tells apart.
FORMAT_UNITS = {"epoch_us": 1, "epoch_ms": 1000, "epoch_s": SECOND, "yyyymmddhhmmssmmm": 1000, "yyyymmddhhmmss": SECOND,
                "yyyymmddhhmm": MINUTE, "yyyymmddhh": HOUR, "yyyymmdd": DAY}
EPOCH_WIDTHS = {"epoch_us": 16, "epoch_ms": 13, "epoch_s": 10}
ORIGIN_SHARE = 0.08
AGGREGATES = ["count", "sum", "min", "max", "first", "last"]


def random_declaration(rng):
    tags = _tags(rng)
    resolution = rng.choice([1, 1, 1000, 1000, 10_000, SECOND, SECOND, SECOND, 10 * SECOND, 10 * SECOND, 7 * SECOND, MINUTE,
                             15 * MINUTE, HOUR, DAY])
    fields = [{"name": name, "type": kind} for name, kind in [("x", "double"), ("n", "int"), ("y", "double"), ("s", "string"),
                                                              ("m", "int")]]
    fields = rng.sample(fields, rng.choice([1, 2, 2, 2, 3, 4]))
    declaration = {"tags": tags, "fields": fields, "resolution": resolution, "derive": [], "versions": []}
    if rng.random() < ORIGIN_SHARE:
        origin = parse(rng.choice(["0001-01-01", "1850-01-01", "1900-06-01", "1969-12-31"]) + "T00:00:00Z")
        if origin % resolution == 0:
            declaration["origin"] = origin
    declaration["shape"] = random_shape(rng, declaration, table="")
    versions = []
    if rng.random() < 0.2:
        versions = [random_shape(rng, declaration, table=f"_v{i}") for i in range(rng.choice([1, 1, 2]))]
    declaration["versions"] = versions  # each gets its `until` when the times are known
    shapes = [declaration["shape"], *versions]
    if all(shape["layout"] != "blob" for shape in shapes):
        _dress_fields(rng, fields, shapes)
    if rng.random() < 0.85:
        declaration["retention"] = {"max_versions": "all"}
    if all(is_row_per_point(shape) or shape["layout"] == "offsets" for shape in shapes) and rng.random() < 0.3:
        declaration["retention"] = {"max_versions": 1}
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        if derived := random_derived(rng, declaration):
            declaration["derive"].append(derived)
    if may_be_indexed(declaration) and rng.random() < 0.5:
        declaration["index"] = True
    return declaration


def may_be_indexed(declaration):
    """There are tags, and no time of less than a minute stands in front of one in the key."""
    key = declaration["shape"]["key"]
    tags = [i for i, part in enumerate(key) if part != "field" and "tag" in part]
    in_front = [part for part in key[:tags[-1]] if part != "field"] if tags else []
    return bool(tags) and all(FORMAT_UNITS[part["time"]] >= MINUTE for part in in_front if "time" in part)


def random_open_series(rng):
    """A series that nobody declares: labels, and fields as line protocol brings them."""
    names = rng.sample(["host", "region", "a.b", "c d"], rng.choice([0, 1, 2, 2, 3]))
    fields = rng.sample([("x", "double"), ("n", "int"), ("s", "string"), ("y z", "double")], rng.choice([1, 2, 3]))
    return {"open": True, "tags": [{"name": name, "type": "string"} for name in names],
            "fields": [{"name": name, "type": kind} for name, kind in fields], "resolution": 1000, "derive": [], "versions": [],
            "shape": {"table": "", "layout": "cells", "bucket": "hour", "key": [{"bucket": "hour"}]}}


def _tags(rng):
    tags = []
    for name in rng.sample(["a", "b", "c"], rng.choice([0, 1, 1, 1, 2, 2, 2, 2, 3])):
        tag = {"name": name, "type": rng.choice(["string", "string", "int"])}
        if rng.random() < 0.25:
            tag["width"] = rng.choice([6, 8, 12])
            if tag["type"] == "string" and rng.random() < 0.4:
                tag["pad"] = rng.choice([".", "!", "_"])
        tags.append(tag)
    return tags


def _dress_fields(rng, fields, shapes):
    """Short names, encodings and families."""
    has_columns = any(shape["layout"] == "columns" for shape in shapes)
    for i, field in enumerate(fields):
        if rng.random() < 0.25:
            field["as"] = "xyzw"[i].upper() + rng.choice(["", "_1"])
        if not has_columns and rng.random() < 0.2 and field["type"] != "string":
            field["encoding"] = "int64_be" if field["type"] == "int" else "float64_be"
        if rng.random() < 0.1:
            field["family"] = "f2"


def random_shape(rng, declaration, table, layouts=None):
    """A key and layout for these tags and fields; always one that the declaration's rules allow."""
    tags, fields, resolution = declaration["tags"], declaration["fields"], declaration["resolution"]
    if layouts is None:
        layouts = ["row"] * 4 + ["blob"] * 3
        if resolution % 1000 == 0:
            layouts += ["cells"] * 5 + ["columns"] * 2
        if DAY % resolution == 0 and resolution >= 1000 and resolution <= HOUR:
            layouts += ["offsets"] * 2
    layout = rng.choice(layouts)
    shape = {"table": table, "layout": layout}
    is_by_time = layout == "row" or (layout == "blob" and (resolution % 1000 or rng.random() < 0.5))
    buckets = [b for b in BUCKETS if layout != "offsets" or _slots(b, resolution) in range(1, 90_000)]
    if layout == "offsets":
        slot = rng.choice([s for s in (resolution, resolution // 2) if s >= 1000 and resolution % s == 0] or [resolution])
        if any(_slots(b, slot) == 0 for b in buckets):
            slot = resolution
        shape["slot"] = _duration_text(slot)
    if layout == "offsets" or (not is_by_time and rng.random() < 0.9) or (layout == "row" and rng.random() < 0.2):
        shape["bucket"] = rng.choice(buckets)
    if layout == "blob" and rng.random() < 0.4:
        shape["blob"] = {"format": "protobuf"}
    has_time_of_its_own = is_by_time or layout == "offsets"
    if has_time_of_its_own and rng.random() < 0.3:
        shape["corrections"] = "keep"
    shape["key"] = _key(rng, tags, fields, resolution, shape, is_by_time)
    delimiter = rng.choice(["#"] * 8 + ["|", ":", ""])
    if delimiter == "" and not _has_widths(tags, shape["key"]):
        delimiter = "#"
    if delimiter != "#":
        shape["delimiter"] = delimiter
    return shape


def _slots(bucket, slot):
    """How many slots a bucket has; 0 where they do not divide it."""
    width = width_of(bucket)
    width = DAY if isinstance(width, (str, tuple)) else width
    return 0 if slot > width or width % slot else (31 if width_of(bucket) != width else 1) * width // slot


def _duration_text(micros):
    for unit, size in (("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("ms", 1000), ("us", 1)):
        if micros % size == 0:
            return f"{micros // size}{unit}"
    raise ValueError(micros)


def _has_widths(tags, key):
    widths = {tag["name"]: "width" in tag for tag in tags}
    return all(part != "field" and widths.get(part["tag"], True) if part == "field" or "tag" in part else True
               for part in key[:-1])


def _key(rng, tags, fields, resolution, shape, is_by_time):
    names = [{"tag": tag["name"]} for tag in tags]
    rng.shuffle(names)
    times = []
    if "bucket" in shape:
        part = {"bucket": shape["bucket"]}
        if rng.random() < 0.15:
            part |= {"format": rng.choice(["epoch_s", "epoch_ms"]), "reverse": True}
        times.append(part)
    if is_by_time:
        times.append(_time_part(rng, resolution))
    key = names + times
    if shape["layout"] == "columns" and (len(fields) > 1 or rng.random() < 0.5):
        key.insert(rng.randrange(len(key) + 1), "field")
    elif shape["layout"] == "offsets" and rng.random() < 0.3:
        key.insert(rng.randrange(len(key) + 1), "field")
    if rng.random() < 0.4:
        rng.shuffle(key)
    if rng.random() < 0.15:
        key.insert(rng.randrange(len(key) + 1), {"const": rng.choice(["K", "METRIC", "7"])})
    if (times or tags) and rng.random() < 0.4:
        of = rng.choice([["time"], [tag["name"] for tag in tags], [rng.choice(tags)["name"]] if tags else ["time"]])
        if of == ["time"] and not times:
            of = [tag["name"] for tag in tags]
        if of:
            salt = {"salt": rng.choice([2, 3, 4, 16, 65, 100]), "of": of}
            key.insert(rng.choice([0, rng.randrange(len(key) + 1)]), salt)
    # A key that is nothing but time first is refused: all writes of a moment would go to one row's neighbours.
    while tags and _first_of_weight(key) == "time":
        rng.shuffle(key)
    return key or [{"const": "K"}]


def _first_of_weight(key):
    for part in key:
        if part != "field" and "const" not in part:
            return next(iter(part))
    return None


def _time_part(rng, resolution):
    formats = [name for name, unit in FORMAT_UNITS.items() if resolution % unit == 0]
    name = rng.choice(formats + ["epoch_ms" if resolution % 1000 == 0 else "epoch_us"] * 4)
    part = {"time": name}
    if name in EPOCH_WIDTHS:
        if rng.random() < 0.25:
            part["reverse"] = True
        elif rng.random() < 0.2:
            part["width"] = rng.randrange(EPOCH_WIDTHS[name], 20)
    return part


def is_row_per_point(shape):
    return shape["layout"] == "row" or (shape["layout"] == "blob" and any(
        part != "field" and "time" in part for part in shape["key"]))


def random_derived(rng, declaration, kind=None):
    """A derived table that the declaration does not have; None where this kind makes no sense for it."""
    kind = kind or rng.choice(["latest", "latest", "order", "order", "rollup", "rollup", "period"])
    taken = [derived["table"] for derived in declaration["derive"]]
    table = next(name for name in (f"_{kind}{i}" for i in range(99)) if name not in taken and name + "_{yyyymm}" not in taken)
    if kind == "latest":
        if is_too_fine(declaration) and rng.random() < 0.5:
            return None
        return {"kind": kind, "table": table} if declaration["tags"] else None
    if kind == "rollup":
        if all(field["type"] == "string" for field in declaration["fields"]):
            return None
        if declaration["shape"].get("delimiter") == "" and any("width" not in tag for tag in declaration["tags"]):
            return None  # its key has the time behind all tags
        every = rng.choice(["15m", "hour", "hour", "6h", "day", "day", "week", "month"])
        return {"kind": kind, "table": table, "every": every,
                "aggregates": rng.sample(AGGREGATES, rng.randrange(1, 7))}
    if kind == "period":
        # Few tables: points may lie centuries apart.
        shape = declaration["shape"]
        every = "month"
        is_whole = is_row_per_point(shape) or shape.get("bucket") in ("month",) or (
            "bucket" in shape and isinstance(width_of(shape["bucket"]), int) and DAY % width_of(shape["bucket"]) == 0)
        return {"kind": kind, "table": table + "_{yyyymm}", "every": every} if is_whole else None
    return _random_order(rng, declaration, table)


def is_too_fine(declaration):
    """Tables of newest values tell milliseconds apart."""
    return declaration["resolution"] % 1000 != 0


def _random_order(rng, declaration, table):
    own = declaration["shape"]
    layouts = ["row"]
    if declaration["resolution"] % 1000 == 0:
        layouts.append("cells")
    if own["layout"] != "offsets":  # its slot belongs to the bucket of the series
        layouts += [own["layout"]] * 2
    if own.get("corrections") == "keep" or forgets_versions(declaration):
        layouts = [layout for layout in layouts if layout == "row"]
    for _ in range(20):
        shape = random_shape(rng, declaration, table, layouts)
        blob = own.get("blob") if own["layout"] == "blob" else None
        same_blob = shape["layout"] != "blob" or shape.get("blob") == blob
        by_time = is_row_per_point(shape)
        if own.get("corrections") == "keep" and not by_time:
            continue
        has_delimiter = shape.get("delimiter", "#") == own.get("delimiter", "#")
        if not has_delimiter and (own.get("delimiter", "#") == "" and not _has_widths(declaration["tags"], shape["key"])):
            continue
        if same_blob or shape["layout"] != "blob":
            return {"kind": "order", "table": table, "key": shape["key"], "bucket": shape.get("bucket"),
                    "layout": shape["layout"]}
    return None


def forgets_versions(declaration):
    """Whether tables whose points are versions of a cell would forget some."""
    return declaration.get("retention") == {"max_versions": 1}


def order_shape(declaration, derived):
    """The shape of an order table."""
    own = declaration["shape"]
    shape = {key: own[key] for key in ("slot", "blob", "delimiter", "corrections") if key in own}
    shape |= {"table": derived["table"], "key": derived["key"], "layout": derived["layout"]}
    if derived.get("bucket"):
        shape["bucket"] = derived["bucket"]
    return shape


def shape_at(declaration, micros):
    """Of the version that holds a time."""
    for version in declaration["versions"]:
        if micros < version["until"]:
            return version
    return declaration["shape"]


def shapes_of(declaration):
    """Of all tables that hold points."""
    orders = [order_shape(declaration, derived) for derived in declaration["derive"] if derived["kind"] == "order"]
    return [declaration["shape"], *declaration["versions"], *orders]


def is_split(declaration):
    """Whether a point may come as a row of the answer for each of its fields."""
    return any("field" in shape["key"] for shape in shapes_of(declaration))


def piece_start(width, micros):
    """Of a roll-up or a bucket of keys: in UTC."""
    return Pieces(width).start(micros)


def to_yaml(declaration, series):
    """The text of the declaration; JSON is YAML."""
    def without(parts, *names):
        return {key: value for key, value in parts.items() if key not in names}

    def of_names(all_parts):
        return {parts["name"]: parts["type"] if len(parts) == 2 else without(parts, "name") for parts in all_parts}

    def of_shape(shape):
        parts = without(shape, "until", "table")
        # What the first version says, later ones would inherit.
        parts.setdefault("corrections", "replace")
        parts.setdefault("delimiter", "#")
        return {"table": series + shape["table"], **parts}

    def of_derived(derived):
        table = series + derived["table"]
        if derived["kind"] == "latest":
            return {"latest": table}
        parts = {key: value for key, value in without(derived, "kind").items() if value is not None}
        return {derived["kind"]: {**parts, "table": table}}

    text = {
        "series": series,
        "tags": of_names(declaration["tags"]),
        "fields": of_names(declaration["fields"]),
        "time": {"resolution": _duration_text(declaration["resolution"]), "zone": "UTC",
                 **({"origin": _until_text(declaration["origin"])} if "origin" in declaration else {})},
        **of_shape(declaration["shape"]),
    }
    if not text["tags"]:
        del text["tags"]
    if "index" in declaration:
        text["index"] = "yes" if declaration["index"] else "no"
    if "retention" in declaration:
        text["retention"] = declaration["retention"]
    if declaration["derive"]:
        text["derive"] = [of_derived(derived) for derived in declaration["derive"]]
    if declaration["versions"]:
        text["versions"] = [{"until": _until_text(version["until"]), **of_shape(version)}
                            for version in declaration["versions"]]
    return json.dumps(text, ensure_ascii=False)


def _until_text(micros):
    text = text_of(micros)
    return text[:10] if micros % DAY == 0 else f"{text[:10]}-{text[11:13]}{text[14:16]}"
