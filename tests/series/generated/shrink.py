"""Makes a course that differs smaller, and writes it as commands."""
import copy
import shlex
import time

import declarations
from doors import as_csv, as_json, as_lines
from questions import parameters


def shrink(course, difference_of, seconds):
    """The smallest course found that differs in the same way.  `difference_of`(course): a Difference, or None."""
    best = copy.deepcopy(course)
    found = difference_of(best)
    if found is None:
        return None, None
    end = time.monotonic() + seconds
    best["steps"] = best["steps"][:found.place + 1]
    kind = _kind(best, found)

    def keeps(candidate):
        nonlocal best, found
        if time.monotonic() > end:
            return False
        try:
            different = difference_of(candidate)
        except (KeyError, ValueError, StopIteration):
            return False  # no such course can be: its points have fields that nobody declared, and so on
        if different is None or _kind(candidate, different) != kind:
            return False
        candidate["steps"] = candidate["steps"][:different.place + 1]
        best, found = candidate, different
        return True

    is_smaller = True
    while is_smaller and time.monotonic() < end:
        is_smaller = any([_drop_steps(lambda: best, keeps), _drop_points(lambda: best, keeps),
                          _simplify_declaration(lambda: best, keeps), _simplify_question(lambda: best, keeps)])
    return best, found


def _kind(course, difference):
    text = str(difference).partition(": ")[2]
    step = course["steps"][difference.place]
    is_refused = "refused" in text[:40] and text[:12]  # with the code
    return step["do"], step.get("table"), is_refused, "taken" in text[:200], text.startswith("columns")


def _drop_steps(best, keeps):
    changed = False
    asks = {"steps": [step for step in best()["steps"][:-1] if step["do"] != "ask"] + best()["steps"][-1:]}
    if len(asks["steps"]) < len(best()["steps"]):
        changed = keeps({**best(), **asks})
    place = len(best()["steps"]) - 2
    while place > 0:
        candidate = copy.deepcopy(best())
        if place < len(candidate["steps"]) - 1:
            del candidate["steps"][place]
            changed |= keeps(candidate)
        place -= 1
    return changed


def _drop_points(best, keeps):
    changed = False
    for place in range(len(best()["steps"])):
        size = None
        while place < len(best()["steps"]) and "points" in best()["steps"][place]:
            points = best()["steps"][place]["points"]
            size = size or max(1, len(points) // 2)
            is_cut = False
            begin = 0
            while begin < len(best()["steps"][place]["points"]) and len(best()["steps"][place]["points"]) > 1:
                candidate = copy.deepcopy(best())
                del candidate["steps"][place]["points"][begin:begin + size]
                if candidate["steps"][place]["points"] and keeps(candidate):
                    is_cut = changed = True
                else:
                    begin += size
            if size == 1 and not is_cut:
                break
            size = max(1, size // 2)
        for name in ("gzip", "comments"):
            if place < len(best()["steps"]) and name in best()["steps"][place]:
                candidate = copy.deepcopy(best())
                del candidate["steps"][place][name]
                changed |= keeps(candidate)
    return changed


def _simplify_declaration(best, keeps):
    """The same is left out of all declarations of the course."""
    changed = False

    def edit(change):
        nonlocal changed
        candidate = copy.deepcopy(best())
        for step in candidate["steps"]:
            if "declaration" in step:
                change(step["declaration"])
        if candidate != best():
            changed |= keeps(candidate)

    tables = {d["table"] for step in best()["steps"] for d in step.get("declaration", {}).get("derive", [])}
    for table in sorted(tables):
        edit(lambda d, table=table: d.update(derive=[one for one in d["derive"] if one["table"] != table]))
    edit(lambda d: d.update(versions=[]))
    edit(lambda d: d.pop("retention", None))
    for name in ("delimiter", "corrections", "blob"):
        edit(lambda d, name=name: d["shape"].pop(name, None))
    edit(lambda d: d["shape"].update(key=[part for part in d["shape"]["key"] if part == "field" or "salt" not in part]))
    edit(lambda d: d["shape"].update(key=[part for part in d["shape"]["key"] if part == "field" or "const" not in part]))
    for field in [field["name"] for field in best()["steps"][0]["declaration"]["fields"]]:
        candidate = copy.deepcopy(best())
        for step in candidate["steps"]:
            if "declaration" in step:
                step["declaration"]["fields"] = [one for one in step["declaration"]["fields"] if one["name"] != field]
            for point in step.get("points", []):
                point[2].pop(field, None)
            if field in step.get("question", {}).get("field", []):
                step["question"]["field"].remove(field)
        if all(step["declaration"]["fields"] for step in candidate["steps"] if "declaration" in step):
            changed |= keeps(candidate)
    return changed


def _simplify_question(best, keeps):
    changed = False
    question = best()["steps"][-1].get("question")
    for name in list(question or {}):
        for smaller in _smaller(name, best()["steps"][-1]["question"].get(name)):
            candidate = copy.deepcopy(best())
            if smaller is None:
                for one in (name, "by") if name == "top" else (name,):
                    candidate["steps"][-1]["question"].pop(one, None)
            else:
                candidate["steps"][-1]["question"][name] = smaller
            if keeps(candidate):
                changed = True
                break
    return changed


def _smaller(name, value):
    if name == "way":
        return ["get"] if value != "get" else []
    return [None] + ([value[:1]] if isinstance(value, list) and len(value) > 1 else [])


def commands(course, series="s"):
    """A course as commands of a shell; $H is the HTTP address, $E the other one."""
    lines = []
    declaration = None
    for step in course["steps"]:
        do = step["do"]
        if do == "open":
            declaration = step["declaration"]
        elif do in ("declare", "drop_versions"):
            declaration = step["declaration"]
            lines.append(f"curl -X PUT $H/api/v1/series/{series} --data-binary "
                         + shlex.quote(declarations.to_yaml(declaration, series)))
        elif do in ("send", "kill"):
            way, headers, path = step["way"], "", f"/api/v1/series/{series}/write"
            if way == "json":
                body = as_json(declaration, step["points"])
            elif way == "csv":
                body, headers = as_csv(declaration, step["points"]), " -H 'Content-Type: text/csv'"
            else:
                body = as_lines(series, declaration, step["points"], way == "line_ns", step.get("comments", ()))
                path = "/write" + ("" if way == "line_ns" else "?precision=us")
            text = shlex.quote(body.decode())
            if step.get("cut") or step.get("gzip"):
                cut = " | head -c -20" if step.get("cut") else ""
                lines.append(f"printf %s {text} | gzip{cut} | curl $H{path} -H 'Content-Encoding: gzip'{headers} --data-binary @-")
            else:
                lines.append(f'printf %s {text} | curl "$H{path}"{headers} --data-binary @-')
        elif do == "ask":
            name = series + (f"@{series}{step['table']}" if step.get("table") else "")
            pairs = " ".join(f"--data-urlencode {shlex.quote(f'{key}={value}')}" for key, value in parameters(step["question"]))
            lines.append(f"curl -G $H/api/v1/series/{name}/query {pairs}")
        else:
            flag = " --finish" if do == "finish" else ""
            lines.append(f"sonde series {'rewrite' if do == 'finish' else do} stored:{series}{flag} --endpoint $E")
    return "\n".join("  " + line for line in lines)
