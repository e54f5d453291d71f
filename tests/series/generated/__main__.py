#!/usr/bin/env python3
"""Random declarations, points, changes and questions, played to Sonde and to a naive model; says where they differ.

usage: generated [--declarations N] [--seed N] [--door http|endpoint|data-dir|all] [--kills N] [--jobs N] [--sql]
       generated --only NUMBER --seed N [--door DOOR]      one declaration again, as a list of steps and their outcome
       generated --controls                                servers with a planted bug of each kind must be found out
SONDE_BINARY is the program; it starts its own servers, in TMPDIR (in memory, as /dev/shm, they take less time).

Each declaration has a number, and a course of its own that follows from the seed and the number.  With `all`, most go
through HTTP, some through `sonde series --endpoint`, some through --data-dir.  --kills: so many courses more in which the
server is killed while it writes.  --sql: questions through HTTP are asked in SQL over series.NAME as well.  What differs is reduced, and printed as commands.
Exit status: 0: no difference; 1: some; 2: a wrong call.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import planted
import shrink
from course import CourseMaker, Difference, Player, describe
from doors import CommandDoor, HttpDoor, Server

JOBS_PER_CORE = 3  # most of the time, a job waits: for a disk, for roll-ups, for a process that starts
CHUNK = 50  # declarations of one server: it holds 10,000 tables
ROLLUPS_LATER_SECONDS = 2.5
SHRINK_SECONDS = 60
FAILURES_MAX = 10
KILLS_OF_COURSE = 2
# Where each process opens a directory, or connects, a declaration takes longer.
SHARES = {"endpoint": 0.03, "data-dir": 0.03}


def make_course(seed, door, number):
    is_short = door in ("endpoint", "data-dir")
    return CourseMaker(f"{seed}/{door}/{number}", is_short, KILLS_OF_COURSE if door == "kill" else 0).make()


class Chunk:
    """Some declarations, one after the other, through one door."""

    def __init__(self, sonde, directory, seed, door, numbers, shrinks, asks_in_sql=False):
        self.sonde, self.seed, self.door_name, self.shrinks = sonde, seed, door, shrinks
        self.numbers = numbers
        self.asks_in_sql = asks_in_sql and door in ("http", "kill")
        self.directory = pathlib.Path(directory, f"{door}-{numbers[0]}")
        self.figures = collections.Counter()
        self.failures = []
        self.server = None
        self.tries = 0
        self.is_stuck = False  # a request got no answer

    def play(self):
        try:
            if self.door_name != "data-dir":
                self.server = Server(self.sonde, self.directory, "fsync" if self.door_name == "kill" else "os")
            waiting = []
            for number in self.numbers:
                course = make_course(self.seed, self.door_name, number)
                player = Player(self._door(), f"s{number}", self._count, asks_in_sql=self.asks_in_sql)
                self._judge(number, course, lambda: player.play(course, waits=self.door_name in ("endpoint", "data-dir")))
                self._figure(course, player)
                if player.waiting:
                    waiting.append((number, course, player))
                while waiting and time.monotonic() - waiting[0][2].last_write > ROLLUPS_LATER_SECONDS:
                    self._finish(*waiting.pop(0))
            for one in waiting:
                time.sleep(max(0, ROLLUPS_LATER_SECONDS - (time.monotonic() - one[2].last_write)))
                self._finish(*one)
        finally:
            if self.server is not None and not self.server.is_gone() and (problem := self.server.stop()):
                self.failures.append({"number": self.numbers[-1], "door": self.door_name, "text": problem,
                                      "step": f"after the declarations {self.numbers[0]} to {self.numbers[-1]}"})
            shutil.rmtree(self.directory, ignore_errors=True)
        return self.figures, self.failures

    def _finish(self, number, course, player):
        self._judge(number, course, player.finish)

    def _door(self):
        if self.door_name in ("http", "kill"):
            return HttpDoor(self.server)
        if self.door_name == "endpoint":
            return CommandDoor("endpoint", self.sonde, ["--endpoint", self.server.address], self.directory / "files")
        return CommandDoor("data-dir", self.sonde, ["--data-dir", str(self.directory / "data")], self.directory / "files")

    def _count(self, rows):
        self.figures["questions"] += 1
        self.figures["rows"] += rows

    def _figure(self, course, player):
        self.figures["declarations"] += 1
        self.figures["kills at work"] += player.kills_at_work
        for step in course["steps"]:
            if step["do"] in ("send", "kill"):
                self.figures["points"] += len(step["points"])
            if step["do"] in ("open", "declare", "drop_versions", "kill"):
                self.figures["kills" if step["do"] == "kill" else "declared"] += 1

    def _judge(self, number, course, play):
        try:
            play()
        except Difference as different:
            self.is_stuck |= different.is_gone
            failure = {"number": number, "door": self.door_name, "text": str(different),
                       "step": describe(course["steps"][different.place])}
            self._restore()
            if self.shrinks and len(self.failures) < 3:
                small, found = shrink.shrink(course, self._replay, SHRINK_SECONDS)
                if small is not None:
                    failure |= {"small": small, "small_text": str(found)}
            self.failures.append(failure)
            self._restore()

    def _restore(self):
        """A server that is dead, or so busy that it does not answer, is started again."""
        if self.server is None:
            return
        if not self.server.is_gone() and HttpDoor(self.server).is_alive() and not self.is_stuck:
            return
        self.server.kill()
        self.server.start()
        self.is_stuck = False

    def _replay(self, course):
        self.tries += 1
        try:
            Player(self._door(), f"try{self.numbers[0]}_{self.tries}", rollup_seconds=4,
                   asks_in_sql=self.asks_in_sql).play(course)
        except Difference as different:
            self.is_stuck |= different.is_gone
            self._restore()
            return different
        return None


def play_chunk(*arguments):
    return Chunk(*arguments).play()


def chunks_of(options):
    """(door, numbers): what is to be played."""
    shares = {options.door: options.declarations}
    if options.door == "all":
        shares = {door: max(1, int(options.declarations * share)) for door, share in SHARES.items()}
        shares["http"] = options.declarations - sum(shares.values())
    if options.door != "kill":
        shares["kill"] = options.kills
    for door, count in shares.items():
        size = CHUNK if door == "http" else 4
        for begin in range(0, count, size):
            yield door, list(range(begin, min(begin + size, count)))


def say(failure, seed):
    print(f"declaration {failure['number']} of door {failure['door']}, seed {seed}: {failure['text']}\n  {failure['step']}",
          file=sys.stderr)
    if "small" in failure:
        print(f"reduced to this, of which {failure['small_text']}\n{shrink.commands(failure['small'])}", file=sys.stderr)
    sys.stderr.flush()


def play_all(options, sonde, directory):
    figures, failures = collections.Counter(), []
    start = time.monotonic()
    chunks = list(chunks_of(options))
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(play_chunk, sonde, directory, options.seed, door, numbers, not options.no_shrink,
                               options.sql)
                   for door, numbers in chunks]
        for future in concurrent.futures.as_completed(futures):
            if future.cancelled():
                continue
            some, failed = future.result()
            figures.update(some)
            for failure in failed:
                say(failure, options.seed)
            failures += failed
            if len(failures) >= options.failures:
                for other in futures:
                    other.cancel()
            if sys.stderr.isatty():
                print(f"\r{figures['declarations']} declarations, {figures['questions']} questions, {len(failures)} differ ",
                      end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    changes = figures["declared"] - figures["declarations"]
    print(f"generated: {figures['declarations']} declarations ({changes} changes of them), {figures['points']} points, "
          f"{figures['questions']} questions, {figures['rows']} rows compared, "
          f"{figures['kills']} kills, {figures['kills at work']} of them at work; {len(failures)} differ "
          f"(seed {options.seed}, {time.monotonic() - start:.0f} s)")
    return 1 if failures else 0


def play_one(options, sonde, directory):
    course = make_course(options.seed, options.door, options.only)
    for place, step in enumerate(course["steps"]):
        print(f"{place:3} {describe(step)}")
        if "declaration" in step:
            print("    " + json.dumps(step["declaration"], ensure_ascii=False))
    _, failures = play_chunk(sonde, directory, options.seed, options.door, [options.only], not options.no_shrink, options.sql)
    for failure in failures:
        say(failure, options.seed)
    print("differs" if failures else "no difference")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--declarations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--door", choices=["http", "endpoint", "data-dir", "all", "kill"], default="all")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=JOBS_PER_CORE * (os.cpu_count() or 1), help="servers at a time")
    parser.add_argument("--only", type=int)
    parser.add_argument("--controls", action="store_true")
    parser.add_argument("--failures", type=int, default=FAILURES_MAX, help="ends after so many")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--sql", action="store_true", help="ask in SQL, too")
    options = parser.parse_args()
    if options.controls:
        return planted.find_all(options.seed)
    sonde = os.environ.get("SONDE_BINARY")
    if sonde is None:
        parser.error("SONDE_BINARY is not set")
    with tempfile.TemporaryDirectory(prefix="sonde-generated-") as directory:
        return play_one(options, sonde, directory) if options.only is not None else play_all(options, sonde, directory)


if __name__ == "__main__":
    sys.exit(main())
