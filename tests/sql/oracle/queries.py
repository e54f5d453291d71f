"""Random queries over tables that are literals: clauses, aggregates with modifiers, windows, joins, set operations, pipes."""

from expressions import Case

from values import SCALARS, literal

# Columns of each table: n is the number of the row, so that an order by it is total.
COLUMNS = [("n", "INT64"), ("i", "INT64"), ("f", "FLOAT64"), ("s", "STRING"), ("y", "BYTES"), ("d", "DATE"), ("t", "TIMESTAMP"), ("o", "BOOL")]
SMALL = {"INT64": ["1", "2", "3", "NULL", "-1"], "FLOAT64": ["0.0", "1.5", "NULL", "-2.5", "CAST('nan' AS FLOAT64)", "1e308"],
         "STRING": ["'a'", "'b'", "''", "NULL", "'é'"], "BOOL": ["TRUE", "FALSE", "NULL"], "BYTES": ["b'a'", "b'\\xff'", "NULL"],
         "DATE": ["DATE '2020-01-01'", "DATE '2020-02-29'", "NULL"],
         "TIMESTAMP": ["TIMESTAMP '2020-01-01 00:00:00+00'", "TIMESTAMP '2024-02-29 12:34:56.5+00'", "NULL"]}
AGGREGATES = [("COUNT(*)", ""), ("COUNT({})", "ANY"), ("COUNT(DISTINCT {})", "SCALAR"), ("COUNTIF({})", "BOOL"), ("SUM({})", "INT64"),
              ("SUM({})", "FLOAT64"), ("SUM(DISTINCT {})", "INT64"), ("AVG({})", "INT64"), ("AVG({})", "FLOAT64"), ("MIN({})", "SCALAR"),
              ("MAX({})", "SCALAR"), ("ANY_VALUE({} HAVING MAX n)", "ANY"), ("ANY_VALUE({} HAVING MIN n)", "ANY"),
              ("ARRAY_AGG({} ORDER BY n)", "SCALAR"), ("ARRAY_AGG({} IGNORE NULLS ORDER BY n DESC)", "SCALAR"),
              ("ARRAY_AGG({} RESPECT NULLS ORDER BY n LIMIT 2)", "SCALAR"), ("ARRAY_AGG(DISTINCT {0} ORDER BY {0})", "SCALAR"),
              ("STRING_AGG({} ORDER BY n)", "STRING"), ("STRING_AGG({}, '; ' ORDER BY n DESC LIMIT 3)", "STRING"),
              ("STRING_AGG(DISTINCT {0} ORDER BY {0})", "STRING"), ("STRING_AGG({}, b'|' ORDER BY n)", "BYTES"), ("LOGICAL_AND({})", "BOOL"),
              ("LOGICAL_OR({})", "BOOL"), ("BIT_AND({})", "INT64"), ("BIT_OR({})", "INT64"), ("BIT_XOR({})", "INT64"),
              ("VAR_SAMP({})", "FLOAT64"), ("VAR_POP({})", "FLOAT64"), ("STDDEV({})", "INT64"), ("STDDEV_POP({})", "FLOAT64"),
              ("CORR({}, n)", "FLOAT64"), ("COVAR_POP({}, i)", "FLOAT64"), ("COVAR_SAMP({}, n)", "INT64"),
              ("ARRAY_CONCAT_AGG([{}, {}] ORDER BY n)", "SCALAR")]
NUMBERING = ["ROW_NUMBER()", "RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "NTILE(2)", "NTILE(3)"]
NAVIGATION = ["FIRST_VALUE({})", "LAST_VALUE({})", "NTH_VALUE({}, 2)", "FIRST_VALUE({} IGNORE NULLS)", "LAST_VALUE({} IGNORE NULLS)",
              "NTH_VALUE({}, 3 IGNORE NULLS)"]
SHIFTS = ["LAG({})", "LEAD({})", "LAG({}, 2)", "LEAD({}, 0)", "LAG({}, 1, NULL)"]
PERCENTILES = ["PERCENTILE_CONT({}, 0.5)", "PERCENTILE_CONT({}, 0.25 RESPECT NULLS)", "PERCENTILE_DISC({}, 0.75)", "PERCENTILE_DISC({}, 0)"]
ROWS = ["ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"]
RANGES = ["RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING", "RANGE UNBOUNDED PRECEDING", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
          "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW"]


class Queries:
    def __init__(self, random, expressions):
        self.random, self.expressions = random, expressions
        self.nodes = []

    def any(self):
        kind = self.random.choice([self.rows, self.groups, self.groups, self.windows, self.windows, self.join, self.set_operation,
                                   self.distinct, self.subqueries, self.arrays, self.pipes, self.one_group])
        statement, is_ordered = kind()
        return Case(statement=statement, nodes=self.nodes, is_ordered=is_ordered)

    def table(self):
        """A subquery of up to 7 rows."""
        count = self.random.choice([0, 1, 2, 3, 4, 5, 7])
        kind = "STRUCT<" + ", ".join(f"{name} {of}" for name, of in COLUMNS) + ">"
        rows = ["(" + ", ".join([str(n)] + [self.value(of) for _, of in COLUMNS[1:]]) + ")" for n in range(count)]
        return f"(SELECT * FROM UNNEST(ARRAY<{kind}>[{', '.join(rows)}]))"

    def value(self, kind):
        return self.random.choice(SMALL[kind]) if self.random.random() < 0.85 else literal(kind, self.random)

    def node(self, kind, depth=1, alias=""):
        node = self.expressions.of(kind, self.random.randint(0, depth), [(alias + name, of) for name, of in COLUMNS])
        self.nodes.append(node)
        return str(node)

    def column(self, kinds=SCALARS):
        return self.random.choice([name for name, of in COLUMNS if of in kinds])

    def where(self):
        return f" WHERE {self.node('BOOL', 2)}" if self.random.random() < 0.4 else ""

    def limit(self):
        if self.random.random() < 0.7:
            return ""
        return f" LIMIT {self.random.randint(0, 4)}" + (f" OFFSET {self.random.randint(0, 3)}" if self.random.random() < 0.5 else "")

    def order(self, columns):
        ways = ["", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST"]
        return ", ".join(column + self.random.choice(ways) for column in columns)

    def aggregate(self):
        text, kind = self.random.choice(AGGREGATES)
        if kind in ("ANY", "SCALAR"):
            kind = self.random.choice([of for _, of in COLUMNS])
        if not kind:
            return text
        argument = self.node(kind) if self.random.random() < 0.3 else self.column((kind,)) if kind != "ANY" else "i"
        return text.replace("{0}", argument).replace("{}", argument)

    # --- Each gives a statement, and whether its rows are ordered.

    def rows(self):
        items = ", ".join(self.node(self.expressions.type(1), 3) + self.random.choice(["", f" AS c{i}"])
                          for i in range(self.random.randint(1, 3)))
        keys = self.order(self.random.sample(["i", "f", "s", "y", "d", "t", "o"], self.random.randint(0, 2)) + ["n"])
        return f"SELECT {items} FROM {self.table()}{self.where()} ORDER BY {keys}{self.limit()}", True

    def groups(self):
        keys = self.random.sample(["i", "f", "s", "o", "d"], self.random.randint(1, 2))
        written = [key if self.random.random() < 0.8 else self.node(dict(COLUMNS)[key]) for key in keys]
        names = [f"k{i}" for i in range(len(keys))]
        items = [f"{text} AS {name}" for text, name in zip(written, names)]
        items += [f"{self.aggregate()} AS a{i}" for i in range(self.random.randint(1, 3))]
        having = f" HAVING {self.random.choice(['COUNT(*) > 1', 'MAX(n) >= 2', 'SUM(i) IS NOT NULL', 'LOGICAL_OR(o)'])}" if self.random.random() < 0.3 else ""
        by = self.random.choice([", ".join(names), ", ".join(str(i + 1) for i in range(len(keys)))])
        return f"SELECT {', '.join(items)} FROM {self.table()}{self.where()} GROUP BY {by}{having} ORDER BY {self.order(names)}", True

    def one_group(self):
        items = ", ".join(self.aggregate() for _ in range(self.random.randint(1, 4)))
        return f"SELECT {items} FROM {self.table()}{self.where()}", True

    def window(self):
        partition = f"PARTITION BY {self.column()} " if self.random.random() < 0.5 else ""
        way = self.random.randrange(5)
        column = self.column()
        if way == 0:
            return f"{self.random.choice(NUMBERING)} OVER ({partition}ORDER BY {self.order([column, 'n'])})"
        if way == 1:
            return f"{self.random.choice(SHIFTS).format(column)} OVER ({partition}ORDER BY {self.order(['n'])})"
        if way == 2:
            return f"{self.random.choice(PERCENTILES).format(self.column(('INT64', 'FLOAT64')))} OVER ({partition.strip()})"
        call = self.random.choice(NAVIGATION).format(column) if way == 3 else self.random.choice(
            ["SUM({})", "COUNT({})", "AVG({})", "MIN({})", "MAX({})", "COUNT(*)", "ARRAY_AGG({})", "COUNT(DISTINCT {})"]).format(
                self.column(("INT64", "FLOAT64")))
        if "DISTINCT" in call:
            return f"{call} OVER ({partition.strip()})"
        frame = self.random.choice(["", self.random.choice(ROWS), self.random.choice(RANGES)])
        keys = "n" if frame.startswith("RANGE BETWEEN 1") or frame.startswith("RANGE BETWEEN 2") else self.order(
            [self.column(), "n"] if self.random.random() < 0.5 else ["n"])
        return f"{call} OVER ({partition}ORDER BY {keys} {frame})"

    def windows(self):
        items = ", ".join(f"{self.window()} AS w{i}" for i in range(self.random.randint(1, 3)))
        qualify = " QUALIFY ROW_NUMBER() OVER (PARTITION BY i ORDER BY n) = 1" if self.random.random() < 0.2 else ""
        return f"SELECT n, {items} FROM {self.table()} WHERE TRUE{qualify} ORDER BY n", True

    def join(self):
        word = self.random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"])
        key = self.column(("INT64", "STRING", "BOOL", "DATE", "FLOAT64"))
        condition = "" if word == "CROSS JOIN" else self.random.choice(
            [f" ON a.{key} = b.{key}", f" ON a.{key} = b.{key} AND a.n < b.n", f" ON a.n <= b.n AND a.i = b.i", f" USING ({key})",
             f" ON a.{key} IS NOT DISTINCT FROM b.{key}", f" ON a.i < b.i"])
        where = self.random.choice(["", " WHERE a.i IS NOT NULL", " WHERE b.n IS NULL OR b.n < 2"])
        items = f"a.n, b.n AS m, a.{self.column()}, b.{self.column()} AS z" + (f", {key} AS u" if "USING" in condition else "")
        return f"SELECT {items} FROM {self.table()} AS a {word} {self.table()} AS b{condition}{where} ORDER BY a.n, m", True

    def set_operation(self):
        word = self.random.choice(["UNION ALL", "UNION DISTINCT", "INTERSECT DISTINCT", "EXCEPT DISTINCT"])
        columns = ", ".join(self.random.sample(["i", "s", "o", "d", "f"], self.random.randint(1, 2)))
        return f"SELECT {columns} FROM {self.table()} {word} SELECT {columns} FROM {self.table()}", False

    def distinct(self):
        columns = self.random.sample(["i", "s", "o", "d", "y", "t"], self.random.randint(1, 3))
        return f"SELECT DISTINCT {', '.join(columns)} FROM {self.table()}{self.where()} ORDER BY {self.order(columns)}{self.limit()}", True

    def subqueries(self):
        column = self.column(("INT64", "STRING", "FLOAT64", "BOOL"))
        item = self.random.choice([
            f"(SELECT MAX(b.{column}) FROM r AS b WHERE b.n < a.n)", f"EXISTS(SELECT 1 FROM r AS b WHERE b.{column} = a.{column} AND b.n != a.n)",
            f"a.{column} IN (SELECT b.{column} FROM r AS b WHERE b.n > 0)", f"a.{column} NOT IN (SELECT b.{column} FROM r AS b)",
            f"ARRAY(SELECT b.{column} FROM r AS b WHERE b.n <= a.n ORDER BY b.n)", f"(SELECT COUNT(*) FROM r WHERE {column} IS NULL)",
            f"(SELECT AS STRUCT b.n, b.{column} FROM r AS b WHERE b.n = a.n)", f"(SELECT b.{column} FROM r AS b WHERE b.n = a.n + 1)"])
        return f"WITH r AS {self.table()} SELECT a.n, {item} AS q FROM r AS a{self.where()} ORDER BY a.n", True

    def arrays(self):
        kind = self.random.choice(SCALARS)
        array = self.node(("ARRAY", kind), 2)
        word = self.random.choice([", UNNEST(r.a)", " CROSS JOIN UNNEST(r.a)", " LEFT JOIN UNNEST(r.a)", " INNER JOIN r.a"])
        return (f"SELECT r.n, e, p FROM (SELECT n, {array} AS a FROM {self.table()}) AS r{word} AS e WITH OFFSET AS p ORDER BY r.n, p", True)

    def pipes(self):
        steps = []
        for i in range(self.random.randint(1, 4)):
            steps.append(self.random.choice([
                "WHERE i > 0", "WHERE s != 'a' OR o", f"EXTEND i + n AS x{i}", "SET f = f / 4", "ORDER BY n DESC", "LIMIT 3", "ORDER BY n LIMIT 2 OFFSET 1",
                "DROP y, d, t", f"EXTEND ROW_NUMBER() OVER (ORDER BY n) AS x{i}", "AS r |> WHERE r.n > 0", "RENAME y AS yy |> RENAME yy AS y"]))
            if steps[-1] == "DROP y, d, t" and steps.count("DROP y, d, t") > 1:
                steps.pop()
            elif steps[-1] == "LIMIT 3" and any("OVER" in step for step in steps):
                steps[-1] = "ORDER BY n LIMIT 3"  # a window keeps no order
            elif steps[-1].startswith("RENAME") and "DROP y, d, t" in steps:
                steps.pop()
        last = self.random.choice(["AGGREGATE COUNT(*) AS c, SUM(i) AS z GROUP BY s |> ORDER BY s", "SELECT n, i, s |> ORDER BY n", "AGGREGATE MAX(f) AS m, MIN(s) AS k",
                                   "SELECT i, o |> DISTINCT |> ORDER BY i, o", "AGGREGATE COUNT(*) AS c GROUP AND ORDER BY o DESC"])
        return f"FROM {self.table()} " + "".join(f"|> {step} " for step in steps) + f"|> {last}", True
