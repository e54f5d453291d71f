#!/usr/bin/env python3
"""The index of series, open ones and a declared one, in a server's whole life.

  kills    a server is killed again and again while senders flood it with new entities, by line protocol. Each time, with the server
           started anew: every acknowledged entity is found by each of its labels. At the end `sonde check` finds the index of
           each series as one that is made anew.
  life     questions are answered by the index, also of the command line and SQL; what is known costs no write; samples that a
           matcher deletes are gone, and come again; loads and INSERT tell the index of what they bring.

usage: index.py SONDE kills [--kills N] [--seed N]
       index.py SONDE life
"""
import argparse
import collections
import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import kill

FIRST = 1_700_000_000
DECLARATION = """series: declared
index: yes
tags: { aaa: string, id: string, group: string, shard: string }
fields: { value: double }
time: { resolution: 1s }
bucket: day
key: [aaa, id, group, shard, bucket]
retention: { max_versions: all }
"""
SENDERS = 4
LINES_A_REQUEST = 200
GROUPS = 37


def post(http_url, path, body, content_type="text/plain"):
    request = urllib.request.Request(f"{http_url}{path}", data=body.encode(), method="POST", headers={"Content-Type": content_type})
    with urllib.request.urlopen(request, timeout=120) as response:
        return response.status, response.read().decode()


def find(server, selector, start=FIRST - 86400, end=FIRST + 40 * 86400):
    """The labels of the series that a selector means."""
    form = urllib.parse.urlencode({"match[]": selector, "start": start, "end": end})
    status, answer = post(server.http, "/api/v1/series", form, "application/x-www-form-urlencoded")
    assert status == 200, answer
    answer = json.loads(answer)
    assert answer["status"] == "success" and "warnings" not in answer, answer
    return answer["data"]


def metric(server, name, **labels):
    with urllib.request.urlopen(f"{server.http}/metrics", timeout=60) as response:
        for line in response.read().decode().splitlines():
            named, _, value = line.rpartition(" ")
            if named.startswith(name) and all(f'{label}="{text}"' in named for label, text in labels.items()):
                return float(value)
    raise AssertionError(f"no metric {name} {labels}")


def entity(number):
    """Its series and labels; no question below names the first label, so that keys alone would not do."""
    return ("flood_2", "declared", "flood", "flood", "flood")[number % 5], {
        "aaa": f"x{number % 3}", "id": f"i-{number}", "group": f"g{number % GROUPS}", "shard": f"s={number % 11},{number % 2}"}


def line(number):
    series, labels = entity(number)
    escaped = ",".join(f"{name}={value.replace(',', chr(92) + ',').replace('=', chr(92) + '=')}" for name, value in labels.items())
    return f"{series},{escaped} value={number} {FIRST + number % (5 * 86400)}\n"


def declare(server):
    request = urllib.request.Request(f"{server.http}/api/v1/series/declared", data=DECLARATION.encode(), method="PUT")
    with urllib.request.urlopen(request, timeout=60) as response:
        assert response.status == 200


class Flood(threading.Thread):
    """Sends requests of new entities until the server is gone."""

    def __init__(self, http_url, numbers):
        super().__init__()
        self.http, self.numbers, self.acknowledged = http_url, numbers, []
        self.refusal = None

    def run(self):
        host = urllib.parse.urlsplit(self.http).netloc
        connection = http.client.HTTPConnection(host, timeout=60)
        while True:
            request = [next(self.numbers) for _ in range(LINES_A_REQUEST)]
            body = "".join(map(line, request))
            try:
                connection.request("POST", "/write?precision=s", body=body)
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                return  # it was killed
            if response.status != 204:
                self.refusal = f"{response.status} {text}"
                return
            self.acknowledged.extend(request)


class Numbers:
    def __init__(self):
        self.next, self.lock = 0, threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            self.next += 1
            return self.next


def look(server, acknowledged, rng):
    """Every entity that was acknowledged is found by each of its labels."""
    wanted = collections.defaultdict(set)
    for number in acknowledged:
        series, labels = entity(number)
        for name in ("group", "shard"):
            wanted[series, name, labels[name]].add(labels["id"])
    for (series, name, value), ids in wanted.items():
        kinds = [f'{series}{{{name}="{value}"}}', f'{series}{{{name}=~"{value}|none"}}', f'{{__name__="{series}",{name}="{value}"}}']
        found = {labels["id"] for labels in find(server, rng.choice(kinds))}
        assert ids <= found, f'{series} {name}="{value}" lacks {len(ids - found)} of {len(ids)}, such as {min(ids - found)}'
    for number in rng.sample(acknowledged, min(40, len(acknowledged))):
        series, labels = entity(number)
        for selector in (f'{series}{{id="{labels["id"]}"}}', f'{series}{{id=~"{labels["id"]}"}}',
                         f'{series}{{id=~"{labels["id"]}.*",group!="none"}}'):
            found = [one for one in find(server, selector) if one["id"] == labels["id"]]
            assert found == [{"__name__": series, **labels}], f"{selector}: {found}"


def check(sonde, directory):
    result = subprocess.run([sonde, "check", "--data-dir", f"{directory}/data", "--json"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    answer = json.loads(result.stdout)
    assert answer["open_series"] > 0 and not answer["index_faults"], answer
    return answer


def check_index(sonde, directory, series):
    result = subprocess.run([sonde, "series", "rebuild", f"stored:{series}@index", "--check", "--json", "--data-dir", f"{directory}/data"],
                            capture_output=True, text=True)
    return result.returncode, json.loads(result.stdout)


def kills(sonde, directory, count, seed):
    rng = random.Random(seed)
    numbers, acknowledged, at_work = Numbers(), [], 0
    for number in range(count):
        server = kill.Server(sonde, directory, durability=rng.choice(["fsync", "os"]))
        declare(server)
        senders = [Flood(server.http, numbers) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        # Questions about all entities take the longer, the more there are.
        time.sleep(0.05 + rng.random() * (1.5 if count > 20 else 0.4))
        at_work += all(sender.is_alive() for sender in senders)
        server.kill()
        for sender in senders:
            sender.join()
            assert sender.refusal is None, sender.refusal
            acknowledged.extend(sender.acknowledged)
        if number % 3 == 2 or number == count - 1:
            server = kill.Server(sonde, directory)
            look(server, acknowledged, rng)
            assert metric(server, "sonde_series_index_questions_total", answer="index") > 0
            assert metric(server, "sonde_series_index_questions_total", answer="scan") == 0
            server.kill() if rng.random() < 0.5 else server.stop()
    assert at_work > 0, "no server was killed at work; say more --kills"
    answer = check(sonde, directory)
    assert not answer["notices"], answer
    for series in ("flood", "flood_2", "declared"):
        status, report = check_index(sonde, directory, series)
        assert status == 0 and report["is_whole"], report
    assert len(acknowledged) > 1000
    print(f"{count} kills, {at_work} of them at work; {len(acknowledged)} entities acknowledged, {numbers.next} sent; seed {seed}")


def write(server, first, end):
    assert post(server.http, "/write?precision=s", "".join(line(number) for number in range(first, end)))[0] == 204


def life(sonde, directory):
    server = kill.Server(sonde, directory)
    declare(server)
    count = 20_000
    for first in range(0, count, 2_000):
        write(server, first, first + 2_000)
    assert len(find(server, 'flood{id="i-7"}')) == 1
    group = {f"i-{n}" for n in range(count) if n % GROUPS == 3 and n % 5 > 1}
    assert {one["id"] for one in find(server, 'flood{group="g3"}')} == group
    assert find(server, 'flood{group="g3"}', start=FIRST + 10 * 86400) == []
    declared = {f"i-{n}" for n in range(count) if n % GROUPS == 3 and n % 5 == 1}
    assert {one["id"] for one in find(server, 'declared{group="g3"}')} == declared
    assert {one["id"] for one in find(server, 'declared{group=~"g3|none",shard!="s=0,0"}')} == {
        one for one in declared if int(one[2:]) % 22}
    registered = metric(server, "sonde_series_index_registered_total")
    commits = metric(server, "sonde_series_index_commits_total")
    assert registered == count
    # What is known costs no write of the index.
    write(server, 0, 2_000)
    assert metric(server, "sonde_series_index_registered_total") == registered
    assert metric(server, "sonde_series_index_commits_total") == commits

    # Deleted, and here again.
    form = urllib.parse.urlencode({"match[]": 'flood{group="g3"}'})
    assert post(server.http, "/api/v1/admin/tsdb/delete_series", form, "application/x-www-form-urlencoded")[0] == 204
    assert find(server, 'flood{group="g3"}') == []
    assert len(find(server, 'flood{group="g4"}')) > 0
    write(server, 0, 100)
    again = {f"i-{n}" for n in range(100) if n % GROUPS == 3 and n % 5 > 1}
    assert {one["id"] for one in find(server, 'flood{group="g3"}')} == again
    assert metric(server, "sonde_series_index_questions_total", answer="scan") == 0
    others(sonde, directory, server)
    server.stop()
    check(sonde, directory)
    status, report = check_index(sonde, directory, "declared")
    assert status == 0 and report["is_whole"] and report["idle_entities"] == 3, report
    status, report = check_index(sonde, directory, "flood")
    assert status == 0 and report["idle_entities"] == len(group) - len(again), report

    # The commands ask the index, too.
    rows = kill.ask(sonde, directory, "stored:flood", "--where", "id=i-7")
    assert len(rows) == 1 and rows[0]["value"] == "7", rows
    explained = subprocess.run([sonde, "series", "query", "stored:flood", "--where", "id=i-7", "--explain", "--data-dir",
                                f"{directory}/data"], capture_output=True, text=True)
    assert explained.returncode == 0 and "all its rows" not in explained.stderr, explained.stderr
    explained = subprocess.run([sonde, "series", "query", "stored:declared", "--where", "id=i-6", "--explain", "--data-dir",
                                f"{directory}/data"], capture_output=True, text=True)
    assert "the index of the series says which rows: those of 1 of its entities" in explained.stderr, explained.stderr


def sql(server, query):
    status, answer = post(server.http, "/api/v1/sql", json.dumps({"query": query}), "application/json")
    assert status == 200, answer
    return answer


def others(sonde, directory, server):
    """Entities that come by a load of the command line and by INSERT, which are not the server's own writers."""
    rows = "".join(f"{time_text},b{n},l-{n},of-load,s\n" for n in range(3) for time_text in ("2023-11-15T00:00:00Z", "2023-11-17T00:00:00Z"))
    csv = f"{directory}/points.csv"
    with open(csv, "w") as file:
        file.write("time,aaa,id,group,shard,value\n" + rows.replace(",s\n", ",s,1\n"))
    result = subprocess.run([sonde, "series", "load", "stored:declared", csv, "--endpoint", server.address], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert {one["id"] for one in find(server, 'declared{group="of-load"}')} == {"l-0", "l-1", "l-2"}
    sql(server, "INSERT INTO series.declared (aaa, id, `group`, shard, time, value) "
                "VALUES ('z', 'inserted', 'of-sql', 's', TIMESTAMP '2023-11-16 00:00:00+00', 2)")
    assert {one["id"] for one in find(server, 'declared{group="of-sql"}')} == {"inserted"}
    assert "inserted" in sql(server, "SELECT id FROM series.declared WHERE `group` = 'of-sql'")
    form = urllib.parse.urlencode({"match[]": 'declared{group="of-load"}'})
    assert post(server.http, "/api/v1/admin/tsdb/delete_series", form, "application/x-www-form-urlencoded")[0] == 204
    assert find(server, 'declared{group="of-load"}') == []
    assert "l-1" not in sql(server, "SELECT id FROM series.declared WHERE `group` = 'of-load'")
    explained = sql(server, "EXPLAIN SELECT id FROM series.declared WHERE `group` = 'of-sql'")
    assert "1 of its entities by the index" in explained, explained


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde")
    parser.add_argument("what", choices=["kills", "life"])
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.what == "kills":
            kills(arguments.sonde, directory, arguments.kills, arguments.seed)
        else:
            life(arguments.sonde, directory)


if __name__ == "__main__":
    sys.exit(main())
