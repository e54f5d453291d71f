"""The bars that Sonde is measured by, and how far it is from each.

A figure is a number with a name, `WHAT.UNIT`; a run collects them in one dictionary.  A bar names the figure that it is
about, or two whose ratio it is about, what it must reach and what it aims at.  Whether it is met is computed here and
nowhere else.
"""

import dataclasses
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Bar:
    what: str
    figure: str
    must: Optional[float] = None
    aim: Optional[float] = None
    aim_figure: Optional[str] = None  # the aim is what a peer reached in the same run
    over: Optional[str] = None  # the ratio to this figure is meant
    at_most: bool = False  # the smaller the better
    unit: str = ""


@dataclasses.dataclass(frozen=True)
class Judgement:
    bar: Bar
    measured: Optional[float]  # None: not measured in this run
    must: Optional[bool] = None  # met; None: there is none, or nothing was measured
    aim: Optional[float] = None
    aim_met: Optional[bool] = None
    of_aim: Optional[float] = None  # 1: reached; less: so far


def bars():
    """All of them, in the order of the table."""
    found = []
    for schema in ("bucket", "tall"):
        of = f"sonde {schema}"
        found += [
            Bar(f"ingest, MutateRows, fsync, {schema} rows", f"{of} fsync ingest.cells/s", 1.0e6, 1.5e6, unit="cells/s"),
            Bar(f"bytes a cell, cpu, settled, {schema} rows", f"{of} fsync settled.B/cell", 0.5, 0.30, at_most=True, unit="B"),
            Bar(f"full scan, ReadRows, {schema} rows", f"{of} fsync scan.cells/s", 2.0e6, unit="cells/s"),
            Bar(f"full scan, ReadRows, settled, {schema} rows", f"{of} fsync scan settled.cells/s", 2.0e6, unit="cells/s"),
            Bar(f"ReadRows of one row, settled, not fsynced, {schema} rows", f"{of} os point-read settled.requests/s", 25e3, 30e3,
                unit="/s"),
            Bar(f"MutateRow, not fsynced, {schema} rows", f"{of} os point-write.requests/s", 25e3, 30e3, unit="/s"),
        ]
        found += [
            Bar(f"p99 of ReadRows of one row while cells settle, against none that do, {schema} rows",
                f"{of} point-read settling.p99_us", 2.0, over=f"{of} point-read settled.p99_us", at_most=True, unit="x"),
            Bar(f"p99 of MutateRow while cells settle, against none that do, {schema} rows",
                f"{of} point-write settling.p99_us", 2.0, over=f"{of} point-write settled.p99_us", at_most=True, unit="x"),
            Bar(f"ReadRows of one row, settled, {schema} rows, against a server that does nothing",
                f"{of} os point-read settled.requests/s", aim=1.0, over="gRPC alone tall point-read.requests/s", unit="x"),
            Bar(f"MutateRow, {schema} rows, against a server that does nothing",
                f"{of} os point-write.requests/s", aim=1.0, over="gRPC alone tall point-write.requests/s", unit="x"),
        ]
    found += [
        Bar("ingest, line protocol, fsync; the aim is VictoriaMetrics, not durable", "sonde lines.cells/s", 1.0e6,
            aim_figure="victoria-metrics lines.cells/s", unit="points/s"),
        *(Bar(f"1 million new series, MutateRows, {schema} rows, against ingest of few",
              f"sonde {schema} many-series ingest.cells/s", 0.5, over=f"sonde {schema} fsync ingest.cells/s", unit="x")
          for schema in ("bucket", "tall")),
        Bar("1 million new series, line protocol, against line protocol of few", "sonde many-series lines.cells/s", 0.5,
            over="sonde lines.cells/s", unit="x"),
        Bar("1 million new series, line protocol; the aim is VictoriaMetrics", "sonde many-series lines.cells/s",
            aim_figure="victoria-metrics many-series lines.cells/s", unit="points/s"),
        Bar("1 million new series, memory; the aim is VictoriaMetrics", "sonde many-series lines.MB",
            aim_figure="victoria-metrics many-series lines.MB", at_most=True, unit="MB"),
        Bar("bytes a point, line protocol; the aim is VictoriaMetrics", "sonde lines.B/cell",
            aim_figure="victoria-metrics lines.B/cell", at_most=True, unit="B"),
        *(Bar(f"scan inside the process, of a core, {schema} rows", f"sonde inside {schema} scan.cells/s", 50e6, 300e6,
              unit="cells/s") for schema in ("bucket", "tall")),
    ]
    for state in ("as built", "settled"):
        found += [
            Bar(f"append to a 100 MB row, {state}, against a small row", f"large-row {state} append.us", 2.0, 1.0,
                over=f"small-row {state} append.us", at_most=True, unit="x"),
            Bar(f"newest cell of a 100 MB row, {state}, against a small row", f"large-row {state} newest.us", 2.0, 1.0,
                over=f"small-row {state} newest.us", at_most=True, unit="x"),
        ]
    found += [Bar("memory of a server at most, against --memory", "sonde peak.MB", 1.0, over="sonde budget.MB", at_most=True,
                  unit="x")]
    found += [Bar(f"memory of a server at most while {clients} write and read large values, over --memory",
                  f"large-values {clients} over.MB", 64 * 1.048576, at_most=True, unit="MB")
              for clients in ("1 client", "8 clients")]
    found += [Bar("small requests answered while 8 clients write and read large values, of all",
                  "large-values 8 clients small.share", 0.99, unit="x")]
    found += [
        Bar("point reads with a key, against those without", "secure key point-read.requests/s", 0.98,
            over="secure plain point-read.requests/s", unit="x"),
        Bar("processor time of the authentication of a point read", "secure authentication.cpu_us", 3.0, at_most=True, unit="µs"),
        Bar("point reads by TLS, against plain text", "secure TLS point-read.requests/s", aim=1.0,
            over="secure plain point-read.requests/s", unit="x"),
    ]
    for schema in ("bucket", "tall"):
        found += [
            Bar(f"ingest against one RocksDB entry a cell, {schema} rows", f"engine sonde {schema} ingest.cells/s", 5,
                over=f"engine entries {schema} ingest.cells/s", unit="x"),
            Bar(f"bytes against one RocksDB entry a cell, {schema} rows", f"engine sonde {schema}.B/cell", 1 / 12,
                over=f"engine entries {schema}.B/cell", at_most=True, unit="x"),
        ]
        for name, must, durabilities in (("ingest", 5, ("fsync", "os")), ("scan", 3, ("fsync",)),
                                         ("point-read", 1.5, ("fsync",)), ("point-write", 1.5, ("os", "fsync"))):
            unit = "requests/s" if name.startswith("point") else "cells/s"
            found += [Bar(f"{name} against Google's emulator, {schema} rows"
                          + (f", {durability}" if len(durabilities) > 1 else ""),
                          f"sonde {schema} {durability} {name}.{unit}", must, over=f"emulator {schema} {name}.{unit}", unit="x")
                      for durability in durabilities]
    return found


def judge(bar, figures):
    measured = figures.get(bar.figure)
    if bar.over is not None:
        over = figures.get(bar.over)
        measured = measured / over if measured is not None and over else None
    if measured is None:
        return Judgement(bar, None)

    def reached(wanted):
        return measured <= wanted if bar.at_most else measured >= wanted

    aim = figures.get(bar.aim_figure) if bar.aim_figure else bar.aim
    of_aim = None
    if aim and measured:
        of_aim = aim / measured if bar.at_most else measured / aim
    return Judgement(bar, measured, None if bar.must is None else reached(bar.must), aim,
                     None if aim is None else reached(aim), of_aim)


def number(value, unit):
    if value is None:
        return ""
    if unit in ("x", "B") and value < 1:
        return f"{value:.3f}"
    if unit in ("x", "B", "µs"):
        return f"{value:.2f}"
    return f"{value:,.0f}"


def table(figures):
    """Markdown, and how many bars were missed and how many not measured."""
    lines = ["| what | must | measured | | aim | of the aim |", "| --- | ---: | ---: | --- | ---: | ---: |"]
    missed = unmeasured = 0
    for bar in bars():
        judgement = judge(bar, figures)
        sign = "<=" if bar.at_most else ">="
        must = "" if bar.must is None else f"{sign} {number(bar.must, bar.unit)} {bar.unit}"
        if judgement.measured is None:
            mark, unmeasured = "not measured", unmeasured + 1
        elif judgement.must is None:
            mark = "aim met" if judgement.aim_met else ""
        else:
            mark = "met" if judgement.must else "**missed**"
            missed += not judgement.must
        aim = "" if judgement.aim is None else number(judgement.aim, bar.unit)
        of_aim = "" if judgement.of_aim is None else f"{100 * judgement.of_aim:.0f}%"
        measured = "" if judgement.measured is None else f"{number(judgement.measured, bar.unit)} {bar.unit}"
        lines.append(f"| {bar.what} | {must} | {measured} | {mark} | {aim} | {of_aim} |")
    return "\n".join(lines), missed, unmeasured
