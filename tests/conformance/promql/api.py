#!/usr/bin/env python3
"""Prometheus' HTTP API of a server, as promtool, Grafana and client_golang ask it.

usage: api.py CLIENT     SONDE_HTTP is set; CLIENT: the program of client/main.go.
Without promtool on PATH its part is left out, and the last line says so.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

SONDE = os.environ["SONDE_HTTP"].rstrip("/")
START = 1_700_000_000

LINES = "".join(
    f"api_requests_total,instance=a,job=web value={2 + 2 * i} {START + 20 * i}\n"
    f"api_requests_total,instance=b,job=web value={1 + i} {START + 20 * i}\n"
    f"api_load,instance=a value=0.{i + 1} {START + 20 * i}\n" for i in range(4))
LINES += f"disk,host=h\\ 1,path=/var free=7i,used=3i {START}\n"


def request(method, path, fields=(), form=None):
    url = f"{SONDE}{path}"
    if fields:
        url += "?" + urllib.parse.urlencode(list(fields))
    body = None if form is None else urllib.parse.urlencode(list(form)).encode()
    asked = urllib.request.Request(url, data=body, method=method)
    if form is not None:
        asked.add_header("Content-Type", "application/x-www-form-urlencoded")
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def data(method, path, fields=(), form=None):
    code, body = request(method, path, fields, form)
    answer = json.loads(body)
    assert code == 200 and answer["status"] == "success", (method, path, fields, form, code, answer)
    return answer["data"]


def same(got, wanted, what):
    assert got == wanted, f"{what}: {got!r}, instead of {wanted!r}"


# ---- Grafana ----

def check_grafana_on_an_empty_store():
    """The check of the data source: a query by a form, then what the server is."""
    same(data("POST", "/api/v1/query", form=[("query", "1+1"), ("time", "4")]), {"resultType": "scalar", "result": [4, "2"]}, "health")
    info = data("GET", "/api/v1/status/buildinfo")
    assert info["version"].startswith("3.") and "features" not in info, info
    same(data("GET", "/api/v1/label/__name__/values", [("limit", "40000"), ("start", "0"), ("end", "1")]), [], "names")


def check_grafana():
    span = [("start", str(START)), ("end", str(START + 60))]
    panel = [("query", 'sum by(instance) (rate(api_requests_total{instance=~"a|b"}[40s]))'), ("step", "20")]
    ranged = data("POST", "/api/v1/query_range", form=[*panel, *span])
    same([one["metric"] for one in ranged["result"]], [{"instance": "a"}, {"instance": "b"}], "a panel's series")
    same([time for time, _ in ranged["result"][0]["values"]], [START + 20, START + 40, START + 60], "a panel's times")
    table = data("POST", "/api/v1/query", form=[("query", "api_load"), ("time", f"{START + 60}.500")])
    same(table["result"], [{"metric": {"__name__": "api_load", "instance": "a"}, "value": [START + 60.5, "0.4"]}], "a table")
    same(data("GET", "/api/v1/label/__name__/values", [("limit", "40000"), *span]),
         ["api_load", "api_requests_total", "disk_free", "disk_used"], "metrics")
    same(data("POST", "/api/v1/labels", form=[("match[]", "disk_used"), *span]), ["__name__", "host", "path"], "labels")
    same(data("GET", "/api/v1/label/host/values", [("match[]", "disk_used"), *span]), ["h 1"], "a variable")
    same(data("GET", "/api/v1/label/instance/values", [("match[]", '{__name__=~"api_.*",job=""}'), *span]), ["a"], "ad hoc")
    same(data("GET", "/api/v1/series", [("match[]", '{__name__!="",instance="b"}'), *span]),
         [{"__name__": "api_requests_total", "instance": "b", "job": "web"}], "series")
    same(data("GET", "/prometheus/api/v1/series", [("match[]", "api_load"), *span]), [{"__name__": "api_load", "instance": "a"}], "below /prometheus")
    same(data("GET", "/api/v1/metadata"), {}, "metadata")
    same(data("GET", "/api/v1/rules"), {"groups": []}, "rules")
    same(data("POST", "/api/v1/query_exemplars", form=[("query", "api_load"), *span]), [], "exemplars")
    many = "|".join(f"host{i}" for i in range(5_000))
    same(data("POST", "/api/v1/query", form=[("query", f'api_load{{instance=~"a|{many}"}}'), ("time", str(START + 60))])["result"][0]["value"][1],
         "0.4", "a variable of thousands")


def check_cardinality():
    counted = data("GET", "/api/v1/status/tsdb", [("start", str(START)), ("end", str(START + 60)), ("limit", "2")])
    same(counted["headStats"]["numSeries"], 5, "series")
    same(counted["seriesCountByMetricName"], [{"name": "api_requests_total", "value": 2}, {"name": "api_load", "value": 1}], "by metric")
    same(counted["labelValueCountByLabelName"], [{"name": "__name__", "value": 4}, {"name": "instance", "value": 2}], "values")


def check_transfer():
    """What was exported goes in again, and comes out the same; promtool reads it, too."""
    for form in ("json", "openmetrics"):
        code, text = request("GET", "/api/v1/export", [("format", form), ("match[]", '{__name__=~"api_.+"}')])
        same((code, text.count(b"\n")), (200, 3 if form == "json" else 12 + 3), form)
        renamed = text.replace(b"api_", b"again_")
        with urllib.request.urlopen(urllib.request.Request(f"{SONDE}/api/v1/import?format={form}", data=renamed, method="POST"), timeout=30) as answer:
            told = json.loads(answer.read())
        same((told["samples"], told["refused_lines"]), (12, 0), told)
        same(request("GET", "/api/v1/export", [("format", form), ("match[]", '{__name__=~"again_.+"}')]), (200, renamed), "again")
        if form == "openmetrics" and shutil.which("promtool"):
            with tempfile.TemporaryDirectory() as directory:
                source = pathlib.Path(directory, "text")
                source.write_bytes(text)
                promtool("tsdb", "create-blocks-from", "openmetrics", str(source), directory)
    code, body = request("POST", "/api/v1/import", form=[("x", "y")])
    same((code, json.loads(body)["problems"][0]["line"]), (400, 1), "no line of JSON")


def check_errors():
    for form, code, kind in [
            ([("query", "up{")], 400, "bad_data"), ([("query", "up"), ("time", "x")], 400, "bad_data"),
            ([("query", "api_requests_total + on(job) api_requests_total"), ("time", str(START + 60))], 422, "execution"),
            ([("query", 'up{a=~"("}')], 400, "bad_data")]:
        got, body = request("POST", "/api/v1/query", form=form)
        answer = json.loads(body)
        same((got, answer["status"], answer["errorType"]), (code, "error", kind), form)
    same(request("POST", "/api/v1/label/x/values", form=[])[0], 405, "values by a form")
    same(request("GET", "/api/v1/nothing")[0], 404, "no path")


# ---- promtool ----

def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def check_promtool():
    same(promtool("query", "instant", f"--time={START + 60}", SONDE, "api_load"), f'api_load{{instance="a"}} => 0.4 @[{START + 60}]\n', "instant")
    same(promtool("query", "range", f"--start={START}", f"--end={START + 60}", "--step=30s", SONDE, "sum(api_requests_total)"),
         f"{{}} =>\n3 @[{START}]\n6 @[{START + 30}]\n12 @[{START + 60}]\n", "range")
    same(promtool("query", "series", "--match=api_requests_total", f"--start={START}", f"--end={START + 60}", SONDE),
         '{__name__="api_requests_total", instance="a", job="web"}\n{__name__="api_requests_total", instance="b", job="web"}\n', "series")
    same(promtool("query", "labels", f"--start={START}", f"--end={START + 60}", SONDE, "instance"), "a\nb\n", "labels")
    wrong = subprocess.run(["promtool", "query", "instant", SONDE, "up{"], check=False, capture_output=True, text=True, timeout=60)
    assert wrong.returncode != 0 and "parse error" in wrong.stderr, wrong


# ---- the command line ----

def check_command():
    def ask(*arguments):
        done = subprocess.run([os.environ["SONDE_BINARY"], "query", *arguments, "--endpoint", os.environ["SONDE_ADDRESS"]],
                              check=False, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    same(ask("api_load", "--time", str(START + 60), "--json"),
         (0, '{"__name__":"api_load","instance":"a","time":"2023-11-14T22:14:20Z","value":0.4}\n', ""), "a JSON answer")
    same(ask("sum by (job) (api_requests_total)", "--time", str(START + 60), "--range", "1m", "--step", "30s", "--format", "csv"),
         (0, "job,time,value\nweb,2023-11-14T22:13:20Z,3\nweb,2023-11-14T22:13:50Z,6\nweb,2023-11-14T22:14:20Z,12\n", ""), "a range")
    same(ask("-1 / 0", "--time", str(START), "--json")[1], '{"time":"2023-11-14T22:13:20Z","value":"-Inf"}\n', "an infinity")
    same(ask("rate(api_load[1m])", "--time", str(START + 60))[2],
         "sonde query: PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: \"api_load\" (1:6)\n", "an info")
    same(ask("none_such"), (0, "", "sonde query: 0 series have a value then\n"), "nothing")
    same(ask("up{"), (2, "", "sonde query: 1:4: parse error: unexpected end of input inside braces\n"), "what does not parse")
    code, drawn, _ = ask("api_requests_total", "--time", str(START + 60), "--range", "1m", "--step", "1s", "--plot", "--color", "never")
    assert code == 0 and "api_requests_total" in drawn and any("\u2800" < sign <= "\u28ff" for sign in drawn), drawn


def main():
    check_grafana_on_an_empty_store()
    written = urllib.request.Request(f"{SONDE}/write?precision=s", data=LINES.encode(), method="POST")
    with urllib.request.urlopen(written, timeout=30) as answer:
        same(answer.status, 204, "write")
    check_grafana()
    check_errors()
    check_cardinality()
    subprocess.run([sys.argv[1], SONDE], check=True, timeout=120)
    check_transfer()
    if "SONDE_BINARY" in os.environ:
        check_command()
    has_promtool = shutil.which("promtool") is not None
    if has_promtool:
        check_promtool()
    print(f"prometheus-api: Grafana's requests and client_golang agree; promtool {'agrees' if has_promtool else 'is NOT here: left out'}")


if __name__ == "__main__":
    main()
