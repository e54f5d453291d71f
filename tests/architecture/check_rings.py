#!/usr/bin/env python3
"""Finds rings of units: a.h and a.cc are one unit, which needs the units whose headers they include.

A ring of folders fails the configure step (cmake/Layers.cmake).  This looks inside folders: where each of several units needs
the others, none of them can be read, tested or moved alone.  Tests and what supports them are not counted.

usage: check_rings.py --source DIR

--source  the src/ directory
Exit status: 0 no ring; 1 there are rings (a line each, with a way around); 2 the call was wrong.
"""

import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SUFFIXES = {".h", ".cc"}


def units_of(source):
    """By name ("wire/call/calls"), in order: the units that a unit needs."""
    files = [path for path in source.rglob("*")
             if path.suffix in SUFFIXES and not path.stem.endswith(("_test", "_test_support"))]
    needs = {path.relative_to(source).with_suffix("").as_posix(): set() for path in files}
    for path in files:
        unit = path.relative_to(source).with_suffix("").as_posix()
        for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
            other = header.removesuffix(".h")
            if other in needs and other != unit:
                needs[unit].add(other)
    return {unit: sorted(needs[unit]) for unit in sorted(needs)}


def rings_of(needs):
    """The sets of units of which each needs all others, perhaps through others (Tarjan's strongly connected components)."""
    number, low, on_path, path, rings = {}, {}, set(), [], []

    def visit(unit):
        number[unit] = low[unit] = len(number)
        path.append(unit)
        on_path.add(unit)
        for other in needs[unit]:
            if other not in number:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in on_path:
                low[unit] = min(low[unit], number[other])
        if low[unit] == number[unit]:
            ring = path[path.index(unit):]
            del path[path.index(unit):]
            on_path.difference_update(ring)
            if len(ring) > 1:
                rings.append(sorted(ring))

    for unit in needs:
        if unit not in number:
            visit(unit)
    return sorted(rings)


def way_around(needs, ring):
    """The shortest way from the ring's first unit back to it."""
    ways = [[ring[0]]]
    for way in ways:
        for other in needs[way[-1]]:
            if other == ring[0]:
                return " -> ".join(way + [other])
            if other in ring and all(other not in seen for seen in ways):
                ways.append(way + [other])
    raise AssertionError(f"no ring: {ring}")


def main():
    parser = argparse.ArgumentParser(description="Finds rings of units under src/.")
    parser.add_argument("--source", required=True, type=pathlib.Path, help="the src/ directory")
    arguments = parser.parse_args()
    needs = units_of(arguments.source)
    if not needs:
        parser.error(f"{arguments.source} holds no C++")
    sys.setrecursionlimit(10 * len(needs) + 1000)
    rings = rings_of(needs)
    for ring in rings:
        print(f"{len(ring)} units: {', '.join(ring)}; {way_around(needs, ring)}")
    print(f"{len(needs)} units, {sum(map(len, rings))} of them in {len(rings)} rings, {len(rings)} findings")
    return 1 if rings else 0


if __name__ == "__main__":
    sys.exit(main())
