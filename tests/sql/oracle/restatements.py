"""Other statements for the evaluator, which say in its words how Sonde answers, where the language leaves a choice or the evaluator
has a fault.  A difference is allowed only if the evaluator gives Sonde's answer to the other statement.

docs/compatibility.md has the same list for people.
"""
import re

from expressions import Leaf

PARSING = re.compile(r"(PARSE_(?:DATE|TIMESTAMP)\(')((?:[^'\\]|\\.)*)")
COUNTING = re.compile(r"(LEFT|RIGHT)\(\{\}, \{\}\)$|SUBSTR(ING)?\(\{\}, \{\}, \{\}\)$")


def stopping(node):
    """AND and OR do not evaluate their right side where the left side decides; the evaluator always does."""
    if isinstance(node, Leaf):
        return str(node)
    parts = [stopping(part) for part in node.parts]
    if node.template in ("({} AND {})", "({} OR {})"):
        word, decided = ("AND", "FALSE") if "AND" in node.template else ("OR", "TRUE")
        return f"IF({parts[0]} IS {decided}, {decided}, ({parts[0]} {word} {parts[1]}))"
    return fill(node.template, parts)


def exact(node):
    """The mean of INT64 is that of the numbers; the evaluator makes each a FLOAT64 first."""
    if isinstance(node, Leaf):
        return str(node)
    parts = [exact(part) for part in node.parts]
    if node.template.endswith("ARRAY_AVG({})") and node.parts[0].type == ("ARRAY", "INT64"):
        return f"(SELECT CAST(AVG(CAST(of_avg AS BIGNUMERIC)) AS FLOAT64) FROM UNNEST({parts[0]}) AS of_avg)"
    return fill(node.template, parts)


def short(node):
    """Counts of bytes have 64 bits; those of the evaluator, which is built for WebAssembly, have 32."""
    if isinstance(node, Leaf):
        return str(node)
    parts = [short(part) for part in node.parts]
    if COUNTING.search(node.template) and node.parts[0].type == "BYTES":
        parts[-1] = f"LEAST({parts[-1]}, 2147483647)"
    return fill(node.template, parts)


def fill(template, parts):
    pieces = template.split("{}")
    return pieces[0] + "".join(part + piece for part, piece in zip(parts, pieces[1:]))


def with_nodes(case, statement, write):
    """The statement with another text for each of its expressions."""
    for node in [case.node] if case.node is not None else case.nodes:
        statement = statement.replace(str(node), write(node))
    return statement


def with_exact_means(case, statement):
    for text in ["i", "n", *(str(node) for node in case.nodes if node.type == "INT64")]:
        statement = statement.replace(f"AVG({text})", f"CAST(AVG(CAST({text} AS BIGNUMERIC)) AS FLOAT64)")
    return statement


def with_known_elements(statement):
    """%F and %u are read by the C library there, which knows neither; %w is as %u on all days but Sunday."""
    return PARSING.sub(lambda m: m[1] + m[2].replace("%F", "%Y-%m-%d").replace("%u", "%w"), statement)


def without_unread(statement):
    """A column that nobody reads is not evaluated here."""
    return re.sub(r"\|> EXTEND i \+ n AS x\d ", "", statement)


def restatements(case):
    """The statement in other words, each way by itself and after the ways before it.  With each comes whether texts of errors, which
    name places and formats, are those of the other words."""
    ways = [lambda s: with_nodes(case, s, stopping), lambda s: with_nodes(case, s, exact), lambda s: with_nodes(case, s, short),
            lambda s: with_exact_means(case, s), with_known_elements, without_unread]
    whole = case.statement
    seen, is_retold = {whole}, False
    for way in ways:
        whole = way(whole)
        is_retold = is_retold or (way is with_known_elements and way(case.statement) != case.statement)
        for statement in (way(case.statement), whole):
            if statement not in seen:
                seen.add(statement)
                yield statement, is_retold
