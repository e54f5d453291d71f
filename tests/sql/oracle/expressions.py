"""Random expressions of a wanted type: every function of docs/sql.md, operators, casts, choices, lambdas, structs, arrays."""
import dataclasses

import values
from signatures import read_page
from values import SCALARS, literal, name_of

INFIX = {"$add": "+", "$subtract": "-", "$multiply": "*", "$divide": "/", "$concat": "||", "$bitwise_and": "&", "$bitwise_or": "|",
         "$bitwise_xor": "^", "$shift_left": "<<", "$shift_right": ">>", "$equal": "=", "$not_equal": "!=", "$less": "<",
         "$less_or_equal": "<=", "$greater": ">", "$greater_or_equal": ">=", "$like": "LIKE", "$is_distinct": "IS DISTINCT FROM"}
PREFIX = {"$unary_minus": "-", "$bitwise_not": "~", "$not": "NOT "}
BEHIND = {"$is_null": "IS NULL", "$is_true": "IS TRUE", "$is_false": "IS FALSE"}
SUBSCRIPTS = {"$array_at_offset": "OFFSET", "$array_at_ordinal": "ORDINAL", "$safe_array_at_offset": "SAFE_OFFSET",
              "$safe_array_at_ordinal": "SAFE_ORDINAL"}
# Two servers need not agree on these.
NOT_ASKED = {"RAND", "CURRENT_DATE", "CURRENT_TIMESTAMP", "WRITE_TIMESTAMP", "ERROR"}

# What an argument looks like mostly, by function and place: other texts of its type make for errors only.
LIKELY = {}
for _name in ("REGEXP_CONTAINS", "REGEXP_EXTRACT", "REGEXP_EXTRACT_ALL", "REGEXP_INSTR", "REGEXP_REPLACE"):
    LIKELY[_name, 1] = values.REGEXPS
LIKELY["REGEXP_REPLACE", 2] = values.REPLACEMENTS
LIKELY["$like", 1] = values.LIKES
for _name in ("JSON_VALUE", "JSON_QUERY", "JSON_EXTRACT", "JSON_EXTRACT_SCALAR", "JSON_QUERY_ARRAY", "JSON_EXTRACT_ARRAY",
              "JSON_VALUE_ARRAY", "JSON_EXTRACT_STRING_ARRAY"):
    LIKELY[_name, 0] = values.JSONS
    LIKELY[_name, 1] = values.PATHS
for _name in ("FORMAT_DATE", "PARSE_DATE"):
    LIKELY[_name, 0] = values.DATE_FORMATS
for _name in ("FORMAT_TIMESTAMP", "PARSE_TIMESTAMP"):
    LIKELY[_name, 0] = values.TIME_FORMATS
LIKELY["PARSE_DATE", 1] = ["2020-02-29", "12/31/99", "365", "Mon Jan 1", "2020-W53-4", " 2020-01-01", "1 Jan 2020", "0000-01-01", ""]
LIKELY["PARSE_TIMESTAMP", 1] = ["2020-02-29 12:34:56", "1700000000", "12:34:56.789 UTC", "2020-01-01T00:00:00Z", "20200229123456",
                                "11:59 PM", "2020-02-29 24:00:00", "Tue Feb 29 12:34:56 2000"]
for _name, _place in (("FORMAT_TIMESTAMP", 2), ("PARSE_TIMESTAMP", 2), ("FORMAT_DATE", 2), ("STRING", 1), ("TIMESTAMP", 1), ("DATE", 1),
                      ("TIMESTAMP_TRUNC", 2), ("DATE_TRUNC", 2), ("$extract", 2)):
    LIKELY[_name, _place] = values.ZONES
for _name in ("ARRAY_FIND", "ARRAY_OFFSET"):
    LIKELY[_name, 2] = ["FIRST", "LAST", "last", "x"]
# Literals are wanted here, or what costs memory without a bound is kept small.
SMALL = {("REPEAT", 1), ("LPAD", 1), ("RPAD", 1), ("GENERATE_ARRAY", 0), ("GENERATE_ARRAY", 1), ("GENERATE_ARRAY", 2)}
FORMATS = [("%d|%i", ("INT64", "INT64")), ("%5d|%-5d|%05d|%+d|% d|%'d", ("INT64",) * 6), ("%x|%X|%o|%#x", ("INT64",) * 4),
           ("%f|%.2f|%10.3f", ("FLOAT64",) * 3), ("%e|%E|%g|%G", ("FLOAT64",) * 4), ("%s|%10s|%-5s|%.2s", ("STRING",) * 4),
           ("%t|%T", ("ANY", "ANY")), ("%t", ("ANY",)), ("%T", ("ANY",)), ("%%|%p", ()), ("%p|%P", ("STRING", "STRING")),
           ("%*d|%.*f", ("INT64", "INT64", "INT64", "FLOAT64")), ("%d", ("STRING",)), ("%s", ("INT64",)), ("%", ()), ("%q", ("INT64",)),
           ("%d", ()), ("%'.3f|%+.1e", ("FLOAT64", "FLOAT64")), ("%s", ("ANY",)), ("%a", ("FLOAT64",))]
CAST_FORMATS = {("DATE", "STRING"): ["YYYY-MM-DD", "DY, DD MON YYYY", "Q WW IW", "DDD J", "MONTH", "Month", "RRRR", "YY\"x\"MM"],
                ("TIMESTAMP", "STRING"): ["YYYY-MM-DD HH24:MI:SS", "HH12 AM", "SSSSS", "FF6", "TZH:TZM", "HH:MI P.M."],
                ("STRING", "DATE"): ["YYYY-MM-DD", "DD MON YYYY", "YY"], ("STRING", "TIMESTAMP"): ["YYYY-MM-DD HH24:MI:SSTZH"],
                ("BYTES", "STRING"): ["HEX", "BASE64", "BASE32", "UTF-8", "ASCII", "BASE8", "BASE2"],
                ("STRING", "BYTES"): ["HEX", "BASE64", "BASE32", "UTF-8", "BASE64M", "BASE16"],
                ("INT64", "STRING"): ["999", "000", "9,999", "S99", "$99", "XXXX", "99MI", "B9", "RN", "99PR", "TM"],
                ("FLOAT64", "STRING"): ["999.99", "9.9EEEE", "0.00", "FM99.90", "TM9", "TME", "S9,999.00", "L9"]}


@dataclasses.dataclass
class Node:
    """An expression: a text with {} for each part."""
    template: str
    parts: list
    type: object
    is_open: bool = False  # it names a column or a parameter of a lambda

    def __post_init__(self):
        self.is_open = self.is_open or any(part.is_open for part in self.parts)

    def __str__(self):
        pieces = self.template.split("{}")
        text = pieces[0]
        for part, piece in zip(self.parts, pieces[1:]):
            text += str(part) + piece
        return text


class Leaf(Node):
    """A literal or a name, whose text may hold braces."""

    def __str__(self):
        return self.template


def leaf(text, kind, is_open=False):
    return Leaf(text, [], kind, is_open)


class Case:
    """An expression, or a query with the expressions in it."""

    def __init__(self, node=None, statement=None, nodes=(), is_ordered=True):
        self.node, self.statement, self.nodes, self.is_ordered = node, statement or f"SELECT {node}", nodes, is_ordered

    def parts(self):
        todo = list(self.nodes) if self.node is None else [self.node]
        while todo:
            node = todo.pop(0)
            yield node
            todo += node.parts


def unify(pattern, kind, bound):
    """Whether a type fits a pattern; binds its variables."""
    if isinstance(pattern, str):
        return pattern == kind
    if pattern[0] == "VARIABLE":
        return bound.setdefault(pattern[1], kind) == kind
    if isinstance(kind, str) or pattern[0] != kind[0]:
        return False
    if pattern[0] == "STRUCT":
        return len(pattern[1]) == len(kind[1]) and all(
            p[0] == k[0] and unify(p[1], k[1], bound) for p, k in zip(pattern[1], kind[1]))
    return all(unify(p, k, bound) for p, k in zip(pattern[1:], kind[1:]))


def bind(pattern, bound):
    if isinstance(pattern, str):
        return pattern
    if pattern[0] == "VARIABLE":
        return bound[pattern[1]]
    if pattern[0] == "STRUCT":
        return ("STRUCT", tuple((name, bind(inside, bound)) for name, inside in pattern[1]))
    return (pattern[0], *(bind(inside, bound) for inside in pattern[1:]))


class Expressions:
    """`lacking`: names of functions that the other side does not have."""

    def __init__(self, random, lacking=()):
        self.random = random
        signatures = [s for s in read_page() if s.section in ("Operators", "Functions")]
        # An argument that is named is an extension, which the other side does not have.
        signatures = [s for s in signatures if not any(argument.name for argument in s.arguments)]
        self.signatures = [s for s in signatures if s.name not in NOT_ASKED and s.name not in lacking]
        self.names = sorted({s.name for s in self.signatures})
        self.lambdas = 0

    def type(self, depth=2):
        if depth > 0 and self.random.random() < 0.2:
            kind = self.random.choice(["ARRAY", "STRUCT", "MAP"])
            if kind == "ARRAY":
                return ("ARRAY", self.random.choice(SCALARS))
            if kind == "MAP":
                return ("MAP", self.random.choice(["STRING", "INT64", "BYTES"]), self.random.choice(SCALARS))
            return ("STRUCT", (("a", self.random.choice(SCALARS)), ("b", self.type(depth - 1))))
        return self.random.choice(SCALARS)

    def any(self, depth, columns=()):
        """Of a function that is drawn evenly from all, or another kind of expression."""
        if self.random.random() < 0.25:
            return self.of(self.type(), depth, columns)
        name = self.random.choice(self.names)
        signature = self.random.choice([s for s in self.signatures if s.name == name])
        return self.call(signature, {}, depth, columns)

    def of(self, kind, depth, columns=()):
        fitting = [c for c in columns if c[1] == kind]
        if fitting and self.random.random() < (0.7 if depth <= 0 else 0.3):
            return leaf(self.random.choice(fitting)[0], kind, True)
        if depth <= 0 or self.random.random() < 0.15:
            return leaf(literal(kind, self.random), kind)
        makers = [self.choice, self.choice, self.cast, self.field, self.call_of, self.call_of, self.call_of, self.call_of, self.subquery]
        if kind == "BOOL":
            makers += [self.logic, self.membership]
        node = self.random.choice(makers)(kind, depth - 1, columns)
        return node if node is not None else leaf(literal(kind, self.random), kind)

    def call_of(self, kind, depth, columns):
        for _ in range(8):
            name = self.random.choice(self.names)
            for signature in self.random.sample([s for s in self.signatures if s.name == name],
                                                sum(s.name == name for s in self.signatures)):
                bound = {}
                if not isinstance(signature.result, str) and signature.result[0] == "VARIABLE" and self.random.random() < 0.5:
                    continue  # such a function gives any type, and would be drawn too often
                if unify(signature.result, kind, bound):
                    return self.call(signature, bound, depth, columns)
        return None

    def variable(self, pattern):
        if pattern[2] in ("COMPARABLE", "GROUPABLE", "ORDERABLE") or self.random.random() < 0.8:
            return self.random.choice(SCALARS)
        return self.type(1)

    def bind_all(self, pattern, bound):
        if isinstance(pattern, str):
            return
        if pattern[0] == "VARIABLE":
            if pattern[1] not in bound:
                bound[pattern[1]] = self.variable(pattern)
        elif pattern[0] == "STRUCT":
            for _, inside in pattern[1]:
                self.bind_all(inside, bound)
        elif pattern[0] == "MAP":
            if pattern[1][0] == "VARIABLE" and pattern[1][1] not in bound:
                bound[pattern[1][1]] = self.random.choice(["STRING", "INT64", "BYTES"])
            self.bind_all(pattern[2], bound)
        elif pattern[0] == "ARRAY":
            if pattern[1][0] == "VARIABLE" and pattern[1][1] not in bound:
                bound[pattern[1][1]] = self.random.choice(SCALARS)
            self.bind_all(pattern[1], bound)

    def call(self, signature, bound, depth, columns):
        if signature.name == "FORMAT":
            return self.format(depth, columns)
        for argument in signature.arguments:
            for pattern in (*argument.parameters, *([argument.type] if argument.kind == "value" else [])):
                self.bind_all(pattern, bound)
        for argument in signature.arguments:
            if argument.kind == "lambda":
                self.bind_all(argument.type, bound)
        for kind in bound.values():
            if isinstance(kind, tuple) and kind[0] == "ARRAY":
                return None  # of arrays of arrays there are none
        parts = []
        for place, argument in enumerate(signature.arguments):
            if argument.is_optional and self.random.random() < 0.5:
                break
            times = self.random.choice([0, 1, 1, 2]) if argument.repeats and place > 0 else 1
            for _ in range(times):
                parts.append(self.argument(signature, place, argument, bound, depth, columns))
        return self.shape(signature, parts, bind(signature.result, bound) if signature.result != "ANY" else "STRING")

    def argument(self, signature, place, argument, bound, depth, columns):
        if argument.kind == "part":
            parts = values.NORMAL_FORMS if signature.name.startswith("NORMALIZE") else values.PARTS
            return leaf(self.random.choice(parts), "PART")
        if argument.kind == "interval":
            count = self.of("INT64", 0 if self.random.random() < 0.7 else depth - 1, columns)
            return Node("INTERVAL {} " + self.random.choice(values.PARTS[:12]).split("(")[0], [count], "INTERVAL")
        if argument.kind == "lambda":
            names = [(f"e{self.lambdas + i}", bind(p, bound)) for i, p in enumerate(argument.parameters)]
            self.lambdas += len(names)
            body = self.of(bind(argument.type, bound), depth - 1, [*columns, *names])
            head = names[0][0] if len(names) == 1 else "(" + ", ".join(name for name, _ in names) + ")"
            return Node(head + " -> {}", [body], "LAMBDA")
        kind = bind(argument.type, bound)
        if (signature.name, place) in SMALL:
            return leaf(str(self.random.choice([0, 1, 2, 3, 5, 8, 20, -1])) + (".5" if kind == "FLOAT64" else ""), kind)
        likely = LIKELY.get((signature.name, place))
        if likely and kind in ("STRING", "BYTES") and self.random.random() < 0.85:
            text = values.string(self.random.choice(likely))
            if kind == "BYTES":
                text = "b" + text if "\\u" not in text else "b'a'"
            return leaf(text, kind)
        return self.of(kind, depth - 1, columns)

    def shape(self, signature, parts, result):
        name = signature.name
        if name in INFIX:
            return Node("({} " + INFIX[name] + " {})", parts, result)
        if name in PREFIX:
            return Node("(" + PREFIX[name] + "{})", parts, result)
        if name in BEHIND:
            return Node("({} " + BEHIND[name] + ")", parts, result)
        if name in SUBSCRIPTS:
            return Node("{}[" + SUBSCRIPTS[name] + "({})]", parts, result)
        if name == "$map_at":
            return Node("{}[{}]", parts, result)
        if name == "$between":
            return Node("({} BETWEEN {} AND {})", parts, result)
        if name == "$in":
            return Node("({} IN (" + ", ".join(["{}"] * (len(parts) - 1)) + "))", parts, result)
        if name == "$in_array":
            return Node("({} IN UNNEST({}))", parts, result)
        if name == "$extract":
            return Node("EXTRACT({} FROM {}" + (" AT TIME ZONE {})" if len(parts) > 2 else ")"), parts, result)
        head = "SAFE." + name if self.random.random() < 0.07 and not any(p.type == "LAMBDA" for p in parts) else name
        return Node(head + "(" + ", ".join(["{}"] * len(parts)) + ")", parts, result)

    def format(self, depth, columns):
        pattern, kinds = self.random.choice(FORMATS)
        parts = [self.of(self.type(1) if kind == "ANY" else kind, depth - 1, columns) for kind in kinds]
        return Node("FORMAT('" + pattern.replace("'", "\\'") + "'" + ", {}" * len(parts) + ")", parts, "STRING")

    # --- What is no function.

    def choice(self, kind, depth, columns):
        def of(wanted):
            return self.of(wanted, depth, columns)
        way = self.random.randrange(9)
        if way == 0:
            return Node("IF({}, {}, {})", [of("BOOL"), of(kind), of(kind)], kind)
        if way == 1:
            return Node("IFNULL({}, {})", [of(kind), of(kind)], kind)
        if way == 2:
            return Node("COALESCE({}, {}, {})", [of(kind), of(kind), of(kind)], kind)
        if way == 3 and not isinstance(kind, tuple):
            return Node("NULLIF({}, {})", [of(kind), of(kind)], kind)
        if way == 4:
            return Node("IFERROR({}, {})", [of(kind), of(kind)], kind)
        if way == 5:
            return Node("NULLIFERROR({})", [of(kind)], kind)
        if way == 6:
            other = self.random.choice(SCALARS)
            return Node("CASE {} WHEN {} THEN {} WHEN {} THEN {} ELSE {} END",
                        [of(other), of(other), of(kind), of(other), of(kind), of(kind)], kind)
        if way == 7 and kind == "BOOL":
            return Node("ISERROR({})", [of(self.random.choice(SCALARS))], kind)
        return Node("CASE WHEN {} THEN {} ELSE {} END", [of("BOOL"), of(kind), of(kind)], kind)

    def cast(self, kind, depth, columns):
        if isinstance(kind, tuple):
            return None
        origin = self.random.choice(SCALARS)
        head = self.random.choice(["CAST", "CAST", "SAFE_CAST"])
        form = ""
        if (origin, kind) in CAST_FORMATS and self.random.random() < 0.4:
            form = " FORMAT " + values.string(self.random.choice(CAST_FORMATS[origin, kind]))
        return Node(head + "({} AS " + name_of(kind) + form + ")", [self.of(origin, depth, columns)], kind)

    def field(self, kind, depth, columns):
        if self.random.random() < 0.5:
            struct = ("STRUCT", (("a", self.random.choice(SCALARS)), ("b", kind)))
            return Node("{}.b", [self.of(struct, min(depth, 1), columns)], kind)
        if isinstance(kind, tuple) and kind[0] == "ARRAY":
            parts = [self.of(kind[1], depth, columns) for _ in range(self.random.randint(0, 3))]
            return Node(name_of(kind) + "[" + ", ".join(["{}"] * len(parts)) + "]", parts, kind)
        if isinstance(kind, tuple) and kind[0] == "STRUCT":
            parts = [self.of(inside, depth, columns) for _, inside in kind[1]]
            return Node("STRUCT(" + ", ".join("{} AS " + name for name, _ in kind[1]) + ")", parts, kind)
        return None

    def logic(self, kind, depth, columns):
        return Node("({} " + self.random.choice(["AND", "OR"]) + " {})",
                    [self.of("BOOL", depth, columns), self.of("BOOL", depth, columns)], kind)

    def membership(self, kind, depth, columns):
        other = self.random.choice(SCALARS)
        word = self.random.choice(["", "NOT "])
        if self.random.random() < 0.4:
            return Node("({} " + word + "BETWEEN {} AND {})", [self.of(other, depth, columns) for _ in range(3)], kind)
        count = self.random.randint(1, 4)
        return Node("({} " + word + "IN (" + ", ".join(["{}"] * count) + "))",
                    [self.of(other, depth, columns) for _ in range(count + 1)], kind)

    def subquery(self, kind, depth, columns):
        if not isinstance(kind, tuple) or kind[0] != "ARRAY":
            return None
        name = f"e{self.lambdas}"
        self.lambdas += 1
        other = self.random.choice(SCALARS)
        values_of = self.of(("ARRAY", other), depth - 1, columns)
        inside = self.of(kind[1], depth - 1, [*columns, (name, other)])
        return Node(f"ARRAY(SELECT {{}} FROM UNNEST({{}}) AS {name} WITH OFFSET AS {name}_place ORDER BY {name}_place)", [inside, values_of], kind)
