"""Where answers differ with a reason.  Each entry says why; docs/compatibility.md has the same list for people."""
import math
import re

from answers import NUMBER

# Functions whose result is that of the C library of each side, and sums in another order.
APPROXIMATE = 1e-13
SMALL = 1e-30
# Errors of rows by their texts, and the construct that has each.
ERRORS_OF_ROWS = {
    r"function: (\w+)\(": r"\1", r"function (\w+)": r"\1", r"base64": "FROM_BASE64", r"base32": "FROM_BASE32",
    r"hex": "FROM_HEX", r"[Aa]rray lengths?|length of": "ARRAY_", r"division by zero": "/|DIV|MOD", r"[Rr]egular expression": "REGEXP_",
}
LIMIT_OF_ARRAYS = "Cannot generate arrays with more than"
PLACE = re.compile(r" \[at \d+:\d+\]$")


def tolerance(_statement):
    """The relative difference that numbers of a statement may have; None: they are equal."""
    return APPROXIMATE


def same_text(ours, theirs):
    """Whether two texts of errors say the same: of several lines the evaluator gives the first only, without the place."""
    if theirs.startswith("No matching signature"):
        return ours.startswith(PLACE.sub("", theirs))
    wrapped = re.search(r"content set\. \[(.*)\]$", theirs)
    return ours in (theirs, wrapped and wrapped[1]) or ("\n" in ours and ours.split("\n")[0] == PLACE.sub("", theirs))


def reason(statement, ours, theirs):
    """Why two answers may differ; empty: they may not."""
    for name, test in REASONS.items():
        if test(statement, ours, theirs):
            return name
    return ""


def is_fault_of_evaluator(_statement, _ours, theirs):
    return ("Unsupported built-in function" in theirs.text or "U_FILE_ACCESS_ERROR" in theirs.text
            or re.search(r"Invalid type for MakeValue\w+Setter: MAP<", theirs.text) is not None
            or theirs.code in ("Trap", "UnicodeDecodeError"))


def is_limit_of_arrays(_statement, _ours, theirs):
    return LIMIT_OF_ARRAYS in theirs.text


def is_enum_of_mode(statement, ours, theirs):
    """A mode that is NULL has a type; there, a lambda around such a call is told as a call without a signature."""
    in_lambda = (re.search(r"-> .*ARRAY_(FIND|OFFSET)\(.*, CAST\(NULL AS STRING\)\)", statement) is not None
                 and re.search(r"No matching signature for function ARRAY_\w+$", theirs.text) is not None)
    return in_lambda or bool(re.search("ARRAY_FIND_MODE|No matching signature for function ARRAY_(FIND|OFFSET)$", ours.text + theirs.text))


def construct_of(text):
    """A pattern of what in a statement has the error of a row; empty: not known."""
    for pattern, construct in ERRORS_OF_ROWS.items():
        match = re.search(pattern, text)
        if match:
            return match.expand(construct)
    return ""


def is_other_error_of_rows(statement, ours, theirs):
    """Of two columns that fail, in some rows each, the one that is evaluated first is told."""
    constructs = [construct_of(ours.text), construct_of(theirs.text)]
    return (ours.code == theirs.code == "OUT_OF_RANGE" and "UNNEST(" in statement and all(constructs) and constructs[0] != constructs[1]
            and all(re.search(construct, statement) for construct in constructs))


def pairs_that_differ(ours, theirs):
    """Numbers at equal places that are not equal; empty where the answers differ in more than their numbers."""
    if ours.columns is None or ours.columns != theirs.columns or len(ours.rows) != len(theirs.rows):
        return []
    pairs = []
    for row, other in zip(ours.rows, theirs.rows):
        for a, b in zip(row, other):
            if NUMBER.sub("#", a) != NUMBER.sub("#", b):
                return []
            pairs += [(float(x), float(y)) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b))]
    return [(x, y) for x, y in pairs if not (x == y or math.isclose(x, y, rel_tol=APPROXIMATE) or (math.isnan(x) and math.isnan(y)))]


def is_acosh_of_negative(statement, ours, theirs):
    """The evaluator's C library gives a number for the inverse cosine of a large negative one."""
    pairs = pairs_that_differ(ours, theirs)
    return "ACOSH" in statement and bool(pairs) and all(math.isnan(x) for x, _ in pairs)


def is_running_mean_of_nothing(statement, ours, theirs):
    """The evaluator's mean of a frame that moves keeps what rounding has left."""
    pairs = pairs_that_differ(ours, theirs)
    return re.search(r"AVG\(.*OVER", statement) is not None and bool(pairs) and all(abs(x - y) < SMALL for x, y in pairs)


def is_error_in_lambda(statement, ours, theirs):
    return "->" in statement and theirs.text.startswith("No matching signature") and ours.code == theirs.code


def is_class_of_types(_statement, ours, theirs):
    return ours.code == theirs.code and ours.text.startswith("No matching signature") and bool(re.search(
        "is not defined for arguments of type|does not support (equality|ordering|grouping)|is not orderable", theirs.text))


def is_c_library(statement, _ours, _theirs):
    return bool(re.search(r"%[lkP]|FORMAT_(TIMESTAMP|DATE).*9999-12-31", statement))


def is_map_as_json(_statement, _ours, theirs):
    return "for TO_JSON_STRING" in theirs.text


def is_year_of_parsing(_statement, ours, theirs):
    return ours.code == theirs.code == "OUT_OF_RANGE" and ours.text.startswith("Invalid result from parsing function")


def is_interval_of_bucket(statement, ours, theirs):
    return "_BUCKET(" in statement and "OUT_OF_RANGE" in (ours.code, theirs.code) and "INTERVAL" in statement


def is_mean_of_infinity(statement, ours, theirs):
    if not re.search("AVG|VAR_|STDDEV|COVAR|CORR", statement):
        return False
    pairs = pairs_that_differ(ours, theirs)
    return (bool(pairs) and all(math.isinf(x) and math.isnan(y) for x, y in pairs)) or ("inf" in str(ours)) != ("inf" in str(theirs))


def is_error_of_row_left_out(statement, ours, theirs):
    """LIMIT 0 wants no row, so none is evaluated here."""
    return (theirs.code == "OUT_OF_RANGE" and re.search(r"LIMIT 0( OFFSET \d+)?$", statement) is not None
            and not ours.text.startswith("OUT_OF_RANGE"))


def is_array_in_struct(_statement, ours, theirs):
    """Arrays are not compared here, nor structs that hold one."""
    return (theirs.columns is not None and ours.text.startswith("No matching signature")
            and re.search(r"Argument types: .*STRUCT<.*\bARRAY<", ours.text) is not None and ":COMPARABLE" in ours.text)


def is_long_key(_statement, ours, theirs):
    """The evaluator breaks a long struct over lines, of which the first is seen."""
    return (ours.code == theirs.code and "multiple instances of key: {" in ours.text
            and theirs.text.endswith("multiple instances of key: {"))


REASONS = {
    "structs with arrays are not compared here": is_array_in_struct,
    "a struct in a text is broken over lines there": is_long_key,
    "an error of a row that is left out": is_error_of_row_left_out,
    "of errors of two columns, the other one is told": is_other_error_of_rows,
    "ACOSH of a number below 1 is NaN": is_acosh_of_negative,
    "the evaluator's mean over a frame keeps what rounding has left": is_running_mean_of_nothing,
    "the mean of infinities is infinite here, NaN there": is_mean_of_infinity,
    "a type of a wrong class is told as a call without a signature": is_class_of_types,
    "%l, %k and %P, and years beyond 9999, are those of the C library there": is_c_library,
    "TO_JSON_STRING of a map is an object here": is_map_as_json,
    "a year that no date has is told otherwise": is_year_of_parsing,
    "the intervals of DATE_BUCKET and TIMESTAMP_BUCKET are no values here: their errors are told otherwise": is_interval_of_bucket,
    "the evaluator lacks the function, or fails": is_fault_of_evaluator,
    "the evaluator's limit of generated arrays is its own": is_limit_of_arrays,
    "the mode of ARRAY_FIND and ARRAY_OFFSET is a STRING here, an enum there": is_enum_of_mode,
    "an error in a lambda is told by itself, not as a call without a signature": is_error_in_lambda,
}
