"""Literals of each type, with the edges among them more often than chance would have it."""

SCALARS = ("BOOL", "INT64", "FLOAT64", "FLOAT32", "STRING", "BYTES", "DATE", "TIMESTAMP")

INTS = ["9223372036854775807", "-9223372036854775808", "9223372036854775806", "2147483648", "-2147483649", "0x1F", "63",
        "64", "65", "100", "1000", "86400", "1700000000", "4611686018427387904", "-4611686018427387905", "3037000500"]
DOUBLES = ["0.0", "-0.0", "1.5", "-2.5", "0.5", "-0.5", "2.5", "1e308", "-1.7976931348623157e308", "5e-324", "0.1", "1e15",
           "123456789.125", "9007199254740993.0", "-1.0", "3.0", "1e-7", "9.2233720368547758e18", "1e19", "0.7071067811865476",
           "CAST('nan' AS FLOAT64)", "CAST('inf' AS FLOAT64)", "CAST('-inf' AS FLOAT64)"]
FLOATS = ["0.0", "-0.0", "1.5", "-2.5", "0.1", "3.4028235e38", "1e-45", "16777216.0", "2.5", "1e10"]
STRINGS = ["", "a", "abc", "ABC", " a b ", "é", "ß", "İ", "日本語", "😀", "a\\nb", "e\\u0301", "\\0", "%", "a_c", "12", "-7", "0x1F",
           "1.5", "nan", "true", "2020-02-29", "2024-01-01 12:34:56+02", "abc,def,,g", "foo123bar", "aaa", "b", "ﬁ", "ǅ", "Σίσυφος",
           "the quick BROWN fox", "\\ufeffx", "10", "TRUE", "-1e3", "a%b", "\\\\", "\\u00a0x\\u3000", "K", "fOO-bar_baz"]
BYTES = ["", "a", "abc", "ABC", "\\xff", "\\x00\\x01", "\\xc3\\xa9", " a ", "a,b", "\\xe6\\x97", "aaa", "foo123", "%", "12", "\\x80"]
DATES = ["0001-01-01", "9999-12-31", "1970-01-01", "2020-02-29", "2023-12-31", "2024-12-30", "1969-12-31", "2021-01-03",
         "2000-01-31", "1900-03-01", "2016-01-01"]
TIMES = ["0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "1970-01-01 00:00:00+00", "2024-02-29 12:34:56.789012+00",
         "1969-12-31 23:59:59.999999+00", "2024-03-10 07:30:00+00", "2024-11-03 05:30:00+00", "2023-12-31 23:59:59.5+00",
         "1883-11-18 17:00:00+00", "2020-01-01 00:00:00+00"]
JSONS = ['{"a": [1, {"b": null}], "c": "x"}', "[1, 2.50, \"t\", null, true]", "{}", "[]", '"text"', "1.50", "null", "{bad",
         '{"a": {"b": {"c": 1e400}}, "a": 2}', ' { "k" : "\\\\u00e9\\\\n" } ', '{"": 1, "a.b": [[], {}]}', "[[1],[2,[3]]]", "",
         '{"a":9007199254740993, "b": "", "c": [false]}']
PATHS = ["$", "$.a", "$.a[0]", "$.a[1].b", "$.c", "$[1]", "$[3]", "$.a.b.c", "$['a.b']", "$.k", "$[1][1][0]", "$.", "a", "$[-1]", "$.b", ""]
REGEXPS = ["a", "^a", "b+", "(a)(b)?", "[0-9]+", "", ".", "(?i)ABC", "a|b", "(", "\\\\d", "x*", "(?P<n>.)", "\\\\bfoo", "é", "[[:alpha:]]+",
           "^$", "(f)oo"]
REPLACEMENTS = ["", "x", "\\\\0", "\\\\1", "[\\\\0]", "\\\\\\\\", "\\\\2", "$1"]
LIKES = ["%", "a%", "_", "%b%", "a\\\\%b", "", "__", "\\\\", "%é", "A%c"]
ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "+05:30", "-08", "Europe/Berlin", "", "Nowhere/Town", "+14:00", "-15:00", "UTC+3"]
PARTS = ["YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "ISOWEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND",
         "WEEK(MONDAY)", "WEEK(SATURDAY)", "DAYOFWEEK", "DAYOFYEAR", "DATE", "NANOSECOND"]
DATE_FORMATS = ["%Y-%m-%d", "%F", "%D", "%j %U %W %V %G", "%A %a %B %b %h", "%y %C %e %d", "%Q", "%x", "%E4Y", "%%", "", "%G-W%V-%u", "%n%t",
                "%Y", "%m/%d/%y", "%d %b %Y"]
TIME_FORMATS = [*DATE_FORMATS, "%F %T", "%c", "%s", "%H:%M:%E3S %Z", "%I:%M %p %z", "%Ez", "%E*S", "%R", "%Y%m%d%H%M%S", "%FT%TZ", "%k %l %P",
                "%E6S", "%F %H:%M:%E*S%Ez"]
NORMAL_FORMS = ["NFC", "NFD", "NFKC", "NFKD"]


def string(text):
    return "'" + text.replace("'", "\\'") + "'"


def null_of(kind):
    return f"CAST(NULL AS {name_of(kind)})"


def name_of(kind):
    if isinstance(kind, str):
        return kind
    if kind[0] == "ARRAY":
        return f"ARRAY<{name_of(kind[1])}>"
    if kind[0] == "MAP":
        return f"MAP<{name_of(kind[1])}, {name_of(kind[2])}>"
    return "STRUCT<" + ", ".join((name + " " if name else "") + name_of(inside) for name, inside in kind[1]) + ">"


def literal(kind, random, may_be_null=True):
    """The text of a value of a type."""
    if may_be_null and random.random() < 0.08:
        if kind == "INT64" and random.random() < 0.3:
            return "NULL"
        return null_of(kind) if not isinstance(kind, tuple) or kind[0] != "MAP" else literal(kind, random, False)
    if kind == "BOOL":
        return random.choice(["TRUE", "FALSE"])
    if kind == "INT64":
        return str(random.randint(-3, 12)) if random.random() < 0.7 else random.choice(INTS)
    if kind == "FLOAT64":
        return random.choice(DOUBLES) if random.random() < 0.8 else repr(round(random.uniform(-100, 100), 3))
    if kind == "FLOAT32":
        if random.random() < 0.2:
            return "CAST('%s' AS FLOAT32)" % random.choice(["nan", "inf", "-inf"])
        return f"CAST({random.choice(FLOATS)} AS FLOAT32)"
    if kind == "STRING":
        return string(random.choice(STRINGS))
    if kind == "BYTES":
        return "b" + string(random.choice(BYTES))
    if kind == "DATE":
        return f"DATE '{random.choice(DATES)}'"
    if kind == "TIMESTAMP":
        return f"TIMESTAMP '{random.choice(TIMES)}'"
    if kind[0] == "ARRAY":
        items = [literal(kind[1], random) for _ in range(random.choice([0, 1, 2, 3, 3, 5]))]
        return f"{name_of(kind)}[{', '.join(items)}]"
    if kind[0] == "STRUCT":
        return f"{name_of(kind)}({', '.join(literal(inside, random) for _, inside in kind[1])})"
    keys = sorted({literal(kind[1], random, False) for _ in range(random.randint(0, 3))})
    pairs = ", ".join(f"({key}, {literal(kind[2], random)})" for key in keys)
    return f"MAP_FROM_ARRAY(ARRAY<STRUCT<key {name_of(kind[1])}, value {name_of(kind[2])}>>[{pairs}])"
