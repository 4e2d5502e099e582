#!/usr/bin/env python3
"""The house as its includes and calls draw it: rooms, floors and circles.

    python3 tests/house.py            what is there, a line a room; exit code 1 when a rule is broken
    python3 tests/house.py --svg F    the rooms as a picture, an arrow for who uses whom but not for
                                      what follows from other arrows

A noun is a .c file with the .h beside it. A noun uses another when one of its files includes the
other's header, or names a function or a table that the other's .c defines and does not keep to
itself. A room
is a folder of nouns; it uses the rooms that its nouns use. Floors are counted from below: a room
that uses none of those counted stands on floor 1. A circle is a set of nouns, or of rooms, that use
each other, straight or through others.

The rules: no circle of rooms, no more nouns in a room of codec/ and train/ than MOST_NOUNS, no more
floors in codec/ than MOST_FLOORS, no circle of nouns.
"""
import collections
import os
import re
import sys

MOST_NOUNS = 16
MOST_FLOORS = 6
FLAT = ("formats", "cli")  # rooms of any size
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def read_files():
    found = {}
    for top in ("formats", "codec", "train", "cli"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        found[os.path.relpath(path, ROOT)] = file.read()
    return found


def noun(path):
    return os.path.splitext(path)[0]


def room(of):
    return os.path.dirname(of)


def bare(text):
    """Without comments and strings."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def who_includes(files):
    uses = collections.defaultdict(set)
    for path, text in files.items():
        uses[noun(path)]
        for other in re.findall(r'^#include "([^"]+)"', text, flags=re.M):
            if other in files and noun(other) != noun(path):
                uses[noun(path)].add(noun(other))
    return uses


def who_calls(files):
    defined = {}
    for path, text in files.items():
        if path.endswith(".c"):
            for line in re.findall(r"^[A-Za-z_][^;={}#]*?\)\s*\{$", bare(text), flags=re.M | re.S):
                name = re.search(r"(\w+)\(", line)
                if name and not re.search(r"\bstatic\b|_INLINE\b", line):
                    defined[name.group(1)] = noun(path)
            for table in re.findall(r"^const [^;={}()]*?(\w+)(?:\[\w*\])* = ", text, flags=re.M):
                defined[table] = noun(path)
    uses = collections.defaultdict(set)
    for path, text in files.items():
        if path.endswith(".c"):
            for name in set(re.findall(r"\b\w+\b", bare(text))):
                if defined.get(name, noun(path)) != noun(path):
                    uses[noun(path)].add(defined[name])
    return uses


def circles(uses):
    """Tarjan's strongly connected components of more than one member."""
    number, low, stack, found = {}, {}, [], []

    def visit(at):
        number[at] = low[at] = len(number)
        stack.append(at)
        for to in sorted(uses.get(at, ())):
            if to not in number:
                visit(to)
                low[at] = min(low[at], low[to])
            elif to in stack:
                low[at] = min(low[at], number[to])
        if low[at] == number[at]:
            members = stack[stack.index(at):]
            del stack[stack.index(at):]
            if len(members) > 1:
                found.append(sorted(members))

    for at in sorted(uses):
        if at not in number:
            visit(at)
    return found


def of_rooms(uses):
    between = collections.defaultdict(set)
    for at, others in uses.items():
        between[room(at)].update(room(to) for to in others if room(to) != room(at))
    return between


def floors(between, rooms):
    floor = {}

    def of(at):
        if at not in floor:
            floor[at] = 0  # a circle would not end
            floor[at] = 1 + max((of(to) for to in between.get(at, ()) if to in rooms), default=0)
        return floor[at]

    for at in rooms:
        of(at)
    return floor


def needed(between):
    """Without the arrows that others imply."""
    def reached(at, seen):
        for to in between.get(at, ()):
            if to not in seen:
                seen.add(to)
                reached(to, seen)
        return seen

    return {at: {to for to in others
                 if not any(to in reached(way, set()) for way in others - {to})}
            for at, others in between.items()}


SLOTS = 16  # places in a row; a box takes three


def crossed(at, to, slot, floor):
    """Boxes that an arrow passes through on the floors between."""
    steps = floor[at] - floor[to]
    return sum(1 for box in slot if 0 < floor[at] - floor[box] < steps and abs(
        slot[at] + (slot[to] - slot[at]) * (floor[at] - floor[box]) / steps - slot[box]) < 2)


def slots(between, floor):
    """Where boxes stand in their rows: each is moved as long as fewer arrows pass through boxes,
    or arrows become shorter."""
    slot, rows = {}, collections.defaultdict(list)
    for at in sorted(floor):
        slot[at] = 3 * len(rows[floor[at]])
        rows[floor[at]].append(at)

    def cost():
        return sum(1000 * crossed(at, to, slot, floor) + (slot[at] - slot[to]) ** 2
                   for at in between for to in between[at])

    best, before = cost(), None
    while best != before:
        before = best
        for at in sorted(floor):
            for to in range(SLOTS):
                old = dict(slot)
                for other in rows[floor[at]]:  # who stands there changes places
                    if other != at and abs(slot[other] - to) < 3:
                        slot[other] = slot[at]
                slot[at] = to
                taken = sorted(slot[other] for other in rows[floor[at]])
                apart = all(b - a >= 3 for a, b in zip(taken, taken[1:]))
                if apart and cost() < best:
                    best = cost()
                else:
                    slot = old
    return slot


def svg(between, count, path):
    """Rooms by floor, bottom up; an arrow runs down to who is used."""
    between = needed(between)
    floor = floors(between, set(count))
    wide, high, gap, slot = 160, 34, 40, 58
    stands = slots(between, floor)
    width = 10 + (max(stands.values()) + 3) * slot
    height = max(floor.values()) * (high + gap) + 10
    place = {at: (10 + stands[at] * slot, height - floor[at] * (high + gap) + gap / 2)
             for at in stands}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           'font-family="sans-serif" font-size="13">',
           '<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
           '<path d="M0 0L6 3L0 6" fill="#789"/></marker></defs>']
    for at in sorted(between):
        for to in sorted(between[at]):
            (x, y), (u, v) = place[at], place[to]
            out.append(f'<path d="M{x + wide / 2:.0f} {y + high:.0f}L{u + wide / 2:.0f} {v:.0f}" '
                       'stroke="#789" stroke-opacity=".45" marker-end="url(#a)"/>')
    for at, (x, y) in place.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide}" height="{high}" rx="5" '
                   'fill="#eef3f8" stroke="#456"/>'
                   f'<text x="{x + wide / 2:.0f}" y="{y + 21:.0f}" text-anchor="middle">{at} '
                   f'({count[at]})</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def main():
    files = read_files()
    includes, calls = who_includes(files), who_calls(files)
    both = {at: includes[at] | calls[at] for at in set(includes) | set(calls)}
    between = of_rooms(both)
    count = collections.Counter(room(at) for at in includes)
    codec = {at for at in count if at.startswith("codec")}
    floor = floors(between, codec)
    for at in sorted(count):
        on = f"floor {floor[at]}" if at in codec else ""
        print(f"{at:20} {count[at]:3} nouns  {on:8} uses {' '.join(sorted(between[at]))}")
    wrong = []
    for at, n in count.items():
        if at not in FLAT and n > MOST_NOUNS:
            wrong.append(f"{at} holds {n} nouns, {MOST_NOUNS} may be: part it")
    if max(floor.values()) > MOST_FLOORS:
        wrong.append(f"codec/ has {max(floor.values())} floors, {MOST_FLOORS} may be")
    for members in circles(between):
        wrong.append("a circle of rooms: " + " ".join(members))
    for members in circles(both):
        wrong.append("a circle: " + " ".join(members))
    if "--svg" in sys.argv:
        svg(between, count, sys.argv[sys.argv.index("--svg") + 1])
    for line in wrong:
        print("tests/house.py: " + line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
