"""The same questions in SQL over series.NAME, through POST /api/v1/sql.

What SQL does not say as the query API does (windows of buckets, filled gaps, top rows) has no statement here.
"""
import json
import re

from clocks import BEGIN, END
from judge import Answer

UNITS = {"us": "MICROSECOND", "ms": "MILLISECOND", "s": "SECOND", "m": "MINUTE", "h": "HOUR", "d": "DAY", "w": "WEEK",
         "mo": "MONTH", "y": "YEAR"}
WORDS = {"minute": "1 MINUTE", "hour": "1 HOUR", "day": "1 DAY", "week": "1 WEEK", "month": "1 MONTH", "quarter": "3 MONTH",
         "year": "1 YEAR"}
TIME = "`time`"


def statement_of(series, declaration, source, question):
    """The statement; None: SQL says nothing like it."""
    if any(question.get(name) for name in ("window", "top", "limit")) or question.get("fill", "none") != "none":
        return None
    if question.get("change") and (question.get("agg") or question.get("latest")):
        return None
    names = [*source.tag_names, *source.kinds]
    if len({name.lower() for name in names + ["time"]}) != len(names) + 1 or "labels" in names:
        return None  # two columns of one name
    fields = source.fields_of(question)
    if not fields:
        return None
    table = f"series.{_name(series)}"
    conditions = [_condition(source, declaration, one) for one in source._conditions(question)]
    if question.get("from", BEGIN) > BEGIN:
        conditions.append(f"{TIME} >= TIMESTAMP_MICROS({question['from']})")
    if question.get("to", END) < END:
        conditions.append(f"{TIME} < TIMESTAMP_MICROS({question['to']})")
    conditions.append(" OR ".join(f"{_name(field)} IS NOT NULL" for field in fields))
    where = " WHERE " + " AND ".join(f"({one})" for one in conditions)
    tags = [_tag(source, declaration, name) for name in source.tag_names]
    values = [_name(field) for field in fields]
    if question.get("agg"):
        return _aggregated(source, declaration, question, table, where, fields)
    if question.get("latest"):
        return _latest(declaration, question, table, where, tags, values, fields == list(source.kinds), conditions)
    if question.get("change"):
        window = f"OVER (PARTITION BY {', '.join(map(_name, source.tag_names)) or '1'} ORDER BY {TIME})"
        values = [f"{question['change'].upper()}({value}) {window}" for value in values]
        inner = f"SELECT {_list(tags, values, TIME)} FROM {table}{where}"
        some = " OR ".join(f"v{i} IS NOT NULL" for i in range(len(values)))
        return f"SELECT * FROM ({inner}) WHERE {some}"
    return f"SELECT {_list(tags, values, TIME)} FROM {table}{where}"


def _list(tags, values, time):
    items = [f"{tag} AS t{i}" for i, tag in enumerate(tags)]
    items.append(f"UNIX_MICROS({time}) AS micros")
    return ", ".join(items + [f"{value} AS v{i}" for i, value in enumerate(values)])


def _latest(declaration, question, table, where, tags, values, has_all, conditions):
    count = question["latest"]
    if has_all and len(conditions) == 1:
        return f"SELECT {_list(tags, values, TIME)} FROM {table}(latest_n => {count})"
    if any("field" in shape["key"] or shape["layout"] == "columns"
           for shape in [declaration["shape"], *declaration["versions"]]):
        return None  # a point is several rows
    partition = ", ".join(_name(tag["name"]) for tag in declaration["tags"]) or "1"
    return (f"SELECT {_list(tags, values, TIME)} FROM {table}{where} QUALIFY ROW_NUMBER() OVER (PARTITION BY {partition} "
            f"ORDER BY {TIME} DESC) <= {count}")


def _aggregated(source, declaration, question, table, where, fields):
    by = question.get("group_by")
    tags = [_tag(source, declaration, name) for name in (source.tag_names if by is None else by)]
    time = f"MIN({TIME})"
    keys = [str(i + 1) for i in range(len(tags))]
    if question.get("every"):
        time = _bucket(question)
        if time is None:
            return None
        keys.append(str(len(tags) + 1))
    values = [_aggregate(name, _name(field)) for field in fields for name in question["agg"]]
    selected = f"SELECT {_list(tags, values, time)} FROM {table}{where}"
    return f"{selected} GROUP BY {', '.join(keys)}" if keys else f"{selected} HAVING COUNT(*) > 0"


def _aggregate(name, value):
    simple = {"avg": "AVG", "min": "MIN", "max": "MAX", "count": "COUNT", "sum": "SUM", "stddev": "STDDEV_SAMP"}
    if name in simple:
        return f"{simple[name]}({value})"
    if name in ("first", "last"):
        return f"{name.upper()}({value}, {TIME})"
    part = 0.5 if name == "median" else int(name[1:]) / 100
    return f"PERCENTILE_CONT({value}, {part})"


def _bucket(question):
    width = WORDS.get(question["every"])
    if width is None:
        number, unit = re.fullmatch(r"(\d+)([a-z]+)", question["every"]).groups()
        width = f"{number} {UNITS[unit]}"
    return f"TIMESTAMP_BUCKET({TIME}, INTERVAL {width}, time_zone => {_text(question.get('zone') or 'UTC')})"


def _condition(source, declaration, condition):
    name, sign, text = condition
    tag = _tag(source, declaration, name)
    is_int = source.tags[source.tag_names.index(name)]["type"] == "int"
    if sign == "any":
        # By the column itself, as keys are narrowed by it.
        column = _name(name)
        parts = []
        equal = [one for kind, one in text if kind == "="]
        if equal:
            values = [str(int(one)) if is_int else _text(one) for one in equal]
            parts.append(f"{column} IN ({', '.join(values)})" if len(values) > 1 else f"{column} = {values[0]}")
        parts += [f"STARTS_WITH({column}, {_text(one)})" for kind, one in text if kind == "=*"]
        return " OR ".join(parts)
    if sign == "!=":
        return f"{tag} != {_text(text)}"
    matches = f"REGEXP_CONTAINS({tag}, {_text('(?s)^(?:' + text + ')$')})"
    return matches if sign == "=~" else f"NOT {matches}"


def _tag(source, declaration, name):
    """A tag as the API shows it: ints as text, labels that are absent as ''."""
    if source.tags[source.tag_names.index(name)]["type"] == "int":
        return f"CAST({_name(name)} AS STRING)"
    return f"IFNULL({_name(name)}, '')" if "open" in declaration else _name(name)


def _name(name):
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _text(text):
    return json.dumps(text, ensure_ascii=True).replace("\\/", "/") if text.isascii() else _unicode(text)


def _unicode(text):
    return '"' + "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'


def answer_of(door, statement, tags_count):
    """Raises doors.Refused by way of the door."""
    status, text, _ = door.request("POST", "/api/v1/sql", json.dumps({"query": statement}).encode())
    lines = text.decode().splitlines()
    if status != 200:
        return None, f"{status} {text.decode(errors='replace').strip()}"
    last = json.loads(lines[-1])
    if "error" in last:
        return None, last["error"]["message"]
    rows = [json.loads(line) for line in lines[1:-1]]
    return Answer(None, [(tuple(row[:tags_count]), row[tags_count], row[tags_count + 1:]) for row in rows]), None


def tags_of(source, question):
    by = question.get("group_by")
    return len(source.tag_names) if by is None or not question.get("agg") else len(by)
